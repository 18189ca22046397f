"""Make the lab: everything that `make lab` and `make test` need, inside the checkout.

The folder scripts/ holds what make calls. Standard library only; each step is skipped while the
stamp that it left says that its inputs are still the same.
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
CACHE = ROOT / ".cache"
STAMPS = VENV / ".lab"
UNFINISHED = STAMPS / "unfinished"
LOG = VENV / "setup.log"
PYTHON = VENV / "bin" / "python"
PYCUDA = "2026.1"
PYCUDA_SHA256 = "759516160628ba06f32ce7e563e3f5b9214691dc9528a03ea99ea1073f4e14ba"
FIRST = "numpy=", "pip=", "setuptools=", "nvidia-"  # what PyCUDA is built with, and a faster pip
DISASSEMBLER = "nvidia-cuda-nvdisasm="  # small, and few machines with a compiler have it
PYTHONS = (3, 11), (3, 14)
QUIET = {  # JupyterLab asks the network for nothing
    "@jupyterlab/apputils-extension:notification": {
        "checkForUpdates": False,
        "fetchNews": "false",
    }
}


class SetupError(Exception):
    """Something that the person at the keyboard has to put right."""


def load(name):
    """A module of the checkout that needs nothing but the standard library."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return importlib.import_module(name)


def check_machine():
    """What the lab needs and cannot install without root, with the command that installs it."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        known = "Linux on x86-64 (WSL2, too) or aarch64"
        raise SetupError("the lab runs on {}, not on {}".format(known, platform.platform()))
    python = "python{}.{}".format(*sys.version_info)
    missing = []
    if not (shutil.which("g++") and shutil.which("gcc")):
        missing.append(("a C++ compiler", "g++"))
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        missing.append(("Python's headers", python + "-dev"))
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        missing.append(("Python's venv module", python + "-venv"))
    if missing:
        things, packages = zip(*missing)
        raise SetupError(
            "missing: {}. Install with: sudo apt install {}".format(
                ", ".join(things), " ".join(packages)
            )
        )


def digest(*parts):
    """A hash over texts and the contents of files."""
    total = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else str(part).encode()
        total.update(hashlib.sha256(data).digest())
    return total.hexdigest()


def stamp_is(name, key):
    """Whether the step of that name was finished with these inputs."""
    path = STAMPS / name
    return path.exists() and path.read_text() == key


def write_stamp(name, key):
    """Record that a step is finished, in one piece or not at all."""
    path = STAMPS / (name + ".new")
    path.write_text(key)
    path.replace(STAMPS / name)


@contextmanager
def progress(label):
    """One line a step: its name, then the seconds it took."""
    start = time.monotonic()
    print("  {:<46}".format(label), end="", flush=True)
    try:
        yield
    except BaseException:
        print("stopped after {:.0f} s".format(time.monotonic() - start))
        raise
    print("{:6.1f} s".format(time.monotonic() - start), flush=True)


def start(log, *command):
    """Begin a command, its output into a log."""
    environment = {name: value for name, value in os.environ.items() if name[:6] != "PYTHON"}
    environment.setdefault("CC", "gcc")
    environment.setdefault("CXX", "g++")
    command = [str(word) for word in command]
    with log.open("a") as output:
        output.write("\n$ " + " ".join(command) + "\n")
        output.flush()
        return subprocess.Popen(
            command, cwd=str(ROOT), env=environment,
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )  # fmt: skip


def finish(process, log):
    """Wait for a command; SetupError with the log's end if it fails."""
    if process.wait():
        tail = log.read_text(errors="replace").rstrip().splitlines()[-15:]
        raise SetupError("this step failed. The end of {}:\n{}".format(log, "\n".join(tail)))


@contextmanager
def stopping(process):
    """Whatever ends the block ends the command, too."""
    try:
        yield
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def run(*command):
    """Run a command, its output into the log."""
    process = start(LOG, *command)
    with stopping(process):
        finish(process, LOG)


@contextmanager
def beside(label, log, *command):
    """Run a command while the block does something else; the line says how long it took longer."""
    log.write_text("")
    process = start(log, *command)
    with stopping(process):
        yield
        with progress(label):
            finish(process, log)


def pip(*arguments):
    """The lab's pip, with what the machine's own configuration says about where packages are."""
    run(PYTHON, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments)


def install(*arguments):
    """pip install; Python compiles what is imported. Until it is through, a mark says that the
    environment cannot be trusted."""
    UNFINISHED.touch()
    pip("install", "--no-deps", "--no-build-isolation", "--no-compile", *arguments)
    UNFINISHED.unlink()


def make_environment():
    """An empty .venv of this Python at this place; whatever was broken or moved is made anew."""
    key = digest(os.path.realpath(sys.executable), sys.version, str(VENV))
    if stamp_is("environment", key) and PYTHON.exists() and not UNFINISHED.exists():
        return
    if VENV.exists() and not STAMPS.exists() and any(VENV.iterdir()):
        raise SetupError("{} is not the lab's. Move it away: `mv .venv .venv.old`".format(VENV))
    with progress("Python {}.{}.{} environment".format(*sys.version_info)):
        if VENV.exists():
            # The stamps go last: an interrupted removal must still be known as the lab's.
            for path in VENV.iterdir():
                if path != STAMPS:
                    real_folder = path.is_dir() and not path.is_symlink()
                    shutil.rmtree(path) if real_folder else path.unlink()
            shutil.rmtree(VENV)
        STAMPS.mkdir(parents=True)
        run(sys.executable, "-I", "-m", "venv", VENV)
        write_stamp("environment", key)


def pins(wheels):
    """Lines of the lock: FIRST's packages, and the rest; with NVIDIA's compiler wheels or not"""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    lines = [line for line in lines if line and line[0] != "#"]
    if not wheels:
        lines = [line for line in lines if line[:7] != "nvidia-" or line.startswith(DISASSEMBLER)]
    first = [line for line in lines if line.startswith(FIRST)]
    return first, [line for line in lines if line not in first]


def install_packages(label, name, lines):
    """Pinned packages, by pip."""
    key = digest(*lines)
    if stamp_is(name, key):
        return
    with progress(label):
        chosen = STAMPS / (name + ".txt")
        chosen.write_text("\n".join(lines))
        install("-r", chosen)
        write_stamp(name, key)


def pycuda_key(toolkit, first):
    """What a PyCUDA is made from."""
    builder = ROOT / "scripts/build_pycuda.py"
    numpy = [line for line in first if line.startswith("numpy")]
    return digest(PYCUDA, builder, sysconfig.get_config_var("SOABI"), toolkit.version, *numpy)


def wheel_folder(key):
    return CACHE / "pycuda" / key[:16]


def building_pycuda(toolkit, key):
    """PyCUDA is built from source against the toolkit's headers, while the block does other things;
    the wheel is kept for next time."""
    if stamp_is("pycuda", key) or any(wheel_folder(key).glob("*.whl")):
        return nullcontext()
    builder = ROOT / "scripts/build_pycuda.py"
    command = PYTHON, "-I", builder, PYCUDA, PYCUDA_SHA256, wheel_folder(key), *toolkit.include
    label = "PyCUDA {} from source, meanwhile".format(PYCUDA)
    return beside(label, CACHE / "pycuda.log", *command)


def install_pycuda(key):
    """The wheel of PyCUDA that is kept."""
    if stamp_is("pycuda", key):
        return
    with progress("PyCUDA"):
        install("--force-reinstall", *wheel_folder(key).glob("*.whl"))
        write_stamp("pycuda", key)


def install_course():
    """The two packages of this checkout, editable, and what they bring to Jupyter."""
    extension, start = ROOT / "helpers/labextension", ROOT / "helpers/kernelstart"
    files = [path for path in sorted(extension.rglob("*")) if path.is_file()]
    files += sorted(start.glob("*.py"))
    key = digest(ROOT / "pyproject.toml", ROOT / "softgpu/pyproject.toml", *files)
    if stamp_is("course", key):
        return
    with progress("The software GPU and the course"):
        pip("uninstall", "--yes", "helpers")  # what both were until version 2
        install("-e", ROOT / "softgpu", "-e", ROOT)
        installed = VENV / "share/jupyter/labextensions/kernel-cells"
        shutil.rmtree(installed, ignore_errors=True)
        shutil.copytree(extension, installed)
        shutil.copytree(start, VENV / "etc/ipython", dirs_exist_ok=True)
        settings = VENV / "share/jupyter/lab/settings/overrides.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps(QUIET, indent=4))
        write_stamp("course", key)


def building_softgpu():
    """The software GPU's libcuda.so.1 is built while the block does other things."""
    builder = load("softgpu.build")
    if builder.LIBRARY.exists() and builder.fingerprint().encode() in builder.LIBRARY.read_bytes():
        return nullcontext()
    command = sys.executable, "-m", "softgpu.build"
    return beside("The software GPU, meanwhile", CACHE / "softgpu.log", *command)


@contextmanager
def only_one():
    """Two calls at once in one checkout take turns."""
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another set-up of this checkout is running: waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def set_up():
    choice, toolkits = load("helpers.choice"), load("softgpu.toolkit")
    wheels = [str(VENV / "lib/python{}.{}/site-packages".format(*sys.version_info))]
    try:
        driver, toolkit = choice.choose(wheels=())
    except choice.SettingError as error:
        raise SetupError(error)
    except toolkits.ToolkitError:
        driver, toolkit = None, None  # nothing on this machine: decided below, with the wheels
    check_machine()
    with only_one():
        if not (STAMPS / "complete").exists():
            print("Setting up the lab in {} (once, a few minutes)".format(VENV), flush=True)
        with building_softgpu():
            make_environment()
            first, rest = pins(wheels=toolkit is None)
            compiler = "" if toolkit else " and NVIDIA's compiler"
            install_packages("pip, setuptools, NumPy" + compiler, "first", first)
            if not toolkit:
                try:
                    driver, toolkit = choice.choose(wheels)
                except toolkits.ToolkitError as error:
                    raise SetupError(error)
            key = pycuda_key(toolkit, first)
            with building_pycuda(toolkit, key):
                install_packages("Python packages", "packages", rest)
            install_pycuda(key)
            install_course()
        write_stamp("complete", str(toolkit))
    device = "the NVIDIA GPU" if driver else "the software GPU"
    print("Ready: {}, compiler {}".format(device, toolkit), flush=True)


def main():
    if not PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]:
        sys.exit(
            "The lab needs Python 3.11 to 3.14; {} is Python {}.{}. "
            "Name another one: make lab PYTHON=python3.12".format(
                sys.executable, *sys.version_info[:2]
            )
        )
    try:
        set_up()
    except SetupError as error:
        sys.exit("The lab is not ready: {}".format(error))
    except KeyboardInterrupt:
        sys.exit("Interrupted; the next call finishes it.")


if __name__ == "__main__":
    main()
