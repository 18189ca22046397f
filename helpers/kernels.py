"""A kernel as PyCUDA has it, which also knows what it declares and says what a launch lacks."""

import ctypes
import re
import warnings
from contextlib import contextmanager, suppress

import numpy as np

from softgpu import cache
from softgpu.declarations import Declarations, short_name

from . import autoinit  # noqa: F401  (PyCUDA binds to the driver that autoinit chooses)
from .language import told
from .nvcc_says import ERROR, INCLUDE, REMARK, SUCCEEDED, advice
from .warned import CompilerWarning

from softgpu.xray import parameters  # isort: skip
from pycuda.driver import Function, LogicError  # isort: skip

__all__ = [
    "CompileError",
    "CompilerWarning",
    "Kernel",
    "NoKernel",
    "SeveralFound",
    "compile",
]

NOT_FOUND = 500  # CUresult
ENTRY = re.compile(rb"(?:\.entry\s+|\.text\.)(\w+)")  # in PTX, and in machine code


class CompileError(RuntimeError):
    """The first mistake that the compiler found: where, what, and the line with a caret."""

    def __init__(self, report):
        errors = ERROR.findall(REMARK.sub("\n", report)) or [report.strip()]
        self.report = report
        more = len(re.findall(r"\berror:", report)) - 1
        first, *place = errors[0].splitlines()
        also = f" ({more} more may follow from it)" if more > 0 else ""
        super().__init__("\n".join([first + also, *place]))

    def _render_traceback_(self):
        """What IPython shows: the mistake is in the CUDA text, not in the Python that led here."""
        found = advice(str(self))
        return [*str(self).splitlines(), *([told(found)] if found else [])]


class NoKernel:
    """What a name stands for whose cell failed, or defines another kernel now: it says why.

    source: the cell's text; is_compiled: whether nothing but the name is amiss."""

    def __init__(self, name, source, error):
        self.name, self.source = name, source
        self.is_compiled = isinstance(error, LookupError)
        where = re.sub(r"^kernel\.cu\((\d+)\): error: ", r"line \1: ", str(error))
        self.why = where if self.is_compiled else f"not compiled: {where}"

    def __call__(self, *arguments, **options):
        raise CompileError(f"{self.name} is no kernel: {self.why}")

    def __repr__(self):
        return f"<no kernel {self.name}: {self.why}>"


class SeveralFound(LookupError):
    """A text has several kernels of one name. names: what they are called in C++."""

    def __init__(self, kernel, names):
        self.names = names
        super().__init__(f"the source has several kernels named {kernel!r}")


def compile(kernel, source, file, options, include_dirs, arch=None):
    """The Kernel of that name in a CUDA text; file: what the compiler calls it, or ""; arch: for
    which GPUs, unless for the one at hand.

    It is extern "C", as PyCUDA wants it, or of any other form that C++ has."""
    line = f'#line 1 "{file}"' if file else "#line 1"
    arguments = {"options": options, "include_dirs": include_dirs, "no_extern_c": True}
    arguments |= {"arch": arch} if arch else {}
    linked = {**arguments, "source": f"{line}\n{_linked(source, kernel)}"}
    with suppress(CompileError, LookupError):
        return _kernel(kernel, source, linked)
    arguments["source"] = f"{line}\n{source}"
    said: list[str] = []
    return _kernel(_in_cpp(kernel, source, arguments, said), source, arguments, said)


def _in_cpp(kernel, source, arguments, said):
    """What a kernel of that name is called in what its text compiles to."""
    from pycuda.compiler import compile as compiled

    with _compiling(arguments, said):
        code = compiled(**arguments).partition(b"\n//@ ")[0]
    names = dict.fromkeys(name.decode() for name in ENTRY.findall(code))
    found = [name for name in names if short_name(name).partition("<")[0] == kernel]
    if len(found) > 1:
        raise SeveralFound(kernel, found)
    if not found:
        has = ", ".join(Declarations(source).kernels) or "none"
        raise LookupError(f"the source has no kernel named {kernel!r}; it has {has}")
    return found[0]


@contextmanager
def _compiling(arguments, said):
    """Errors of the compiler are CompileErrors; what it says of a text that it takes is kept. Of
    several processes that want the same, one compiles, and the others find it in PyCUDA's cache."""
    from pycuda.driver import CompileError as Failed

    try:
        one = cache.alone(cache.key(map(str, arguments.values())))
        with one, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    except Failed as error:
        raise CompileError(_words(error.stderr) + _words(error.stdout)) from None
    for warning in caught:
        words = str(warning.message).removeprefix(SUCCEEDED)
        said.append(REMARK.sub("\n", words))


def _is_not_found(error):
    """Whether an error of PyCUDA's has the driver's text for a name that the module lacks."""
    text = ctypes.c_char_p()
    ctypes.CDLL("libcuda.so.1").cuGetErrorString(NOT_FOUND, ctypes.byref(text))
    return (text.value or b"").decode() in str(error)


def _kernel(kernel, source, arguments, said=None):
    from pycuda.compiler import SourceModule

    said = said or []
    with _compiling(arguments, said):
        module = SourceModule(**arguments)
    try:
        function = module.get_function(kernel)
    except LogicError as error:
        if not _is_not_found(error):
            raise
        raise LookupError(kernel) from None
    function.__class__ = Kernel
    function.name, function.source, function.arguments = kernel, source, arguments
    function.module, function.said = module, "".join(said)
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
    """PyCUDA's function; a launch that cannot be right raises one sentence that says why.

    name, source: the kernel's name, as compiled, and CUDA text; arguments: what its module, a
    SourceModule, took; parameters: what the kernel declares, None if that cannot be read off;
    said: the compiler's warnings; instead: a NoKernel, if its cell may no longer define it."""

    said = ""
    instead = None
    _plain = None  # without optimisation

    def __call__(self, *arguments, block=None, grid=(1, 1), **options):
        __tracebackhide__ = True
        _check_shape("block", block, 3)
        _check_shape("grid", grid, 2)
        parameters.check(arguments, self.parameters, short_name(self.name))
        return super().__call__(*arguments, block=block, grid=grid, **options)

    def without_optimisation(self):
        """The same kernel, compiled with -G."""
        if self._plain is None:
            options = [*self.arguments["options"], "-G"]
            self._plain = _kernel(self.name, self.source, {**self.arguments, "options": options})
        return self._plain

    def __repr__(self):
        declared = "..." if self.parameters is None else ", ".join(p.text for p in self.parameters)
        return f"<kernel {short_name(self.name)}({declared})>"


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
