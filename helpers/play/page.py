"""A page that can be played: HTML with its data inside, in a notebook or as a file."""

import base64
import json
import zlib
from html import escape
from pathlib import Path

__all__ = ["Page", "packed"]

HERE = Path(__file__).parent


def packed(data):
    """Data as JSON, deflated, in letters."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


class Page:
    """What a cell shows as a frame; `html` is the whole page.

    picture: the name of its script in pictures/; text: what stands there where no HTML is shown."""

    def __init__(self, picture, title, data, text, height=420):
        self.data, self.text, self.height, self.title = data, text, height, title
        parts = {
            "title": escape(title),
            "css": (HERE / "frame.css").read_text(),
            "frame": (HERE / "frame.js").read_text(),
            "picture": (HERE / "pictures" / f"{picture}.js").read_text(),
            "data": packed(data),
        }
        self.html = (HERE / "frame.html").read_text()
        for name, content in parts.items():
            self.html = self.html.replace(f"@{name}@", content, 1)

    def save(self, path):
        """Write the page to a file, which a browser opens."""
        Path(path).write_text(self.html)

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )
