"""The compiler: the machine's if it fits, else NVIDIA's wheels."""

import os
import subprocess

import pytest

from softgpu import toolkit


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
