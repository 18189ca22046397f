// Textures and surfaces: layers, volumes, linear memory, memory with a pitch, and what is refused.
#include <cstdio>
#include <vector>

template <class T>
__global__ void flat(cudaTextureObject_t from, T *out, int width)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = tex2D<T>(from, x + 0.5f, y + 0.5f);
}

__global__ void line(cudaTextureObject_t from, float *out)
{ out[threadIdx.x] = tex1Dfetch<float>(from, (int)threadIdx.x - 1); }

__global__ void deep(cudaTextureObject_t from, cudaTextureObject_t layers, float *out)
{
    out[0] = tex3D<float>(from, 1.5f, 2.0f, 1.75f);
    out[1] = tex2DLayered<float>(layers, 1.0f, 2.5f, 1);
    out[2] = tex2DLayered<float>(layers, 0.5f, 0.5f, 9);
}

__global__ void transpose(cudaTextureObject_t from, cudaSurfaceObject_t to)
{
    int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite(tex2D<uchar4>(from, x, y), to, y * (int)sizeof(uchar4), x);
}

__global__ void around(cudaSurfaceObject_t from, int *out)
{
    out[0] = surf2Dread<uchar4>(from, 4, 2, cudaBoundaryModeZero).y;
    out[1] = surf2Dread<uchar4>(from, -4, 2, cudaBoundaryModeZero).y;
    out[2] = surf2Dread<uchar4>(from, 4000, 2, cudaBoundaryModeClamp).y;
}

__global__ void past(cudaSurfaceObject_t to) { surf2Dwrite(1, to, 0, 999); }

template <class T>
T *managed(int count)
{
    T *out;
    cudaMallocManaged(&out, count * sizeof(T));
    return out;
}

cudaTextureObject_t texture(cudaResourceDesc from, cudaTextureDesc how = {})
{
    cudaTextureObject_t made = 0;
    for (auto &mode : how.addressMode) mode = cudaAddressModeClamp;
    cudaError_t error = cudaCreateTextureObject(&made, &from, &how, nullptr);
    if (error) printf("no texture: %s\n", cudaGetErrorName(error));
    return made;
}

cudaResourceDesc of(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

template <class T>
cudaArray_t filled(const std::vector<T> &from, cudaExtent size, int flags)
{
    cudaArray_t array;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<T>();
    cudaMalloc3DArray(&array, &channels, size, flags);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr =
        make_cudaPitchedPtr((void *)from.data(), size.width * sizeof(T), size.width, size.height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(size.width, size.height, size.depth ? size.depth : 1);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    return array;
}

int main()
{
    const int width = 5, height = 3, depth = 2;
    std::vector<float> numbers(width * height * depth);
    for (size_t i = 0; i < numbers.size(); i++) numbers[i] = i;
    cudaExtent size = make_cudaExtent(width, height, depth);
    cudaTextureDesc smooth = {};
    smooth.filterMode = cudaFilterModeLinear;
    float *out = managed<float>(width * height);
    cudaArray_t volume = filled(numbers, size, 0), layers = filled(numbers, size, cudaArrayLayered);
    deep<<<1, 1>>>(texture(of(volume), smooth), texture(of(layers), smooth), out);
    cudaDeviceSynchronize();
    printf("deep: %g %g %g\n", out[0], out[1], out[2]);

    float *data;
    size_t pitch;
    cudaMallocPitch(&data, &pitch, width * sizeof(float), height);
    cudaMemcpy2D(data, pitch, numbers.data(), width * 4, width * 4, height, cudaMemcpyDefault);
    cudaResourceDesc rows = {}, row = {};
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D = {data, cudaCreateChannelDesc<float>(), width, height, pitch};
    flat<float><<<height, width>>>(texture(rows), out, width);
    cudaDeviceSynchronize();
    printf("rows: %g %g\n", out[width - 1], out[width * height - 1]);
    row.resType = cudaResourceTypeLinear;
    row.res.linear = {data, cudaCreateChannelDesc<float>(), width * sizeof(float)};
    line<<<1, width + 2>>>(texture(row), out);
    cudaDeviceSynchronize();
    printf("line: %g %g %g %g\n", out[0], out[1], out[width], out[width + 1]);

    std::vector<uchar4> pixels(width * height);
    for (int i = 0; i < width * height; i++) pixels[i] = make_uchar4(i, 2 * i, 3 * i, 255);
    cudaArray_t image = filled(pixels, make_cudaExtent(width, height, 0), 0);
    cudaArray_t turned =
        filled(pixels, make_cudaExtent(height, width, 0), cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t surface, none;
    cudaResourceDesc target = of(turned), unwritable = of(image);
    printf("surface: %s\n", cudaGetErrorName(cudaCreateSurfaceObject(&surface, &target)));
    printf("of a texture's: %s\n", cudaGetErrorName(cudaCreateSurfaceObject(&none, &unwritable)));
    cudaTextureObject_t source = texture(of(image));
    transpose<<<height, width>>>(source, surface);
    int *read = managed<int>(3);
    around<<<1, 1>>>(surface, read);
    cudaDeviceSynchronize();
    cudaMemcpy2DFromArray(pixels.data(), height * 4, turned, 0, 0, height * 4, width,
                          cudaMemcpyDeviceToHost);
    printf("turned: %d %d\n", pixels[1].x, pixels[width * height - 2].z);
    printf("around: %d %d %d\n", read[0], read[1], read[2]);

    texture(of(image), smooth);
    cudaDestroyTextureObject(source);
    printf("destroyed twice: %s\n", cudaGetErrorName(cudaDestroyTextureObject(source)));
    past<<<1, 1>>>(surface);
    printf("past: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
