/* The part of the CUDA driver API's binary interface that this driver implements.
   Declared here so that no CUDA header is needed to build it. */
#ifndef SOFTGPU_CUDA_ABI_H
#define SOFTGPU_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

/* An exported driver entry point. */
#define CUAPI __attribute__((visibility("default"))) CUresult

typedef enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_MAP_FAILED = 205,
    CUDA_ERROR_UNSUPPORTED_LIMIT = 215,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY = 224,
    CUDA_ERROR_FILE_NOT_FOUND = 301,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_ILLEGAL_STATE = 401,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_STREAM_CAPTURE_MERGE = 902,
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
    CUDA_ERROR_CAPTURED_EVENT = 907,
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
    CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;

typedef int CUdevice;
typedef uint64_t CUdeviceptr;
/* Handles are numbers that name an object (see handles.c), never pointers to it. */
typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream, *CUevent, *CUarray;
typedef void *CUgraph, *CUgraphNode, *CUgraphExec, *CUuserObject;

/* CU_MEMORYTYPE_... */
enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2, MEMORY_ARRAY = 3, MEMORY_UNIFIED = 4 };

typedef struct {
    size_t srcXInBytes, srcY;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

/* CUDA_MEMCPY3D_PEER has the same layout, with contexts in place of the reserved fields. */
typedef struct {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    void *srcContext;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    void *dstContext;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

typedef struct {
    size_t Width, Height;
    int Format;
    unsigned NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct {
    int type; /* CU_MEM_LOCATION_TYPE_... */
    int id;
} MemoryLocation;

typedef struct {
    MemoryLocation location;
    int access; /* CU_MEM_ACCESS_FLAGS_... */
} PoolAccess;

typedef struct {
    int allocation; /* CU_MEM_ALLOCATION_TYPE_... */
    int handles;    /* that processes could share it by */
    MemoryLocation location;
    void *security;
    size_t most; /* 0: no limit */
    unsigned short usage;
    unsigned char reserved[54];
} PoolProperties;

/* CU_ACCESS_PROPERTY_...: what the cache is asked to do with an address that is used again, and with others. */
enum { ACCESS_NORMAL, ACCESS_STREAMING, ACCESS_PERSISTING };
typedef struct {
    void *base;
    size_t bytes;
    float hit_ratio;
    int hit, miss;
} AccessWindow;

/* CU_STREAM_ATTRIBUTE_... */
enum {
    STREAM_WINDOW = 1,
    STREAM_SYNC_POLICY = 3,
    STREAM_PRIORITY = 8,
    STREAM_DOMAINS = 9,
    STREAM_DOMAIN = 10,
    STREAM_ATTRIBUTES
};
enum { SYNC_AUTO = 1, SYNC_SPINS, SYNC_YIELDS, SYNC_BLOCKS };
typedef union {
    AccessWindow window;
    int number; /* a policy, a priority, a domain */
    unsigned char domains[2];
    char pad[64];
} StreamAttribute;

/* CU_LAUNCH_ATTRIBUTE_...: hints go unheeded, as does what lets launches overlap. A larger cluster
   that is preferred is one. */
enum {
    LAUNCH_COOPERATIVE = 2,
    LAUNCH_CLUSTER = 4,
    LAUNCH_PROGRAMMATIC_EVENT = 7,
    LAUNCH_COMPLETION_EVENT = 12,
    LAUNCH_DEVICE_UPDATABLE = 13,
    LAUNCH_LAST = 16
};

typedef struct {
    int id;
    union {
        int on;
        unsigned dimension[3];
        struct {
            CUevent event;
            int flags;
        };
        char pad[64];
    } __attribute__((aligned(8)));
} LaunchAttribute;

typedef struct {
    unsigned grid[3], block[3], shared;
    CUstream stream;
    const LaunchAttribute *attributes;
    unsigned attribute_count;
} LaunchConfig;

typedef struct {
    uint64_t words[8];
} IpcHandle;

typedef struct {
    size_t Width, Height, Depth;
    int Format;
    unsigned NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

/* CU_RESOURCE_TYPE_... */
enum { RESOURCE_ARRAY, RESOURCE_MIPMAPPED, RESOURCE_LINEAR, RESOURCE_PITCH2D };

typedef struct {
    int type;
    union {
        CUarray array;
        struct {
            CUdeviceptr address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            CUdeviceptr address;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitch2D;
        int reserved[32];
    };
    unsigned flags;
} CUDA_RESOURCE_DESC;

typedef struct {
    int modes[3]; /* CU_TR_ADDRESS_MODE_... */
    unsigned filter, flags, anisotropy, mipmap_filter;
    float mipmap_bias, mipmap_least, mipmap_most, border[4];
    int reserved[12];
} CUDA_TEXTURE_DESC;

/* CU_GRAPH_NODE_TYPE_... */
enum {
    NODE_KERNEL,
    NODE_MEMCPY,
    NODE_MEMSET,
    NODE_HOST,
    NODE_GRAPH,
    NODE_EMPTY,
    NODE_WAIT_EVENT,
    NODE_EVENT_RECORD,
    NODE_MEM_ALLOC = 10,
    NODE_MEM_FREE,
    NODE_CONDITIONAL = 13
};

/* The first version ends before `kernel`. */
typedef struct {
    CUfunction function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel; /* of a library, where there is no function */
    CUcontext context;
} KernelNode;

/* As arguments of a call of its own it ends before `context`. */
typedef struct {
    CUdeviceptr to;
    size_t pitch;
    unsigned value, size;
    size_t width, height;
    CUcontext context;
} MemsetNode;

typedef struct {
    void (*call)(void *);
    void *data;
} HostNode;

typedef struct {
    PoolProperties where;
    const PoolAccess *access;
    size_t access_count, bytes;
    CUdeviceptr address; /* out */
} AllocNode;

typedef struct {
    uint64_t handle;
    int type; /* CU_GRAPH_COND_TYPE_... */
    unsigned size;
    CUgraph *bodies; /* out */
    CUcontext context;
} ConditionalNode;

/* CUgraphNodeParams */
typedef struct {
    int type;
    int reserved0[3];
    union {
        long long reserved1[29];
        KernelNode kernel;
        struct {
            int flags, reserved;
            CUcontext context;
            CUDA_MEMCPY3D copy;
        } memcpy;
        MemsetNode memset;
        HostNode host;
        struct {
            CUgraph graph;
            int ownership;
        } child;
        CUevent event;
        AllocNode alloc;
        CUdeviceptr freed;
        ConditionalNode conditional;
    };
    long long reserved2;
} NodeParams;

typedef struct {
    uint8_t from_port, to_port, type, reserved[5];
} EdgeData;

typedef struct {
    int result; /* CU_GRAPH_EXEC_UPDATE_... */
    CUgraphNode node, from;
} UpdateResult;

typedef struct {
    uint64_t flags;
    CUstream upload;
    CUgraphNode wrong;
    int result; /* CUDA_GRAPH_INSTANTIATE_... */
} InstantiateParams;

#endif
