"""A template, compiled and launched by cuda.core."""

import numpy as np
import pytest

core = pytest.importorskip("cuda.core", reason="cuda.core is not installed")
from cuda.bindings import driver  # noqa: E402

SOURCE = """
template <typename T>
__global__ void saxpy(T a, const T *x, const T *y, T *out, size_t n)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
"""


@pytest.mark.parametrize("kind", ["ptx", "cubin"])
def test_saxpy(kind):
    device = core.Device()
    device.set_current()
    stream = device.create_stream()
    options = core.ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    program = core.Program(SOURCE, code_type="c++", options=options)
    saxpy = program.compile(kind, name_expressions=("saxpy<float>",)).get_kernel("saxpy<float>")
    x, y, out = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32), np.zeros(1000, "f4")
    buffers = [device.allocate(x.nbytes, stream=stream) for _ in range(3)]
    for buffer, array in zip(buffers, (x, y)):
        driver.cuMemcpyHtoD(int(buffer.handle), array.ctypes.data, array.nbytes)
    config = core.LaunchConfig(grid=4, block=256)
    core.launch(stream, config, saxpy, np.float32(2), *buffers, np.uint64(x.size))
    stream.sync()
    driver.cuMemcpyDtoH(out.ctypes.data, int(buffers[2].handle), out.nbytes)
    assert (out == 2 * x + y).all()
