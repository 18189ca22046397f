"""What a kernel declares, read from its CUDA text, and what is wrong with arguments for it."""

import re
from dataclasses import dataclass

import numpy as np

__all__ = ["Parameter", "check", "names", "parameters"]

C_TYPES = {
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "long": "int64",
    "long long": "int64",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    "half": "float16",
    "__half": "float16",
    "float": "float32",
    "double": "float64",
} | {f"{name}_t": name for name in ("int8", "uint8", "int32", "uint32", "int64", "uint64")}
KERNEL = re.compile(r"__global__\b[^;{}]*?\b(\w+)\s*\(([^()]*)\)\s*\{")
QUALIFIERS = r"\b(?:const|volatile|__restrict__|__restrict)\b"


@dataclass(frozen=True)
class Parameter:
    """One parameter as the kernel declares it."""

    text: str  # "float *out"
    is_pointer: bool
    dtype: np.dtype | None  # of the number or of what the pointer leads to; None: not a plain one


def _without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def names(text):
    """The kernels that a CUDA text defines, in order."""
    return [match[1] for match in KERNEL.finditer(_without_comments(text))]


def parameters(text, kernel):
    """The Parameters of a kernel in a CUDA text, or None if they cannot be read off."""
    text = _without_comments(text)
    aliases = dict(re.findall(r"\busing\s+(\w+)\s*=\s*([^;]+);", text))
    found = [match[2] for match in KERNEL.finditer(text) if match[1] == kernel]
    if len(found) != 1 or "#" in found[0]:
        return None
    between_angles = r",(?![^<>]*>)"
    pieces = re.split(between_angles, found[0]) if found[0].strip() not in ("", "void") else []
    read = [_parameter(" ".join(piece.split()), aliases) for piece in pieces]
    return None if None in read else tuple(read)


def _parameter(text, aliases):
    found = re.fullmatch(r"(.*?[\s*])\w+\s*(\[\w*\])?", text)
    if not found:
        return None
    words = re.sub(QUALIFIERS, " ", found[1])
    base = " ".join(words.replace("*", " ").split())
    while base in aliases:
        base = aliases[base].strip()
    dtype = C_TYPES.get(base) if words.count("*") <= 1 else None
    return Parameter(
        text=re.sub(r"\* ", "*", " ".join(re.sub(QUALIFIERS, " ", text).split())),
        is_pointer="*" in words or found[2] is not None,
        dtype=np.dtype(dtype) if dtype else None,
    )


def check(arguments, declared=None, kernel="the kernel"):
    """Refuse arguments that PyCUDA would refuse, or that are not what the kernel declares.

    declared: the kernel's Parameters; None if they are not known."""
    if declared is not None and len(arguments) != len(declared):
        plural = "" if len(declared) == 1 else "s"
        takes = f" ({', '.join(p.text for p in declared)})" if declared else ""
        raise TypeError(
            f"{kernel} takes {len(declared)} argument{plural}{takes}, not {len(arguments)}"
        )
    for number, argument in enumerate(arguments):
        parameter = declared[number] if declared is not None else None
        if problem := _problem(argument, parameter):
            where = f" ({parameter.text})" if parameter else ""
            raise TypeError(f"argument {number + 1}{where} {problem}")


def _problem(argument, parameter):
    """What is wrong with an argument and what to pass in its place; None: nothing."""
    if isinstance(argument, (bool, int, float, np.bool_)):
        return _python_number(argument, parameter)
    if parameter is None or parameter.dtype is None:
        return None
    dtype = parameter.dtype
    if isinstance(argument, np.generic):
        if parameter.is_pointer:
            is_address = argument.itemsize == 8 and argument.dtype.kind in "iu"
            return None if is_address else f"is a number of type {argument.dtype}: pass an array"
        fits = _alike(argument.dtype, dtype)
        return None if fits else f"is of type {argument.dtype}: pass np.{dtype}({argument})"
    array = getattr(argument, "array", argument)  # of driver.In and its kin
    found = getattr(array, "dtype", None)
    if not parameter.is_pointer:
        return f"is no number: pass np.{dtype}(...)" if found is None or array.ndim else None
    if _is_on_host(argument):
        return "is a NumPy array, on the host: send it over with gpuarray.to_gpu(...)"
    if found is None or _alike(found, dtype):
        return None
    return f"is an array of {found}: send one of {dtype}, x.astype(np.{dtype})"


def _is_on_host(argument):
    """Whether it is a NumPy array in memory that kernels do not see."""
    return isinstance(argument, np.ndarray) and not hasattr(argument.base, "get_device_pointer")


def _alike(a, b):
    """Whether numbers of the two types have one layout; signs may differ."""
    whole = "iub"
    return a.itemsize == b.itemsize and (a.kind == b.kind or (a.kind in whole and b.kind in whole))


def _python_number(argument, parameter):
    name = type(argument).__name__.rstrip("_")
    kind = "bool" if name == "bool" else f"Python {name}"
    if parameter is not None and parameter.is_pointer:
        return f"is a {kind}: pass an array"
    if parameter is not None and parameter.dtype is not None:
        dtype = "int8" if parameter.dtype == bool else parameter.dtype
    elif name == "int" and not -(1 << 31) <= argument < 1 << 31:
        return f"is a {kind}: pass np.int64({argument}) or, for an address, the array"
    else:
        dtype = {"bool": "int8", "float": "float32", "int": "int32"}[name]
    value = argument if np.dtype(dtype).kind == "f" else int(argument)
    return f"is a {kind}: pass np.{dtype}({value})"
