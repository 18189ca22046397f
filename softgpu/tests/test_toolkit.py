"""The compiler: the machine's if it fits, else NVIDIA's wheels."""

import os
import re
import subprocess
import sys

import pytest

from softgpu import settings, toolkit
from softgpu.tests import ROOT
from softgpu.tests.facts import refused


def test_software_gpu_takes_cuda_13_of_the_machine(fake_nvcc):
    fake_nvcc(12, 4)
    expected = fake_nvcc(13, 1)
    fake_nvcc(13, 0, wheel=True)
    found = toolkit.find_toolkit(None, fake_nvcc.wheels)
    assert (found.nvcc, found.version, found.origin) == (expected, (13, 1), "machine")
    root = expected.removesuffix("/bin/nvcc")
    assert found.include == (root + "/include", root + "/include/cccl")


def test_software_gpu_prefers_wheels_to_cuda_12(fake_nvcc):
    fake_nvcc(12, 4)
    expected = fake_nvcc(13, 0, wheel=True)
    assert toolkit.find_toolkit(None, fake_nvcc.wheels).nvcc == expected


@pytest.mark.parametrize("inner", ["nvidia/cu13", "softgpu"])
def test_what_a_parent_process_put_on_path_is_not_the_machines(fake_nvcc, inner):
    hidden = fake_nvcc(13, 1, place=inner)
    assert os.access(hidden, os.X_OK)
    expected = fake_nvcc(13, 0)
    assert toolkit.find_toolkit(None, wheels=()).nvcc == expected


def test_gpu_takes_what_its_driver_can_load(fake_nvcc):
    fake_nvcc(13, 1)
    expected = fake_nvcc(12, 4)
    fake_nvcc(13, 0, wheel=True)
    assert toolkit.find_toolkit((12, 8), fake_nvcc.wheels).nvcc == expected


def test_old_driver_without_its_toolkit_is_a_clear_error(fake_nvcc):
    fake_nvcc(13, 0, wheel=True)
    with refused(toolkit.ToolkitError, "12.8"):
        toolkit.find_toolkit((12, 8), fake_nvcc.wheels)


@pytest.mark.parametrize("part", ["include/cub/cub.cuh", "include/cudaProfiler.h", "bin/ptxas"])
def test_incomplete_toolkit_is_passed_over(fake_nvcc, part):
    fake_nvcc(13, 1, without=[part])
    expected = fake_nvcc(13, 0, wheel=True)
    assert toolkit.find_toolkit(None, fake_nvcc.wheels).nvcc == expected


def test_one_of_both_can_be_asked_for(fake_nvcc):
    machine, wheel = fake_nvcc(13, 1), fake_nvcc(13, 0, wheel=True)
    assert toolkit.find_toolkit(None, fake_nvcc.wheels, "machine").nvcc == machine
    assert toolkit.find_toolkit(None, fake_nvcc.wheels, "wheel").nvcc == wheel


def test_compiler_works_when_only_the_lab_has_it(tmp_path, monkeypatch):
    """nvcc and ptxas of the chosen toolkit with nothing but the system's folders on PATH."""
    chosen = toolkit.find_toolkit()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    toolkit.use(chosen)
    assert os.environ["PATH"].startswith(os.path.dirname(chosen.nvcc))
    folder = tmp_path / "with a space"
    folder.mkdir()
    source = folder / "kernel.cu"
    source.write_text(
        "#include <cub/block/block_reduce.cuh>\n"
        "#include <cuda_fp16.h>\n"
        "__global__ void total(float *x) {\n"
        "    using Block = cub::BlockReduce<float, 64>;\n"
        "    __shared__ Block::TempStorage shared;\n"
        "    float sum = Block(shared).Sum(x[threadIdx.x]);\n"
        "    if (threadIdx.x == 0) x[0] = sum;\n"
        "}\n"
    )
    ptx = folder / "kernel.ptx"
    subprocess.run(["nvcc", "--ptx", "-arch=sm_90", "-o", ptx, source], check=True)
    assert "total" in ptx.read_text()
    subprocess.run(["ptxas", "-arch=sm_90", "-o", folder / "kernel.cubin", ptx], check=True)


# --- our nvcc says what a source is made of, without compiling ------------------------------------


@pytest.fixture
def sources(tmp_path):
    """A source with headers beside it, in a folder of -I, and of the compiler."""
    texts = {
        "source.cu": '#include "beside.cuh"\n# include <far/off.cuh>\n#include <cuda_fp16.h>\n',
        "beside.cuh": "int beside;\n",
        "more/far/off.cuh": '#include "next.cuh"\n#include "next.cuh"\n',
        "more/far/next.cuh": '#include "off.cuh"\nint next;\n',
        "more/named.h": "int named;\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def preprocessed(folder, *options, **environment):
    command = [ROOT / "softgpu/bin/nvcc", "--preprocess", "-arch", "sm_90", *options]
    return subprocess.run(
        [*command, folder / "source.cu", "--compiler-options", "-P"],
        capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **environment},
    ).stdout  # fmt: skip


@pytest.mark.parametrize("header", ["beside.cuh", "more/far/off.cuh", "more/far/next.cuh"])
def test_what_is_included_counts_as_the_source(sources, header):
    before = preprocessed(sources, f"-I{sources}/more", SOFTGPU_NVCC="false")
    assert before.count("int beside;") == before.count("int next;") == 1
    with (sources / header).open("a") as file:
        file.write("// changed\n")
    after = preprocessed(sources, "-I", f"{sources}/more", SOFTGPU_NVCC="false")
    assert after.replace("// changed\n", "") == before != after


def test_a_header_of_the_command_line_counts_too(sources):
    folders = [f"-I{sources}/more"]
    named = preprocessed(sources, *folders, "-include", "named.h", SOFTGPU_NVCC="false")
    assert "int named;" in named
    assert preprocessed(sources, *folders, "-include", "cuda_fp16.h", SOFTGPU_NVCC="false")


def test_where_includes_cannot_be_read_off_the_compiler_is_asked(sources):
    for options, environment in [
        (["-isystem", "more"], {}),
        (["--options-file", "x"], {}),
        ([], {"CPATH": str(sources)}),
    ]:
        text = preprocessed(sources, *options, SOFTGPU_NVCC="echo", **environment)
        assert text.startswith("--preprocess -arch sm_90")
    with (sources / "beside.cuh").open("a") as file:
        file.write("#include OTHER\n")
    assert preprocessed(sources, SOFTGPU_NVCC="echo").startswith("--preprocess")


# --- and compiles with what a kernel can reach of the headers, which makes no difference ----------

KERNELS = {
    "nothing": "__global__ void k() {}",
    "math": """__global__ void k(float *x, double *y, int n) {
        assert(n > 0);
        x[0] = pow(x[1], 2) + abs(x[2]) * max(n, 2u) + INFINITY + fminf(x[3], 1) + __expf(x[4]);
        y[0] = sin(y[1]) / rsqrt(y[2]) + isnan(y[3]) + fma(y[4], y[5], y[6]);
        printf("%f\\n", x[0]);
    }""",
    "warps": """__global__ void k(int *x) {
        unsigned who = __ballot_sync(~0u, x[threadIdx.x]);
        x[0] = __shfl_down_sync(~0u, x[1], 1) + __popc(who) + __reduce_add_sync(~0u, x[2]);
        atomicAdd(x, atomicCAS(x + 1, 2, 3)); __threadfence(); __syncthreads();
        x[3] = __ldg(x + 4) + clock() + warpSize + blockIdx.z * gridDim.y;
    }""",
    "vectors": """__global__ void k(float4 *x, const uchar2 *y, double2 *z) {
        x[1] = make_float4(x[0].x, y[0].y, z[0].x, 1); *(int2 *)z = make_int2(1, 2);
    }""",
    "half": """#include <cuda_fp16.h>
    __global__ void k(half *x, half2 *y) {
        x[0] = x[1] * x[2] + half(3) - __float2half(1.5f); y[0] += __hmul2(y[1], y[2]);
        if (x[3] < x[4] && !(x[5] == -x[6])) x[7] = hexp(x[8]); atomicAdd(x, x[9]);
    }""",
    "bfloat16 first": """#include <cuda_bf16.h>
    #include <cuda_fp16.h>
    __global__ void k(__nv_bfloat16 *x, half *y) {
        x[0] = x[1] / x[2] + __nv_bfloat16(float(y[0]));
    }""",
    "std": """#include <type_traits>
    template <typename T> __device__ std::enable_if_t<std::is_integral_v<T>, T> f(T x) { return x; }
    __global__ void k(int *x) { x[0] = f(x[1]) + std::numeric_limits<int>::digits; }
    __global__ void l(int *x) { x[0] = sizeof(std::conditional_t<1, char, int>); }
    """,
    "list": "__global__ void k(int *x) { for (int i : {3, 1, 2}) x[i] = i; }",
    "groups": """#include <cooperative_groups.h>
    __global__ void k(int *x) {
        auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
        x[0] = tile.shfl_down(x[1], 1); tile.sync();
    }""",
    "classes": """struct Half { short bits; __device__ operator float() const { return bits; } };
    __device__ Half operator+(Half a, Half b) { return {short(a.bits + b.bits)}; }
    namespace { __device__ int counter; }
    __global__ void k(Half *x, void **p) {
        x[0] = x[1] + x[2]; x[3].bits = max(float(x[4]), 0.5f); counter++; p[0] = new int[4];
        memcpy(p[1], x, sizeof(Half));
    }""",
}


def leave_ptx(folder, source, *options, nvcc):
    """What bin/nvcc leaves for PyCUDA, and what it says."""
    (folder / "kernel.cu").write_text(source)
    done = subprocess.run(
        [ROOT / "softgpu/bin/nvcc", "--cubin", "-arch", "sm_90", *options, "kernel.cu"],
        capture_output=True, text=True, cwd=folder, env={
            **os.environ,
            "SOFTGPU_NVCC": str(nvcc),
            "SOFTGPU_PYTHON": sys.executable,
            "SOFTGPU_HEADERS_CACHE": str(settings.cache_folder().absolute() / "headers"),
        },
    )  # fmt: skip
    return (folder / "kernel.cubin").read_text(), done.stdout + done.stderr


def test_a_text_may_be_longer_than_an_argument(tmp_path):
    (tmp_path / "long.cuh").write_text("// as long as it takes\n" * 10_000)
    source = '#include "long.cuh"\n__global__ void k() {}\n'
    (tmp_path / "source.cu").write_text(source)
    text = preprocessed(tmp_path, SOFTGPU_NVCC="false")
    assert len(text) > 200_000 and "void k()" in text


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_compiles_to_the_same_with_what_it_reaches(tmp_path, name):
    nvcc = toolkit.find_toolkit().nvcc
    left, said = leave_ptx(tmp_path, KERNELS[name], "--keep", nvcc=nvcc)
    assert not said
    preprocessed_bytes = (tmp_path / "kernel.cpp1.ii").stat().st_size
    assert (preprocessed_bytes < 300_000) == (name not in ("list", "groups"))  # whole: 1.3 million
    command = [nvcc, "--ptx", "-lineinfo", "-arch=sm_90", "-o", "whole.ptx", "kernel.cu"]
    subprocess.run(command, cwd=tmp_path, check=True)
    ptx, _, _ = left.partition("//@ ")
    assert without_ids(ptx) == without_ids((tmp_path / "whole.ptx").read_text())


def without_ids(ptx):
    """nvcc numbers what is internal to a source by its preprocessed text."""
    return re.sub(r"_[0-9a-f]{8}_", "_", ptx)


@pytest.mark.parametrize(
    "source, options, calls",
    [
        ("__global__ void k() {}", [], ["fast"]),
        ("__global__ void k() {} // wrong", [], ["fast", "whole"]),
        ("__global__ void k() {} // warn", [], ["fast", "whole"]),
        ("__global__ void k() {}", ["-G"], ["fast"]),
    ],
)
def test_where_the_compiler_says_anything_it_gets_all_headers(tmp_path, source, options, calls):
    fake = tmp_path / "compiler"
    fake.write_text(
        """#!/bin/sh
        case "$*" in *-ccbin*) way=fast ;; *) way=whole ;; esac
        echo $way >>calls
        echo "made the $way way" >kernel.cubin
        grep -o warn kernel.cu
        ! grep -q wrong kernel.cu || [ $way = whole ]
        """
    )
    fake.chmod(0o755)
    left, said = leave_ptx(tmp_path, source, *options, nvcc=fake)
    assert (tmp_path / "calls").read_text().split() == calls
    assert left.startswith(f"made the {calls[-1]} way\n")
    assert said == ("warn\n" if "warn" in source else "")


def test_all_headers_may_be_asked_for(tmp_path, monkeypatch):
    fake = tmp_path / "compiler"
    fake.write_text(
        '#!/bin/sh\necho "all" >kernel.cubin\ncase "$*" in *-ccbin*) touch fast ;; esac\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("SOFTGPU_HEADERS", "full")
    assert leave_ptx(tmp_path, KERNELS["list"], nvcc=fake)[0].startswith("all\n")
    assert not (tmp_path / "fast").exists()
    assert settings.headers() == "full"
    monkeypatch.setenv("SOFTGPU_HEADERS", "none")
    with refused(ValueError, "SOFTGPU_HEADERS=none", "reached", "full"):
        settings.headers()


def test_pycuda_compiles_anew_where_all_headers_are_asked_for(sources):
    usual = preprocessed(sources, SOFTGPU_NVCC="false")
    assert usual in (full := preprocessed(sources, SOFTGPU_NVCC="false", SOFTGPU_HEADERS="full"))
    assert full != usual
