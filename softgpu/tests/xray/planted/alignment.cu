// Wide accesses off their boundary.

// launch: grid 8, block 32; in float 816, new float 816, int 102
extern "C" __global__ void packed_rows(const float *x, float *y, int columns)
{
    const float *row = x + blockIdx.x * columns;
    float *out = y + blockIdx.x * columns;
    int t = threadIdx.x;
#if BUG
    if (t < columns / 4) {
        float4 p = reinterpret_cast<const float4 *>(row)[t];  // caught: misaligned
        out[t] = p.x + p.y + p.z + p.w;
    }
#else
    if (t < columns / 4) out[t] = row[4 * t] + row[4 * t + 1] + row[4 * t + 2] + row[4 * t + 3];
#endif
}

// launch: grid 1, block 64, shared 1024; in float 64, new double 64, int 33
extern "C" __global__ void doubles_behind_floats(const float *x, double *y, int floats)
{
    extern __shared__ float s[];
    int t = threadIdx.x;
#if BUG
    double *d = reinterpret_cast<double *>(s + floats);
#else
    double *d = reinterpret_cast<double *>(s + (floats + 1) / 2 * 2);
#endif
    d[t] = x[t];  // caught: misaligned
    y[t] = d[t];
}

// What lies at a multiple of 16 by luck: each variable promises what it is declared with.
// launch: grid 1, block 32; in float 128, new float 32
extern "C" __global__ void packs_in_an_array_of_floats(const float *x, float *y)
{
#if BUG
    __shared__ float s[128];
#else
    __shared__ alignas(16) float s[128];
#endif
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) s[4 * t + k] = x[4 * t + k];
    __syncwarp();
    float4 p = reinterpret_cast<const float4 *>(s)[31 - t];  // caught: misaligned
    y[t] = p.x + p.y + p.z + p.w;
}
