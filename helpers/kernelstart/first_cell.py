"""Whoever skips a notebook's first cell is told to run it: without it PyCUDA finds no driver."""


def _start(shell):
    def told(shell, kind, error, trace, tb_offset=None):
        if "libcuda.so.1" not in str(error):
            return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        shell._showtraceback(kind, error, [f"{kind.__name__}: {ADVICE}"])

    ADVICE = (
        "there is no GPU yet. Run the notebook's first cell, `from helpers import autoinit`,"
        " and then this one again."
    )
    shell.set_custom_exc((ImportError,), told)


_start(get_ipython())  # type: ignore[name-defined]  # noqa: F821
del _start
