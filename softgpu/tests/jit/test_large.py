"""Large kernels: LLVM gets little text of them, and they answer as they would in full."""

import random

import numpy as np
import pytest

from softgpu.jit.analysis import size
from softgpu.jit.emit.module_text import ModuleText
from softgpu.jit.facts.layout import Image, Layout
from softgpu.jit.passes import BUILDS
from softgpu.ptx import parse
from softgpu.tests import autoinit

HEAD = """.version 9.0
.target sm_90
.address_size 64
.visible .entry steps(.param .u64 p)
{ .reg .pred %p<9>; .reg .f32 %f<64>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
ld.param.u64 %rd0, [p];
cvta.to.global.u64 %rd1, %rd0;
mov.u32 %r0, %tid.x;
mul.wide.s32 %rd3, %r0, 256;
add.s64 %rd2, %rd1, %rd3;
setp.eq.u32 %p1, %r0, 1;
"""
SLOTS = 64  # floats of each thread
THREADS = 96


def kernel(lines):
    """PTX that loads a thread's floats, runs the lines, and stores them."""
    floats = range(SLOTS)
    loads = [f"ld.global.f32 %f{i}, [%rd2+{4 * i}];" for i in floats]
    stores = [f"st.global.f32 [%rd2+{4 * i}], %f{i};" for i in floats]
    return HEAD + "\n".join([*loads, *lines, *stores, "ret;", "}"]) + "\n"


def random_line(number, chance):
    """One instruction on random registers; its loads and stores are of the thread's floats."""
    a, b, c, d = (chance.randrange(SLOTS) for _ in range(4))
    lines = (
        f"fma.rn.f32 %f{a}, %f{b}, %f{c}, %f{d};",
        f"sub.f32 %f{a}, %f{b}, %f{c};",
        f"max.f32 %f{a}, %f{b}, %f{c};",
        f"selp.f32 %f{a}, %f{b}, %f{c}, %p1;",
        f"setp.lt.f32 %p1, %f{b}, %f{c};",
        f"@%p1 mov.b32 %f{a}, %f{b};",
        f"ld.global.f32 %f{a}, [%rd2+{4 * b}];",
        f"@%p1 st.global.f32 [%rd2+{4 * b}], %f{a};",
    )
    return chance.choice(lines)


def straight(count):
    chance = random.Random(1)
    return kernel(random_line(n, chance) for n in range(count))


def branchy(count):
    """Every eighth instruction jumps over the six after it."""
    chance = random.Random(2)
    lines = []
    for n in range(count // 8):
        lines += [f"setp.lt.f32 %p2, %f{n % SLOTS}, %f{(n + 7) % SLOTS};", f"@%p2 bra $L{n};"]
        lines += [random_line(n, chance) for _ in range(6)] + [f"$L{n}:"]
    return kernel(lines)


def accesses(count):
    chance = random.Random(3)
    lines = []
    for _ in range(count // 2):
        a, b = chance.randrange(SLOTS), chance.randrange(SLOTS)
        lines += [f"ld.global.f32 %f{a}, [%rd2+{4 * b}];", f"st.global.f32 [%rd2+{4 * a}], %f{b};"]
    return kernel(lines)


def tiled(count):
    """A register-tiled matrix product without its loop: 16 loads, then 8 x 8 multiplications."""
    chance = random.Random(4)
    lines = ["mul.wide.s32 %rd4, %r0, 4;", "add.s64 %rd5, %rd1, %rd4;"]
    while len(lines) < count:
        row = 4 * SLOTS * THREADS + 128 * chance.randrange(32)  # after what threads write
        lines += [f"ld.global.f32 %f{n}, [%rd5+{row + 4 * n}];" for n in range(16)]
        lines += [
            f"fma.rn.f32 %f{16 + i * 6 + j}, %f{i}, %f{8 + j}, %f{16 + i * 6 + j};"
            for i in range(8)
            for j in range(6)
        ]
    return kernel(lines)


SHAPES = pytest.mark.parametrize("shape", [straight, branchy, accesses, tiled])


def llvm_text(ptx):
    program = parse(ptx)
    return ModuleText(Layout(program, Image(program), "steps"), BUILDS["plain"]).emit("steps")


@SHAPES
def test_llvm_gets_little_text_for_an_instruction_of_a_large_kernel(shape):
    assert len(llvm_text(shape(5000))) < 5000 * 640


@SHAPES
def test_only_large_kernels_are_left_as_they_are(shape):
    assert "optnone" in llvm_text(shape(1500))
    assert "optnone" not in llvm_text(shape(500))


@pytest.mark.slow
@SHAPES
@pytest.mark.usefixtures("in_full")
@pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU's compiler")
def test_a_large_kernel_answers_as_in_full(shape, monkeypatch, tmp_path):
    import pycuda.driver as cuda

    x = np.random.default_rng(0).standard_normal((2 * THREADS, SLOTS), dtype=np.float32)
    answers = []
    for most in (-1, 1 << 30):
        monkeypatch.setattr(size, "_LARGE", most)
        monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path / str(most)))
        module = cuda.module_from_buffer(f"{shape(400)}// {most}\n".encode())
        memory = cuda.to_device(x)
        module.get_function("steps")(memory, block=(THREADS, 1, 1))
        answers.append(cuda.from_device(memory, x.shape, np.uint32))
    assert (answers[0] == answers[1]).all() and (answers[0] != x.view(np.uint32)).any()
