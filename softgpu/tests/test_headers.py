"""What is left of CUDA's headers for a kernel, with headers of our own in their place."""

import marshal
import shutil
import subprocess
import sys

import pytest

from softgpu.tests import ROOT

RUNTIME = """#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__
#define TWICE(x) twice(x)
#ifndef WIDTH
#define WIDTH 8
#endif
extern "C" {
int put(const char *text);
}
namespace far {
struct Inner { int of[WIDTH]; };
struct Outer : Inner { Inner more; explicit operator bool() const; };
Outer operator+(const Outer &a, const Outer &b);
template <typename T, bool = (sizeof(T) < 4)> struct Sized { T value; };
template <typename T> struct Sized<T, true> { T value, rest; };
inline Outer outer(int x = (1 < 2)) { return {}; }
enum Colour { red, green = red + 1 };
}
inline int once(int x) { return x; }
inline int twice(int x) { return once(x) + once(x); }
float twice(float x);
typedef struct { int quot; } Result, *Results;
typedef int (*Callback)(Result *result);
using far::outer;
int counted = 1, beside[] = {2, 3};
void *operator new(unsigned long, void *) noexcept;
#endif
"""
HALF = """#pragma once
struct half { short bits; };
half operator*(half a, half b);
"""
BFLOAT = '#pragma once\n#include "cuda_fp16.h"\nstruct bfloat { short bits; };\n'


@pytest.fixture
def gcc(tmp_path, monkeypatch):
    """Preprocess a source with a toolkit of three headers, and return what comes out."""
    headers, work = tmp_path / "a toolkit" / "include", tmp_path / "work"
    for folder in (headers, work):
        folder.mkdir(parents=True)
    texts = {"cuda_runtime.h": RUNTIME, "cuda_fp16.h": HALF, "cuda_bf16.h": BFLOAT}
    for name, text in texts.items():
        (headers / name).write_text(text)
    monkeypatch.setenv("SOFTGPU_PYTHON", sys.executable)
    monkeypatch.setenv("SOFTGPU_HEADERS_CACHE", str(tmp_path / "cache"))

    def preprocess(source, *options, program=ROOT / "softgpu/headers/gcc"):
        (work / "kernel.cu").write_text(source)
        command = [
            program, "-D__CUDA_ARCH__=900", "-E", "-x", "c++", *options, f"-I{headers}",
            "-include", "cuda_runtime.h", "-m64", "kernel.cu", "-o", "kernel.ii",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=True)
        assert not done.stderr
        return (work / "kernel.ii").read_text()

    preprocess.headers, preprocess.work, preprocess.cache = headers, work, tmp_path / "cache"
    return preprocess


def lines(text):
    """The lines with their files and numbers, except for what opens and closes scopes."""
    found, place, number = [], "", 0
    for line in text.splitlines():
        if line.startswith("# "):
            number, place = int(line.split()[1]), line.split('"')[1]
        else:
            if line.strip() not in ("", "}") and not line.endswith("{"):
                found.append((place, number, line))
            number += 1
    return found


def is_whole(gcc, source, *options):
    mine = gcc(source, *options)
    return lines(mine) == lines(gcc(source, *options, program="gcc"))


@pytest.mark.parametrize(
    "source, present, absent",
    [
        ("int x = TWICE(3);", ["int once", "int twice", "float twice"], ["struct"]),
        ("using far::red;", ["green"], ["Inner"]),
        ("far::Outer *x;", ["struct Inner", "operator+", "operator bool"], ["twice", "Sized"]),
        ("auto x = outer();", ["using far::outer", "Outer outer", "struct Outer"], ["Sized"]),
        ("far::Sized<char> x;", ["struct Sized {", "Sized<T, true>"], ["Outer"]),
        ("Results x;", ["Result, *Results"], ["put"]),
        ("Callback x;", ["Result, *Results", "(*Callback)"], ["put"]),
        ('int x = put("once");', ['extern "C" {', "put", "int once"], ["twice"]),
        ("", ["operator new", "counted"], ["twice", "half", "Inner", "put"]),
        ("#include <cuda_fp16.h>\nhalf x;", ["operator*"], ["bfloat", "twice"]),
        ('#include "cuda_bf16.h"\nbfloat x;', ["struct bfloat"], ["half", "twice"]),
        ("half *x;", [], ["struct half"]),
    ],
)
def test_what_a_source_can_reach_is_left(gcc, source, present, absent):
    left = gcc(source)
    assert [text for text in present if text not in left] == []
    assert [text for text in absent if text in left] == []
    assert set(lines(left)) <= set(lines(gcc(source, program="gcc")))


def test_a_mark_stands_where_the_header_is_included(gcc):
    left = gcc("int before;\n#include <cuda_fp16.h>\nint after; half x;\n#include <cuda_fp16.h>\n")
    assert left.index("before;") < left.index("struct half") < left.index("after;")
    assert left.count("struct half") == 1


def test_what_the_headers_could_read_otherwise_is_read(gcc):
    assert not is_whole(gcc, "#define other 1\n#include <cuda_fp16.h>\nhalf x;")
    assert is_whole(gcc, "#define bits 1\n#include <cuda_fp16.h>\nhalf x;")
    assert is_whole(gcc, "far::Inner x;", "-DWIDTH=4")
    assert is_whole(gcc, "far::Inner x;", "-D", "WIDTH=4")
    assert is_whole(gcc, "far::Inner x;", "-U", "WIDTH")
    (gcc.work / "mine.h").write_text("#  define short int\n")
    assert is_whole(gcc, '#include "mine.h"\n#include <cuda_fp16.h>\nhalf x;')
    assert not is_whole(gcc, "far::Inner x;", "-DOTHER=4", "-D", "MORE")
    assert not is_whole(gcc, "far::Inner x;", "-O2", "-w", "-std=c++20")


@pytest.mark.parametrize("reads", [False, True])
def test_code_without_optimisation_shares_headers_that_do_not_ask(gcc, tmp_path, reads):
    if reads:
        header = tmp_path / "a toolkit" / "include" / "cuda_fp16.h"
        header.write_text(HALF + "#ifdef __CUDACC_DEBUG__\nint debugged;\n#endif\n")
    assert not is_whole(gcc, "far::Inner x;")
    assert is_whole(gcc, "far::Inner x;", "-D__CUDACC_DEBUG__") == reads
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_file_of_the_kernels_comes_before_a_header(gcc):
    (gcc.work / "more").mkdir()
    (gcc.work / "more" / "cuda_fp16.h").write_text("struct half { float own; };\n")
    source = "#include <cuda_fp16.h>\nhalf x;"
    assert "float own" in gcc(source, "-Imore")
    assert "float own" not in gcc(source)


def test_a_header_that_has_changed_is_read_again(gcc):
    assert "once(x) + once(x)" in gcc("int x = twice(3);")
    (gcc.headers / "cuda_runtime.h").write_text(RUNTIME.replace("once(x) + once(x)", "2 * x"))
    assert "2 * x" in gcc("int x = twice(3);")
    assert len(list(gcc.cache.iterdir())) == 1


@pytest.mark.parametrize("broken", [b"", b"rubbish", b"\xdb\x00", marshal.dumps({"texts": []})])
def test_an_index_that_is_not_as_it_should_be_is_made_again(gcc, broken):
    gcc("")
    (index,) = gcc.cache.glob("*/index")
    index.write_bytes(broken)
    assert not is_whole(gcc, "int x = twice(3);")
    assert index.read_bytes() != broken


def test_what_stands_in_for_a_header_is_made_again(gcc):
    gcc("")
    (stand_in,) = gcc.cache.glob("*/cuda_runtime.h")
    stand_in.unlink()
    assert not is_whole(gcc, "int x = twice(3);")
    assert stand_in.exists()


def test_headers_that_cannot_be_taken_apart_are_left_whole(gcc):
    with (gcc.headers / "cuda_runtime.h").open("a") as file:
        file.write("int begun[\n")
    assert is_whole(gcc, "0];")


def test_without_a_cache_all_is_whole(gcc):
    gcc.cache.write_text("no folder")
    assert is_whole(gcc, "int x = twice(3);")


def test_several_processes_may_begin_at_once(gcc):
    gcc("int x = twice(3);")
    expected = (gcc.work / "kernel.ii").read_text()
    shutil.rmtree(gcc.cache)
    command = [
        ROOT / "softgpu/headers/gcc", "-D__CUDA_ARCH__=900", "-E", "-x", "c++",
        f"-I{gcc.headers}", "-include", "cuda_runtime.h", "-m64", "kernel.cu", "-o",
    ]  # fmt: skip
    running = [subprocess.Popen([*command, f"{i}.ii"], cwd=gcc.work) for i in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert {(gcc.work / f"{i}.ii").read_text() for i in range(4)} == {expected}
    (folder,) = gcc.cache.iterdir()
    assert len(list(folder.iterdir())) == 4
