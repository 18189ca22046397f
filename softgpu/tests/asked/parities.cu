// Which phase a wait for a parity other than 0 and 1 is for: PTX defines only these.
#include <cstdio>

__global__ void k(const unsigned *parities, int count, unsigned *over)
{
    __shared__ unsigned long long bar;
    const unsigned at = __cvta_generic_to_shared(&bar);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
    for (int phase = 0; phase < 3; phase++) {
        for (int i = 0; i < count; i++)
            asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, p;}"
                         : "=r"(over[phase * count + i])
                         : "r"(at), "r"(parities[i])
                         : "memory");
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
    }
}

int main()
{
    const unsigned asked[] = {0, 1, 2, 3, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
    const int count = sizeof asked / sizeof *asked;
    unsigned *parities, *over;
    cudaMallocManaged(&parities, sizeof asked);
    cudaMallocManaged(&over, 3 * sizeof asked);
    for (int i = 0; i < count; i++) parities[i] = asked[i];
    k<<<1, 1>>>(parities, count, over);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error) printf("%s\n", cudaGetErrorString(error));
    for (int phase = 0; phase < 3; phase++)
        for (int i = 0; i < count; i++)
            printf("phase %d, parity %x: %s\n", phase, asked[i],
                   over[phase * count + i] ? "over" : "not");
}
