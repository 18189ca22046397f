// A child adds to what its parent has on a device.
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

__global__ void add_one(int *x) { x[threadIdx.x] += 1; }

struct Handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

static void say(const char *what, cudaError_t error)
{
    printf("%s: %s\n", what, cudaGetErrorName(error));
    fflush(stdout);
}

static void child(int from)
{
    Handles handles;
    int *x;
    cudaEvent_t event;
    if (read(from, &handles, sizeof handles) != sizeof handles) return;
    say("open", cudaIpcOpenMemHandle((void **)&x, handles.memory, cudaIpcMemLazyEnablePeerAccess));
    say("event", cudaIpcOpenEventHandle(&event, handles.event));
    cudaStreamWaitEvent(0, event);
    add_one<<<1, 64>>>(x);
    say("launch", cudaDeviceSynchronize());
    say("free", cudaFree(x));
    cudaGetLastError();
    say("close", cudaIpcCloseMemHandle(x));
    say("again", cudaIpcCloseMemHandle(x));
}

int main()
{
    int ends[2], host[64], *x;
    if (pipe(ends)) return 1;
    if (!fork()) {
        child(ends[0]);
        fflush(stdout);
        _exit(0);
    }
    Handles handles;
    cudaEvent_t event;
    cudaMalloc((void **)&x, sizeof host);
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess);
    cudaEventRecord(event);
    cudaIpcGetEventHandle(&handles.event, event);
    cudaIpcGetMemHandle(&handles.memory, x);
    if (write(ends[1], &handles, sizeof handles) != sizeof handles) return 1;
    wait(nullptr);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d to %d\n", host[0], host[63]);
    say("own", cudaIpcOpenMemHandle((void **)&x, handles.memory, cudaIpcMemLazyEnablePeerAccess));
    return 0;
}
