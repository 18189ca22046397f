"""JupyterLab, which says on the terminal where it is, in one line, and the rest in .cache/lab.log.

python scripts/lab.py ARGUMENTS OF JUPYTERLAB"""

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from jupyter_server.serverapp import list_running_servers

LOG = Path(__file__).resolve().parent.parent / ".cache/lab.log"
LOOK_EVERY_S = 0.2
LAST_LINES = 20  # of the log, where it does not start


def address(process):
    """Where the server of a process leads to its first page, with its token; None: not ready."""
    for server in list_running_servers():
        if server["pid"] == process.pid and answers(server["hostname"], server["port"]):
            token = f"?token={server['token']}" if server["token"] else ""
            return f"{server['url']}{token}"
    return None


def answers(host, port):
    """Whether somebody listens there; a server is listed a moment before it does."""
    try:
        socket.create_connection((host, port), 1).close()
    except OSError:
        return False
    return True


def main():
    LOG.parent.mkdir(exist_ok=True)
    LOG.unlink(missing_ok=True)  # another lab that runs goes on writing to its own
    log = LOG.open("w+b")
    server = subprocess.Popen([sys.executable, "-m", "jupyterlab", *sys.argv[1:]], stderr=log)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server hears it, too, and asks what to do
    while server.poll() is None and not (found := address(server)):
        time.sleep(LOOK_EVERY_S)
    if server.returncode is None:
        print(f"JupyterLab: {found}  (Ctrl-C ends it; log: {LOG})", flush=True)
    elif server.returncode:
        log.seek(0)
        print(*log.read().decode(errors="replace").splitlines()[-LAST_LINES:], sep="\n")
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
