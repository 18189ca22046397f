#include <cstdio>

__device__ int where;

__global__ void set(int value) { where = value; }

__global__ void add(const int *from, int *to) { to[threadIdx.x] += from[threadIdx.x]; }

static void say(const char *what, cudaError_t error)
{
    if (error) printf("%s: %s\n", what, cudaGetErrorName(error));
}

int main()
{
    int count, peers, host[32], first, second, *a, *b;
    cudaPointerAttributes attributes;
    for (int i = 0; i < 32; i++) host[i] = i;
    cudaGetDeviceCount(&count);
    cudaDeviceCanAccessPeer(&peers, 0, 1);
    printf("%d devices, peers: %d\n", count, peers);
    cudaMalloc(&a, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    set<<<1, 1>>>(10);
    say("second", cudaSetDevice(1));
    cudaMalloc(&b, sizeof host);
    set<<<1, 1>>>(11);
    say("copy", cudaMemcpyPeer(b, 1, a, 0, sizeof host));
    say("enable", cudaDeviceEnablePeerAccess(0, 0));
    say("again", cudaDeviceEnablePeerAccess(0, 0));
    say("itself", cudaDeviceEnablePeerAccess(1, 0));
    add<<<1, 32>>>(a, b);
    cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&second, where, sizeof second);
    cudaSetDevice(0);
    cudaMemcpyFromSymbol(&first, where, sizeof first);
    cudaPointerGetAttributes(&attributes, b);
    printf("sum %d, variables %d and %d, on device %d\n", host[31], first, second,
           attributes.device);
    say("no third", cudaSetDevice(count));
    add<<<1, 32>>>(b, a);
    say("the other way", cudaDeviceSynchronize());
}
