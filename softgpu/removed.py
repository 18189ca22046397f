"""What CUDA 11 to 13 have removed, for programs that are older: which line to change to what."""

from __future__ import annotations

import re

__all__ = ["advice"]

_ATTRIBUTE = (
    "ask for it: int value; cudaDeviceGetAttribute(&value, cudaDevAttr{}, device); value is what it"
    " was"
)
_ATTRIBUTES = {
    "clockRate": "ClockRate",
    "memoryClockRate": "MemoryClockRate",
    "kernelExecTimeoutEnabled": "KernelExecTimeout",
    "computeMode": "ComputeMode",
    "singleToDoublePrecisionPerfRatio": "SingleToDoublePrecisionPerfRatio",
}
_PLACE = (
    "name a place: cudaMemLocation place = {cudaMemLocationTypeDevice, device}; of the host it is"
    " {cudaMemLocationTypeHost, 0}; then "
)
_EACH_DEVICE = "launch on one device after the other with cudaLaunchCooperativeKernel"
_OBJECT = (
    "call cudaCreateTextureObject(&object, &resource, &sampling, nullptr), where resource.resType"
    " is cudaResourceType{}, and give the kernel the object"
)
_KERNEL_TAKES = (
    "give the kernel a parameter cudaTextureObject_t {name}, and read it with a type, as"
    " tex1Dfetch<{type}>({name}, i) or tex2D<{type}>({name}, x, y)"
)

# What nvcc says, with the line that it shows; what to write; which CUDA has removed it.
_REMOVED: list[tuple[str, str, int]] = [
    *(
        (rf'class "cudaDeviceProp" has no member "{member}"', _ATTRIBUTE.format(attribute), 13)
        for member, attribute in _ATTRIBUTES.items()
    ),
    (
        'class "cudaDeviceProp" has no member "deviceOverlap"',
        "write asyncEngineCount > 0",
        13,
    ),
    (
        'class "cudaDeviceProp" has no member "maxTexture1DLinear"',
        "call cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, device)",
        13,
    ),
    (
        'class "cudaDeviceProp" has no member "cooperativeMultiDeviceLaunch"',
        "write 0: no device has such launches any more",
        13,
    ),
    (
        'class "cudaPointerAttributes" has no member "memoryType"',
        "write type",
        11,
    ),
    (
        'class "cudaPointerAttributes" has no member "isManaged"',
        "write type == cudaMemoryTypeManaged",
        11,
    ),
    (
        r"texture is not a template\s+(?:static )?texture<(?P<type>[\w ]+)[^>]*>\s*(?P<name>\w+)",
        _KERNEL_TAKES,
        12,
    ),
    (
        r"surface is not a template\s+(?:static )?surface<[^>]*>\s*(?P<name>\w+)",
        "give the kernel a parameter cudaSurfaceObject_t {name}, which"
        " cudaCreateSurfaceObject(&{name}, &resource) makes of an array",
        12,
    ),
    ('"cudaBindTexture" is undefined', _OBJECT.format("Linear"), 12),
    ('"cudaBindTexture2D" is undefined', _OBJECT.format("Pitch2D"), 12),
    ('"cudaBindTextureToArray" is undefined', _OBJECT.format("Array"), 12),
    (
        '"cudaBindSurfaceToArray" is undefined',
        "call cudaCreateSurfaceObject(&object, &resource), and give the kernel the object",
        12,
    ),
    ('"cudaUnbindTexture" is undefined', "call cudaDestroyTextureObject(object)", 12),
    (
        '"(cudaGetTextureReference|textureReference)" is undefined',
        _OBJECT.format("..."),
        12,
    ),
    ('"cudaLaunchCooperativeKernelMultiDevice" is undefined', _EACH_DEVICE, 13),
    ('"cudaLaunchParams" is undefined', _EACH_DEVICE, 13),
    (
        r'to "cudaMemLocation"\s.*cudaMemPrefetchAsync',
        _PLACE + "cudaMemPrefetchAsync(pointer, bytes, place, 0, stream)",
        13,
    ),
    (
        r'to "cudaMemLocation"\s.*cudaMemAdvise',
        _PLACE + "cudaMemAdvise(pointer, bytes, advice, place)",
        13,
    ),
    (
        r'"const cudaGraphEdgeData \*"\s.*cudaGraph(Add|Remove)Dependencies',
        "put nullptr before the number of edges: they have no data",
        13,
    ),
    (
        '"cudaStreamGetCaptureInfo_v2" is undefined',
        "call cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, nullptr, &count)",
        13,
    ),
    (
        r"(?s)(incompatible with|too few arguments).*\bcuCtxCreate(_v\d)?\s*\(",
        "call cuCtxCreate(&context, nullptr, flags, device)",
        13,
    ),
    ('"cudaProfilerInitialize" is undefined', "leave it out", 12),
]
_ERROR = re.compile(r"^(\S.*\(\d+\)): error: (.*\n(?:.*\n)?.*)", re.MULTILINE)


def advice(said: str) -> str:
    """What nvcc's errors are about that has been removed, as more lines; or nothing."""
    lines, oldest = [], 0
    for place, error in _ERROR.findall(said):
        for pattern, instead, version in _REMOVED:
            found = re.search(pattern, error)
            if found:
                said_so = _filled(instead, found.groupdict())
                lines.append(f"{place}: CUDA {version} has removed this: {said_so}")
                oldest = min(oldest or version, version)
                break
    if oldest == 13:
        lines.append("Or leave the program as it is, and compile it with --cuda12.")
    return "".join(f"\n{line}" for line in dict.fromkeys(lines))


def _filled(text: str, named: dict[str, str]) -> str:
    for name, value in named.items():
        text = text.replace(f"{{{name}}}", value)
    return text
