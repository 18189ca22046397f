// The result of a convolution, y[images, planes, height, width], of which AT_ONCE neighbours are stored together: of
// row plane * STEPS + step, in as many places of the window; steps from the first on, of STEP_H * STEP_W. PACK of them
// lie side by side in y; or, if two steps across are PAIRED, PACK of both: lane ^ 8 has the other step of the same places.
#pragma once
#include "gemm/product.cuh"
#include "im2col/window.cuh"

template <typename Out, typename T, typename Acc, int STEP_H, int STEP_W, int PACK,
          bool PAIRED = false, int STEPS = STEP_H * STEP_W>
struct Result {
    static constexpr int AT_ONCE = PAIRED ? 8 : STORED<PACK>, ACROSS = PAIRED ? 2 : 1;
    Out *y;
    const T *bias;                    // of each plane, or null
    int planes;                       // of an image; `rows` may be of fewer
    int rows, columns, down, across;  // places in an image
    int height, width;
    Dividers<int> dividers;  // by places across, down, and in an image
    int first_step = 0;
    template <int COUNT>
    __device__ void store(int row, int column, Packed<Acc, COUNT> sum)
    {
        if constexpr (PAIRED) {  // both steps of four places, in turn
            Packed<Acc, COUNT> mine = sum;
            bool odd = row % 2;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                Acc given = __shfl_xor_sync(~0u, odd ? mine[i] : mine[i + 4], 8);
                sum[i * 2] = odd ? given : mine[i], sum[i * 2 + 1] = odd ? mine[i + 4] : given;
            }
            column += odd * 4, row -= odd;
        }
        if (row >= rows) return;
        int plane = row / STEPS, step = first_step + row % STEPS;
        Acc start = bias ? Acc(bias[plane]) : Acc(0);
#pragma unroll
        for (int first = 0; first < COUNT; first += PACK) {
            int place = column + first / ACROSS;
            if (place >= columns) return;
            Packed<Out, PACK> pack;
            for (int e = 0; e < PACK; ++e) pack[e] = Out(sum[first + e] + start);
            if (STEP_H * STEP_W == 1) {  // places lie as in y: one division will do
                int image = dividers.kernel_w.quotient(place);
                long long plane_of_y = image * (long long)planes + plane;
                put(y + plane_of_y * height * width + place - image * height * width, pack);
                continue;
            }
            int line = dividers.width.quotient(place), image = dividers.height.quotient(line);
            int h = (line - image * down) * STEP_H + step / STEP_W;
            int w = (place - line * across) * STEP_W + step % STEP_W;
            long long line_of_y = (image * (long long)planes + plane) * height + h;
            if (h < height && w < width) put(y + line_of_y * width + w, pack);
        }
    }
};
