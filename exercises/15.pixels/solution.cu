// im2col of images x[images, height, width, 64]: out[taps, places, 64] is what each tap of a window sees at each of its
// places, zeros outside of the images. The map is of x, in mode im2col, in boxes of 64 places and 64 channels. Launch
// (places / 64, taps) blocks, rounded up, of 128 threads.
#include "common/boxes.cuh"
#include <cuda_fp16.h>

__global__ void columns(const __grid_constant__ Maps<1> maps, half *out, int places, int places_h,
                        int places_w, int kernel_w, int stride, int pad)
{
    __shared__ __align__(128) uint4 box[64 * 8];
    __shared__ unsigned long long room;
    unsigned to = __cvta_generic_to_shared(box), barrier = __cvta_generic_to_shared(&room);
    int first = blockIdx.x * 64, tap = blockIdx.y;
    if (threadIdx.x == 0) {
        begin_barrier(barrier, 1);
        show_barriers();
        expect_bytes(barrier, sizeof box);
        // BEGIN your lines: which image, row and column has place `first`, and which tap is it?
        int image = first / (places_h * places_w), row = first / places_w % places_h;
        int x = first % places_w * stride - pad, y = row * stride - pad;
        copy_pixels(to, maps.of[0], 0, x, y, image, tap % kernel_w, tap / kernel_w, barrier);
        // END
    }
    __syncthreads();
    wait_for(barrier, 0);
    for (int i = threadIdx.x; i < 64 * 8; i += blockDim.x)
        if (first + i / 8 < places)
            reinterpret_cast<uint4 *>(out)[(tap * (long long)places + first) * 8 + i] = box[i];
}
