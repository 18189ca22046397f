"""Statements of real kernels, changed at random, pass all stages up to LLVM's verifier, each in a
kernel of its own. A longer run than the tests': python -m tests.softgpu.ptx.fuzz SECONDS [SEED]
"""

import random
import re
import sys
import time
import traceback
from functools import cache

import llvmlite.binding as llvm

from softgpu.jit import compile as compiler
from softgpu.jit.compile import BUILDS
from softgpu.jit.layout import Image, Layout
from softgpu.jit.module_text import ModuleText
from softgpu.ptx import PtxError, parse
from softgpu.ptx.parser import TOKEN
from tests.softgpu.conformance import runner
from tests.softgpu.conformance.suite import CASES

_MODULES = [
    *("int 1", "int 2", "int 3", "float 0", "float 2", "half 0", "half 2", "cvt 4", "fp8 0"),
    *("math 0", "memory 1", "atomics 1", "written atomics_vectors", "written control_flow"),
    *("written control_calls", "written control_barriers", "written memory_async"),
    *("written warp_shuffle", "written warp_groups"),
]
_BUILDS = ("plain", "profile", "sanitize")

_KERNEL = re.compile(r"^\.visible \.entry (\w+)\(.*?^\}$", re.M | re.S)
_OUTSIDE = re.compile(r"^(?:\.loc|\.pragma|\.reg|\.\w+ |\$\w+:|//|[{}]$|\(|\)|\w+,?$)")


@cache
def _texts() -> list[str]:
    """PTX of all kinds of kernels: together they have every opcode of the conformance suite."""
    modules = {module.name: module for module, _, _ in CASES.values()}
    images = [runner.compiled(modules[name]) for name in _MODULES]
    return [image.result().decode().partition("\n//@")[0] for image in images]


@cache
def statements() -> tuple[str, list[str]]:
    """(a head with declarations, distinct statements that it makes readable)."""
    statements: dict[str, str] = {}
    for text in _texts():
        for kernel in _KERNEL.finditer(text):
            for line in kernel[0].splitlines():
                line = line.strip()
                if line and not _OUTSIDE.match(line) and line.endswith((";", "}")):
                    shape = re.sub(r"0[fdx][0-9A-Fa-f]+|\d+", "", line)
                    statements.setdefault(shape, re.sub(r"%([a-z]+)\d+", _near, line))
    return HEAD, sorted(statements.values())


def _near(match: re.Match[str]) -> str:
    return f"%{match[1]}{int(match[0][len(match[1]) + 1 :]) % 8}"


HEAD = """.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 8 .b8 table[64];
.shared .align 8 .b8 tile[64];
.func (.param .b32 r) callee(.param .b32 a) { .reg .b32 %r<2>; ld.param.b32 %r1, [a];
st.param.b32 [r], %r1; ret; }
.visible .entry kernel(.param .u64 kernel_param_0, .param .u32 kernel_param_1)
{
.reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
.reg .f64 %fd<9>; .reg .b128 %rq<9>; .local .align 8 .b8 depot[64];
"""


def _changed(rng: random.Random, text: str, pool: list[str]) -> str:
    """One or two tokens, or parts of an opcode, deleted, doubled, exchanged or replaced."""
    tokens = [token for token in TOKEN.findall(text) if token]
    for _ in range(rng.choice((1, 1, 2, 3))):
        if not tokens:
            break
        at = rng.randrange(len(tokens))
        kind = rng.randrange(8)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[at])
        elif kind == 2:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = rng.choice(pool)
        elif kind == 4 and rng.random() < 0.1:
            del tokens[at:]
        else:
            tokens = _changed_opcode(rng, tokens, pool)
    return " ".join(tokens)


def _changed_opcode(rng: random.Random, tokens: list[str], pool: list[str]) -> list[str]:
    places = [n for n, token in enumerate(tokens) if "." in token[1:] and token[0].isalpha()]
    if not places:
        return tokens
    at = rng.choice(places)
    parts = tokens[at].split(".")
    other = rng.choice([token for token in pool if "." in token[1:] and token[0].isalpha()])
    place = rng.randrange(len(parts))
    kind = rng.randrange(3)
    if kind == 0 and len(parts) > 1:
        del parts[place]
    elif kind == 1:
        parts.insert(place, rng.choice(other.split(".")))
    else:
        parts[place] = rng.choice(other.split("."))
    return [*tokens[:at], ".".join(parts), *tokens[at + 1 :]]


_NASTY = """0 -1 4294967296 99999999999999999999 0x 1e999 1e300 0f7FC00000 -2147483648 ( ) { } [ ] <
> @ ! % $ _ " | + - ~ . .. :: ; , : %r99999 %nope %tid.x %clusterid.x WARP_SZ /* // \\ \0""".split()


@cache
def _declarations() -> list[str]:
    """Lines that declare something, each with as much around it as makes a text of it."""
    starts = (".global", ".const", ".shared", ".visible .global", ".extern", ".local", ".reg")
    starts += (".param", ".maxntid", ".minnctapersm", ".pragma", ".file", ".loc", ".func")
    found: dict[str, str] = {}
    for text in _texts():
        for line in map(str.strip, text.splitlines()):
            if line.startswith(starts) and len(line) < 300:
                found.setdefault(re.sub(r"\w+", "x", line), line)
    return sorted(found.values())


def _around(declaration: str) -> str:
    head = HEAD[: HEAD.index(".extern")]
    if declaration.startswith(".param"):
        return f"{head}.entry k({declaration.rstrip(',')}) {{ ret; }}"
    if declaration.startswith((".local", ".reg", ".loc", ".pragma")):
        return f"{head}.entry k() {{ {declaration} ret; }}"
    if declaration.startswith((".max", ".min")):
        return f"{head}.entry k() {declaration} {{ ret; }}"
    return f"{head}{declaration}\n.entry k() {{ ret; }}"


@cache
def _kernels() -> list[str]:
    """Small kernels, each a text of its own with the variables of its module."""
    found = []
    for text in _texts():
        head = text[: text.index(".visible")]
        variables = re.findall(r"^(?:\.\w+ )*\.(?:global|const|shared) .*;$", text, re.M)
        for kernel in _KERNEL.finditer(text):
            if len(kernel[0]) < 6000:
                lines = [line for line in kernel[0].splitlines() if not line.startswith("\t.loc")]
                found.append("\n".join([head, *variables, *lines, ""]))
    return found


def _changed_kernel(rng: random.Random, text: str, pool: list[str]) -> str:
    """A line deleted, doubled, moved or changed, or the end cut off."""
    lines = text.splitlines()
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(rng.randrange(len(lines)), lines[at])
        elif kind == 2:
            lines.insert(rng.randrange(len(lines)), lines.pop(at))
        elif kind == 3 and rng.random() < 0.2:
            del lines[at:]
        else:
            lines[at] = _changed(rng, lines[at], pool)
        lines = lines or [""]
    return "\n".join(lines)


def run(text: str, build: str = "plain") -> str:
    """Read and emit every kernel of a text; what it was refused for, if it was."""
    try:
        module = parse(text)
        image = Image(module)
        for kernel in module.kernels:
            emitted = ModuleText(Layout(module, image, kernel.name), BUILDS[build]).emit(
                kernel.name
            )
            llvm.parse_assembly(emitted).verify()
    except PtxError as error:
        if error.__cause__ is not None and not isinstance(error.__cause__, ValueError):
            raise error.__cause__ from None  # caught by the net, where a form should have said it
        return str(error)
    return ""


def failures(seed: int, count: int, seconds: float = float("inf")):
    """(text, traceback) of every text that ends in anything but a kernel or a PtxError.

    Of twenty texts one is a whole kernel and one a declaration, the others are statements."""
    head, lines = statements()
    pool = sorted({token for line in lines for token in TOKEN.findall(line) if token})
    pool += _NASTY * 20
    end = time.monotonic() + seconds
    for n in range(count):
        rng = random.Random(f"{seed} {n}")
        if n % 20 == 1:
            changed = text = _changed(rng, _around(rng.choice(_declarations())), pool)
        elif n % 20:
            changed = _changed(rng, rng.choice(lines), pool)
            text = f"{head}{changed}\nret;\n}}\n"
        else:
            changed = text = _changed_kernel(rng, rng.choice(_kernels()), pool)
        if time.monotonic() > end:
            break
        try:
            run(text, rng.choice(_BUILDS))
        except Exception:
            yield changed, traceback.format_exc()


def main(seconds: float, seed: int) -> int:
    compiler._target_machine()
    seen: dict[str, tuple[str, str, int]] = {}
    for body, trace in failures(seed, sys.maxsize, seconds):
        lines = [line for line in trace.splitlines() if line.strip()]
        place = [line for line in lines if line.startswith("  File")][-1]
        key = f"{place.strip()} | {lines[-1][:60]}"
        seen[key] = (body, trace, seen.get(key, (0, 0, 0))[2] + 1)
    for key, (body, trace, count) in sorted(seen.items(), key=lambda item: -item[1][2]):
        print(f"\n{count} x {key}\n    {body}\n{trace if '-v' in sys.argv else ''}")
    return len(seen)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
