"""Make the book, a site, in build/book: the notebooks with the outputs they are stored with, the
pages beside them, and a page per kernel. publish/book/ says how. COURSE_SOLUTIONS=0: without the
solutions, in build/book-students.

Sphinx is installed into .cache/book, an environment of its own: neither lab nor tests need it."""

import shutil
import sys
import tempfile

import setup
import students

ENVIRONMENT = setup.CACHE / "book"
PYTHON = ENVIRONMENT / "bin/python"
PINS = setup.ROOT / "publish/book/requirements.lock"
SITE = setup.ROOT / ("build/book-students" if students.is_asked_for() else "build/book")
LOG = setup.CACHE / "book.log"


def run(*command):
    process = setup.start(LOG, *command)
    with setup.stopping(process):
        setup.finish(process, LOG)


def install():
    """Sphinx and its theme, once."""
    key = setup.digest(PINS, sys.version, str(ENVIRONMENT))
    stamp = ENVIRONMENT / "installed"
    if stamp.exists() and stamp.read_text() == key:
        return
    with setup.progress("Sphinx, once"):
        run(sys.executable, "-m", "venv", "--clear", ENVIRONMENT)
        pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps"]
        run(*pip, "-r", PINS)
        stamp.write_text(key)


def build():
    """All pages anew; what Sphinx warns of is an error."""
    shutil.rmtree(SITE, ignore_errors=True)
    with tempfile.TemporaryDirectory() as parsed, setup.progress("All pages"):
        strict = ["--quiet", "--fail-on-warning"]
        how = setup.ROOT / "publish/book"
        sphinx = [PYTHON, "-m", "sphinx", *strict, "--conf-dir", how, "-d", parsed]
        run(*sphinx, setup.ROOT, SITE)


def main():
    try:
        with setup.only_one():
            LOG.write_text("")
            install()
            build()
    except setup.SetupError as error:
        sys.exit(f"The book is not made: {error}")
    print("Open", SITE / "index.html")


if __name__ == "__main__":
    main()
