"""Kernels that the software GPU does not run: it has to say so when they are asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["REFUSED", "Refused"]


@dataclass(frozen=True)
class Refused:
    """A kernel's text; the marked line (// here) needs the instruction."""

    name: str
    instruction: str
    source: str
    options: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        return self.source[: self.source.index("// here")].count("\n") + 1

    def get(self) -> None:
        from pycuda.compiler import SourceModule

        (kernel,) = re.findall(r'extern "C" __global__ void (?:__\w+\(.*?\) )?(\w+)', self.source)
        module = SourceModule(self.source, no_extern_c=True, options=list(self.options))
        module.get_function(kernel)


REFUSED = [
    Refused(
        "texture on a cube",
        "tex.cube",
        """
extern "C" __global__ void sample(float *out, cudaTextureObject_t sky) {
    int i = threadIdx.x;
    out[i] = texCubemap<float>(sky, i, 0.5f, 1);  // here
}
""",
    ),
    Refused(
        "texture by gradients",
        "tex.grad",
        """
extern "C" __global__ void slope(float *out, cudaTextureObject_t picture) {
    float2 step = make_float2(1, 1);
    out[threadIdx.x] = tex2DGrad<float>(picture, threadIdx.x, 0.5f, step, step);  // here
}
""",
    ),
    Refused(
        "kernel launched by a kernel",
        "__cudaCDP2GetParameterBufferV2",
        """
__global__ void child(int *out) { out[threadIdx.x] = 1; }
extern "C" __global__ void parent(int *out) {
    child<<<1, 32>>>(out);  // here
}
""",
        ("-rdc=true",),
    ),
]
