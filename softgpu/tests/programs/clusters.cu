// Clusters whose size the launch says: who is where, who meets, errors.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void places(unsigned *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    dim3 at = cluster.block_index(), along = cluster.dim_blocks();
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), of[3];
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(of[0]));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(of[1]));
    asm("mov.u32 %0, %%clusterid.z;" : "=r"(of[2]));
    bool holds = of[0] * along.x + at.x == blockIdx.x && of[1] * along.y + at.y == blockIdx.y &&
                 of[2] * along.z + at.z == blockIdx.z &&
                 cluster.block_rank() == at.x + along.x * (at.y + along.y * at.z);
    if (threadIdx.x == 0) out[block] = holds ? cluster.num_blocks() : 0;
}

// All blocks of the grid meet, the blocks of a cluster more often.
__global__ void meet(int *met)
{
    cg::cluster_group cluster = cg::this_cluster();
    for (int turn = 0; turn < 3; ++turn) {
        if (threadIdx.x == 0) atomicAdd(met, 1);
        cluster.sync();
        cg::this_grid().sync();
        if (*met != int((turn + 1) * gridDim.x)) atomicAdd(met + 1, 1);
        cg::this_grid().sync();
    }
}

template <typename... P, typename... A>
cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 block, dim3 cluster, int shared, bool all,
                   A... given)
{
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = cluster.x;
    attributes[0].val.clusterDim.y = cluster.y;
    attributes[0].val.clusterDim.z = cluster.z;
    attributes[1].id = cudaLaunchAttributeCooperative;
    attributes[1].val.cooperative = all;
    cudaLaunchConfig_t config = {grid, block, size_t(shared), 0, attributes, 2};
    cudaError_t error = cudaLaunchKernelEx(&config, kernel, P(given)...);
    return error ? error : cudaDeviceSynchronize();
}

void find_places(dim3 grid, dim3 cluster)
{
    unsigned blocks = grid.x * grid.y * grid.z, *out, right = 0;
    std::vector<unsigned> sizes(blocks);
    cudaMalloc(&out, blocks * 4);
    cudaMemset(out, 0, blocks * 4);
    cudaError_t error = launch(places, grid, 33, cluster, 0, false, out);
    cudaMemcpy(sizes.data(), out, blocks * 4, cudaMemcpyDeviceToHost);
    for (unsigned size : sizes) right += size == cluster.x * cluster.y * cluster.z;
    printf("places: %s, %u of %u\n", cudaGetErrorName(error), right, blocks);
    cudaFree(out);
}

int main()
{
    find_places({12, 3, 2}, {2, 3, 1});
    find_places({5, 1, 1}, {1, 1, 1});
    find_places({70, 4, 6}, {1, 2, 3});
    find_places({12, 1, 1}, {5, 1, 1});   // does not divide
    find_places({64, 1, 1}, {16, 1, 1});  // more than is portable
    cudaFuncSetAttribute(places, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    find_places({64, 1, 1}, {16, 1, 1});

    int *met, seen[2];
    cudaMalloc(&met, 8);
    cudaMemset(met, 0, 8);
    cudaError_t error = launch(meet, 24, 64, 4, 0, true, met);
    cudaMemcpy(seen, met, 8, cudaMemcpyDeviceToHost);
    printf("met: %s, %d, %d too early\n", cudaGetErrorName(error), seen[0], seen[1]);

    cudaLaunchAttribute four = {};
    four.id = cudaLaunchAttributeClusterDimension;
    four.val.clusterDim.x = 4, four.val.clusterDim.y = four.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {64, 1024, 100 << 10, 0, &four, 1};
    cudaFuncSetAttribute(meet, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
    int clusters = 0, blocks = 0;
    cudaOccupancyMaxActiveClusters(&clusters, meet, &config);
    cudaOccupancyMaxPotentialClusterSize(&blocks, meet, &config);
    printf("%d clusters at once, of up to %d blocks\n", clusters, blocks);
    printf("at the end: %s\n", cudaGetErrorName(cudaGetLastError()));
}
