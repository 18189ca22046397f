"""%%kernel makes a cell one of CUDA; %kernel fetches a file of cuda_src into it, to be changed."""

import shlex

from IPython import get_ipython
from IPython.core.error import UsageError

from softgpu.declarations import Declarations

from . import sources

__all__ = ["kernel", "register"]


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
            return
        text = f"\n{cell}"  # lines are numbered as in the cell, of which %%kernel is the first
        shell.user_ns.update(
            {name: sources.kernel(text, name, **choices) for name in names or defined(cell)}
        )
    except (LookupError, OSError, TypeError) as error:
        raise UsageError(str(error)) from None


def fetched(file="", **choices):
    """A cell with a kernel file's text."""
    if not file:
        raise UsageError("name a file of cuda_src, such as %kernel reduce/shared.cu")
    return f"%%kernel\n{sources.text(file, **choices).rstrip()}"


def defined(cell):
    """The kernels of a cell; there must be one."""
    names = Declarations(cell).kernels
    if not names:
        raise LookupError("this cell defines no kernel: __global__ void name(...) { ... }")
    return names
