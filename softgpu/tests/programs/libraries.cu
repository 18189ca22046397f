// A kernel of a library that is loaded by a call, as its text.
#include <cstdio>
#include <cuda_runtime.h>

const char text[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .global .u32 step = 3;
.visible .entry add(.param .u64 to)
{
    .reg .b64 %p, %s;
    .reg .b32 %r, %i;
    ld.param.u64 %p, [to];
    mov.u64 %s, step;
    ld.global.u32 %r, [%s];
    mov.u32 %i, %tid.x;
    mad.lo.u32 %r, %r, %i, 100;
    mad.wide.u32 %p, %i, 4, %p;
    st.global.u32 [%p], %r;
}
)";

int main()
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    unsigned kernels;
    void *step;
    size_t bytes;
    int *out, host[4], more = 5;
    cudaMalloc(&out, sizeof host);
    cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
    cudaLibraryGetKernelCount(&kernels, library);
    cudaLibraryGetKernel(&kernel, library, "add");
    cudaLibraryGetGlobal(&step, &bytes, library, "step");
    cudaMemcpy(step, &more, sizeof more, cudaMemcpyDefault);
    void *arguments[] = {&out};
    cudaLaunchKernel((const void *)kernel, 1, 4, arguments, 0, nullptr);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDefault);
    printf("%u kernel, %zu bytes: %d %d %d %d\n", kernels, bytes, host[0], host[1], host[2],
           host[3]);
    printf("no kernel: %s\n",
           cudaGetErrorName(cudaLaunchKernel(host, 1, 4, arguments, 0, nullptr)));
    cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000, 0);
    printf("%s\n", cudaGetErrorName(cudaLaunchKernel(kernel, 1, 4, arguments, 100000, nullptr)));
    printf("unloaded: %s\n", cudaGetErrorName(cudaLibraryUnload(library)));
}
