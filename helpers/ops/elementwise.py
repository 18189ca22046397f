"""Elementwise operations on two arrays, by the kernels of cuda_src/elementwise."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from pycuda.gpuarray import GPUArray

from .. import shapes, sources
from . import layout
from .arrays import check, element_strides, is_contiguous, kind, overlap, signature
from .launch import Form, Kept, KernelCall, address, multiprocessors, workspace

__all__ = [
    "add",
    "divide",
    "equal",
    "fmod",
    "greater",
    "greater_equal",
    "isclose",
    "less",
    "less_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "not_equal",
    "power",
    "prelu",
    "subtract",
]

FLOATS = "float16", "float32", "float64"
NUMBERS = *FLOATS, "int8", "int32", "int64"
ALL = *NUMBERS, "bool"
ORDERS = "NCHW", "NHWC"
WAVES = 4  # of blocks, at least, for threads to handle several packs each
BLOCKS_AT_A_TIME = 8  # on a multiprocessor
NO_NUMBERS = np.zeros(1, np.int8)  # an operator without members is one byte

prepared = Kept()


@dataclass(frozen=True, eq=False)
class Operation:
    """The operation applied to each pair of elements."""

    name: str
    op: str  # of operators.cuh
    types: tuple  # of the operands
    result: str | None = None  # its type; None: that of the operands
    scaled: Callable[..., tuple] = tuple  # (s0, s1, so) -> what Scaled or Rescaled holds

    def operator(self, dtype, parameters):
        """Return the C++ operator for operands of this type, and its numbers as an argument."""
        if self.op == "IsClose":
            wide = {"float16": "float32", "float32": "float32"}.get(dtype.name, "float64")
            fields = [("rtol", wide), ("atol", wide), ("equal_nan", np.int32)]
            numbers = np.array(parameters, np.dtype(fields, align=True))
            return f"IsClose<{sources.C_NAMES[wide]}>", numbers
        if not parameters:
            return self.op, NO_NUMBERS
        if dtype != np.int8:
            raise TypeError(f"scales are of int8 arrays, these are {dtype}: leave scales out")
        with np.errstate(over="ignore"):
            scales = np.array(self.scaled(*parameters), np.float32)
        if not (np.isfinite(scales) & (scales > 0)).all():
            raise ValueError(f"scales {parameters}: their quotients do not fit float32")
        return f"{'Scaled' if len(scales) == 2 else 'Rescaled'}<{self.op}>", scales


def _scales(scales):
    """Check for three positive finite numbers."""
    try:
        found = tuple(float(scale) for scale in scales)
    except (TypeError, ValueError):
        found = ()
    if len(found) != 3 or not all(0 < scale < np.inf for scale in found):
        raise ValueError(
            f"scales {scales!r}: expected three positive finite numbers, of a, of b, of the result"
        )
    return found


def run(operation, a, b, out, stream, order, parameters=()):
    """Queue an operation on a stream and return its result (out, if given)."""
    room = workspace(stream)
    (a_kind, a_word), (b_kind, b_word) = kind(a), kind(b)
    told = None if out is None else signature(out)
    key = operation, order, parameters, a_kind, b_kind, told, room.context
    call = prepared.get(key)
    if call is None:
        call = prepared[key] = _prepare(operation, a, b, out, order, parameters)
    form, start, a_value, b_value = call
    if out is None:
        out = form.new(a if a_value is None else b, room)
    else:
        _refuse_overlap(out, a, b)
    if start:
        a_word = a_value(a) if a_value else a_word
        b_word = b_value(b) if b_value else b_word
        start(stream, (a_word, b_word, out.gpudata.__int__()))
    return out


def _refuse_overlap(out, a, b):
    """Raise if out shares memory with an input, unless it is that input, element for element."""
    for name, x in ("a", a), ("b", b):
        if not isinstance(x, GPUArray) or not x.size:
            continue
        lies = address(x), x.shape, x.strides
        if lies != (address(out), out.shape, out.strides) and overlap(out, x):
            raise ValueError(
                f"out overlaps {name} without being the same array: give another, or leave it out"
            )


def _prepare(operation, a, b, out, order, parameters):
    """Prepare calls of this kind: return a Form for the result, a KernelCall (None without
    elements), and for each operand an encoder if it is a number, else None."""
    dtype = _common_type(operation, a, b)
    if order not in ORDERS:
        raise ValueError(f"layout {order!r}: expected {' or '.join(map(repr, ORDERS))}")
    shape = shapes.broadcast(*(x.shape for x in (a, b) if isinstance(x, GPUArray)))
    result = np.dtype(operation.result or dtype)
    strides = _result_strides(shape, order)
    op, numbers = operation.operator(dtype, parameters)
    if out is not None:
        _check_out(out, shape, result)
        strides = element_strides(out)
    form = Form(shape, result, tuple(result.itemsize * step for step in strides))
    values = [None if isinstance(x, GPUArray) else _encoder(dtype) for x in (a, b)]
    if values[1] and operation.op == "Power" and dtype.kind == "i":
        values[1] = _natural(values[1])
    if not form.attributes["size"]:
        return form, None, *values
    left, right = (_operand(x, shape, dtype) for x in (a, b))
    place = 0 if out is None else address(out) % 16
    target = layout.Operand(strides, result.itemsize, place)
    choices = {"T": dtype, "Out": result, "Op": op}
    many = layout.EACH * WAVES * BLOCKS_AT_A_TIME * layout.BLOCK * multiprocessors()
    chosen = layout.choose(shape, left, right, target, choices, numbers, many)
    return form, KernelCall(*chosen), *values


def _common_type(operation, a, b):
    """Return the type of both operands."""
    arrays = [(name, x) for name, x in (("a", a), ("b", b)) if isinstance(x, GPUArray)]
    if not arrays:
        raise TypeError(
            f"{operation.name} of {type(a).__name__} and {type(b).__name__}: at least one must be a"
            " pycuda GPUArray"
        )
    for name, x in arrays:
        dtype = check(x, operation.types, f"{operation.name}: {name}")
    if len({x.dtype for name, x in arrays}) > 1:
        raise TypeError(
            f"{operation.name} of {a.dtype} and {b.dtype}: both must have one type; write"
            f" b.astype(np.{a.dtype.name}) or a.astype(np.{b.dtype.name})"
        )
    for name, x in ("a", a), ("b", b):
        if not isinstance(x, GPUArray):
            _check_number(operation, name, x, dtype)
    return dtype


def _check_number(operation, name, x, dtype):
    """Raise unless NumPy accepts the number without changing the array's type."""
    if isinstance(x, np.generic):
        fits, kind = x.dtype == dtype, str(x.dtype)
    else:
        ranks = {bool: "biuf", int: "iuf", float: "f"}
        fits, kind = dtype.kind in ranks.get(type(x), ""), type(x).__name__
    if not fits:
        other = "b" if name == "a" else "a"
        known = isinstance(x, (np.generic, bool, int, float))
        wanted = np.result_type(x, dtype).name if known else "…"
        raise TypeError(
            f"{operation.name}: {name} is {kind}, {other} an array of {dtype}: "
            + (f"write {other}.astype(np.{wanted}), or give a number that {dtype} holds" if known
               else "expected a pycuda GPUArray or a number")
        )  # fmt: skip


def _encoder(dtype):
    """Return a function that encodes a number as the 8 bytes that a kernel takes in place of an
    address."""
    return lambda value: int.from_bytes(np.array(value, dtype).tobytes(), "little")


def _natural(encode):
    """Return an encoder for the exponent of an integer power."""

    def encode_natural(value):
        if value < 0:
            raise ValueError(
                f"power {value} of integers: they have no negative ones; write a.astype(np.float64)"
            )
        return encode(value)

    return encode_natural


def _operand(x, shape, dtype):
    if not isinstance(x, GPUArray):
        return layout.Operand((0,) * len(shape), dtype.itemsize)
    strides = shapes.broadcast_strides(x.shape, element_strides(x), shape)
    return layout.Operand(strides, dtype.itemsize, address(x) % 16)


def _result_strides(shape, order):
    """Return a new result's strides, in elements."""
    if order == "NCHW":
        return shapes.contiguous_strides(shape)
    if len(shape) != 4:
        raise ValueError(f"layout 'NHWC' is of four dimensions, N, C, H, W; the result has {shape}")
    batch, channels, height, width = shape
    return height * width * channels, 1, width * channels, channels


def _check_out(out, shape, dtype):
    """Raise unless out has the result's shape and type, and a separate location for each
    element."""
    check(out, [dtype.name], "out")
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}, the result {shape}")
    merged, steps = shapes.merge(*shapes.permute(shape, element_strides(out)))
    reach = 0  # extent of the dimensions inside this one
    for size, step in zip(reversed(merged), reversed(steps)):
        if abs(step) <= reach:
            raise ValueError(f"out with strides {out.strides} has elements in one place")
        reach += abs(step) * (size - 1)


COPY = Operation("copy", "First", (*ALL, "uint8", "uint16"))


def copy(x, stream=None):
    """Return a contiguous copy of x."""
    return run(COPY, x, x.dtype.type(0), None, stream, "NCHW")


def contiguous(x, stream=None):
    """Return x, or a contiguous copy of it."""
    return x if is_contiguous(x) else copy(x, stream)


def _operator(name, op, says, types=ALL, result=None, scaled=None):
    """Define a public function of two arrays, which may be int8 with scales if `scaled` says what
    these do."""
    operation = Operation(name, op, types, result, scaled or tuple)

    def function(a, b, out=None, stream=None, layout="NCHW"):
        return run(operation, a, b, out, stream, layout)

    def scalable(a, b, out=None, stream=None, scales=None, layout="NCHW"):
        parameters = () if scales is None else _scales(scales)
        return run(operation, a, b, out, stream, layout, parameters)

    found = scalable if scaled else function
    found.__name__ = found.__qualname__ = name
    found.__doc__ = says
    return found


def _linear(s0, s1, so):
    return s0 / so, s1 / so


add = _operator("add", "Add", "a + b; of bool a or b.", scaled=_linear)
subtract = _operator("subtract", "Subtract", "a - b.", NUMBERS, scaled=_linear)
multiply = _operator(
    "multiply",
    "Multiply",
    "a * b; of bool a and b.",
    scaled=lambda s0, s1, so: (1, 1, s0 * s1 / so),
)
divide = _operator(
    "divide",
    "Divide",
    """a / b. Integers stay integers, rounded down as by NumPy's floor_divide, so that
    a == divide(a, b) * b + mod(a, b); by zero they give 0.""",
    NUMBERS,
    scaled=lambda s0, s1, so: (1, 1, s0 / (s1 * so)),
)
maximum = _operator("maximum", "Maximum", "The greater; NaN if either is.", scaled=_linear)
minimum = _operator("minimum", "Minimum", "The lesser; NaN if either is.", scaled=_linear)
power = _operator(
    "power",
    "Power",
    """a to the power of b. Integers are exact and wrap; one to a negative power, which NumPy
    refuses, is rounded towards zero, and 0 of 0. A negative number b is refused here, too.""",
    NUMBERS,
    scaled=lambda s0, s1, so: (s0, s1, 1 / so),
)
prelu = _operator(
    "prelu",
    "PRelu",
    "a where it is positive, else a * b.",
    NUMBERS,
    scaled=lambda s0, s1, so: (s0 / so, s1),
)
mod = _operator(
    "mod", "Mod", "What division leaves, with b's sign; of integers by zero 0.", NUMBERS
)
fmod = _operator(
    "fmod", "Fmod", "What division leaves, with a's sign; of integers by zero 0.", NUMBERS
)
logical_and = _operator("logical_and", "LogicalAnd", "Whether both are not 0.", result="bool")
logical_or = _operator("logical_or", "LogicalOr", "Whether either is not 0.", result="bool")
logical_xor = _operator("logical_xor", "LogicalXor", "Whether just one is not 0.", result="bool")
equal = _operator("equal", "Equal", "a == b.", result="bool")
not_equal = _operator("not_equal", "NotEqual", "a != b.", result="bool")
greater = _operator("greater", "Greater", "a > b.", result="bool")
greater_equal = _operator("greater_equal", "GreaterEqual", "a >= b.", result="bool")
less = _operator("less", "Less", "a < b.", result="bool")
less_equal = _operator("less_equal", "LessEqual", "a <= b.", result="bool")
IS_CLOSE = Operation("isclose", "IsClose", ALL, "bool")


def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False, out=None, stream=None, layout="NCHW"):
    """Whether |a - b| <= atol + rtol * |b|; equal infinities are close, and NaN if equal_nan.

    float16 is compared in float32, integers and bool in float64."""
    parameters = float(rtol), float(atol), bool(equal_nan)
    return run(IS_CLOSE, a, b, out, stream, layout, parameters)
