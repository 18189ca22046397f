"""The software GPU's command: `softgpu`, or `python -m softgpu`.

    softgpu run vectorAdd.cu                  # compile a CUDA program and call its main()
    softgpu sanitize main.cu -DN=1000 -- 7    # the same, and say what each launch does wrong
    softgpu profile vectorAdd.cu              # the same, and count what each kernel costs
    softgpu show kernel.cu scale all          # what becomes of a kernel, stage by stage

softgpu COMMAND --help says more.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from . import __version__

_COMMANDS = {"run": "run", "sanitize": "run", "profile": "run", "show": "show"}
"""The module whose main(command, words) does it."""


def main() -> int:
    head, _, examples = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="softgpu", description=head, epilog=examples,
        usage=f"softgpu {'|'.join(_COMMANDS)} ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"softgpu {__version__}")
    parser.add_argument("command", choices=_COMMANDS, help="what to do")
    command = parser.parse_args(sys.argv[1:2]).command
    return import_module(f".{_COMMANDS[command]}", __package__).main(command, sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
