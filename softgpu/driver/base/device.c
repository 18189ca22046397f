/* The devices: what they say of themselves (an H200's attributes). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

#define NAME "Software GPU (models NVIDIA H200)"
#define PCI_BUS_ID "0000:%02x:00.0"
enum { OF_PCI_BUS = 33, OF_BOARD_GROUP = 85 };

static bool initialised;
static int devices = 1;

void sg_devices(int count) { devices = count; }

int device_count(void) { return devices; }

bool is_device(int device) { return device >= 0 && device < devices; }

CUresult no_such_device(void)
{
    if (devices == 1) return fail(CUDA_ERROR_INVALID_DEVICE, "there is one device, number 0");
    return fail(CUDA_ERROR_INVALID_DEVICE, "there are %d devices, 0 to %d", devices, devices - 1);
}

/* CU_DEVICE_ATTRIBUTE_...: as an H200 answers (driver 580), except what is marked. */
static const struct {
    short attribute;
    int value;
} attributes[] = {
    {1, BLOCK_THREADS}, /* threads per block */
    {2, BLOCK_THREADS}, /* block dimensions x, y, z */
    {3, BLOCK_THREADS},
    {4, 64},
    {5, 2147483647}, /* grid dimensions x, y, z */
    {6, 65535},
    {7, 65535},
    {8, BLOCK_SHARED},
    {9, 65536},            /* constant memory */
    {10, LANES},           /* warp size */
    {11, 2147483647},      /* pitch */
    {12, SM_REGISTERS},    /* registers per block */
    {13, CLOCK_KHZ},       /* clock, kHz */
    {14, 512},             /* texture alignment */
    {15, 1},               /* copies overlap kernels */
    {16, MULTIPROCESSORS}, /* multiprocessors */
    {17, 0},
    {18, 0},      /* integrated */
    {19, 1},      /* can map host memory */
    {20, 0},      /* compute mode: default */
    {21, 131072}, /* texture sizes, up to 29 */
    {22, 131072},
    {23, 65536},
    {24, 16384},
    {25, 16384},
    {26, 16384},
    {27, 32768},
    {28, 32768},
    {29, 2048},
    {30, 512}, /* surface alignment */
    {31, 1},   /* concurrent kernels */
    {32, 1},   /* ECC */
    {33, 0},   /* PCI bus, device: ours */
    {34, 0},
    {35, 0},
    {36, MEMORY_CLOCK_KHZ}, /* memory clock, kHz */
    {37, MEMORY_BUS_BITS},  /* memory bus, bits */
    {38, L2_BYTES},         /* L2 cache */
    {39, SM_WARPS * LANES}, /* threads per multiprocessor */
    {40, 3},                /* copy engines */
    {41, 1},                /* unified addressing */
    {42, 32768},            /* texture sizes, up to 49 */
    {43, 2048},
    {44, 1},
    {45, 32768},
    {46, 32768},
    {47, 8192},
    {48, 8192},
    {49, 32768},
    {50, 0},     /* PCI domain */
    {51, 32},    /* texture pitch alignment */
    {52, 32768}, /* texture and surface sizes, up to 74 */
    {53, 32768},
    {54, 2046},
    {55, 32768},
    {56, 131072},
    {57, 65536},
    {58, 16384},
    {59, 16384},
    {60, 16384},
    {61, 32768},
    {62, 2048},
    {63, 32768},
    {64, 32768},
    {65, 2048},
    {66, 32768},
    {67, 32768},
    {68, 2046},
    {69, 268435456},
    {70, 131072},
    {71, 65000},
    {72, 2097120},
    {73, 32768},
    {74, 32768},
    {75, ARCHITECTURE / 10}, /* compute capability */
    {76, ARCHITECTURE % 10},
    {77, 32768},
    {78, 1}, /* stream priorities */
    {79, 1}, /* L1 caches global, local */
    {80, 1},
    {81, SM_SHARED},
    {82, SM_REGISTERS}, /* registers per multiprocessor */
    {83, 1},            /* managed memory */
    {84, 0},
    {85, 0},
    {86, 0}, /* host atomics over the link */
    {87, 2}, /* single to double performance */
    {88, 0}, /* pageable memory access */
    {89, 1}, /* concurrent managed access */
    {90, 1}, /* compute preemption */
    {91, 1}, /* host pointer of registered memory */
    {95, 1}, /* cooperative launch */
    {96, 0},
    {97, BLOCK_MOST_SHARED},
    {98, 0},
    {99, 1}, /* host register */
    {100, 0},
    {101, 0},
    {102, 0}, /* virtual memory management: not here, to 105 */
    {103, 0},
    {104, 0},
    {105, 0},
    {106, SM_BLOCKS}, /* blocks per multiprocessor */
    {107, 0},         /* compression: not here */
    {108, 39321600},  /* persisting L2 */
    {109, ACCESS_WINDOW_BYTES},
    {110, 0},
    {111, BLOCK_SYSTEM_SHARED}, /* reserved shared memory per block */
    {112, 0},
    {113, 1}, /* read-only host register */
    {114, 0},
    {115, 1}, /* stream-ordered pools */
    {120, 1}, /* clusters */
    {125, 1}, /* events of several processes */
    {126, MEMORY_DOMAINS},
    {127, 1}, /* tensor maps */
    {144, 1}, /* pools of the host's memory: here */
};

CUresult need_init(void)
{
    return initialised ? CUDA_SUCCESS
                       : fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called");
}

/* ---- the driver calls ---- */

CUAPI cuInit(unsigned flags)
{
    if (flags) return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
    initialised = true;
    return CUDA_SUCCESS;
}

CUAPI cuDeviceGetCount(int *count)
{
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    *count = devices;
    return CUDA_SUCCESS;
}

ANSWERS(cuDeviceGet, (CUdevice * device, int ordinal), NEED_DEVICE(ordinal), *device = ordinal)

CUAPI cuDeviceGetName(char *name, int room, CUdevice device)
{
    NEED_DEVICE(device);
    if (devices == 1) snprintf(name, room, NAME);
    else snprintf(name, room, NAME " %d of %d", device, devices);
    return CUDA_SUCCESS;
}

CUAPI cuDeviceGetPCIBusId(char *id, int room, CUdevice device)
{
    NEED_DEVICE(device);
    snprintf(id, room, PCI_BUS_ID, device);
    return CUDA_SUCCESS;
}

CUAPI cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    unsigned domain, bus, slot;
    if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3)
        return fail(CUDA_ERROR_INVALID_VALUE, "'%s' is not of the form 0000:00:00.0", id);
    if (domain || slot || !is_device((int)bus)) return no_such_device();
    *device = (int)bus;
    return CUDA_SUCCESS;
}

CUAPI cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    NEED_DEVICE(device);
    *major = 9;
    *minor = 0;
    return CUDA_SUCCESS;
}

ANSWERS(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device), NEED_DEVICE(device),
        *bytes = machine_memory().total / devices)

CUAPI cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    NEED_DEVICE(device);
    if (attribute < 1 || attribute > 147)
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no attribute %d", attribute);
    *value = 0; /* of the attributes not listed: features that are not here */
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].attribute == attribute) *value = attributes[i].value;
    if (attribute == OF_PCI_BUS || attribute == OF_BOARD_GROUP) *value = device;
    return CUDA_SUCCESS;
}

CUAPI cuDeviceGetUuid_v2(char uuid[16], CUdevice device)
{
    NEED_DEVICE(device);
    char text[17];
    snprintf(text, sizeof text, "software GPU %03d", device);
    memcpy(uuid, text, 16);
    return CUDA_SUCCESS;
}

/* The structure from before attributes holds the first 14 of them, in order. */
CUAPI cuDeviceGetProperties(int properties[14], CUdevice device)
{
    NEED_DEVICE(device);
    for (int i = 0; i < 14; i++) cuDeviceGetAttribute(&properties[i], i + 1, device);
    return CUDA_SUCCESS;
}

CUAPI cuDeviceGetExecAffinitySupport(int *supported, int type, CUdevice device)
{
    NEED_DEVICE(device);
    if (type) return fail(CUDA_ERROR_INVALID_VALUE, "there is no affinity type %d", type);
    *supported = 0;
    return CUDA_SUCCESS;
}
