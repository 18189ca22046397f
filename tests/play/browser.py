"""A real Chromium without a window, spoken to by its DevTools protocol."""

import json
import shutil
import subprocess
import time
from itertools import count
from pathlib import Path

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRAWN = (
    "(document.querySelector('iframe')?.contentDocument ?? document).body?.dataset.ready"
    " !== undefined"
)
LOADED = "document.readyState === 'complete'"
KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "Tab": 9, "Enter": 13, "Home": 36}


class Navigated(Exception):
    """The page that was asked has been left meanwhile."""


class Browser:
    """One tab. `js` evaluates; `click`, `hover`, `press` and `drag` are a person's."""

    def __init__(self, folder):
        from websocket import create_connection

        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
        options += [
            f"--user-data-dir={folder}",
            "--window-size=1200,1000",
            "--remote-allow-origins=*",
            "--no-first-run",
        ]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(
            [CHROMIUM, *options, "about:blank"], stdout=quiet, stderr=quiet
        )
        told = Path(folder, "DevToolsActivePort")
        self._wait(lambda: told.is_file() and len(told.read_text().split()) == 2)
        port, path = told.read_text().split()
        self.socket = create_connection(f"ws://127.0.0.1:{port}{path}", timeout=60)
        self.numbers, self.session = count(1), None
        target = self.call("Target.createTarget", url="about:blank")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")

    @staticmethod
    def _wait(ready, seconds=60):
        end = time.monotonic() + seconds
        while not ready():
            assert time.monotonic() < end, "the browser does not get there"
            time.sleep(0.02)

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        self.socket.send(
            json.dumps(message | ({"sessionId": self.session} if self.session else {}))
        )
        while (answer := json.loads(self.socket.recv())).get("id") != number:
            pass
        if "navigated" in answer.get("error", {}).get("message", ""):
            raise Navigated(method)
        assert "error" not in answer, answer
        return answer["result"]

    def js(self, expression):
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def open(self, path, dark=False, ready=DRAWN):
        """Load a page that is in a file, by default until its picture is drawn."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        address = Path(path).as_uri()
        self.call("Page.navigate", url=address)
        self.until(f"location.href === {json.dumps(address)} && {ready}")

    def until(self, expression):
        """Wait for what is true, on the next page where this one is being left."""

        def true():
            try:
                return self.js(expression)
            except Navigated:
                return False

        self._wait(true)

    def _mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def _middle(self, selector):
        place = f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center", behavior: "instant"}});
            const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2];
        }})()"""
        return self.js(place)

    def hover(self, selector):
        x, y = self._middle(selector)
        self._mouse("mouseMoved", x, y)
        return x, y

    def click(self, selector):
        x, y = self.hover(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._mouse(kind, x, y, button="left", clickCount=1)

    def drag(self, selector, to):
        """Press on one element and let go on another."""
        x, y = self.hover(selector)
        self._mouse("mousePressed", x, y, button="left", clickCount=1)
        x, y = self._middle(to)
        self._mouse("mouseMoved", x, y, button="left", buttons=1)
        self._mouse("mouseReleased", x, y, button="left", clickCount=1)

    def press(self, key, times=1):
        for _ in range(times):
            for kind in ("rawKeyDown", "keyUp"):
                facts = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
                self.call("Input.dispatchKeyEvent", type=kind, **facts)

    def text(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)}).innerText")

    def all(self, selector, what="innerText"):
        """A property of each element that is found."""
        return self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.{what})")

    def picture(self, path):
        """A screenshot, for a person to look at."""
        import base64

        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
