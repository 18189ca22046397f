// A kernel that runs past the end of its array. With an argument, one that never ends.
#include <cstdio>

__global__ void fill(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] = i;
}

__global__ void endless(volatile int *x)
{
    while (*x == 0) {}
}

int main(int argc, char **)
{
    int *x;
    cudaMalloc(&x, 1000 * sizeof(int));
    if (argc > 1) {
        cudaMemset(x, 0, sizeof(int));
        puts("waiting");
        fflush(stdout);
        endless<<<1, 1>>>(x);
        cudaThreadSynchronize();  // as programs wrote it before CUDA 13
    }
    fill<<<8, 128>>>(x, 1000);
    printf("launched: %s\n", cudaGetErrorName(cudaGetLastError()));
    fill<<<8, 128>>>(x, 1000);
    printf("waited: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("and then: %s\n", cudaGetErrorName(cudaMemset(x, 0, 4)));
    return 300;
}
