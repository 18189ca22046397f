"""Statements of real kernels, whole kernels as several compilers write them, declarations and
loops, changed at random, pass all that runs from the load of a module to the first launch; random
programs (conformance/programs.py) answer alike plain, counted and watched. A longer run than the
tests', which makes machine code, too:
python -m softgpu.tests.ptx.fuzz SECONDS [SEED]
"""

import random
import re
import sys
import time
import traceback
from functools import cache
from pathlib import Path

from softgpu.contract import ffi
from softgpu.jit import compile as compiler
from softgpu.kernel_facts import facts_of
from softgpu.loaded import LoadedModule
from softgpu.ptx import PtxError
from softgpu.ptx.tokens import TOKEN
from softgpu.tests.conformance import programs, runner
from softgpu.tests.conformance.suite import CASES
from softgpu.tests.xray import ways

_MODULES = [
    *("int", "float", "half", "cvt", "fp8", "math", "memory", "atomics"),
    *("written atomics", "written control", "written memory", "written warp"),
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


SEEDS = Path(__file__).with_name("seeds")
"""Short kernels as NVRTC, Taichi, tinygrad, Halide, numba and Triton write theirs."""


@cache
def seeds() -> list[str]:
    return [path.read_text() for path in sorted(SEEDS.glob("*.ptx"))]


_TYPES = """b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64 tf32
u16x2 s16x2 pred""".split()
_NUMBERS = """0 1 -1 2 3 7 31 32 255 256 -128 65535 65536 -32768 2147483647 2147483648 -2147483648
4294967295 4294967296 5000000000 -5000000000 9223372036854775807 9223372036854775808
-9223372036854775808 18446744073709551615 0x7fffffffU 0xFFFFFFFFFFFFFFFF WARP_SZ 0f00000000
0f3F800000 0f7F800000 0f7FC00000 0d3FF0000000000000 0dFFF0000000000000 1.5 1e30""".split()
_NUMBER = re.compile(r"-?\d\w*")


def _with_other_words(rng: random.Random, text: str) -> str:
    """One to three types or numbers exchanged for others, in statements and declarations alike."""
    tokens = re.split(r"([^\w.%$]+)", text)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(tokens))
        if _NUMBER.fullmatch(tokens[at]):
            tokens[at] = rng.choice(_NUMBERS)
        else:
            parts = tokens[at].split(".")
            typed = [n for n, part in enumerate(parts) if part in _TYPES]
            if typed:
                parts[rng.choice(typed)] = rng.choice(_TYPES)
                tokens[at] = ".".join(parts)
    return "".join(tokens)


_REGISTERS = {"b16": "%rs", "b32": "%r", "b64": "%rd", "f32": "%f", "f64": "%fd"}
_HELD = {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32", "f32": "f32", "f64": "f64"}
_COMPARED = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64".split()
_STEPS = {"b": "and or xor shl", "u": "add sub mul.lo min max", "f": "add sub mul min max"}
_ORDERS = {
    "b": "eq ne lt ge lo hs",
    "u": "lt le gt ge eq ne lo hs",
    "f": "lt le ltu geu num nan",
}
_ELEMENTS = """table[{n}] table+{n} tile[{n}] tile+{n} depot[{n}] depot-{n} kernel_param_0[{n}]
kernel_param_1+{n} nothing[{n}] callee[{n}] %rd1[{n}] table[{n}]+4""".split()
_CALLED = "vprintf malloc free __assertfail nothing callee cudaGetDevice %rd2".split()


def _compare(rng: random.Random, kind: str, held: str) -> str:
    order = rng.choice(_ORDERS[_family(kind)].split())
    pair = "|%p2" if "x2" in kind or rng.random() < 0.2 else ""
    joined, more = (".and", ", !%p3") if rng.random() < 0.1 else ("", "")
    return f"setp.{order}{joined}.{kind} %p1{pair}, {held}1, {_value(rng, held)}{more};"


def _step(rng: random.Random, kind: str, held: str) -> str:
    op = rng.choice(_STEPS[_family(kind)].split())
    return f"{op}.{kind} {held}1, {held}{rng.randrange(1, 6)}, {_value(rng, held)};"


def _value(rng: random.Random, held: str) -> str:
    """A register or a constant."""
    return rng.choice((f"{held}{rng.randrange(1, 6)}", rng.choice(_NUMBERS)))


def _family(kind: str) -> str:
    """ "b", "u" for whole numbers or "f" for floating point, as the keys of _STEPS."""
    return {"s": "u"}.get(kind[0], "f" if "f" in kind else kind[0])


def _loop(rng: random.Random, depth: int = 0) -> list[str]:
    """A loop of some shape that counts and compares in some type, with more inside or not."""
    kind = rng.choice(_COMPARED)
    held = _REGISTERS[_HELD.get(kind) or f"b{kind[1:]}"]
    start, end = f"L{rng.randrange(10**6)}", f"E{rng.randrange(10**6)}"
    inside = [_step(rng, kind, held) for _ in range(rng.randrange(3))]
    if depth < 3 and rng.random() < 0.4:
        inside += _loop(rng, depth + 1)
    if rng.random() < 0.1:
        inside.append(_strange(rng))
    test, no = _compare(rng, kind, held), rng.choice(("", "!"))
    shapes = (
        [f"{start}:", *inside, test, f"@{no}%p1 bra {start};"],
        [f"bra {end};", f"{start}:", *inside, f"{end}:", test, f"@{no}%p1 bra {start};"],
        [f"{start}:", test, f"@{no}%p1 bra {end};", *inside, f"bra.uni {start};", f"{end}:"],
        [f"{start}:", ".pragma \"nounroll\";", *inside, test, f"@%p1 bra {end};",
         _compare(rng, kind, held), f"@%p1 bra {start};", f"{end}:"],
        [f"{start}:", *inside, f"bra {start};"],
        [f"{start}:", test, f"@%p1 bra {start};", *inside, test, f"@%p1 bra {start};"],
    )  # fmt: skip
    return rng.choice(shapes)


def _strange(rng: random.Random) -> str:
    """The address of an element, or a call of a function that is not in the text."""
    if rng.random() < 0.5:
        element = rng.choice(_ELEMENTS).format(n=rng.choice(_NUMBERS))
        width = rng.choice(("64 %rd", "32 %r"))
        return f"mov.{rng.choice('bus')}{width}1, {element};"
    name = rng.choice(_CALLED)
    kinds = [rng.choice(("b8", "b16", "b32", "b64", "f32")) for _ in range(rng.randrange(6))]
    params = "".join(f".param .{kind} q{n}; " for n, kind in enumerate(kinds))
    given = ", ".join(f"q{n}" for n in range(len(kinds)))
    result = rng.choice(("", "(r0), "))
    return f"{{ {params}.param .b64 r0; call.uni {result}{name}, ({given}); }}"


def _looping(rng: random.Random) -> str:
    """A kernel of loops, which begins with declarations of functions that are not in the text."""
    some = rng.sample(_CALLED[:5], rng.randrange(3))
    shapes = ("", "(.param .b32 r) ", "(.param .b64 r) ")
    listed = ("", ".param .b64 a", ".param .b32 a, .param .b64 b", ".param .b64 a, .param .b64 b")
    text = HEAD.replace(HEAD[HEAD.index(".extern") : HEAD.index(".global")], "")
    declared = [f".extern .func {rng.choice(shapes)}{n} ({rng.choice(listed)});\n" for n in some]
    text = text.replace(".global", "".join(declared) + ".global", 1)
    return "\n".join([text, *_loop(rng), *_loop(rng), "ret;", "}", ""])


def run(text: str, build: str = "plain", quick: bool = True, whole: bool = False) -> str:
    """All that a text goes through before its kernels run; what it was refused for, if it was.

    whole: up to machine code, otherwise to LLVM's verifier."""
    try:
        module = LoadedModule(text)
        for kernel in module.program.kernels:
            code = module.code(kernel.name, build, quick)
            ffi.new("KernelFacts *", facts_of(kernel, code))
            compiler.module_of(code.emitted())
            if whole:
                compiler.machine_code(compiler.module_of(code.emitted()), quick)
    except PtxError as error:
        if error.__cause__ is not None and not isinstance(error.__cause__, PtxError):
            raise error.__cause__ from None  # a mistake, told as if it were a refusal
        return str(error)
    return ""


def _changed_text(rng: random.Random, n: int, lines: list[str], pool: list[str]) -> tuple[str, str]:
    """(what was changed, the text that it stands in): one of several kinds, by number."""
    kind = n % 20
    if kind == 0:
        text = _changed_kernel(rng, rng.choice(_kernels()), pool)
    elif kind == 1:
        text = _changed(rng, _around(rng.choice(_declarations())), pool)
    elif kind == 2:
        text = _changed_kernel(rng, rng.choice(seeds()), pool)
    elif kind == 3:
        text = _with_other_words(rng, rng.choice(seeds()))
    elif kind == 4:
        text = _with_other_words(rng, rng.choice(_kernels()))
    elif kind == 5:
        text = _changed_kernel(rng, _looping(rng), pool)
    elif kind < 9:
        text = _looping(rng)
    else:
        change = rng.choice((_changed, lambda rng, line, _: _with_other_words(rng, line)))
        changed = change(rng, rng.choice(lines), pool)
        return changed, f"{HEAD}{changed}\nret;\n}}\n"
    return text, text


def failures(seed: int, count: int, seconds: float = float("inf"), whole: bool = False):
    """(text, traceback) of every text that ends in anything but a kernel or a PtxError."""
    _, lines = statements()
    pool = sorted({token for line in lines for token in TOKEN.findall(line) if token})
    pool += _NASTY * 20
    end = time.monotonic() + seconds
    for n in range(count):
        rng = random.Random(f"{seed} {n}")
        changed, text = _changed_text(rng, n, lines, pool)
        if time.monotonic() > end:
            break
        try:
            run(text, rng.choice(_BUILDS), rng.random() < 0.5, whole and rng.random() < 0.1)
        except Exception:
            yield changed, traceback.format_exc()


def _differing(seed: int) -> str:
    """What a random program leaves in one way and not in another, in words, or what the sanitizer
    finds in it."""
    module, found = programs.program(seed), []
    (kernel,) = module.kernels
    function, arguments, _ = runner.prepared(module, kernel)
    with ways.in_order():
        said = ways.differing(
            function, *arguments, grid=kernel.grid, block=kernel.block, found=found
        )
    return said + "".join(map(str, found))


def _answers_differ(seed: int, seconds: float) -> int:
    """How many random programs do not answer alike in all ways; each is reported."""
    end, count = time.monotonic() + seconds, 0
    for n in range(seed * 1_000_000, sys.maxsize):
        if time.monotonic() > end:
            return count
        if said := _differing(n):
            print(f"\nprogram {n}: {said}")
            count += 1
    return count


def main(seconds: float, seed: int) -> int:
    seen: dict[str, tuple[str, str, int]] = {}
    count = _answers_differ(seed, seconds / 4)
    for body, trace in failures(seed, sys.maxsize, seconds * 3 / 4, whole=True):
        lines = [line for line in trace.splitlines() if line.strip()]
        place = [line for line in lines if line.startswith("  File")][-1]
        key = f"{place.strip()} | {lines[-1][:60]}"
        seen[key] = (body, trace, seen.get(key, (0, 0, 0))[2] + 1)
    for key, (body, trace, count) in sorted(seen.items(), key=lambda item: -item[1][2]):
        print(f"\n{count} x {key}\n    {body}\n{trace if '-v' in sys.argv else ''}")
    return count + len(seen)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
