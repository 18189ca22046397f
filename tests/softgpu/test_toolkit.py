"""The compiler: the machine's if it fits, else NVIDIA's wheels."""

import os
import subprocess

import pytest

from softgpu import toolkit
from tests import ROOT


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
    with pytest.raises(toolkit.ToolkitError, match=r"driver of CUDA 12\.8"):
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


# --- and compiles with the headers of device code alone, where that makes no difference -----------

KERNEL = """#include <cuda_fp16.h>
extern "C" __global__ void k(float *x, half *h, int n)
{
    __shared__ float s[64];
    int i = threadIdx.x;
    assert(i < n);
    s[i] = pow(x[i], 2) + abs(x[i]) * max(i, 2u) + INFINITY;
    __syncthreads();
    x[i] = s[63 - i] + __shfl_down_sync(~0u, s[i], 1) + __half2float(__hadd(h[i], h[0]));
    atomicAdd(x, 1.0f);
    printf("%f\\n", x[i]);
}
"""


def leave_ptx(folder, source, *options, nvcc):
    """What bin/nvcc leaves for PyCUDA, and what it says."""
    (folder / "kernel.cu").write_text(source)
    done = subprocess.run(
        [ROOT / "softgpu/bin/nvcc", "--cubin", "-arch", "sm_90", *options, "kernel.cu"],
        capture_output=True, text=True, cwd=folder, env={**os.environ, "SOFTGPU_NVCC": str(nvcc)},
    )  # fmt: skip
    return (folder / "kernel.cubin").read_text(), done.stdout + done.stderr


def test_a_kernel_compiles_to_the_same_with_half_of_the_headers(tmp_path):
    nvcc = toolkit.find_toolkit().nvcc
    left, said = leave_ptx(tmp_path, KERNEL, nvcc=nvcc)
    command = [nvcc, "--ptx", "-lineinfo", "-arch=sm_90", "-o", "whole.ptx", "kernel.cu"]
    subprocess.run(command, cwd=tmp_path, check=True)
    ptx, _, _ = left.partition("//@ ")
    assert ptx == (tmp_path / "whole.ptx").read_text() and not said


@pytest.mark.parametrize(
    "source, options, calls",
    [
        ("__global__ void k() {}", [], ["fast"]),
        ("__global__ void k() {} // wrong", [], ["fast", "whole"]),
        ("__global__ void k() {} // warn", [], ["fast", "whole"]),
        ("__global__ void k() { std::forward(1); }", [], ["whole"]),
        ("__global__ void k() {}", ["-G"], ["whole"]),
    ],
)
def test_where_the_compiler_says_anything_it_gets_all_headers(tmp_path, source, options, calls):
    fake = tmp_path / "compiler"
    fake.write_text(
        """#!/bin/sh
        case "$*" in *device_only*) way=fast ;; *) way=whole ;; esac
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
