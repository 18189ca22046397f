"""What a kernel declares, and what is wrong with arguments for it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Parameter", "check", "parameters"]


@dataclass(frozen=True)
class Parameter:
    """One parameter as the kernel declares it."""

    text: str  # "float *out"
    is_pointer: bool
    dtype: np.dtype | None  # of the number or of what the pointer leads to; None: not a plain one


def parameters(declarations: Any, kernel: str) -> Any:
    """The Parameters of a kernel by softgpu's Declarations, or None if they cannot be read off."""
    found = declarations.parameters(kernel)
    return None if found is None else tuple(_parameter(declarations, p) for p in found)


def _parameter(declarations: Any, declared: Any) -> Any:
    extent = declarations.extent(declared.target if declared.is_pointer else declared.type)
    plain = extent and extent.dtype and not declared.target.endswith("*")
    if plain and not declared.is_pointer:
        plain = extent.bytes == np.dtype(extent.dtype).itemsize  # and no float4
    dtype = np.dtype(extent.dtype) if plain else None
    return Parameter(declared.text, declared.is_pointer, dtype)


class ArgumentError(TypeError):
    """An argument that a kernel does not take: what is wrong with it, and what to do."""

    def __init__(self, problem: str, to_do: str = ""):
        super().__init__(f"{problem}: {to_do}" if to_do else problem)
        self.problem = problem


def check(arguments: Any, declared: Any = None, kernel: str = "the kernel") -> None:
    """Refuse arguments that PyCUDA would refuse, or that are not what the kernel declares.

    declared: the kernel's Parameters; None if they are not known."""
    if declared is not None and len(arguments) != len(declared):
        plural = "" if len(declared) == 1 else "s"
        takes = f" ({', '.join(p.text for p in declared)})" if declared else ""
        raise ArgumentError(
            f"{kernel} takes {len(declared)} argument{plural}{takes}, not {len(arguments)}"
        )
    for number, argument in enumerate(arguments):
        parameter = declared[number] if declared is not None else None
        if problem := _problem(argument, parameter):
            where = f" ({parameter.text})" if parameter else ""
            raise ArgumentError(f"argument {number + 1}{where} {problem[0]}", problem[1])


def _problem(argument: Any, parameter: Any) -> tuple[str, str] | None:
    """(what is wrong with an argument, what to pass in its place); None: nothing."""
    if type(argument) in (bool, int, float, np.bool_):
        return _python_number(argument, parameter)
    if argument is None:
        return "is None", "pass an array, or np.uintp(0) for a null pointer"
    if isinstance(argument, (str, bytes, list, tuple, dict, set, range)):
        name = type(argument).__name__
        return f"is a {name}", "pass a NumPy number, or an array with gpuarray.to_gpu(...)"
    if parameter is None or parameter.dtype is None:
        return None
    dtype = parameter.dtype
    if isinstance(argument, np.generic):
        if parameter.is_pointer:
            is_address = argument.itemsize == 8 and argument.dtype.kind in "iu"
            problem = f"is a number of type {argument.dtype}", "pass an array"
            return None if is_address else problem
        problem = f"is of type {argument.dtype}", f"pass np.{dtype}({argument})"
        return None if _alike(argument.dtype, dtype) else problem
    array = getattr(argument, "array", argument)  # of driver.In and its kin
    found = getattr(array, "dtype", None)
    if not parameter.is_pointer:
        problem = "is no number", f"pass np.{dtype}(...)"
        return problem if found is None or array.ndim else None
    if _is_on_host(argument):
        return "is a NumPy array, on the host", "send it over with gpuarray.to_gpu(...)"
    if found is None or found.kind == "V" or dtype.itemsize == 1:  # bytes may stand for anything
        return None
    if _alike(np.dtype(f"f{found.itemsize // 2}") if found.kind == "c" else found, dtype):
        return None
    same_bytes = f", or x.view(np.{dtype}) for its bytes" * (array.nbytes % dtype.itemsize == 0)
    return f"is an array of {found}", f"pass x.astype(np.{dtype}){same_bytes}"


def _is_on_host(argument: Any) -> bool:
    """Whether it is a NumPy array in memory that kernels do not see."""
    return isinstance(argument, np.ndarray) and not hasattr(argument.base, "get_device_pointer")


def _alike(a: Any, b: Any) -> bool:
    """Whether numbers of the two types have one layout; signs may differ."""
    whole = "iub"
    return a.itemsize == b.itemsize and (a.kind == b.kind or (a.kind in whole and b.kind in whole))


def _python_number(argument: Any, parameter: Any) -> tuple[str, str]:
    name = type(argument).__name__.rstrip("_")
    kind = "bool" if name == "bool" else f"Python {name}"
    if parameter is not None and parameter.is_pointer:
        return f"is a {kind}", "pass an array"
    if parameter is not None and parameter.dtype is not None:
        dtype = "int8" if parameter.dtype == bool else parameter.dtype
    elif name == "int" and not -(1 << 31) <= argument < 1 << 31:
        return f"is a {kind}", f"pass np.int64({argument}) or, for an address, the array"
    else:
        dtype = {"bool": "int8", "float": "float32", "int": "int32"}[name]
    value = argument if np.dtype(dtype).kind == "f" else int(argument)
    return f"is a {kind}", f"pass np.{dtype}({value})"
