"""Integer arithmetic, logic, shifts, bit fields, comparison and selection: all exact."""

from __future__ import annotations

from collections.abc import Iterator

from .forms import Form, form, modules, spell

__all__ = ["MODULES"]

_INT = "u16 s16 u32 s32 u64 s64"
_WIDE = "u32 s32 u64 s64"
_COMPARE = {"s": "eq ne lt le gt ge", "u": "eq ne lt le gt ge lo ls hi hs", "b": "eq ne"}


def _width(name: str) -> str:
    """The register that holds the last type of an instruction's name: 16, 32 or 64."""
    return name.rpartition(".")[2].lstrip("usb")


def _same(names: Iterator[str], operands: int, kind: str = "") -> Iterator[Form]:
    """Forms whose result and operands have the type that ends their name."""
    for name in names:
        yield form(name, _width(name), *[_width(name) + kind] * operands)


def _arithmetic() -> Iterator[Form]:
    yield from _same(spell("{op}.{t}", op="add sub mul.lo mul.hi div rem min max", t=_INT), 2)
    yield from _same(spell("{op}.{t}", op="mad.lo mad.hi sad", t=_INT), 3)
    yield from _same(spell("{op}.{t}", op="abs neg", t="s16 s32 s64"), 1)
    yield from _same(["add.sat.s32", "sub.sat.s32"], 2)
    yield from _same(["mad.hi.sat.s32"], 3)
    for t, wide in zip("u16 s16 u32 s32".split(), "32 32 64 64".split()):
        yield form(f"mul.wide.{t}", wide, t[1:], t[1:])
        yield form(f"mad.wide.{t}", wide, t[1:], t[1:], wide)
    yield from _same(spell("mul24.{h}.{t}", h="lo hi", t="u32 s32"), 2)
    yield from _same(spell("mad24.{h}.{t}", h="lo hi", t="u32 s32"), 3)
    yield from _same(["mad24.hi.sat.s32"], 3)
    for name in spell("{op}.{t}x2", op="add min max", t="u16 s16"):
        yield form(name, "32", "32", "32")
    yield form("min.relu.s16x2", "32", "32", "32")
    yield form("max.relu.s16x2", "32", "32", "32")
    yield from _same(["min.relu.s32", "max.relu.s32"], 2)
    for name in spell("dp4a.{a}.{b}", a="u32 s32", b="u32 s32"):
        yield form(name, "32", "32", "32", "32")
    for name in spell("dp2a.{h}.{a}.{b}", h="lo hi", a="u32 s32", b="u32 s32"):
        yield form(name, "32", "32", "32", "32")
    for n in "24":  # packed arithmetic that newer GPUs only emulate
        for name in spell("v{op}{n}.{t}", n=n, op="add sub avrg absdiff min max", t=(
            "u32.u32.u32 s32.s32.s32 u32.u32.u32.add s32.s32.s32.add")):  # fmt: skip
            yield form(name, "32", "32", "32", "32")
    for constant in ("0x7f", "0x7fU", "017", "0b1011", "-0x10", "4294967295", "-2147483648"):
        yield form("sub.u32", "32", "32", assembly=f"sub.u32 %0, %1, {constant};", note=constant)
    for t in _INT.split():  # a constant as an operand
        yield form(f"add.{t}", t[1:], t[1:], assembly=f"add.{t} %0, %1, -3;", note="constant")
        yield form(f"mul.lo.{t}", t[1:], t[1:], assembly=f"mul.lo.{t} %0, %1, 77;", note="constant")
        yield form(f"div.{t}", t[1:], t[1:], assembly=f"div.{t} %0, %1, 7;", note="constant")
        yield form(f"rem.{t}", t[1:], t[1:], assembly=f"rem.{t} %0, %1, 10;", note="constant")
        yield form(f"sub.{t}", t[1:], t[1:], assembly=f"sub.{t} %0, 5, %1;", note="constant first")


def _carry_chains() -> Iterator[Form]:
    """Two words at a time: %1 and %2 are 64-bit numbers, added and multiplied by halves."""
    halves = ".reg .u32 a, b, c, d, x, y; mov.b64 {a, b}, %1; mov.b64 {c, d}, %2;"

    def chain(name: str, text: str, *more: str) -> Form:
        code = f"{{ {halves} {text} mov.b64 %0, {{x, y}}; }}"
        return form(name, "64", "64", "64", *more, assembly=code)

    for t in ("u32", "s32"):
        yield chain(f"add.cc.{t} addc.{t}", f"add.cc.{t} x, a, c; addc.{t} y, b, d;")
        yield chain(f"sub.cc.{t} subc.{t}", f"sub.cc.{t} x, a, c; subc.{t} y, b, d;")
        yield chain(
            f"addc.cc.{t}",
            f"add.cc.{t} x, a, c; addc.cc.{t} y, b, d; addc.{t} x, x, 0; add.{t} y, y, x;",
        )
        yield chain(
            f"subc.cc.{t}",
            f"sub.cc.{t} x, a, c; subc.cc.{t} y, b, d; subc.{t} x, x, 0; add.{t} y, y, x;",
        )
        yield chain(
            f"mad.lo.cc.{t} madc.hi.{t}", f"mad.lo.cc.{t} x, a, c, b; madc.hi.{t} y, a, c, d;"
        )
        yield chain(f"mad.hi.cc.{t} addc.{t}", f"mad.hi.cc.{t} x, a, c, b; addc.{t} y, d, 0;")
        yield chain(
            f"madc.lo.cc.{t} madc.hi.cc.{t}",
            f"add.cc.{t} x, a, d; madc.lo.cc.{t} x, a, c, b; madc.hi.cc.{t} y, a, c, d;"
            f" addc.{t} x, x, 0;",
        )
    for t in ("u64", "s64"):
        wide = ".reg .u64 h;"
        for name, code in {
            f"add.cc.{t} addc.{t}": f"add.cc.{t} h, %1, %2; addc.{t} h, %3, 0; mov.u64 %0, h;",
            f"sub.cc.{t} subc.{t}": f"sub.cc.{t} h, %1, %2; subc.{t} h, %3, 0; mov.u64 %0, h;",
            f"addc.cc.{t}": f"add.cc.{t} h, %1, %2; addc.cc.{t} h, h, %3; addc.{t} %0, h, 0;",
            f"subc.cc.{t}": f"sub.cc.{t} h, %1, %2; subc.cc.{t} h, h, %3; subc.{t} %0, h, 0;",
            f"mad.lo.cc.{t} madc.hi.{t}": (
                f"mad.lo.cc.{t} h, %1, %2, %3; madc.hi.{t} h, %1, %2, h; mov.u64 %0, h;"
            ),
            f"madc.lo.cc.{t}": f"add.cc.{t} h, %1, %3; madc.lo.cc.{t} h, %1, %2, h;"
            f" madc.hi.{t} %0, %1, %2, h;",
        }.items():
            yield form(name, "64", "64", "64", "64", assembly=f"{{ {wide} {code} }}")


def _bits() -> Iterator[Form]:
    yield from _same(spell("{op}.{t}", op="and or xor", t="b16 b32 b64"), 2)
    yield from _same(spell("{op}.{t}", op="not cnot", t="b16 b32 b64"), 1)
    yield from _same(spell("brev.{t}", t="b32 b64"), 1)
    for t in ("b32", "b64"):
        yield form(f"popc.{t}", "32", t[1:])
        yield form(f"clz.{t}", "32", t[1:])
    for name in spell("bfind{s}.{t}", s="- .shiftamt", t=_WIDE):
        yield form(name, "32", _width(name))
    for name in spell("bfe.{t}", t=_WIDE):
        yield form(name, _width(name), _width(name), "32:shift", "32:shift")
    for name in spell("bfi.{t}", t="b32 b64"):
        yield form(name, _width(name), _width(name), _width(name), "32:shift", "32:shift")
    yield form("fns.b32", "32", "32", "32:shift", "32", assembly=(
        "{ .reg .u32 base; .reg .s32 n; and.b32 base, %2, 31; rem.s32 n, %3, 20;"
        " fns.b32 %0, %1, base, n; }"))  # fmt: skip
    for name in spell("bmsk.{m}.b32", m="clamp wrap"):
        yield form(name, "32", "32:shift", "32:shift")
    for name in spell("szext.{m}.{t}", m="clamp wrap", t="u32 s32"):
        yield form(name, "32", "32", "32:shift")
    for t in "b16 b32 b64".split():
        yield form(f"shl.{t}", t[1:], t[1:], "32:shift")
    for t in f"b16 b32 b64 {_INT}".split():
        yield form(f"shr.{t}", t[1:], t[1:], "32:shift")
    for t in _WIDE.split():
        for amount in (0, 5, 31, 32, 33, 63, 64):
            for op in (f"shl.b{t[1:]}", f"shr.{t}"):
                if (op[:3], t[0]) != ("shl", "s"):
                    code = f"{op} %0, %1, {amount};"
                    yield form(op, t[1:], t[1:], assembly=code, note=f"by {amount}")
    for name in spell("shf.{d}.{m}.b32", d="l r", m="clamp wrap"):
        yield form(name, "32", "32", "32", "32:shift")
    for mode in "- .f4e .b4e .rc8 .ecl .ecr .rc16".split():
        yield form(f"prmt.b32{mode.strip('-')}", "32", "32", "32", "32")
    for selector in ("0x3210", "0x7654", "0x0123", "0x5410", "0xba98", "0x4441"):
        code = f"prmt.b32 %0, %1, %2, {selector};"
        yield form("prmt.b32", "32", "32", "32", assembly=code, note=selector)
    for table in (0x00, 0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x1E, 0x6A, 0x78, 0xFF, 0x01, 0xAC):
        code = f"lop3.b32 %0, %1, %2, %3, {table};"
        yield form("lop3.b32", "32", "32", "32", "32", assembly=code, note=f"{table:#04x}")
    for op in ("or", "and"):
        code = (f"{{ .reg .pred p, q; .reg .b32 t; setp.lt.s32 q, %1, %2;"
                f" lop3.{op}.b32 t|p, %1, %2, %3, 0x1e, q; selp.u32 %0, t, 7, p; }}")  # fmt: skip
        yield form(f"lop3.{op}.b32", "32", "32", "32", "32", assembly=code)
    yield form("mov.b32 {b16,b16}", "32", "32", assembly=(
        "{ .reg .b16 a, b; mov.b32 {a, b}, %1; mov.b32 %0, {b, a}; }"))  # fmt: skip
    yield form("mov.b64 {b32,b32}", "64", "64", assembly=(
        "{ .reg .b32 a, b; mov.b64 {a, b}, %1; mov.b64 %0, {b, a}; }"))  # fmt: skip
    yield form("mov.b64 {b16,b16,b16,b16}", "64", "64", assembly=(
        "{ .reg .b16 a, b, c, d; mov.b64 {a, b, c, d}, %1; mov.b64 %0, {c, a, d, b}; }"
    ))  # fmt: skip
    yield form("mov.b32 {b8,b8,b8,b8}", "32", "32", assembly=(
        "{ .reg .b8 a, b, c, d; mov.b32 {a, b, c, d}, %1; mov.b32 %0, {c, a, d, b}; }"
    ))  # fmt: skip


def _compare() -> Iterator[Form]:
    types = [t for t in f"{_INT} b16 b32 b64".split()]
    for t in types:
        for c in _COMPARE[t[0]].split():
            yield form(f"setp.{c}.{t}", "pred", t[1:], t[1:])
    for t, c, b in [("s32", "lt", "and"), ("u64", "hi", "or"), ("s16", "ge", "xor")]:
        for negated in ("", "!"):
            name = f"setp.{c}.{b}.{t}"
            code = (f"{{ .reg .pred p, q; setp.ne.b32 q, %3, 0; {name} p, %1, %2, {negated}q;"
                    f" selp.u32 %0, 1, 0, p; }}")  # fmt: skip
            yield form(name, "pred", t[1:], t[1:], "32", assembly=code, note=negated)
            code = (f"{{ .reg .pred p, q, r; .reg .u32 x; setp.ne.b32 q, %3, 0;"
                    f" {name} p|r, %1, %2, {negated}q; selp.u32 x, 2, 0, r; @p add.u32 x, x, 1;"
                    f" mov.u32 %0, x; }}")  # fmt: skip
            yield form(name, "pred", t[1:], t[1:], "32", assembly=code, note=f"p|q {negated}")
    for d in ("u32", "s32", "f32"):
        for t in types:
            yield form(f"set.lt.{d}.{t}" if t[0] != "b" else f"set.ne.{d}.{t}",
                       "f32" if d == "f32" else "32", t[1:], t[1:])  # fmt: skip
    code = "{ .reg .pred q; setp.ne.b32 q, %3, 0; set.gt.or.u32.s32 %0, %1, %2, !q; }"
    yield form("set.gt.or.u32.s32", "32", "32", "32", "32", assembly=code, note="!")
    for t in f"{_INT} b16 b32 b64 f32 f64".split():
        r = t if t[0] == "f" else t[1:]
        code = f"{{ .reg .pred q; setp.lt.s32 q, %3, 0; selp.{t} %0, %1, %2, q; }}"
        yield form(f"selp.{t}", r, r, r, "32", assembly=code)
        yield form(f"slct.{t}.s32", r, r, r, "32")
        yield form(f"slct.{t}.f32", r, r, r, "f32")
        yield form(f"slct.ftz.{t}.f32", r, r, r, "f32")
    logic = ".reg .pred p, q, r; setp.lt.s32 p, %1, 0; setp.gt.u32 q, %2, 77;"
    for op in ("and", "or", "xor"):
        code = f"{{ {logic} {op}.pred r, p, q; not.pred r, r; selp.u32 %0, 1, 0, r; }}"
        yield form(f"{op}.pred not.pred", "pred", "32", "32", assembly=code)
    code = f"{{ {logic} mov.pred r, q; @!p not.pred r, r; selp.u32 %0, 1, 0, r; }}"
    yield form("mov.pred @!p", "pred", "32", "32", assembly=code)


def _convert() -> Iterator[Form]:
    register = {"8": "16", "16": "16", "32": "32", "64": "64"}
    types = "u8 s8 u16 s16 u32 s32 u64 s64".split()
    for d in types:
        for s in types:
            for saturate in ("", ".sat"):
                # .sat is allowed only where the source has values that the result has not
                if not saturate or (s[0], d[0]) == ("s", "u") or _range(s) > _range(d):
                    name = f"cvt{saturate}.{d}.{s}"
                    yield form(name, register[d[1:]], register[s[1:]])
    for name in spell("cvt.pack.sat.{d}.s32", d="u16 s16"):
        yield form(name, "32", "32", "32")
    for name in spell("cvt.pack.sat.{d}.s32.b32", d="u8 s8 u4 s4 u2 s2"):
        yield form(name, "32", "32", "32", "32")


def _range(t: str) -> int:
    """Bits of the largest value of an integer type."""
    return int(t[1:]) - (t[0] == "s")


def _forms() -> Iterator[Form]:
    for part in (_arithmetic, _carry_chains, _bits, _compare, _convert):
        yield from part()


MODULES = modules("int", _forms())
