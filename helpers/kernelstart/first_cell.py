"""If you skip a notebook's first cell, an error says so: without it PyCUDA finds no driver."""


def _start(shell):
    import sys

    from IPython.core.error import UsageError

    def told(shell, kind, error, trace, tb_offset=None):
        is_name = getattr(error, "name", "") in GIVEN and "helpers" not in sys.modules
        if not (is_name or "libcuda.so.1" in str(error)):
            return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        said = f"{error.name} is not there yet. {ADVICE}" if is_name else NO_GPU
        shell._showtraceback(kind, error, [f"{kind.__name__}: {said}"])

    def kernel(line, cell=None):
        """Stands in for the course's %%kernel until the first cell is run."""
        raise UsageError(f"%%kernel is not there yet. {ADVICE}")

    GIVEN = "bench", "exercises", "gpuarray", "plots", "predict", "sources", "xray"
    ADVICE = "Run the notebook's first cell, and then this one again."
    NO_GPU = (
        "there is no GPU yet. Run the notebook's first cell, `from helpers import autoinit`,"
        " and then this one again."
    )
    shell.set_custom_exc((ImportError, NameError), told)
    shell.register_magic_function(kernel, "line_cell")


_start(get_ipython())  # type: ignore[name-defined]  # noqa: F821
del _start
