// The result of a convolution, y[images, planes, height, width], of which AT_ONCE neighbours are stored together: of
// row plane * STEP_H * STEP_W + step, in as many places of the window. PACK of them lie side by side in y.
#pragma once
#include "gemm/product.cuh"
#include "im2col/window.cuh"

template <typename Out, typename T, typename Acc, int STEP_H, int STEP_W, int PACK>
struct Result {
    static constexpr int AT_ONCE = STORED<PACK>;
    Out *y;
    const T *bias;                    // of each plane, or null
    int planes;                       // of an image; `rows` may be of fewer
    int rows, columns, down, across;  // places in an image
    int height, width;
    Dividers<int> dividers;
    template <int COUNT>
    __device__ void store(int row, int column, Packed<Acc, COUNT> sum)
    {
        if (row >= rows) return;
        int plane = row / (STEP_H * STEP_W);
        Acc start = bias ? Acc(bias[plane]) : Acc(0);
#pragma unroll
        for (int first = 0; first < COUNT; first += PACK) {
            if (column + first >= columns) return;
            Packed<Out, PACK> pack;
            for (int e = 0; e < PACK; ++e) pack[e] = Out(sum[first + e] + start);
            int line = dividers.width.quotient(column + first);
            int image = dividers.height.quotient(line);
            int h = (line - image * down) * STEP_H + row / STEP_W % STEP_H;
            int w = (column + first - line * across) * STEP_W + row % STEP_W;
            long long line_of_y = (image * (long long)planes + plane) * height + h;
            if (h < height && w < width) put(y + line_of_y * width + w, pack);
        }
    }
};
