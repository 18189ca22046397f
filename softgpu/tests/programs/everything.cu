// What programs do through the runtime, each with its answer on a line of its own.
#include "scale.h"

#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__constant__ float factors[2];
__device__ int visits;
__managed__ int shared_by_all = 5;

template <typename T>
__global__ void shift(T *x, int n, T by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * T(factors[1]) + by;
    if (i < n) atomicAdd(&visits, 1);
}

__global__ void dynamic(int *out)
{
    extern __shared__ int room[];
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) *out = room[blockDim.x - 1] + shared_by_all;
}

__global__ void meeting(int *counts)
{
    atomicAdd(&counts[0], 1);
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) counts[1 + blockIdx.x] = counts[0];
}

static void check(const char *what, cudaError_t error)
{ printf("%s: %s\n", what, cudaGetErrorName(error)); }

int main(int argc, char **argv)
{
    printf("arguments: %d, last %s\n", argc - 1, argv[argc - 1]);
    int devices, at_once;
    cudaDeviceProp properties;
    cudaGetDeviceCount(&devices);
    cudaGetDeviceProperties(&properties, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, dynamic, 1024, 0);
    printf("device: %d of sm_%d%d, warps of %d, %d blocks of 1024\n", devices, properties.major,
           properties.minor, properties.warpSize, at_once);

    cudaSharedMemConfig banks;
    check("shared memory's banks", cudaDeviceGetSharedMemConfig(&banks));
    cudaFuncAttributes facts;
    cudaFuncGetAttributes(&facts, dynamic);
    printf("banks: %d, PTX: %d, binary: %d\n", banks, facts.ptxVersion, facts.binaryVersion);

    const float two[] = {1, 2};
    check("constant", cudaMemcpyToSymbol(factors, two, sizeof two));
    std::vector<double> host(1000, 3.0);
    double *x;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaStreamCreate(&stream);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaMalloc(&x, 8000);
    cudaMemcpyAsync(x, host.data(), 8000, cudaMemcpyHostToDevice, stream);
    cudaEventRecord(begin, stream);
    shift<double><<<8, 128, 0, stream>>>(x, 1000, 0.5);
    cudaEventRecord(end, stream);
    cudaEventSynchronize(end);
    float ms = -1;
    cudaEventElapsedTime(&ms, begin, end);
    cudaMemcpy(host.data(), x, 8000, cudaMemcpyDefault);
    int seen;
    cudaMemcpyFromSymbol(&seen, visits, sizeof seen);
    printf("template: %g, visits %d, time %s\n", host[999], seen, ms >= 0 ? "taken" : "missing");

    cudaStreamAttrValue window = {}, kept;
    window.accessPolicyWindow = {x, 8000, 0.5f, cudaAccessPropertyPersisting,
                                 cudaAccessPropertyStreaming};
    check("window", cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window));
    cudaStreamCopyAttributes(0, stream);
    cudaStreamGetAttribute(0, cudaStreamAttributeAccessPolicyWindow, &kept);
    printf("of half of %zu bytes\n", size_t(kept.accessPolicyWindow.num_bytes));

    int *counts, back[9];
    shared_by_all = 7;
    cudaMallocManaged(&counts, sizeof back);
    dynamic<<<1, 512, 512 * sizeof(int)>>>(counts);
    cudaDeviceSynchronize();
    printf("managed: %d\n", counts[0]);
    cudaMemset(counts, 0, sizeof back);
    void *arguments[] = {&counts};
    check("cooperative",
          cudaLaunchCooperativeKernel((void *)meeting, dim3(8), dim3(64), arguments, 0, 0));
    cudaMemcpy(back, counts, sizeof back, cudaMemcpyDeviceToHost);
    printf("met: %d of %d\n", back[8], back[0]);

    size_t pitch;
    float *rows, flat[3][5] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, {11, 12, 13, 14, 15}}, part[3][2];
    cudaMallocPitch(&rows, &pitch, 5 * sizeof(float), 3);
    cudaMemcpy2D(rows, pitch, flat, 20, 20, 3, cudaMemcpyHostToDevice);
    cudaMemcpy2D(part, 8, rows + 3, pitch, 8, 3, cudaMemcpyDeviceToHost);
    printf("pitched: %g %g\n", part[0][0], part[2][1]);
    check("too narrow", cudaMemcpy2D(part, 4, rows, pitch, 8, 3, cudaMemcpyDeviceToHost));
    printf("other file: %g\n", scaled(21));

    check("freed twice", (cudaFree(x), cudaFree(x)));
    check("too large a block", (shift<float><<<1, 2000>>>(rows, 1, 1), cudaGetLastError()));
    check("told once", cudaGetLastError());
    cudaMipmappedArray_t mipmaps;
    check("mipmaps", cudaMallocMipmappedArray(&mipmaps, NULL, {4, 4, 0}, 1));
    check("reset", cudaDeviceReset());
    int *after;
    check("after it", cudaMalloc(&after, 4));
    exit(3);
}
