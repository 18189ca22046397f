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
        "texture",
        "tex",
        """
extern "C" __global__ void sample(float *out, cudaTextureObject_t picture) {
    int i = threadIdx.x;
    out[i] = tex2D<float>(picture, i, 0.5f);  // here
}
""",
    ),
    Refused(
        "surface",
        "sust",
        """
extern "C" __global__ void draw(cudaSurfaceObject_t picture) {
    surf2Dwrite(1.0f, picture, threadIdx.x * 4, 0);  // here
}
""",
    ),
    Refused(
        "kernel launched by a kernel",
        "__cudaCDP2",
        """
__global__ void child(int *out) { out[threadIdx.x] = 1; }
extern "C" __global__ void parent(int *out) {
    child<<<1, 32>>>(out);  // here
}
""",
        ("-rdc=true",),
    ),
]
