// Rotary positions, in place: in row r of x[rows, SIZE], elements i and i + SIZE / 2 are a point,
// which is turned by positions[r] · angle i; turns[position, SIZE / 2] has (cosine, sine). Launch
// blocks of 256 threads, one per point.
constexpr int SIZE = 32;

__global__ void rotate(float *x, const float2 *turns, const int *positions, long long rows)
{
    long long point = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    long long row = point / (SIZE / 2);
    int i = point % (SIZE / 2);
    // BEGIN your lines
    if (row >= rows) return;
    float2 turn = turns[positions[row] * (SIZE / 2LL) + i];
    x += row * SIZE + i;
    float a = x[0], b = x[SIZE / 2];
    x[0] = a * turn.x - b * turn.y;
    x[SIZE / 2] = b * turn.x + a * turn.y;
    // END
}
