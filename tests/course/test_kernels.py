"""Kernels of files and of texts: compiled with choices, refused with the compiler's own words,
launched as PyCUDA does, and spoken to where a launch cannot be right."""

import os
import re

import numpy as np
import pytest

from helpers import autoinit, kernels, sources, xray
from helpers.words import Next
from softgpu.declarations import Declarations
from softgpu.tests import python
from softgpu.tests.facts import refused, warned
from softgpu.tests.jit.test_cache import said_by_three

from softgpu.xray import parameters  # isort: skip
from pycuda import driver, gpuarray  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

# beside a real GPU what is internal to a text cannot be named
software = pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")

TWICE = "__global__ void twice(const float *x, float *out, long long n)\n{\n    BODY\n}\n"
BODY = "int i = threadIdx.x; if (i < n) out[i] = 2 * x[i];"


def twice(body=BODY):
    return TWICE.replace("BODY", body)


@pytest.fixture
def arrays():
    return gpuarray.to_gpu(np.arange(9, dtype=np.float32)), gpuarray.zeros(9, np.float32)


def test_a_text_is_a_kernel(arrays):
    x, out = arrays
    kernel = sources.kernel(twice())
    kernel(x, out, np.int64(9), block=(32, 1, 1))
    assert (out.get() == 2 * x.get()).all()
    assert repr(kernel) == "<kernel twice(float *x, float *out, long long n)>"


def test_it_is_still_a_function_of_pycuda(arrays):
    x, out = arrays
    kernel = sources.kernel(twice())
    assert isinstance(kernel, driver.Function) and kernel.max_threads_per_block == 1024
    kernel.prepare("PPq")
    kernel.prepared_call((1, 1), (32, 1, 1), x.gpudata, out.gpudata, 9)
    assert (out.get() == 2 * x.get()).all()
    kernel(driver.In(x.get()), out, np.int64(9), block=(32, 1, 1), grid=(1, 1, 1), stream=None)


@pytest.mark.parametrize("before", ["", "#include <cuda_fp16.h>\n", "struct S {};\n  "])
def test_a_kernel_keeps_its_plain_name(before):
    assert sources.kernel(f"{before}__global__ void plain() {{}}\n").name == "plain"


HEADS = {
    "void first": "void __global__ twice(PARAMETERS) { BODY }",
    "static": "static __global__ void twice(PARAMETERS) { BODY }",
    "static in the middle": "__global__ static void twice(PARAMETERS) { BODY }",
    "inline": "inline __global__ void twice(PARAMETERS) { BODY }",
    "template": "template <int N> __global__ void twice(PARAMETERS) { BODY }\n"
    "template __global__ void twice<3>(const float *, float *, long long);",
    "macro": "#define KERNEL __global__ void\nKERNEL twice(PARAMETERS) { BODY }",
    "lines": "__global__\nvoid\n__launch_bounds__(\n256)\ntwice\n(PARAMETERS)\n{ BODY }",
    "attribute": "[[maybe_unused]] __global__ void twice(PARAMETERS) { BODY }",
    "namespace": "namespace my::own { __global__ void twice(PARAMETERS) { BODY } }",
    "nameless": "namespace { __global__ void twice(PARAMETERS) { BODY } }",
    "extern": 'extern "C" {\n__global__ void twice(PARAMETERS) { BODY }\n}',
    "declared before": "__global__ void twice(PARAMETERS);\n"
    "__global__ void twice(PARAMETERS) { BODY }",
}


@software
@pytest.mark.filterwarnings("ignore::helpers.kernels.CompilerWarning")
@pytest.mark.parametrize("head", HEADS)
def test_a_kernel_has_any_head_of_cpp(head, arrays):
    x, out = arrays
    text = HEADS[head].replace("PARAMETERS", "const float *x, float *out, long long n")
    kernel = sources.kernel(text.replace("BODY", BODY) + "\n", "twice")
    kernel(x, out, np.int64(9), block=(32, 1, 1))
    assert (out.get() == 2 * x.get()).all()
    assert re.fullmatch(
        r"<kernel twice(<3>)?\(float \*x, float \*out, long long n\)>", repr(kernel)
    )
    with refused(TypeError, 3, 2):
        kernel(x, out, block=(32, 1, 1))


def test_kernels_of_one_name_are_told_apart_by_the_caller():
    text = twice() + twice().replace("long long n", "int n")
    with pytest.raises(kernels.SeveralFound) as several:
        sources.kernel(text, "twice")
    assert sorted(several.value.names) == ["_Z5twicePKfPfi", "_Z5twicePKfPfx"]
    assert sources.kernel(text, "_Z5twicePKfPfi").parameters is None


def test_what_the_compiler_says_is_a_warning_of_the_caller(tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path))  # it says nothing of what it has done
    with warned(kernels.CompilerWarning, "#174-D") as caught:
        kernel = sources.kernel(twice(BODY + " n;"))
    assert caught[0].filename == __file__ and "Remark" not in kernel.said
    assert sources.kernel(twice(BODY + " n;")) is kernel


def test_a_text_finds_common_and_takes_choices():
    text = (
        '#include "common/operators.cuh"\nusing T = float;\nusing Op = Sum<T>;\n'
        'extern "C" __global__ void one(T *out) { *out = Op()(T(1) / 3, Op().initial()); }\n'
        "template <typename A>\n__global__ void two(A *out) {}\n"
    )
    out = gpuarray.zeros(1, np.float64)
    sources.kernel(text, "one", T="double", Op="Prod<T>")(out, block=(1, 1, 1))
    assert out.get() == 1 / 3
    report = xray.profile((text, "one"), gpuarray.zeros(1, np.float32), grid=1, block=1)
    assert report.total["st.requests"] == 1
    with refused(TypeError, "U", "T=float, Op=Sum<T>"):
        sources.kernel(text, "one", U=3)
    with refused(LookupError, "one, two"):
        sources.kernel(text)
    with refused(LookupError, "'three'", "one, two"):
        sources.kernel(text, "three")


def test_a_changed_file_takes_effect(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    kernel, header = tmp_path / "f.cu", tmp_path / "f.cuh"
    times = iter(range(1, 9))

    def write(path, text):
        path.write_text(text)
        os.utime(path, ns=(next(times),) * 2)

    def result():
        out = gpuarray.zeros(1, np.int32)
        sources.kernel("f.cu")(out, block=(1, 1, 1))
        return int(out.get()[0])

    write(header, "#define VALUE 1\n")
    write(kernel, '#include "f.cuh"\nextern "C" __global__ void f(int *x) { *x = VALUE; }\n')
    assert result() == 1 and sources.kernel("f.cu") is sources.kernel("f.cu")
    write(header, "#define VALUE 2\n")
    assert result() == 2
    write(kernel, 'extern "C" __global__ void f(int *x) { *x = 3; }\n')
    assert result() == 3


def test_a_mistake_is_told_by_line_and_caret():
    with pytest.raises(kernels.CompileError) as info:
        sources.kernel(twice("int i = 3\n    out[i] = y;\n    x[0] = z;"))
    shown = info.value._render_traceback_()
    error = re.escape('kernel.cu(4): error: expected a ";"')
    assert re.fullmatch(rf"{error} \(\d [^)]*\)", shown[0])
    assert (
        shown[1].strip() == "out[i] = y;"
        and shown[2].strip() == "^"
        and shown[3:] == [Next.SEMICOLON()]
    )
    with pytest.raises(kernels.CompileError) as info:
        sources.kernel('#include "nothing.cuh"\n' + twice())
    assert str(info.value).strip() == "kernel.cu(1): error: nothing.cuh: No such file or directory"


@pytest.mark.parametrize(
    "shape, given, instead",
    [
        ({"block": 256}, "block=256", "block=(256, 1, 1)"),
        ({"block": (16, 16)}, "block=(16, 16)", "block=(16, 16, 1)"),
        ({"block": [8, 8, 8]}, "block=[8, 8, 8]", "block=(8, 8, 8)"),
        ({"block": None}, "block", "block=(256, 1, 1)"),
        ({"block": "all"}, "block='all'", "(256, 1, 1)"),
        ({"grid": 4}, "grid=4", "grid=(4, 1)"),
        ({"grid": (np.int64(4), 1)}, "grid=(", "grid=(4, 1)"),
        ({"grid": (3.9, 1)}, "grid=(3.9, 1)", "grid=(4, 1)"),
        ({"grid": (1, 1, 1, 1)}, "grid=(1, 1, 1, 1)", "(256, 1)"),
    ],
)
def test_a_wrong_shape_is_told_what_to_write(arrays, shape, given, instead):
    with refused(TypeError, given, instead):
        sources.kernel(twice())(*arrays, np.int64(9), **{"block": (32, 1, 1)} | shape)


HALVES = np.zeros(9, np.float16)


@pytest.mark.parametrize(
    "place, argument, facts",
    [
        (2, 1000, ["int", "np.int64(1000)"]),
        (2, 1.5, ["float", "np.int64(1)"]),
        (2, np.int32(7), ["int32", "np.int64(7)"]),
        (2, HALVES, ["np.int64(...)"]),
        (0, 0, ["int"]),
        (0, np.float32(0), ["float32"]),
        (0, None, [None, "np.uintp(0)"]),
        (0, "x", ["str", "gpuarray.to_gpu(...)"]),
        (0, [1.0], ["list", "gpuarray.to_gpu(...)"]),
        (0, HALVES, ["NumPy", "gpuarray.to_gpu(...)"]),
        (0, driver.In(HALVES), ["float16", "x.astype(np.float32)"]),
        (0, driver.In(HALVES[:8]), ["float16", "x.astype(np.float32)", "x.view(np.float32)"]),
    ],
)
def test_a_wrong_argument_is_told_what_to_write(arrays, place, argument, facts):
    arguments = [*arrays, np.int64(9)]
    arguments[place] = argument
    declared = "(long long n)" if place else "(float *x)"
    with refused(TypeError, place + 1, declared, *facts):
        sources.kernel(twice())(*arguments, block=(32, 1, 1))


def test_an_array_of_doubles_is_refused(arrays):
    x, out = arrays
    with refused(TypeError, 1, "(float *x)", "float64"):
        sources.kernel(twice())(x.astype(np.float64), out, np.int64(9), block=(32, 1, 1))


@pytest.mark.parametrize(
    "declared, argument",
    [
        ("float *", np.uintp(0)),
        ("const float4 *__restrict__ ", driver.In(np.zeros(4, np.float32))),
        ("float2 *", driver.In(np.zeros(4, np.complex64))),
        ("half2 *", driver.In(np.zeros(4, np.float16))),
        ("const __half2 *", driver.In(np.zeros(4, np.float16))),
        ("uchar4 *", driver.In(np.zeros(4, np.uint8))),
        ("Four *", driver.In(np.zeros(4, np.float32))),
        ("Four *", driver.In(np.zeros(1, gpuarray.vec.float4))),
        ("float4 *", driver.In(np.zeros(1, gpuarray.vec.float4))),
        ("unsigned ", np.int32(3)),
        ("void *", driver.In(np.zeros(4, np.float32))),
        ("unsigned char *", driver.In(np.zeros(4, np.float32))),
        ("Real *", driver.In(np.zeros(4))),
        ("float **", driver.In(np.zeros(4, np.uint64))),
        ("Some ", np.zeros((), [("x", np.float32), ("y", np.float32)])),
    ],
)
def test_what_may_be_right_passes(declared, argument):
    text = f"struct Some; struct Four {{ float x, y, z, w; }}; __global__ void k({declared}x) {{}}"
    parameters.check([argument], parameters.parameters(Declarations(text), "k"))


@pytest.mark.parametrize("run", [xray.sanitize, xray.profile])
def test_xray_knows_a_function_by_the_source_of_its_module(run, arrays):
    if not autoinit.is_software:
        pytest.skip("PyCUDA does not tell")
    function = SourceModule(twice()).get_function("twice")
    with refused(TypeError, 3, "(long long n)", "float64"):
        run(function, *arrays, np.float64(9), grid=1, block=32)
    with refused(TypeError, "shared", None):
        run(function, *arrays, np.int64(9), grid=1, block=32, shared=None)
    with refused(ValueError, "shared", 0, -1):
        run(function, *arrays, np.int64(9), grid=1, block=32, shared=-1)


def test_an_argument_too_few_is_named(arrays):
    with refused(TypeError, "twice", 3, "long long n)", 2):
        sources.kernel(twice())(*arrays, block=(32, 1, 1))


def test_what_a_kernel_declares():
    text = """
    using T = half; using Acc = T;
    /* __global__ void f(int old) {} */
    extern "C" __global__ __launch_bounds__(64, 2) void f(  // (comment)
        const T *__restrict__ x, volatile unsigned long long *count, Packed<T, 4> *packs,
        const float tiles[], Acc scale, unsigned n, int **table) { g(x); }
    """
    declared = Declarations(text)
    assert declared.kernels == ["f"]
    read = parameters.parameters(declared, "f")
    assert [p.text for p in read] == [
        "T *x", "unsigned long long *count", "Packed<T, 4> *packs", "float tiles[]", "Acc scale",
        "unsigned n", "int **table",
    ]  # fmt: skip
    assert [p.is_pointer for p in read] == [True, True, True, True, False, False, True]
    types = [p.dtype and p.dtype.name for p in read]
    assert types == ["float16", "uint64", None, "float32", "float16", "uint32", None]
    assert parameters.parameters(Declarations("__global__ void f(void) {}"), "f") == ()
    macro = Declarations("#define F(n) __global__ void n() {}\nF(f)")
    assert parameters.parameters(macro, "f") is None


@pytest.mark.parametrize("path", sorted(sources.ROOT.rglob("*.cu")), ids=lambda path: path.stem)
def test_each_kernel_of_the_course_is_read(path):
    text = path.read_text()
    if "__global__" in text:
        assert parameters.parameters(Declarations(text), path.stem) is not None


COMPILE = """
import time
from helpers import kernels
import pycuda.compiler
real = pycuda.compiler.call_capture_output

def slow(line, **named):
    if "--cubin" in line:
        print("compiled")
        time.sleep(0.5)
    return real(line, **named)

pycuda.compiler.call_capture_output = slow
kernels.compile("k", "__global__ void k() {}", "", [], [])
"""


def test_a_text_is_compiled_by_one_of_the_processes_that_want_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path))
    monkeypatch.delenv("PYCUDA_CACHE_DIR", raising=False)
    assert said_by_three(COMPILE) == "compiled\n"


def test_who_shows_a_warning_takes_no_gpu_with_it():
    """Such as pytest's first process, which imports the class of each."""
    assert kernels.CompilerWarning.__module__ == "helpers.warned"
    program = "import sys, helpers.warned; print('pycuda._driver' in sys.modules)"
    done = python("-c", program)
    assert done.stdout == "False\n", done.stderr


def test_who_judges_loads_nothing_that_draws():
    """A class's judge has a process for each kernel."""
    program = (
        "import sys; from helpers import exercises\n"
        "exercises.check('00.double', exercises.solution('00.double'))\n"
        "print('matplotlib' in sys.modules)"
    )
    done = python("-c", program)
    assert done.stdout.endswith("False\n"), done.stdout + done.stderr
