// SwiGLU: made[rows, 2, hidden] -> y[rows, hidden] = gate / (1 + exp(-gate)) * passing; a row has
// the gates, then the numbers that they let pass. Launch (hidden / 256, rows) blocks, rounded up,
// of 256 threads.
__global__ void gate(const float *made, float *y, int hidden)
{
    long long row = blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // BEGIN your lines
    if (i >= hidden) return;
    float gate = made[row * 2 * hidden + i];
    float passing = made[(row * 2 + 1) * hidden + i];
    y[row * hidden + i] = gate / (1 + expf(-gate)) * passing;
    // END
}
