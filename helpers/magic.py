"""%%kernel makes a cell one of CUDA; %kernel fetches a file of cuda_src into it, to be changed."""

import re
import shlex
import warnings
from difflib import SequenceMatcher

from IPython import get_ipython
from IPython.core.error import UsageError

from softgpu.declarations import Declarations

from . import kernels, sources

__all__ = ["kernel", "register"]

HEAD = re.compile(r"__global__\b[^;{}()]*?(?:__\w+__\s*\([^()]*\)[^;{}()]*?)?\b(\w+)\s*\(")


def register(shell):
    """Teach %kernel and %%kernel to IPython."""
    shell.register_magic_function(kernel, "line_cell")


def kernel(line, cell=None):
    """Compile this cell's CUDA and bind its kernels to their names.

        %%kernel [NAME ...] [CHOICE=VALUE ...]     such as %%kernel T=double
        %kernel FILE [CHOICE=VALUE ...]            fetch a kernel of cuda_src into this cell

    A choice changes the line that makes it: `using T = float;` or `constexpr int BLOCK = 256;`."""
    words = shlex.split(line)
    names = [word for word in words if "=" not in word]
    choices = dict(word.split("=", 1) for word in words if "=" in word)
    shell = get_ipython()
    try:
        if cell is None:
            shell.set_next_input(fetched(*names, **choices), replace=True)
        else:
            _define(shell, cell, names, choices)
    except (LookupError, OSError, TypeError) as error:
        raise UsageError(str(error)) from None


def _define(shell, cell, names, choices):
    """Bind a cell's kernels to their names; where it fails, names to what says so."""
    text = f"\n{cell}"  # lines are numbered as in the cell, of which %%kernel is the first
    try:
        made = {name: _kernel(text, name, choices) for name in names or defined(cell)}
    except Exception as error:
        named = names or HEAD.findall(cell)
        _cells.bind(shell, cell, {n: kernels.NoKernel(n, cell, error) for n in named}, error)
        raise
    _cells.bind(shell, cell, made)
    print(f"kernel{'s' * (len(made) > 1)}: {', '.join(made)}")
    print("".join({made.said for made in made.values()}), end="")


def _kernel(text, name, choices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kernels.CompilerWarning)
        return sources.kernel(text, name, **choices)


class _Cells:
    """What the cells of a notebook define, as they were run last."""

    ALIKE = 0.75  # where the frontend does not tell cells apart, one with so much of the text is it

    def __init__(self):
        self.last = {}  # a cell's id, or a number: its text, and {name: kernel}

    def bind(self, shell, cell, made, error=None):
        """Bind what a cell made now; what it made before, and makes no more, is no kernel.

        Where cells cannot be told apart, that is only noted: kernels keep their names."""
        made = dict(made)
        key, is_certain = self._key(shell, cell)
        _, before = self.last.get(key, ("", {}))
        now = ", ".join(made or ())
        why = error if error and not made else LookupError(f"its cell now defines {now}")
        for name, old in before.items():
            if name in made or name in HEAD.findall(cell):
                continue
            if is_certain and shell.user_ns.get(name) is old:
                made[name] = kernels.NoKernel(name, cell, why)
            elif not is_certain:
                old.instead = kernels.NoKernel(name, cell, why)
        for kernel in made.values():
            kernel.instead = None
        shell.user_ns.update(made)
        self.last[key] = cell, made

    def _key(self, shell, cell):
        """(which cell it is, whether that is certain)."""
        header = getattr(shell, "parent_header", None) or {}
        if found := header.get("metadata", {}).get("cellId"):
            return found, True
        likeness = {
            key: SequenceMatcher(None, text, cell, autojunk=False).ratio()
            for key, (text, _) in self.last.items()
        }
        nearest = max(likeness, key=likeness.__getitem__, default=None)
        is_alike = nearest is not None and likeness[nearest] > self.ALIKE
        return nearest if is_alike else len(self.last), False


_cells = _Cells()


def fetched(file="", **choices):
    """A cell with a kernel file's text."""
    if not file:
        raise UsageError("name a file of cuda_src, such as %kernel reduce/shared.cu")
    return f"%%kernel\n{sources.text(file, **choices).rstrip()}"


def defined(cell):
    """The kernels of a cell; there must be one."""
    names = Declarations(cell).kernels
    if not names:
        raise LookupError("this cell defines no kernel: write `__global__ void name(...) { ... }`")
    return names
