"""A kernel as PyCUDA has it, which also knows what it declares and says what a launch lacks."""

import re

import numpy as np

from softgpu.declarations import Declarations

from . import autoinit, parameters  # noqa: F401  (PyCUDA binds to the driver that autoinit chooses)

from pycuda.driver import Function, LogicError  # isort: skip

__all__ = ["CompileError", "Kernel", "compile"]

ERROR = re.compile(r"^.*\berror\b.*$(?:\n(?!.*\berror\b).+){0,2}", re.MULTILINE)
INCLUDE = re.compile(r"^\S*\.cu:(\d+):\d+: fatal (error: .*)\n(.*\n)*", re.MULTILINE)


class CompileError(RuntimeError):
    """The first mistake that the compiler found: where, what, and the line with a caret."""

    def __init__(self, report):
        errors = ERROR.findall(report.partition("\n\nRemark")[0]) or [report.strip()]
        self.report = report
        more = len(re.findall(r"\berror:", report)) - 1
        first, *place = errors[0].splitlines()
        also = f" ({more} more may follow from it)" if more > 0 else ""
        super().__init__("\n".join([first + also, *place]))

    def _render_traceback_(self):
        """What IPython shows: the mistake is in the CUDA text, not in the Python that led here."""
        return str(self).splitlines()


def compile(kernel, source, file, options, include_dirs):
    """The Kernel of that name in a CUDA text; file: what the compiler calls it, or ""."""
    line = f'#line 1 "{file}"' if file else "#line 1"
    arguments = {
        "source": f"{line}\n{_linked(source, kernel)}",
        "options": options,
        "include_dirs": include_dirs,
        "no_extern_c": True,
    }
    return _kernel(kernel, source, arguments)


def _kernel(kernel, source, arguments):
    from pycuda.compiler import SourceModule
    from pycuda.driver import CompileError as Failed

    try:
        module = SourceModule(**arguments)
        function = module.get_function(kernel)
    except Failed as error:
        raise CompileError(_words(error.stderr) + _words(error.stdout)) from None
    except LogicError:
        if kernel in (known := Declarations(source).kernels):
            raise
        found = ", ".join(known) or "none"
        raise LookupError(f"the source has no kernel named {kernel!r}; it has {found}") from None
    function.__class__ = Kernel
    function.name, function.source, function.arguments = kernel, source, arguments
    function.module = module
    function.parameters = parameters.parameters(Declarations(source), kernel)
    return function


def _words(output):
    """What a compiler said, as text."""
    text = output.decode(errors="replace") if isinstance(output, bytes) else output or ""
    return INCLUDE.sub(r"kernel.cu(\1): \2\n", text)


def _linked(source, kernel):
    """The text with extern "C" before a kernel that lacks it, so that it keeps its plain name."""

    def link(match):
        is_extern_or_template = re.search(
            r'("C"|\btemplate\s*<[^;{}()]*>)\s*$', source[: match.start()]
        )
        return match[0] if is_extern_or_template else f'extern "C" {match[0]}'

    return re.sub(rf"__global__\b[^;{{}}]*?\b{kernel}\s*\(", link, source)


class Kernel(Function):
    """PyCUDA's function; a launch that cannot be right is refused in one sentence.

    name, source: the kernel's name and CUDA text; arguments: what its module, a SourceModule, took;
    parameters: what the kernel declares, None if that cannot be read off."""

    _plain = None  # without optimisation

    def __call__(self, *arguments, block=None, grid=(1, 1), **options):
        __tracebackhide__ = True
        _check_shape("block", block, 3)
        _check_shape("grid", grid, 2)
        parameters.check(arguments, self.parameters, self.name)
        return super().__call__(*arguments, block=block, grid=grid, **options)

    def without_optimisation(self):
        """The same kernel, compiled with -G."""
        if self._plain is None:
            options = [*self.arguments["options"], "-G"]
            self._plain = _kernel(self.name, self.source, {**self.arguments, "options": options})
        return self._plain

    def __repr__(self):
        declared = "..." if self.parameters is None else ", ".join(p.text for p in self.parameters)
        return f"<kernel {self.name}({declared})>"


def _check_shape(what, shape, least):
    """PyCUDA takes tuples of int: three numbers for a block, two or three for a grid."""
    if type(shape) is tuple and least <= len(shape) <= 3 and all(type(n) is int for n in shape):
        return
    if shape is None:
        raise TypeError("no block: say how many threads it has, such as block=(256, 1, 1)")
    numbers = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if len(numbers) > 3 or not all(isinstance(n, (int, float, np.number)) for n in numbers):
        raise TypeError(f"{what}={shape!r}: give whole numbers, such as {(256, 1, 1)[:least]}")
    whole = tuple(-int(-n // 1) for n in numbers) + (1,) * (least - len(numbers))
    wrong = "is not whole" if whole[: len(numbers)] != numbers else "is not a tuple of int"
    if isinstance(shape, tuple) and len(shape) < least:
        wrong = f"has too few numbers for PyCUDA, which takes {least}"
    raise TypeError(f"{what}={shape!r} {wrong}: write {what}={whole}")
