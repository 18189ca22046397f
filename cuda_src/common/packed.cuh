// N neighbours that move as one. The alignment is what allows it: 16 bytes an instruction at most, a
// larger pack takes several.
#pragma once

template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Packed {
    T element[N];
    __device__ T &operator[](int i) { return element[i]; }
};
