// The next token, at random: logits[size] -> token. Each of the `most` highest logits has the probability of softmax at
// this temperature; ties with the last of them count, too. temperature 0: the highest logit, and the first of equals.
// One block of BLOCK threads, size <= BLOCK * EACH. The state is in GPU memory: the token goes to state[0] and to
// tokens[state[1] + 1], and state[1], the position, grows by 1.
// A scan finds the token: probabilities are added up in order, and the last whose sum begins within a random share of
// their total is it. Where all logits are NaN, that is token 0. The random number is a hash of seed and position, so
// that any GPU, and NumPy, draws the same.
// Limit: barriers: 32 rounds find the lowest logit that counts, a bit each.
#include "common/operators.cuh"
#include "common/reduce.cuh"
constexpr int BLOCK = 256;
constexpr int EACH = 4;

// Maps floats to unsigned numbers in the same order.
__device__ unsigned ordered(float x)
{
    unsigned bits = __float_as_uint(x);
    return bits & 0x80000000 ? ~bits : bits | 0x80000000;
}

// A random number from 0 up to, but not, 1, in 24 bits (murmur3's last step, twice).
__device__ float uniform(unsigned seed, unsigned position)
{
    unsigned hash = seed;
    for (int i = 0; i < 2; ++i) {
        hash += 0x9e3779b9 * (position + 1);
        hash = (hash ^ hash >> 16) * 0x85ebca6b;
        hash = (hash ^ hash >> 13) * 0xc2b2ae35;
        hash ^= hash >> 16;
    }
    return (hash >> 8) * 0x1p-24f;
}

// The least key that counts: the greatest number that at least `most` keys reach.
__device__ unsigned threshold(const unsigned (&key)[EACH], int most)
{
    unsigned least = 0;
    for (unsigned bit = 1u << 31; bit; bit >>= 1) {
        int reach = 0;
        for (int e = 0; e < EACH; ++e) reach += key[e] >= (least | bit);
        if (block_reduce(reach, Sum<int>()) >= most) least |= bit;
    }
    return least;
}

// The sums of the values of all threads up to each, this one included.
__device__ float block_scan(float value, float *ends)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int far = 1; far < 32; far *= 2) {
        float before = __shfl_up_sync(FULL_WARP, value, far);
        if (lane >= far) value += before;
    }
    if (lane == 31) ends[warp] = value;
    __syncthreads();
    for (int w = 0; w < warp; ++w) value += ends[w];
    return value;
}

extern "C" __global__ __launch_bounds__(BLOCK) void sample(const float *__restrict__ logits,
                                                           int *state, long long size,
                                                           float temperature, int most,
                                                           unsigned seed, int *tokens)
{
    __shared__ float ends[BLOCK / 32];
    int begin = threadIdx.x * EACH, chosen = size;
    float x[EACH], peak = -INFINITY;
    unsigned key[EACH];
    for (int e = 0; e < EACH; ++e) {
        x[e] = begin + e < size ? logits[begin + e] : -INFINITY;
        key[e] = ordered(x[e]), peak = fmaxf(peak, x[e]);
    }
    peak = block_reduce(peak, Max<float>());
    if (temperature > 0) {
        unsigned least = threshold(key, min((long long)most, size));
        float sum = 0;
        for (int e = 0; e < EACH; ++e) {
            x[e] = key[e] >= least ? expf((x[e] - peak) / temperature) : 0;
            sum += x[e];
        }
        float start = block_scan(sum, ends) - sum;
        float total = block_reduce(start + sum, Max<float>());
        float wanted = uniform(seed, state[1]) * total;
        int last = block_reduce(sum > 0 && start <= wanted ? int(threadIdx.x) : -1, Max<int>());
        for (int e = 0; e < EACH && threadIdx.x == last; ++e) {
            if (x[e] > 0 && start <= wanted) chosen = begin + e;
            start += x[e];
        }
    } else
        for (int e = EACH - 1; e >= 0; --e)
            if (x[e] == peak && begin + e < size) chosen = begin + e;
    chosen = block_reduce(chosen, Min<int>()) % size;
    if (threadIdx.x) return;
    state[0] = tokens[state[1] + 1] = chosen;
    state[1] += 1;
}
