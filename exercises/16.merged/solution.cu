// Means of stretches of keys, parts[splits, rows, size], with logs[splits, rows] -> out[rows, size]. Launch rows blocks
// of size threads.
__global__ void merged(const float *parts, const float *logs, float *out, int splits, int rows,
                       int size)
{
    int row = blockIdx.x, i = threadIdx.x;
    // BEGIN your lines
    float peak = -INFINITY, total = 0, sum = 0;
    for (int s = 0; s < splits; ++s) peak = fmaxf(peak, logs[s * rows + row]);
    for (int s = 0; s < splits; ++s) {
        float log = logs[s * rows + row];
        if (log == -INFINITY) continue;
        float weight = expf(log - peak);
        total += weight;
        sum += weight * parts[(s * (long long)rows + row) * size + i];
    }
    out[row * (long long)size + i] = total == 0 ? 0 : sum / total;
    // END
}
