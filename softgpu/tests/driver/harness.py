"""The driver alone, without Python's compiler: kernels come from kernels.c."""

import ctypes
import functools
import os
import subprocess
import tempfile
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np

from softgpu import build, contract
from softgpu.contract import ffi
from softgpu.faults import FaultKind

__all__ = ["LOCAL_BYTES", "DriverError", "only_driver"]

GENERIC, GLOBAL, SHARED, LOCAL, CONST, PARAM = range(6)
LOAD, STORE, ATOMIC, RED, BARRIER, SHUFFLE, TRAP, OTHER = range(8)
KIND = 4  # where that stands in a site
LOCAL_BYTES = 100

# file, line, bytes, space, kind, elements: what kernels.c calls site 0, 1, ...
SITES = [
    (0, 10, 4, GENERIC, STORE, 1),
    (0, 20, 0, GENERIC, BARRIER, 1),
    (0, 21, 0, GENERIC, BARRIER, 1),
    (0, 30, 4, GENERIC, ATOMIC, 1),
    (0, 31, 2, GENERIC, ATOMIC, 1),
    (0, 32, 16, GENERIC, ATOMIC, 1),
    (0, 60, 0, GENERIC, TRAP, 1),
    (0, 70, 4, SHARED, LOAD, 1),
    (0, 80, 4, LOCAL, STORE, 1),
    (0, 90, 16, GLOBAL, STORE, 4),
    (0, 91, 16, GLOBAL, LOAD, 4),
]
PARAM_BYTES = {
    "number": 8, "read_at": 16, "block_sum": 8, "some_leave": 8, "producer": 8,
    "spin_for_warp": 8, "count": 24, "print": 32, "fail_assert": 8,
    "read_shared": 8, "write_local": 8, "allocate": 16, "vectors": 8, "increment": 8, "ticket": 8,
    "take_turns": 32, "store_twice": 16, "count_down": 16,
}  # fmt: skip
WITHOUT_PARAMS = [
    "empty", "crash", "deadlock", "half_barrier", "endless", "trap", "deep", "counted",
]  # fmt: skip


class DriverError(Exception):
    """A driver call failed; `code` is its CUresult."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Driver:
    """A private copy of the library, so that nothing else in the process shares its state."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        # under another name, or the loader would take one that is already in the process
        library = Path(self.folder.name) / "libcudt.so.1"
        library.write_bytes(build.build().read_bytes().replace(b"libcuda.so.1", b"libcudt.so.1"))
        kernels = Path(self.folder.name) / "kernels.so"
        subprocess.run(
            [build.find_compiler(), "-O2", "-shared", "-fPIC", "-I", str(build.DRIVER), "-o",
             str(kernels), str(Path(__file__).with_name("kernels.c")), str(library),
             f"-Wl,-rpath,{self.folder.name}"],
            check=True,
        )  # fmt: skip
        # each looks in itself first, whatever other tests of the process have loaded for all;
        # sanitizers' runtimes cannot have that
        mode = os.RTLD_NOW | (0 if build.KIND in ("sanitized", "threads") else os.RTLD_DEEPBIND)
        self.library = ctypes.CDLL(str(library), mode)
        self.kernels = ctypes.CDLL(str(kernels), mode)
        self.unloaded, self.made = [], set()
        self._callbacks = (
            ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)(self._load),
            None,  # kernels are described when they are loaded
            ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_uint32, c_uint32)(self._compile),
            ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p)(self._attributes),
            ctypes.CFUNCTYPE(None, c_void_p)(self.unloaded.append),
            None,  # at once
        )
        self.library.sg_set_callbacks(*self._callbacks)
        self.call("cuInit", 0)
        self.context = c_void_p()
        self.call("cuCtxCreate_v4", byref(self.context), None, 0, 0)
        self.module = self.load(b"a module")

    def raw(self, name, *arguments):
        """A driver call; its CUresult."""
        return getattr(self.library, name)(*arguments)

    def call(self, name, *arguments):
        """A driver call that must succeed."""
        code = self.raw(name, *arguments)
        if code:
            raise DriverError(code, self.error_text(code))

    def fault(self):
        """What stopped the last launch: a FaultKind."""
        found = ffi.new("Fault *")
        self.library.sg_last_fault(contract.address(found))
        return FaultKind(found.kind)

    def error_text(self, code):
        text = c_char_p()
        self.library.cuGetErrorString(code, byref(text))
        return text.value.decode()

    def options(self, threads=0, deterministic=0, timeout_s=300.0):
        self.library.sg_options(threads, deterministic, ctypes.c_double(timeout_s))

    # --- modules ---

    def _load(self, module, image, size):
        text = ctypes.string_at(image, size)
        if text == b"bad":
            self.library.sg_set_error(b"line 1: no such instruction")
            return 218
        module = c_void_p(module)
        self.library.sg_module_create(module, c_size_t(256))
        self.library.sg_module_fill(module, c_size_t(0), b"\1\0\0\0" * 64, c_size_t(256))
        for name, offset, constant in ((b"variable", 0, 0), (b"table", 32, 1)):
            self.library.sg_module_variable(module, name, c_size_t(offset), c_size_t(16), constant)
        self.library.sg_module_relocate(module, c_size_t(8), c_size_t(32))
        for name in [*PARAM_BYTES, *WITHOUT_PARAMS]:
            self.library.sg_module_kernel(module, name.encode(), name.encode())
            self._describe(module, name)
        return 0

    def _describe(self, module, name):
        file = ffi.new("char[]", b"kernel.cu")
        params = [(at, 8, 8) for at in range(0, PARAM_BYTES.get(name, 0), 8)]
        sites = [list(site) for site in SITES]
        if name == "read_at":
            sites[0][KIND] = LOAD
        facts = {
            "takes": ffi.new("char[]", b""), "params": ffi.new("uint32_t[][3]", params),
            "param_count": len(params), "param_bytes": 8 * len(params),
            "static_shared": 4096, "dynamic_align": 16, "local_bytes": LOCAL_BYTES,
            "max_threads": 64 if name == "deep" else 0,
            "files": ffi.new("char *[]", [file]),
            "sites": ffi.new("struct Site[]", sites), "file_count": 1, "site_count": len(sites),
        }  # fmt: skip
        told = ffi.new("KernelFacts *", facts)
        self.library.sg_kernel_describe(module, name.encode(), contract.address(told))

    def _compile(self, module, name, build_number, tier):
        entry = ctypes.cast(getattr(self.kernels, name.decode()), c_void_p)
        self.library.sg_kernel_set_code(c_void_p(module), name, build_number, tier, entry, 2)
        return 0

    def _attributes(self, module, name):
        self.library.sg_kernel_set_attributes(c_void_p(module), name, 17, 24, 8, 1024)
        return 0

    def load(self, image):
        module = c_void_p()
        self.call("cuModuleLoadData", byref(module), image)
        return module

    def function(self, name, module=None):
        function = c_void_p()
        self.call("cuModuleGetFunction", byref(function), module or self.module, name.encode())
        return function

    def launch(self, kernel, *params, grid=(1, 1, 1), block=(32, 1, 1), shared=0, stream=None):
        """Runs a kernel; parameters are 8 bytes each."""
        function = kernel if isinstance(kernel, c_void_p) else self.function(kernel)
        grid, block = ((*shape, 1, 1)[:3] for shape in (grid, block))
        values = (c_uint64 * max(1, len(params)))(*map(int, params))
        size = c_size_t(8 * len(params))
        extra = (c_void_p * 5)(1, ctypes.addressof(values), 2, ctypes.addressof(size), 0)
        self.call("cuLaunchKernel", function, *grid, *block, shared, stream, None, extra)

    # --- memory ---

    def allocate(self, size):
        address = c_uint64()
        self.call("cuMemAlloc_v2", byref(address), c_size_t(size))
        self.made.add(address.value)
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", c_uint64(address))
        self.made.discard(address)

    def free_all(self):
        """What a test has left; a context that went took its own along."""
        while self.made:
            self.raw("cuMemFree_v2", c_uint64(self.made.pop()))

    def put(self, array):
        """A copy of an array on the device."""
        array = np.ascontiguousarray(array)
        address = self.allocate(array.nbytes)
        data = c_void_p(array.ctypes.data)
        self.call("cuMemcpyHtoD_v2", c_uint64(address), data, c_size_t(array.nbytes))
        return address

    def get(self, address, count, dtype):
        """An array from the device."""
        array = np.empty(count, dtype)
        data = c_void_p(array.ctypes.data)
        self.call("cuMemcpyDtoH_v2", data, c_uint64(address), c_size_t(array.nbytes))
        return array

    def lanes(self, name, *arrays, out):
        """A function over lanes, on arrays of any length, 32 elements at a time."""
        function = getattr(self.library, name)
        length = len(arrays[0])
        result = np.zeros(-(-length // 32) * 32, out)
        padded = [np.concatenate([a, np.ones(len(result) - length, a.dtype)]) for a in arrays]
        for start in range(0, len(result), 32):
            pointers = [c_void_p(a[start:].ctypes.data) for a in (*padded, result)]
            if "fma_f16" in name or "fma_bf16" in name:
                function(32, *pointers)
            else:
                function(*pointers)
        return result[:length]


@functools.cache
def only_driver():
    """The one of this process."""
    return Driver()
