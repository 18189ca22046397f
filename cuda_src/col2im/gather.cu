// col2im: columns[channels, kernel_h, kernel_w, H_out, W_out] -> out[channels, H, W], each element the sum
// of what im2col would copy of it. n counts elements of out. Launch any number of threads. REQUEST: write
// the sum, add it to what is there, or nothing.
// Step 2: a thread per element of the image gathers its copies: it goes through the windows that may
// cover it and leaves those whose elements lie to either side of it, as they do where dilation > 1.
// Limit: divisions, for each window that is looked at.
#include "col2im/request.cuh"
#include "im2col/window.cuh"
using T = float;
using Acc = float;
constexpr int REQUEST = WRITE;

// The first place whose window reaches an element, counted with the padding before it.
__device__ int first_place(Side side, int at)
{
    int extent = (side.kernel - 1) * side.dilation + 1;
    return at < extent ? 0 : (at - extent) / side.stride + 1;
}

extern "C" __global__ void gather(const T *__restrict__ columns, T *__restrict__ out, long long n,
                                  Window window)
{
    Side h = window.h, w = window.w;
    long long step = blockDim.x * (long long)gridDim.x;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step) {
        int at_w = i % w.image + w.pad, at_h = i / w.image % h.image + h.pad;
        const T *from = columns + i / w.image / h.image * h.kernel * w.kernel * h.places * w.places;
        Acc sum = 0;
        for (int h_out = first_place(h, at_h); h_out < min(at_h / h.stride + 1, h.places); ++h_out)
            for (int w_out = first_place(w, at_w); w_out < min(at_w / w.stride + 1, w.places);
                 ++w_out) {
                int past_h = at_h - h_out * h.stride, past_w = at_w - w_out * w.stride;
                if (past_h % h.dilation || past_w % w.dilation) continue;
                long long k = past_h / h.dilation * (long long)w.kernel + past_w / w.dilation;
                sum += Acc(from[(k * h.places + h_out) * w.places + w_out]);
            }
        assign<REQUEST>(out[i], sum);
    }
}
