"""Instruction forms: each is one PTX instruction, emitted exactly as written, over many operands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from .case import Case, Kernel, Module
from .inputs import SIZES, values
from .rules import BITS, Rule

__all__ = ["Form", "form", "modules", "spell"]

_PER_KERNEL = 12  # forms that share one kernel's loads
_PER_MODULE = 12  # kernels that share one nvcc call

# what a register of PTX is in C: type, constraint of inline assembly, NumPy type
_C = {
    "16": ("unsigned short", "h", "u2"),
    "32": ("unsigned", "r", "u4"),
    "64": ("unsigned long long", "l", "u8"),
    "f32": ("float", "f", "u4"),
    "f64": ("double", "d", "u8"),
    "f16": ("unsigned short", "h", "u2"),
    "bf16": ("unsigned short", "h", "u2"),
    "f16x2": ("unsigned", "r", "u4"),
    "bf16x2": ("unsigned", "r", "u4"),
    "pred": ("unsigned", "r", "u1"),
}


@dataclass(frozen=True)
class Form:
    """`assembly` computes %0 (an `out`) from %1, %2 ... (the operands of `ins`)."""

    name: str
    assembly: str
    out: str
    ins: tuple[str, ...]
    rule: Rule


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


def spell(pattern: str, **choices: str) -> Iterable[str]:
    """Every spelling of a pattern: spell("add.{t}", t="u32 s32"); "-" stands for nothing."""
    spellings = [pattern]
    for name, words in choices.items():
        texts = ["" if word == "-" else word for word in words.split()]
        spellings = [s.replace(f"{{{name}}}", t) for s in spellings for t in texts]
    return spellings


def _kernel(family: str, entry: str, forms: list[Form]) -> Kernel:
    ins = forms[0].ins
    count = SIZES[len(ins)]
    inputs = tuple(values(spec, n, len(ins), count) for n, spec in enumerate(ins))
    types = [_C[spec.partition(":")[0]] for spec in ins]
    cases = tuple(Case(f"{family}/{f.name}", _C[f.out][2], count, f.rule) for f in forms)
    parameters = "".join(f", const {c} *p{n}" for n, (c, _, _) in enumerate(types))
    loads = "".join(f"  {c} x{n} = p{n}[i];\n" for n, (c, _, _) in enumerate(types))
    operands = ", ".join(f'"{mark}"(x{n})' for n, (_, mark, _) in enumerate(types))
    body, offset = "", 0
    for f, case in zip(forms, cases):
        c, mark, dtype = _C[f.out]
        store = {"u1": "unsigned char"}.get(dtype, c)
        body += f'  {{ {c} d; asm volatile("{f.assembly}" : "={mark}"(d) : {operands});'
        body += f" (({store} *)(out + {offset}))[i] = d; }}\n"
        offset += case.padded
    source = (
        f'extern "C" __global__ void {entry}(unsigned char *out{parameters}) {{\n'
        f"  int i = threadIdx.x;\n{loads}{body}}}\n"
    )
    return Kernel(entry, source, inputs, cases, block=(count, 1, 1))


def modules(family: str, forms: Iterable[Form]) -> list[Module]:
    """The forms as modules: forms with the same operands share kernels."""
    kernels = []
    ordered = sorted(forms, key=lambda f: f.ins)
    for _, group in groupby(ordered, key=lambda f: f.ins):
        same = list(group)
        for start in range(0, len(same), _PER_KERNEL):
            entry = f"{family}_{len(kernels)}"
            kernels.append(_kernel(family, entry, same[start : start + _PER_KERNEL]))
    return [
        Module(f"{family} {start // _PER_MODULE}", tuple(kernels[start : start + _PER_MODULE]))
        for start in range(0, len(kernels), _PER_MODULE)
    ]
