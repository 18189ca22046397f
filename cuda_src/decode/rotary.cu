// Rotary positions, and the append to the cache of keys and values. made[heads + 2 * key_heads, HEAD]: a token's
// queries, keys and values -> q[heads, HEAD], and a slot of keys and values[pages, key_heads, PAGE, HEAD]: slot
// position % PAGE of page table[position / PAGE] (decode/pages.cuh). In queries and keys, element i and element
// i + HEAD / 2 are a point that is turned by position * base^(-2i / HEAD): turns[capacity, HEAD / 2] has cosine and
// sine. Launch a block per head, of HEAD / 2 threads.
// The position comes from GPU memory, so that a CUDA graph need not change from word to word.
// Limit: a launch: a token has a few kilobytes.
#include "decode/pages.cuh"
#include <cuda_fp16.h>
using T = float;
constexpr int HEAD = 32;
constexpr int PAGE = 16;

extern "C" __global__ void rotary(const float *__restrict__ made, float *q, long long heads,
                                  long long key_heads, long long capacity, T *keys, T *values,
                                  const int *table, const float2 *__restrict__ turns,
                                  const int *position)
{
    int head = blockIdx.x, i = threadIdx.x, other = i + HEAD / 2;
    if (i >= HEAD / 2 || *position < 0 || *position >= capacity) return;
    float a = made[head * HEAD + i], b = made[head * HEAD + other];
    if (head < heads + key_heads) {
        float2 turn = turns[*position * (HEAD / 2) + i];
        float x = a * turn.x - b * turn.y;
        b = b * turn.x + a * turn.y, a = x;
    }
    if (head < heads) {
        q[head * HEAD + i] = a, q[head * HEAD + other] = b;
        return;
    }
    bool is_key = head < heads + key_heads;
    long long row = head - heads - (is_key ? 0 : key_heads);
    T *slot = (is_key ? keys : values) + slot_of<PAGE>(table, *position, row, key_heads) * HEAD;
    slot[i] = T(a), slot[other] = T(b);
}
