"""Forms: one PTX instruction emitted exactly as written, or one C++ expression, over many operands.

The C++ compiler decides how a C++ expression becomes instructions; inline assembly leaves it no
choice. Forms with the same operands share a kernel, and kernels share a module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from .case import Case, Kernel, Module
from .inputs import SIZES, values
from .rules import BITS, Rule

__all__ = ["Form", "expression", "form", "modules", "spell"]

_PER_KERNEL = 12  # forms that share one kernel's loads

# an operand: its type in C, its constraint in inline assembly, its NumPy type, its input values
_C = {
    "8": ("unsigned char", "", "u1", "8"),
    "16": ("unsigned short", "h", "u2", "16"),
    "32": ("unsigned", "r", "u4", "32"),
    "64": ("unsigned long long", "l", "u8", "64"),
    "s32": ("int", "r", "u4", "32"),
    "s64": ("long long", "l", "u8", "64"),
    "f32": ("float", "f", "u4", "f32"),
    "f64": ("double", "d", "u8", "f64"),
    "f16": ("unsigned short", "h", "u2", "f16"),
    "bf16": ("unsigned short", "h", "u2", "bf16"),
    "f16x2": ("unsigned", "r", "u4", "f16x2"),
    "bf16x2": ("unsigned", "r", "u4", "bf16x2"),
    "half": ("__half", "", "u2", "f16"),
    "half2": ("__half2", "", "u4", "f16x2"),
    "bfloat16": ("__nv_bfloat16", "", "u2", "bf16"),
    "bfloat162": ("__nv_bfloat162", "", "u4", "bf16x2"),
    "pred": ("unsigned", "r", "u1", ""),
}


@dataclass(frozen=True)
class Form:
    """`code` computes %0 (an `out`) from %1, %2 ... (its `ins`); C++: d from x, y ..."""

    name: str
    code: str
    out: str
    ins: tuple[str, ...]
    rule: Rule
    assembly: bool = True


def form(
    spelling: str, out: str, *ins: str, assembly: str = "", rule: Rule = BITS, note: str = ""
) -> Form:
    """A form; without `assembly` it is `spelling %0, %1, ...`, a predicate result stored as 0/1."""
    if not assembly:
        operands = ", ".join(f"%{n}" for n in range(1, len(ins) + 1))
        if out == "pred":
            assembly = f"{{ .reg .pred p; {spelling} p, {operands}; selp.u32 %0, 1, 0, p; }}"
        else:
            assembly = f"{spelling} %0, {operands};"
    return Form(f"{spelling} {note}".strip(), assembly, out, ins, rule)


def expression(code: str, out: str, *ins: str, rule: Rule = BITS) -> Form:
    """A C++ expression of x, y, z, w, the operands; a statement may assign its result to d."""
    return Form(f"{code} ({', '.join(ins)})", code, out, ins, rule, assembly=False)


def spell(pattern: str, **choices: str) -> Iterable[str]:
    """Every spelling of a pattern: spell("add.{t}", t="u32 s32"); "-" stands for nothing."""
    spellings = [pattern]
    for name, words in choices.items():
        texts = ["" if word == "-" else word for word in words.split()]
        spellings = [s.replace(f"{{{name}}}", t) for s in spellings for t in texts]
    return spellings


def _statement(f: Form, operands: str) -> str:
    if f.assembly:
        return f'asm volatile("{f.code}" : "={_C[f.out][1]}"(d) : {operands});'
    return f.code if f.code.endswith(";") else f"d = {f.code};"


def _kernel(family: str, entry: str, forms: list[Form]) -> Kernel:
    ins = forms[0].ins
    count = SIZES[len(ins)]
    inputs, parameters, loads, operands = [], "", "", []
    for n, (x, spec) in enumerate(zip("xyzw", ins)):
        base, colon, meaning = spec.partition(":")
        c, mark, _, words = _C[base]
        inputs.append(values(words + colon + meaning, n, len(ins), count))
        parameters += f", const {c} *{x}_in"
        loads += f"  {c} {x} = {x}_in[i];\n"
        operands.append(f'"{mark}"({x})')
    cases = tuple(Case(f"{family}/{f.name}", _C[f.out][2], count, f.rule) for f in forms)
    body, offset = "", 0
    for f, case in zip(forms, cases):
        c = _C[f.out][0]
        store = "unsigned char" if f.out == "pred" else c
        body += f"  {{ {c} d; {_statement(f, ', '.join(operands))}"
        body += f" (({store} *)(out + {offset}))[i] = d; }}\n"
        offset += case.padded
    source = (
        f'extern "C" __global__ void {entry}(unsigned char *out{parameters}) {{\n'
        f"  int i = threadIdx.x;\n{loads}{body}}}\n"
    )
    return Kernel(entry, source, tuple(inputs), cases, block=(count, 1, 1))


def modules(family: str, forms: Iterable[Form], preamble: str = "") -> list[Module]:
    """The forms as one module: forms with the same operands share kernels."""
    kernels = []
    ordered = sorted(forms, key=lambda f: f.ins)
    for _, group in groupby(ordered, key=lambda f: f.ins):
        same = list(group)
        for start in range(0, len(same), _PER_KERNEL):
            entry = f"{family.replace(' ', '_')}_{len(kernels)}"
            kernels.append(_kernel(family, entry, same[start : start + _PER_KERNEL]))
    return [Module(family, tuple(kernels), preamble)]
