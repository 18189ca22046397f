// What becomes of accesses to the shared memory of a block of the cluster that has ended: one question for
// each number given.
#include <cstdio>
#include <cstdlib>

enum { ARRIVE, STORE, LOAD, ADD, REDUCE, HOWS };
static const char *hows[] = {"mbarrier.arrive", "st", "ld", "atom", "red"};

template <int HOW>
__global__ void __cluster_dims__(2, 1, 1) reach(int *out)
{
    __shared__ alignas(16) unsigned long long word, bar;
    unsigned rank, at, far, got = 1;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    at = (unsigned)__cvta_generic_to_shared(HOW == ARRIVE ? &bar : &word);
    word = 7;
    if (HOW == ARRIVE && threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 100;" ::"r"(at) : "memory");
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (rank == 0) return;
    for (int i = 0; i < 1000; ++i) __nanosleep(1000), __syncthreads();
    if (threadIdx.x) return;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(far) : "r"(at));
    if (HOW == ARRIVE)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(far)
                     : "memory");
    if (HOW == STORE)
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far), "r"(got) : "memory");
    if (HOW == LOAD)
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(far) : "memory");
    if (HOW == ADD)
        asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(got) : "r"(far) : "memory");
    if (HOW == REDUCE) asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(far) : "memory");
    atomicAdd(out, got != 0);
}

int main(int count, char **words)
{
    void (*const kernels[])(int *) = {reach<0>, reach<1>, reach<2>, reach<3>, reach<4>};
    for (int i = 1; i < count; i++) {
        const int how = atoi(words[i]);
        int *out;
        cudaMallocManaged(&out, 4);
        kernels[how]<<<2, 64>>>(out);
        const cudaError_t error = cudaDeviceSynchronize();
        printf("%s: %s\n", hows[how], cudaGetErrorName(error));
        if (error) cudaDeviceReset();
    }
}
