"""What a stranger's kernel is compiled and run in: a sandbox of bubblewrap.

Inside there is no network, no process of anybody else, and nothing to read but the system, the
course and the compiler; /tmp alone can be written, and is gone with the sandbox."""

import os
import shutil
import sys
from pathlib import Path

from softgpu import settings
from softgpu.toolkit import find_toolkit

from ... import choice
from .. import texts

__all__ = ["KINDS", "command", "visible"]

KINDS = {
    "bubblewrap": "in a sandbox of bubblewrap",
    "none": "without a sandbox, since bubblewrap is not installed, or may not make one here: the"
    " compiler can read all that you can",
}
COURSE = "cuda_src", "exercises", "helpers", "notebooks/recorded", "pyproject.toml", "softgpu"
SYSTEM = """/bin /etc/alternatives /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /gnu/store
    /lib /lib32 /lib64 /libx32 /nix/store /opt /sbin /usr""".split()


def visible():
    """The files and folders that are needed, none inside another."""
    toolkit = find_toolkit(None, None, choice.setting("HELPERS_TOOLKIT", "machine", "wheel"))
    paths = {*SYSTEM, *toolkit.include, sys.prefix, sys.base_prefix}
    paths |= {
        str(Path(nvcc).parent.parent) for nvcc in (toolkit.nvcc, Path(toolkit.nvcc).resolve())
    }
    paths |= {str(texts.ROOT.parent / name) for name in COURSE}
    paths |= {str(settings.cache_folder().absolute())}
    paths |= {p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(p)}
    found = {Path(path) for path in paths if os.path.exists(path)}
    return sorted(str(path) for path in found if found.isdisjoint(path.parents))


def command(kind, paths, hidden):
    """What the command of a process begins with."""
    if kind != "bubblewrap":
        return []
    flags = "--unshare-all --die-with-parent --new-session --cap-drop ALL"
    flags += " --proc /proc --dev /dev --remount-ro /dev --tmpfs /tmp"
    shown = [word for path in paths for word in ("--ro-bind", path, path)]
    inside = (h for h in hidden if any(Path(h).is_relative_to(path) for path in paths))
    covered = [word for path in inside for word in ("--tmpfs", path)]
    where = ["--chdir", str(texts.ROOT.parent), "--"]
    return [shutil.which("bwrap") or "bwrap", *flags.split(), *shown, *covered, *where]
