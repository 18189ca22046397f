#include "scale.h"

__global__ void twice(float *x) { *x *= 2; }

float scaled(float x)
{
    float *at;
    cudaMalloc(&at, sizeof x);
    cudaMemcpy(at, &x, sizeof x, cudaMemcpyHostToDevice);
    twice<<<1, 1>>>(at);
    cudaMemcpy(&x, at, sizeof x, cudaMemcpyDeviceToHost);
    cudaFree(at);
    return x;
}
