"""What the course reads of the compilers' English, which is all here: nvcc and ptxas number their
warnings, but not their errors."""

import re

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
    r'expression must have (arithmetic|integral)|to an entity of type "[^"]*\*"': Next.ONE_ELEMENT,
    r'operand of "\*" must be a pointer': Next.NO_POWERS,
    r'no instance of overloaded function "atomic': Next.ATOMIC_ADDRESS,
    r'expected a ";"': Next.SEMICOLON,
}


def advice(error: str, text: str) -> Said:
    """What to do about the mistake that the compiler found in a text."""
    if PYTHON.search(text):
        return Next.CUDA_ALONE()
    if TOO_MUCH_SHARED in error:
        return Next.LESS_SHARED()
    if "iostream" in text or re.search(r"\bcout\b", text):
        return Next.USE_PRINTF()
    if unknown := UNDEFINED.search(error):
        if re.search(rf"^\s*(for *\()?{unknown[1]} = ", text, re.MULTILINE):
            return Next.TYPE_FIRST(name=unknown[1])
    found = (code for pattern, code in MISTAKES.items() if re.search(pattern, error))
    return next(found, Next.FIX_FIRST)()
