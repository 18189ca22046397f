"""Pictures that can be played: a page each, with what launches on the software GPU recorded in it.

A page needs no kernel, no network and no library: it works in JupyterLab, VS Code, Colab and as a
file in a browser. What it shows, the software GPU has done when the picture was made."""

from importlib import import_module

__all__ = ["banks", "flight", "grid", "launch", "tile", "tree", "window"]


def __getattr__(name):
    """A picture's module comes when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"helpers.play has no {name!r}; there is {', '.join(__all__)}")
    return getattr(import_module(f".pictures.{name}", __name__), name)


def __dir__():
    return __all__
