// Arrays: made, described, copied to and from, and refused.
#include <cstdio>
#include <vector>

const int width = 7, height = 5, layers = 3;

int main()
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<short2>(), told;
    cudaExtent extent = make_cudaExtent(width, height, layers), size;
    cudaArray_t flat, other, deep, none;
    unsigned flags;
    printf("flat: %s\n", cudaGetErrorName(cudaMallocArray(&flat, &channels, width, height)));
    cudaMallocArray(&other, &channels, width, height, cudaArraySurfaceLoadStore);
    cudaMalloc3DArray(&deep, &channels, extent, cudaArrayLayered);
    cudaArrayGetInfo(&told, &size, &flags, deep);
    printf("described: %d %d %d %d %d, %zu %zu %zu, %u\n", told.x, told.y, told.z, told.w, told.f,
           size.width, size.height, size.depth, flags);

    std::vector<short2> from(width * height * layers), to(width * height * layers);
    for (size_t i = 0; i < from.size(); i++) from[i] = make_short2(i, -i);
    const size_t row = width * sizeof(short2), element = sizeof(short2);
    cudaMemcpy2DToArray(flat, 0, 0, from.data(), row, row, height, cudaMemcpyHostToDevice);
    cudaMemcpy2DArrayToArray(other, element, 1, flat, 2 * element, 3, 4 * element, 2);
    cudaMemcpy2DFromArray(to.data(), row, other, element, 1, 4 * element, 2,
                          cudaMemcpyDeviceToHost);
    printf("a piece: %d %d, %d %d\n", to[0].x, to[3].y, to[width].x, to[width + 3].y);

    cudaMemcpy3DParms up = {};
    up.srcPtr = make_cudaPitchedPtr(from.data(), row, width, height);
    up.dstArray = deep;
    up.extent = extent;
    up.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&up);
    cudaMemcpy3DParms down = {};
    down.srcArray = deep;
    down.srcPos = make_cudaPos(2, 1, 1);
    down.dstPtr = make_cudaPitchedPtr(to.data(), row, width, height);
    down.extent = make_cudaExtent(3, 2, 2);
    down.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&down);
    printf("a box: %d %d\n", to[0].x, to[width * height + width + 2].y);

    cudaMemcpyToArray(flat, element, 1, from.data(), 2 * row, cudaMemcpyHostToDevice);
    cudaMemcpyFromArray(to.data(), flat, 0, 1, 3 * row, cudaMemcpyDeviceToHost);
    printf("over rows: %d %d %d %d\n", to[0].x, to[1].x, to[2 * width].x, to[2 * width + 1].x);
    printf("past the end: %s\n", cudaGetErrorName(cudaMemcpyToArray(
                                     flat, 0, 3, from.data(), 3 * row, cudaMemcpyHostToDevice)));

    printf("too wide: %s\n", cudaGetErrorName(cudaMemcpy2DToArray(flat, 4, 0, from.data(), row, row,
                                                                  1, cudaMemcpyHostToDevice)));
    channels.y = 16, channels.x = 8;
    printf("uneven: %s\n", cudaGetErrorName(cudaMallocArray(&none, &channels, width, height)));
    for (cudaArray_t array : {flat, other, deep}) cudaFreeArray(array);
    printf("freed twice: %s\n", cudaGetErrorName(cudaFreeArray(flat)));
}
