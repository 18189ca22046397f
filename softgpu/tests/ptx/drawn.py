"""Random kernels that run, as CLsmith draws them (Lidbury and others, Many-Core Compiler Fuzzing,
2015): straight code, branches, loops, shared, local and global memory, calls, and, where all lanes
come by, shuffles, votes and barriers. Each has one answer: no thread sees what another may still
write, sums that several add to are of whole numbers, and all loops end."""

from __future__ import annotations

import random
import re

import numpy as np

from softgpu.tests import autoinit  # noqa: F401  first: the driver

# isort: split
import pycuda.driver as cuda
from pycuda import gpuarray

from softgpu.tests.xray import ways

__all__ = ["differing", "kernel"]

LEFT = 16
"""Words of 32 bits that each thread leaves."""
WORDS = 1 << 10
"""Words that each of them may read."""

_MOST_DEPTH = 3
_HEAD = """.version 9.0
.target sm_90
.address_size 64
.func (.param .b32 left) mixed(.param .b32 given, .param .b32 other)
{{
.reg .b32 %a<4>; .reg .pred %q;
ld.param.b32 %a0, [given]; ld.param.b32 %a1, [other];
setp.lt.s32 %q, %a0, %a1;
@%q bra LESS;
xor.b32 %a0, %a0, 0x9e3779b9; mul.lo.u32 %a0, %a0, %a1;
LESS: add.u32 %a0, %a0, %a1;
st.param.b32 [left], %a0;
ret;
}}
.visible .entry kernel(.param .u64 read, .param .u64 left, .param .u64 sums, .param .u32 all)
{{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<5>; .reg .b64 %rd<3>; .reg .f64 %d<3>;
.reg .b16 %h<3>; .reg .b32 %x<6>; .reg .b32 %n<99>; .reg .pred %e<99>; .reg .b64 %at<9>;
.reg .b64 %place<2>; .reg .b32 %own;
.shared .align 16 .b8 tile[4096]; .shared .align 4 .b8 bins[64]; .local .align 16 .b8 depot[64];
mov.u32 %x0, %tid.x; mov.u32 %x1, %ctaid.x; mov.u32 %x2, %ntid.x;
mad.lo.u32 %x3, %x1, %x2, %x0; shl.b32 %own, %x0, 2; mov.u32 %x4, tile; add.u32 %own, %own, %x4;
ld.param.u64 %at0, [read]; ld.param.u64 %at1, [left]; ld.param.u64 %at2, [sums];
ld.param.u32 %r7, [all]; add.u32 %r6, %r7, %x1;
mul.wide.u32 %at3, %x3, {left_bytes}; add.u64 %at1, %at1, %at3;
and.b32 %x4, %x3, 31; mul.wide.u32 %place0, %x4, 64; add.u64 %place0, %place0, %at0;
setp.lt.u32 %p0, %x0, 16;
shl.b32 %x5, %x0, 2; mov.u32 %x4, bins; add.u32 %x5, %x4, %x5;
@%p0 st.shared.u32 [%x5], 0;
st.local.v4.u32 [depot], {{%x0, %x1, %x2, %x3}}; st.local.v4.u32 [depot+16], {{%x3, %x2, %x1, %x0}};
st.local.v4.u32 [depot+32], {{%x0, %x1, %x2, %x3}};
st.local.v4.u32 [depot+48], {{%x3, %x2, %x1, %x0}};
st.shared.u32 [%own], %x3;
bar.sync 0;
"""
_STEPS = """\
add.u32 {r}, {r}, {i}; || sub.s32 {r}, {r}, {i}; || mul.lo.u32 {r}, {r}, {i}; || not.b32
{r}, {r}; || mad.lo.s32 {r}, {r}, {i}, {r}; || mul.hi.u32 {r}, {r}, {r}; || mad.hi.s32 {r},
{r}, {r}, {r}; || neg.s32 {r}, {r}; || and.b32 {r}, {r}, {i}; || or.b32 {r}, {r}, {i}; ||
xor.b32 {r}, {r}, {r}; || shl.b32 {r}, {r}, {i}; || shr.u32 {r}, {r}, {i}; || shr.s32 {r},
{r}, {i}; || min.s32 {r}, {r}, {i}; || max.u32 {r}, {r}, {i}; || popc.b32 {r}, {r}; ||
brev.b32 {r}, {r}; || clz.b32 {r}, {r}; || bfind.s32 {r}, {r}; || abs.s32 {r}, {r}; ||
prmt.b32 {r}, {r}, {r}, {i}; || lop3.b32 {r}, {r}, {r}, {r}, 0x6a; || shf.l.wrap.b32 {r},
{r}, {r}, {i}; || bfe.u32 {r}, {r}, 5, {n}; || bfi.b32 {r}, {r}, {r}, {n}, 9; ||
dp4a.s32.u32 {r}, {r}, {r}, {r}; || add.cc.u32 {r}, {r}, {r}; addc.u32 {r}, {r}, 0; ||
mul24.lo.s32 {r}, {r}, {r}; || sad.u32 {r}, {r}, {r}, {r}; || or.b32 {r}, {r}, 1; div.u32
{r}, {r}, 7; || rem.s32 {r}, {r}, 13; || mul.wide.s32 {d8}, {r}, {r}; || add.u64 {d8}, {d8},
{d8}; || mul.lo.u64 {d8}, {d8}, {d8}; || xor.b64 {d8}, {d8}, {d8}; || shr.s64 {d8}, {d8},
{n}; || mad.wide.u32 {d8}, {r}, {r}, {d8}; || cvt.u32.u64 {r}, {d8}; || mov.b64 {d8}, {{{r},
{r}}}; || popc.b64 {r}, {d8}; || mov.b64 {{{r}, {r}}}, {d8}; || max.s64 {d8}, {d8}, {d8}; ||
cvt.s64.s32 {d8}, {r}; || add.f32 {f}, {f}, {f}; || sub.f32 {f}, {f}, {c}; || mul.f32 {f},
{f}, {f}; || fma.rn.f32 {f}, {f}, {f}, {f}; || div.rn.f32 {f}, {f}, {f}; || sqrt.rn.f32 {f},
{f}; || min.f32 {f}, {f}, {f}; || max.NaN.f32 {f}, {f}, {f}; || neg.f32 {f}, {f}; || abs.f32
{f}, {f}; || add.rz.f32 {f}, {f}, {f}; || fma.rp.sat.f32 {f}, {f}, {f}, {f}; ||
ex2.approx.ftz.f32 {f}, {f}; || rcp.rn.f32 {f}, {f}; || copysign.f32 {f}, {f}, {f}; ||
mov.f32 {f}, {c}; || cvt.rn.f32.s32 {f}, {r}; || cvt.rzi.s32.f32 {r}, {f}; ||
cvt.rni.u32.f32 {r}, {f}; || mov.b32 {r}, {f}; || mov.b32 {f}, {r}; || cvt.f64.f32 {d}, {f};
|| cvt.rn.f32.f64 {f}, {d}; || add.f64 {d}, {d}, {d}; || fma.rn.f64 {d}, {d}, {d}, {d}; ||
mul.f64 {d}, {d}, {d}; || cvt.rn.f64.u32 {d}, {r}; || div.rn.f64 {d}, {d}, {d}; ||
cvt.rn.f16.f32 {h}, {f}; || cvt.f32.f16 {f}, {h}; || fma.rn.f16 {h}, {h}, {h}, {h}; ||
add.u16 {h}, {h}, {h}; || cvt.u32.u16 {r}, {h}; || cvt.u16.u32 {h}, {r}; || mov.b32 {r},
{{{h}, {h}}}; || cvt.rn.f16x2.f32 {r}, {f}, {f}; || fma.rn.f16x2 {r}, {r}, {r}, {r}; ||
cvt.s32.s8 {r}, {r}; || cvt.sat.u8.s32 {r}, {r}; || mul.bf16x2 {r}, {r}, {r}; ||
setp.{o}.s32 {p}, {r}, {i}; || setp.{o}.u32 {p}, {r}, {r}; || setp.{o}u.f32 {p}, {f}, {f};
|| not.pred {p}, {p}; || setp.{o}.and.f32 {p}, {f}, {c}, {p}; || setp.{o}.s64 {p}, {d8},
{d8}; || xor.pred {p}, {p}, {p}; || setp.{o}.f64 {p}, {d}, {d}; || selp.b32 {r}, {r}, {i},
{p}; || selp.f32 {f}, {f}, {f}, {p}; || mov.u32 {r}, %laneid; || @{p} add.u32 {r}, {r}, {r};
|| @!{p} mov.b32 {r}, {i}; || @{p} mul.f32 {f}, {f}, {f}; || @!{p} mov.b32 {r}, {f}; ||
slct.b32.s32 {r}, {r}, {r}, {r}; || set.{o}.u32.s32 {r}, {r}, {r}; || testp.finite.f32 {p},
{f}; || and.b32 %x4, {r}, 1023; mul.wide.u32 %at4, %x4, 4; add.u64 %at4, %at4, %at0;
ld.global.u32 {r}, [%at4]; || and.b32 %x4, {r}, 1020; mul.wide.u32 %at4, %x4, 4; add.u64
%at4, %at4, %at0; ld.global.nc.v2.u32 {{{r}, {r}}}, [%at4]; || and.b32 %x4, {r}, 4095;
cvt.u64.u32 %at4, %x4; add.u64 %at4, %at4, %at0; ld.global.s8 {r}, [%at4]; || and.b32 %x4,
{r}, 60; mov.u64 %at5, depot; cvt.u64.u32 %at4, %x4; add.u64 %at5, %at5, %at4; st.local.u32
[%at5], {r}; || and.b32 %x4, {r}, 60; mov.u64 %at5, depot; cvt.u64.u32 %at4, %x4; add.u64
%at5, %at5, %at4; ld.local.u32 {r}, [%at5]; || and.b32 %x4, {r}, 63; mov.u64 %at5, depot;
cvt.u64.u32 %at4, %x4; add.u64 %at5, %at5, %at4; st.local.u8 [%at5], {r}; || st.local.v2.f32
[depot+16], {{{f}, {f}}}; || ld.local.f64 {d}, [depot+24]; || st.shared.u32 [%own], {r}; ||
ld.shared.f32 {f}, [%own]; || st.shared.u16 [%own+2], {h}; || @{p} ld.shared.s16 {r},
[%own]; || st.global.u32 [%at1+4], {r}; || ld.global.u32 {r}, [%at1+4]; || @{p}
st.global.f32 [%at1], {f}; || atom.shared.add.u32 {r}, [%own], {r}; || atom.shared.cas.b32
{r}, [%own], {r}, {r}; || red.global.xor.b32 [%at1], {r}; || and.b32 %x4, {r}, 60; mov.u32
%x5, bins; add.u32 %x4, %x4, %x5; red.shared.add.u32 [%x4], {r}; || and.b32 %x4, {r}, 15;
mul.wide.u32 %at4, %x4, 4; add.u64 %at4, %at4, %at2; red.global.max.u32 [%at4], {r}; ||
and.b32 %x4, {r}, 15; mul.wide.u32 %at4, %x4, 4; add.u64 %at4, %at4, %at2;
red.global.add.u32 [%at4+64], {r}; || {{ .param .b32 g; .param .b32 o; .param .b32 l;
st.param.b32 [g], {r}; st.param.b32 [o], {r}; call.uni (l), mixed, (g, o); ld.param.b32 {r},
[l]; }}"""
_TOGETHER = """\
shfl.sync.idx.b32 {r}, {r}, {r}, 31, -1; || shfl.sync.bfly.b32 {r}|{p}, {r}, {n}, 31, -1; ||
shfl.sync.up.b32 {r}, {r}, {n}, 0, -1; || shfl.sync.down.b32 {r}|{p}, {r}, 3, 0x181f, -1; ||
vote.sync.ballot.b32 {r}, {p}, -1; || vote.sync.any.pred {p}, {p}, -1; || vote.sync.uni.pred
{p}, !{p}, -1; || redux.sync.add.s32 {r}, {r}, -1; || redux.sync.max.u32 {r}, {r}, -1; ||
match.any.sync.b32 {r}, {r}, -1; || match.all.sync.b32 {r}|{p}, {r}, -1; || bar.warp.sync
-1; || bar.sync 0; || barrier.sync 1; || bar.red.popc.u32 {r}, 0, {p}; || bar.red.or.pred
{p}, 0, {p}; || bar.sync 0; xor.b32 %x4, %own, 4; ld.shared.u32 {r}, [%x4]; bar.sync 0; ||
st.shared.u32 [%own], {r}; bar.sync 0; ld.shared.u32 {r}, [tile+8]; bar.sync 0; || {{ .reg
.b32 %m; .reg .pred %w; shl.b32 %m, %x0, 1; and.b32 %m, %m, 60; add.u32 %m, %m, bins;
bar.sync 0; ld.shared.u32 {r}, [%m]; bar.sync 0; }}"""
_ENDS = """st.global.v4.u32 [%at1], {%r0, %r1, %r2, %r3};
st.global.v4.u32 [%at1+16], {%r4, %r5, %r6, %r7};
st.global.v2.f32 [%at1+32], {%f0, %f1}; st.global.v2.f32 [%at1+40], {%f2, %f3};
st.global.u64 [%at1+48], %rd0; xor.b64 %rd1, %rd1, %rd2; st.global.u64 [%at1+56], %rd1;
bar.sync 0;
@%p0 bra LAST;
setp.lt.u32 %p1, %x0, 16; @!%p1 bra LAST;
shl.b32 %x4, %x0, 2; mov.u32 %x5, bins; add.u32 %x5, %x5, %x4; ld.shared.u32 %r0, [%x5];
cvt.u64.u32 %at4, %x4; add.u64 %at4, %at4, %at2; red.global.add.u32 [%at4+64], %r0;
LAST: ret;
}
"""
_NUMBERS = (*range(-2, 9), 31, 32, 33, 255, 65535, 0x7FFFFFFF, -0x80000000, 0x9E3779B9)
_FLOATS = "3F800000 BF000000 7F800000 7FC00001 00000001 80000000 4B800000 7F7FFFFF 3EAAAAAB".split()


class _Kernel:
    """One that is being drawn."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.lines: list[str] = []
        self.names = 0

    def text(self) -> str:
        place = 0
        for kind, count, load in (
            ("r", 6, "u32"),
            ("f", 5, "f32"),
            ("rd", 3, "u64"),
            ("d", 3, "f64"),
        ):
            for n in range(count):
                self.lines.append(f"ld.global.{load} %{kind}{n}, [%place0+{8 * place}];")
                place += 1
        self.lines += [f"cvt.u16.u32 %h{n}, %r{n};" for n in range(3)]
        self.lines += [f"setp.lt.s32 %p{n}, %r{n}, %r{n + 1};" for n in range(4)]
        start = (
            "and.b32 %x4, %x3, 31; mul.wide.u32 %place0, %x4, 64; add.u64 %place0, %place0, %at0;"
        )
        self.lines.insert(0, start)
        for _ in range(self.rng.randrange(2, 6)):
            self.piece(0)
            self.steps(_TOGETHER, self.rng.randrange(3))
        return "\n".join([_HEAD.format(left_bytes=4 * LEFT), *self.lines, _ENDS])

    def piece(self, depth: int) -> None:
        """Steps, a branch or a loop, where lanes may have parted."""
        self.steps(_STEPS, self.rng.randrange(1, 6))
        kind = self.rng.randrange(3)
        if depth < _MOST_DEPTH and kind:
            (self.branch if kind == 1 else self.loop)(depth + 1)
        self.steps(_STEPS, self.rng.randrange(3))

    def branch(self, depth: int) -> None:
        name = self.name()
        no = self.rng.choice(("", "!"))
        self.lines.append(f"@{no}%p{self.rng.randrange(4)} bra ELSE{name};")
        self.piece(depth)
        self.lines += [f"bra END{name};", f"ELSE{name}:"]
        if self.rng.random() < 0.6:
            self.piece(depth)
        self.lines.append(f"END{name}:")

    def loop(self, depth: int) -> None:
        """At most seven times, as often for all or not."""
        name = self.name()
        times = self.rng.choice((f"and.b32 %n{name}, %r{self.rng.randrange(8)}, 7;",
                                 f"mov.u32 %n{name}, {self.rng.randrange(1, 8)};"))  # fmt: skip
        self.lines += [times, f"AGAIN{name}:"]
        self.piece(depth)
        if self.rng.random() < 0.4:
            self.lines.append(f"@%p{self.rng.randrange(4)} bra OUT{name};")
            self.steps(_STEPS, 1)
        self.lines += [f"sub.s32 %n{name}, %n{name}, 1;", f"setp.gt.s32 %e{name}, %n{name}, 0;"]
        self.lines += [f"@%e{name} bra AGAIN{name};", f"OUT{name}:"]

    def steps(self, table: str, count: int) -> None:
        choices = re.split(r"\s\|\|\s", table)
        for _ in range(count):
            self.lines.append(self.filled(self.rng.choice(choices)).replace("\n", " "))

    def filled(self, step: str) -> str:
        """Registers, each chosen anew, and numbers in their places."""
        rng = self.rng
        draws = {
            "{r}": lambda: f"%r{rng.randrange(8)}", "{f}": lambda: f"%f{rng.randrange(5)}",
            "{d8}": lambda: f"%rd{rng.randrange(3)}", "{d}": lambda: f"%d{rng.randrange(3)}",
            "{h}": lambda: f"%h{rng.randrange(3)}", "{p}": lambda: f"%p{rng.randrange(4)}",
            "{i}": lambda: rng.choice((f"%r{rng.randrange(8)}", str(rng.choice(_NUMBERS)))),
            "{n}": lambda: str(rng.randrange(32)), "{c}": lambda: f"0f{rng.choice(_FLOATS)}",
            "{o}": lambda: rng.choice("lt le gt ge eq ne".split()),
        }  # fmt: skip
        for place, draw in draws.items():
            while place in step:
                step = step.replace(place, draw(), 1)
        return step.replace("{{", "{").replace("}}", "}")

    def name(self) -> int:
        self.names += 1
        return self.names


def kernel(seed: int) -> str:
    """The text of one, kernel(read, left, sums, all)."""
    return _Kernel(random.Random(seed)).text()


def differing(seed: int) -> str:
    """What one leaves in one way and not in another, in words, or what the sanitizer finds in it;
    "" for neither."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 32, WORDS, np.uint64).astype(np.uint32)
    some = rng.random(WORDS) < 0.5
    words[some] = rng.choice(np.array(_NUMBERS).astype(np.uint32), some.sum())
    grid, block = (int(rng.choice(sizes)) for sizes in ((1, 2, 3), (32, 64, 96, 128)))
    left, sums = np.zeros(grid * block * LEFT, np.uint32), np.zeros(32, np.uint32)
    arrays = [gpuarray.to_gpu(array) for array in (words, left, sums)]
    function = cuda.module_from_buffer(kernel(seed).encode()).get_function("kernel")
    found = []
    with ways.in_order():
        said = ways.differing(
            function, *arrays, np.int32(seed), grid=grid, block=block, found=found
        )
    return said + "".join(map(str, found))
