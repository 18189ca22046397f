"""What the course reads of the compilers' English, which is all here: nvcc and ptxas number their
warnings, but not their errors."""

import re
from difflib import get_close_matches

from softgpu.phrases import Said

from .words import Next

__all__ = ["ERROR", "INCLUDE", "REMARK", "SUCCEEDED", "advice"]

ERROR = re.compile(r"^.*\berror\b.*$(?:\n(?!.*\b(?:error|warning)\b).+){0,2}", re.MULTILINE)
INCLUDE = re.compile(r"^\S*\.cu:(\d+):\d+: fatal (error: .*)\n(.*\n)*", re.MULTILINE)
REMARK = re.compile(r"\n*^Remark: .*\n*", re.MULTILINE)
SUCCEEDED = "The CUDA compiler succeeded, but said the following:\n"  # PyCUDA
PYTHON = re.compile(r"^(%%?\w|import |from \w+ import |def \w+\(.*\):$)", re.MULTILINE)
TOO_MUCH_SHARED = "too much shared data"  # ptxas
UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')
MISTAKES = {
    r'must have (arithmetic|integral)|(value|entity) of type "[^"]*\*"': Next.ONE_ELEMENT,
    r'operand of "\*" must be a pointer': Next.NO_POWERS,
    r'no instance of overloaded function "atomic': Next.ATOMIC_ADDRESS,
    r'expected a ";"': Next.SEMICOLON,
    r'expected a "\("': Next.PARENTHESES,
    r"\b(dim3|uint3)\b": Next.ADD_X,
    r"modifiable lvalue": Next.READ_ONLY,
    r"return value type": Next.RETURNS_NOTHING,
    r"apparent call": Next.SQUARE_BRACKETS,
    r"must have class type": Next.NO_MEMBERS,
    r"user-defined literal": Next.WRITE_TIMES,
    r"already been declared": Next.DECLARE_ONCE,
    r'"#" not expected': Next.COMMENT,
}
IN_C = {
    "True": "true", "False": "false", "None": "nullptr", "elif": "else if", "print": "printf(...)",
    "np": "sqrtf, expf, fmaxf",
}  # fmt: skip
BUILT_IN = "threadIdx blockIdx blockDim gridDim __syncthreads __syncwarp atomicAdd".split()


def advice(error: str, text: str = "") -> Said | None:
    """What to do about the mistake that the compiler found in a text, if it is a usual one."""
    if PYTHON.search(text):
        return Next.CUDA_ALONE()
    if TOO_MUCH_SHARED in error:
        return Next.LESS_SHARED()
    if "iostream" in text or re.search(r"\bcout\b", text):
        return Next.USE_PRINTF()
    if unknown := UNDEFINED.search(error):
        return _of_undefined(unknown[1], text)
    found = (code for pattern, code in MISTAKES.items() if re.search(pattern, error))
    return code() if (code := next(found, None)) else None


def _of_undefined(name: str, text: str) -> Said:
    if name in IN_C:
        return Next.IN_C(name=name, c=IN_C[name])
    if re.search(rf"^\s*(for *\()?{name} = ", text, re.MULTILINE):
        return Next.TYPE_FIRST(name=name)
    known = sorted({*BUILT_IN, *re.findall(r"\w+", text)} - {name})
    in_case = [other for other in known if other.lower() == name.lower()]
    for near in in_case or get_close_matches(name, known, 1, cutoff=0.8):
        return Next.MEANT(name=near)
    return Next.DECLARE(name=name)
