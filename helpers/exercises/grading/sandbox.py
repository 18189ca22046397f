"""What a stranger's kernel is compiled and run in: a sandbox of bubblewrap, or one of our own.

Inside there is no network, no process of anybody else, and nothing to read but the system, the
course and the compiler; /tmp alone can be written, and is gone with the sandbox."""

import ctypes
import os
import shutil
import signal
import sys
from pathlib import Path

from softgpu import settings
from softgpu.toolkit import find_toolkit

from ... import choice
from .. import texts

__all__ = ["KINDS", "command", "control", "enter", "visible"]

KINDS = {
    "bubblewrap": "in a sandbox of bubblewrap",
    "namespaces": "in a sandbox of Linux's namespaces",
    "none": "without a sandbox, which neither bubblewrap (install it) nor namespaces give here:"
    " the compiler can read all that you can",
}
COURSE = "cuda_src", "exercises", "helpers", "notebooks/recorded", "pyproject.toml", "softgpu"
SYSTEM = """/bin /etc/alternatives /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /gnu/store
    /lib /lib32 /lib64 /libx32 /nix/store /opt /sbin /usr""".split()
DEVICES = "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"


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
    covered = [word for path in _covered(paths, hidden) for word in ("--tmpfs", path)]
    where = ["--chdir", str(texts.ROOT.parent), "--"]
    return [shutil.which("bwrap") or "bwrap", *flags.split(), *shown, *covered, *where]


def _covered(paths, hidden):
    """The hidden folders that lie in one that is visible."""
    return [path for path in hidden if any(Path(path).is_relative_to(other) for other in paths)]


# --- namespaces, by the system's calls ------------------------------------------------------------

_libc = ctypes.CDLL(None, use_errno=True)
NEW_NAMESPACES = 0x7C020000  # of mounts, names, IPC, users, processes and network
NO_SUID, NO_DEVICES, BIND, RECURSIVE, PRIVATE = 1 << 1, 1 << 2, 1 << 12, 1 << 14, 1 << 18
DETACH = 2
DIE_WITH_PARENT, DUMPABLE, DROP_CAPABILITY, SUBREAPER, NO_NEW_PRIVILEGES = 1, 4, 24, 36, 38
MOUNT_SETATTR, ALL_BELOW = 442, 0x8000


def control(option, value):
    """prctl."""
    _call(_libc.prctl, option, value, 0, 0, 0)


def enter(paths, hidden):
    """Go on as the first process of a sandbox; this one waits for it and ends as it does."""
    user, group = os.getuid(), os.getgid()
    _call(_libc.unshare, NEW_NAMESPACES)
    maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
    for file, text in maps.items():
        Path("/proc/self", file).write_text(text)
    if child := os.fork():
        os._exit(os.waitpid(child, 0)[1] != 0)
    control(DIE_WITH_PARENT, signal.SIGKILL)
    _mount(None, "/", None, RECURSIVE | PRIVATE)
    _furnish("/tmp", paths, _covered(paths, hidden))
    os.chdir("/tmp")
    _call(_libc.pivot_root, b".", b".")
    _call(_libc.umount2, b".", DETACH)
    os.chdir(texts.ROOT.parent)
    _drop_capabilities()


def _furnish(root, paths, covered):
    """Make a folder a system of its own, which may hide what is shown in it."""
    handles = {path: os.open(path, os.O_PATH) for path in [*paths, *DEVICES]}
    for folder in "", "/proc", "/tmp":
        os.makedirs(root + folder, exist_ok=True)
        kind = "proc" if folder == "/proc" else "tmpfs"
        _mount(kind, root + folder, kind, NO_SUID | NO_DEVICES)
    for path, handle in handles.items():
        _show(path, handle, root + path)
        os.close(handle)
    for path in covered:
        _mount("tmpfs", root + path, "tmpfs", NO_SUID | NO_DEVICES)
    _read_only(root, 0)


def _show(path, handle, target):
    if os.path.isdir(f"/proc/self/fd/{handle}"):
        os.makedirs(target)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
    _mount(f"/proc/self/fd/{handle}", target, None, BIND | RECURSIVE)
    if path not in DEVICES:
        _read_only(target, ALL_BELOW)


def _read_only(target, flags):
    """And without its devices and set-user-ID bits."""
    changes = (ctypes.c_uint64 * 4)(7, 0, 0, 0)
    long = map(ctypes.c_long, (MOUNT_SETATTR, -100))
    _call(_libc.syscall, *long, os.fsencode(target), flags, changes, ctypes.c_size_t(32))


def _drop_capabilities():
    control(NO_NEW_PRIVILEGES, 1)
    for capability in range(int(Path("/proc/sys/kernel/cap_last_cap").read_text()) + 1):
        control(DROP_CAPABILITY, capability)
    _call(_libc.capset, (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())


def _mount(source, target, kind, flags):
    encoded = (what and os.fsencode(what) for what in (source, target, kind))
    _call(_libc.mount, *encoded, ctypes.c_ulong(flags), None)


def _call(function, *arguments):
    if function(*arguments) == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), function.__name__)
