// Blocks of other sizes than a kernel's .reqntid or .maxntid: the launch's result, how many threads ran,
// and their %ntid.
#include <cstdio>
#include <string>

#include <cuda.h>

static const char *text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o) LIMIT 64, 2, 1
{
    .reg .b64 %a;
    .reg .b32 %r<5>;
    ld.param.u64 %a, [o];
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %ntid.y;
    mad.lo.u32 %r3, %r1, 1000, %r2;
    st.global.u32 [%a+4], %r3;
    atom.global.add.u32 %r4, [%a], 1;
    ret;
}
)";

static void ask(const char *limit)
{
    static const unsigned blocks[][2] = {{64, 2}, {1, 1}, {128, 1}, {2, 1}, {1, 2}, {64, 4}};
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    std::string whole = text;
    whole.replace(whole.find("LIMIT"), 5, limit);
    cuMemAlloc(&out, 8);
    cuModuleLoadData(&module, whole.c_str());
    cuModuleGetFunction(&function, module, "k");
    for (auto &b : blocks) {
        int got[2];
        void *args[] = {&out};
        cuMemsetD32(out, 0, 2);
        int launched = cuLaunchKernel(function, 1, 1, 1, b[0], b[1], 1, 0, 0, args, 0);
        cuMemcpyDtoH(got, out, 8);
        printf("%s, %u x %u: %d; %d threads, ntid %d\n", limit, b[0], b[1], launched, got[0],
               got[1]);
    }
    int most;
    cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
    printf("%s: at most %d threads\n", limit, most);
}

int main()
{
    cudaFree(0);
    ask(".reqntid");
    ask(".maxntid");
}
