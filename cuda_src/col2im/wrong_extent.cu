// WRONG on purpose: gather.cu that forgets how far dilation spreads the window. It starts too late, and
// misses the windows that reach the element with their last rows or columns.
#include "col2im/request.cuh"
#include "im2col/window.cuh"
using T = float;
using Acc = float;
constexpr int REQUEST = WRITE;

// The first place whose window reaches an element, counted with the padding before it.
__device__ int first_place(Side side, int at)
{ return at < side.kernel ? 0 : (at - side.kernel) / side.stride + 1; }

extern "C" __global__ void wrong_extent(const T *__restrict__ columns, T *__restrict__ out,
                                        long long n, Window window)
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
