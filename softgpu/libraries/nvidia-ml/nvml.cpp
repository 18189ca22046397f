/* NVML: what the driver knows of its devices. What a device in software lacks, such as a
   temperature, is reported as not supported. */
#include <atomic>
#include <string>

#include "../device.h"

extern "C" {
CUAPI cuDriverGetVersion(int *version);
CUAPI cuDeviceGetCount(int *count);
CUAPI cuDeviceGetName(char *name, int room, CUdevice device);
CUAPI cuDeviceGetUuid_v2(unsigned char (*uuid)[16], CUdevice device);
CUAPI cuDeviceGetAttribute(int *value, int attribute, CUdevice device);
CUAPI cuDeviceGetByPCIBusId(CUdevice *out, const char *id);
CUAPI cuDeviceGetPCIBusId(char *id, int room, CUdevice device);
CUAPI cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUAPI cuCtxPushCurrent_v2(CUcontext context);
CUAPI cuCtxPopCurrent_v2(CUcontext *out);
CUAPI cuMemGetInfo_v2(size_t *free, size_t *total);
}

enum { /* nvmlReturn_t */
       UNINITIALIZED = 1,
       INVALID_ARGUMENT = 2,
       NOT_SUPPORTED = 3,
       NOT_FOUND = 6,
       INSUFFICIENT_SIZE = 7,
       MEMORY = 20,
       UNKNOWN = 999,
};
constexpr Statuses STATUSES{NOT_SUPPORTED, MEMORY, UNKNOWN};
enum { MAJOR = 75, MINOR = 76, MULTIPROCESSORS = 16 }; /* CU_DEVICE_ATTRIBUTE_... */
enum { HOPPER = 9, CORES_PER_MULTIPROCESSOR = 128 };

using Device = char *; /* a number, from 1 on */
static std::atomic<int> users;

/* A call's body, for a device that there is. */
static int asked(const char *name, const Body &body)
{
    if (users <= 0) return UNINITIALIZED;
    return answered(name, STATUSES, [&] {
        check(cuInit(0));
        body();
    });
}

static void need(bool right, int otherwise = INVALID_ARGUMENT)
{
    if (!right) throw Status{otherwise};
}

static CUdevice number_of(Device device)
{
    int count;
    check(cuDeviceGetCount(&count));
    intptr_t number = (intptr_t)device - 1;
    need(number >= 0 && number < count);
    return (CUdevice)number;
}

static void tell(const std::string &text, char *out, unsigned room)
{
    need(out);
    need(text.size() < room, INSUFFICIENT_SIZE);
    memcpy(out, text.c_str(), text.size() + 1);
}

static int attribute(int which, CUdevice device)
{
    int value;
    check(cuDeviceGetAttribute(&value, which, device));
    return value;
}

static std::string uuid_of(CUdevice device)
{
    unsigned char bytes[16];
    check(cuDeviceGetUuid_v2(&bytes, device));
    std::string text = "GPU-";
    for (int i = 0; i < 16; i++) {
        char digits[4];
        snprintf(digits, sizeof digits, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                 bytes[i]);
        text += digits;
    }
    return text;
}

static int driver_version()
{
    int version;
    check(cuDriverGetVersion(&version));
    return version;
}

/* ---- the library ---- */

static int begin()
{
    users++;
    return 0;
}

LIBRARY nvmlInit_v2(void) { return begin(); }
LIBRARY nvmlInit(void) { return begin(); }
LIBRARY nvmlInitWithFlags(unsigned) { return begin(); }

LIBRARY nvmlShutdown(void)
{
    if (users <= 0) return UNINITIALIZED;
    users--;
    return 0;
}

extern "C" __attribute__((visibility("default"))) const char *nvmlErrorString(int status)
{
    switch (status) {
    case 0: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case NOT_FOUND: return "Not Found";
    case INSUFFICIENT_SIZE: return "Insufficient Size";
    case MEMORY: return "Insufficient Memory";
    }
    return "Unknown Error";
}

/* NVIDIA's drivers of CUDA 13 are numbered from 580 on; this is none of them. */
LIBRARY nvmlSystemGetDriverVersion(char *out, unsigned room)
{
    return asked(__func__, [=] { tell("580.00", out, room); });
}

LIBRARY nvmlSystemGetNVMLVersion(char *out, unsigned room)
{
    return asked(__func__, [=] {
        int version = driver_version();
        tell(std::to_string(version / 1000) + ".580.00", out, room);
    });
}

static int cuda_version(const char *name, int *out)
{
    return asked(name, [=] {
        need(out);
        *out = driver_version();
    });
}

LIBRARY nvmlSystemGetCudaDriverVersion(int *out) { return cuda_version(__func__, out); }
LIBRARY nvmlSystemGetCudaDriverVersion_v2(int *out) { return cuda_version(__func__, out); }

/* ---- which devices there are ---- */

LIBRARY nvmlDeviceGetCount_v2(unsigned *count)
{
    return asked(__func__, [=] {
        need(count);
        check(cuDeviceGetCount((int *)count));
    });
}

LIBRARY nvmlDeviceGetHandleByIndex_v2(unsigned index, Device *out)
{
    return asked(__func__, [=] {
        need(out);
        Device device = (Device)((uintptr_t)index + 1);
        number_of(device);
        *out = device;
    });
}

LIBRARY nvmlDeviceGetHandleByUUID(const char *uuid, Device *out)
{
    return asked(__func__, [=] {
        need(uuid && out);
        int count;
        check(cuDeviceGetCount(&count));
        for (int i = 0; i < count; i++)
            if (uuid_of(i) == uuid) return (void)(*out = (Device)((uintptr_t)i + 1));
        throw Status{NOT_FOUND};
    });
}

LIBRARY nvmlDeviceGetHandleByPciBusId_v2(const char *id, Device *out)
{
    return asked(__func__, [=] {
        need(id && out);
        CUdevice device;
        need(!cuDeviceGetByPCIBusId(&device, id), NOT_FOUND);
        *out = (Device)((uintptr_t)device + 1);
    });
}

/* ---- what they are ---- */

/* A call that asks for one number. */
#define NUMBER(name, T, value)                                                                     \
    LIBRARY name(Device device, T *out)                                                            \
    {                                                                                              \
        return asked(__func__, [=] {                                                               \
            CUdevice number = number_of(device);                                                   \
            need(out);                                                                             \
            (void)number;                                                                          \
            *out = value;                                                                          \
        });                                                                                        \
    }
NUMBER(nvmlDeviceGetIndex, unsigned, number)
NUMBER(nvmlDeviceGetMinorNumber, unsigned, number)
NUMBER(nvmlDeviceGetArchitecture, unsigned, HOPPER)
NUMBER(nvmlDeviceGetNumGpuCores, unsigned,
       attribute(MULTIPROCESSORS, number) * CORES_PER_MULTIPROCESSOR)
NUMBER(nvmlDeviceGetPersistenceMode, int, 0)

LIBRARY nvmlDeviceGetName(Device device, char *out, unsigned room)
{
    return asked(__func__, [=] {
        char name[256];
        check(cuDeviceGetName(name, sizeof name, number_of(device)));
        tell(name, out, room);
    });
}

LIBRARY nvmlDeviceGetUUID(Device device, char *out, unsigned room)
{
    return asked(__func__, [=] { tell(uuid_of(number_of(device)), out, room); });
}

LIBRARY nvmlDeviceGetCudaComputeCapability(Device device, int *major, int *minor)
{
    return asked(__func__, [=] {
        CUdevice number = number_of(device);
        need(major && minor);
        *major = attribute(MAJOR, number), *minor = attribute(MINOR, number);
    });
}

struct PciInfo {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
};

LIBRARY nvmlDeviceGetPciInfo_v3(Device device, PciInfo *out)
{
    return asked(__func__, [=] {
        CUdevice number = number_of(device);
        need(out);
        *out = {};
        char text[32];
        check(cuDeviceGetPCIBusId(text, sizeof text, number));
        need(sscanf(text, "%x:%x:%x", &out->domain, &out->bus, &out->device) == 3, UNKNOWN);
        snprintf(out->legacy, sizeof out->legacy, "%04x:%02x:%02x.0", out->domain & 0xffff,
                 out->bus & 0xff, out->device & 0xff);
        snprintf(out->text, sizeof out->text, "%08x:%02x:%02x.0", out->domain, out->bus & 0xff,
                 out->device & 0xff);
    });
}

/* ---- what they do: calls have finished when they return, so nothing ever runs ---- */

struct Utilization {
    unsigned gpu, memory;
};
NUMBER(nvmlDeviceGetUtilizationRates, Utilization, (Utilization{0, 0}))

/* Free and all memory of a device, in bytes. */
static void memory_of(CUdevice device, size_t *free, size_t *total)
{
    CUcontext context;
    check(cuDevicePrimaryCtxRetain(&context, device));
    check(cuCtxPushCurrent_v2(context));
    CUresult result = cuMemGetInfo_v2(free, total);
    cuCtxPopCurrent_v2(&context);
    cuDevicePrimaryCtxRelease_v2(device);
    check(result);
}

struct MemoryInfo {
    unsigned long long total, free, used;
};

LIBRARY nvmlDeviceGetMemoryInfo(Device device, MemoryInfo *out)
{
    return asked(__func__, [=] {
        size_t free, total;
        CUdevice number = number_of(device);
        need(out);
        memory_of(number, &free, &total);
        *out = {total, free, total - free};
    });
}

struct MemoryInfo2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

LIBRARY nvmlDeviceGetMemoryInfo_v2(Device device, MemoryInfo2 *out)
{
    return asked(__func__, [=] {
        size_t free, total;
        CUdevice number = number_of(device);
        need(out);
        memory_of(number, &free, &total);
        *out = {out->version, total, 0, free, total - free};
    });
}

REFUSED(nvmlDeviceGetClockInfo, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetComputeRunningProcesses_v3, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetEccMode, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetEnforcedPowerLimit, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetFanSpeed, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetGraphicsRunningProcesses_v3, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetMaxClockInfo, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetNvLinkState, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetPerformanceState, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetPowerManagementLimit, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetPowerUsage, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetSerial, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetTemperature, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetTotalEnergyConsumption, NOT_SUPPORTED)
REFUSED(nvmlDeviceGetTopologyCommonAncestor, NOT_SUPPORTED)
