"""A class at its busiest: N students log in at once, run notebook 00 and have a kernel judged.

    python publish/deploy/rehearse.py [--students 5] [--hub https://class.example.org]

Without --hub, one is started here, with the class's configuration and processes in place of
containers; it needs configurable-http-proxy (npm install --global configurable-http-proxy)."""

import argparse
import json
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from urllib.parse import quote

import nbformat
import requests
import websocket

from helpers import exercises

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "scripts"))
import graders  # noqa: E402
import setup  # noqa: E402

ENVIRONMENT = setup.CACHE / "class"
URL = "http://127.0.0.1:8765"
EXERCISE = "00.double"
NOTEBOOK = "work/00_first_kernel.ipynb"
JUDGED = "from helpers import exercises\nassert exercises.judge({!r}, {!r})"
MEMORY = """\
import psutil
server = psutil.Process().parent()
print(sum(p.memory_full_info().pss for p in [server, *server.children(recursive=True)]))"""
LONGEST_S = 600


class Student:
    """One who uses the hub as a browser does: by its forms, cookies and sockets."""

    def __init__(self, hub, name):
        self.hub, self.name = hub, name
        self.server = f"{hub}/user/{name}"
        self.browser = requests.Session()

    def token(self, path):
        """What a form of a page sends along, so that other sites cannot send it."""
        cookies = [c for c in self.browser.cookies if c.name == "_xsrf"]
        return max((c for c in cookies if path.startswith(c.path)), key=lambda c: len(c.path)).value

    def log_in(self, password):
        """Sign up, log in and wait for a server of one's own; how long that took."""
        begin = time.monotonic()
        form = {"username": self.name, "password": password}
        for page, more in ("signup", {"signup_password_confirmation": password}), ("login", {}):
            address = f"{self.hub}/hub/{page}"
            self.browser.get(address).raise_for_status()
            data = {**form, **more, "signup_password": password, "_xsrf": self.token("/hub/")}
            self.browser.post(address, data=data).raise_for_status()
        while not self.browser.get(f"{self.server}/lab", timeout=60).url.startswith(self.server):
            if time.monotonic() - begin > LONGEST_S:
                sys.exit(f"{self.name} has no server after {LONGEST_S} s")
            time.sleep(0.2)
        self.browser.get(f"{self.server}/lab").raise_for_status()
        self.browser.headers["X-XSRFToken"] = self.token(f"/user/{self.name}/")
        return time.monotonic() - begin

    def start_kernel(self):
        started = self.browser.post(f"{self.server}/api/kernels")
        started.raise_for_status()
        channels = f"{self.server}/api/kernels/{started.json()['id']}/channels"
        request = requests.Request("GET", channels)
        cookies = self.browser.prepare_request(request).headers["Cookie"]
        query = f"?_xsrf={quote(self.browser.headers['X-XSRFToken'])}"
        self.socket = websocket.create_connection(
            channels.replace("http", "ws", 1) + query, cookie=cookies, timeout=LONGEST_S
        )

    def run(self, code):
        """What a cell prints; an error ends the rehearsal."""
        number = secrets.token_hex(8)
        header = {"msg_id": number, "msg_type": "execute_request", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": True, "stop_on_error": True}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        self.socket.send(json.dumps(message | {"channel": "shell"}))
        printed = ""
        while True:
            answer = json.loads(self.socket.recv())
            kind, content = answer["header"]["msg_type"], answer["content"]
            if answer["parent_header"].get("msg_id") != number:
                continue
            if kind == "error":
                sys.exit(f"{self.name}: {content['ename']}: {content['evalue']}\nin {code}")
            printed += content["text"] if kind == "stream" else ""
            if kind == "status" and content["execution_state"] == "idle":
                return printed

    def work(self, kernel):
        """Seconds until logged in, for the notebook and until the verdict, and megabytes then."""
        seconds = [self.log_in(secrets.token_hex(8))]
        notebook = self.browser.get(f"{self.server}/api/contents/{NOTEBOOK}")
        notebook.raise_for_status()
        cells = nbformat.from_dict(notebook.json()["content"]).cells
        self.start_kernel()
        self.run(f"%cd -q {Path(NOTEBOOK).parent}")
        notebook = [cell.source for cell in cells if cell.cell_type == "code"]
        own = f"// {self.name}, {secrets.token_hex(8)}\n{kernel}"  # that nobody has compiled yet
        for sources in notebook, [JUDGED.format(EXERCISE, own)]:
            begin = time.monotonic()
            for source in sources:
                self.run(source)
            seconds.append(time.monotonic() - begin)
        return *seconds, int(self.run(MEMORY)) / 1e6


@contextmanager
def hub_here():
    """A hub on this machine, whose students are processes of the same user."""
    if not shutil.which("configurable-http-proxy"):
        sys.exit(__doc__)
    graders.install(ENVIRONMENT, (HERE / "requirements.txt").read_text().split())
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, CLASS_HOMES=folder, CLASS_LAB=str(ROOT), CLASS_URL=URL)
        environment["PATH"] = f"{ENVIRONMENT / 'bin'}{os.pathsep}{os.environ['PATH']}"
        command = ["jupyterhub", "--config", HERE / "rehearsal_config.py"]
        with open(Path(folder, "hub.log"), "w") as log:
            hub = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            yield from waited_for(hub, Path(log.name))
        finally:
            hub.terminate()
            hub.wait()


def waited_for(hub, log):
    """The hub's address, once it answers."""
    while hub.poll() is None:
        try:
            requests.get(f"{URL}/hub/health", timeout=5).raise_for_status()
        except requests.RequestException:
            time.sleep(0.2)
        else:
            yield URL
            return
    sys.exit(log.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=5)
    parser.add_argument("--hub", help="the address of a hub that runs")
    asked = parser.parse_args()
    kernel = exercises.solution(EXERCISE)
    with nullcontext(asked.hub) if asked.hub else hub_here() as hub:
        students = [Student(hub, f"rehearsal{number}") for number in range(asked.students)]
        with ThreadPoolExecutor(asked.students) as pool:
            measured = list(pool.map(lambda student: student.work(kernel), students))
    print(f"{asked.students} students, on {os.cpu_count()} cores if the hub is here:")
    names = "s to log in", "s for notebook 00", "s to the verdict", "MB with the notebook open"
    for name, values in zip(names, zip(*measured)):
        print(f"{statistics.median(values):8.1f} {name}, at most {max(values):.1f}")


if __name__ == "__main__":
    main()
