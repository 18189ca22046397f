"""Whole programs, and the command that runs them: softgpu run."""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import softgpu.__main__
from softgpu import build, toolkit
from softgpu.libraries import LIBRARIES
from softgpu.ptx import PtxError, fatbin
from softgpu.tests import ROOT, python
from softgpu.tests.facts import missing, refused

pytestmark = pytest.mark.slow

SOURCES = Path(__file__).parent / "programs"
ANSWERS = """\
arguments: 2, last b c
device: 1 of sm_90, warps of 32, 2 blocks of 1024
shared memory's banks: cudaSuccess
banks: 1, PTX: 90, binary: 90
constant: cudaSuccess
template: 6.5, visits 1000, time taken
window: cudaSuccess
of half of 8000 bytes
managed: 518
cooperative: cudaSuccess
met: 512 of 512
pitched: 4 15
too narrow: cudaErrorInvalidPitchValue
other file: 42
freed twice: cudaErrorInvalidValue
too large a block: cudaErrorInvalidValue
told once: cudaSuccess
mipmaps: cudaErrorNotSupported
reset: cudaSuccess
after it: cudaSuccess
"""


@pytest.fixture
def folder(tmp_path):
    """The programs, where a path has a space."""
    return shutil.copytree(SOURCES, tmp_path / "my programs")


def command(*words, does="run"):
    return [sys.executable, "-m", "softgpu", does, *words]


def run(folder, *words, does="run"):
    return python("-m", "softgpu", does, *words, cwd=folder)


WAYS = pytest.mark.parametrize("does", ["run", "sanitize", "profile"])


@WAYS
def test_a_program_has_its_answers_and_its_exit_status(folder, does):
    done = run(folder, "everything.cu", "scale.cu", "-std=c++17", "--", "a", "b c", does=does)
    assert (done.stdout, done.returncode) == (ANSWERS, 3), done.stderr
    assert not missing(done.stderr, 2000, "x", 1, 1024, "cudaMallocMipmappedArray")
    reports = re.findall(r"^(\S+): (\d+) \w+ \w+ (\d+) \w+\b", done.stderr, re.MULTILINE)
    counted = [("shift<double>", "8", "128"), ("dynamic", "1", "512"), ("meeting", "8", "64"),
               ("twice", "1", "1")]  # fmt: skip
    assert reports == (counted if does == "profile" else [])


@pytest.mark.parametrize("end, mark", [("\n", ""), ("\r\n", "\ufeff")])
def test_a_program_may_have_marks_of_editors_and_letters_that_are_not_ascii(folder, end, mark):
    lines = (
        "__global__ void nothing() {}  // für 中, kᵀ",
        "int main() { nothing<<<1, 32>>>(); }",
        "",
    )
    (folder / "letters.cu").write_bytes((mark + end.join(lines)).encode())
    done = run(folder, "--profile", "letters.cu")
    assert re.search(r"\d µs", done.stderr), done.stderr


CLUSTERS = """\
places: cudaSuccess, 72 of 72
places: cudaSuccess, 5 of 5
places: cudaSuccess, 1680 of 1680
places: cudaErrorInvalidClusterSize, 0 of 12
places: cudaErrorInvalidClusterSize, 0 of 64
places: cudaSuccess, 64 of 64
met: cudaSuccess, 72, 0 too early
66 clusters at once, of up to 8 blocks
at the end: cudaErrorInvalidClusterSize
"""


LIBRARIES_ANSWERS = """\
1 kernel, 4 bytes: 100 105 110 115
no kernel: cudaErrorInvalidDeviceFunction
cudaSuccess
unloaded: cudaSuccess
"""


ARRAYS = """\
flat: cudaSuccess
described: 16 16 0 0 0, 7 5 3, 1
a piece: 23 -26, 30 -33
a box: 44 -88
over rows: 7 0 13 22
past the end: cudaErrorInvalidValue
too wide: cudaErrorInvalidValue
uneven: cudaErrorInvalidChannelDescriptor
freed twice: cudaErrorInvalidResourceHandle
"""


GRAPHS = """\
nodes: 21 21 21, host 1
again: 42 42 42, host 2
other arguments: 63 0 0
kernel: grid 1, block 3, added 5 to the same, found again
copied to the symbol: 9
captured: 4 nodes, status 1 then 0
forked: 11 22 11
updated: 12 23 12
topology: cudaErrorGraphExecUpdateFailure
synchronised: cudaErrorStreamCaptureUnsupported
ended: cudaErrorStreamCaptureInvalidated, no graph
plain copy: cudaErrorStreamCaptureImplicit
semaphore: cudaErrorNotSupported
no graph: cudaErrorInvalidValue
fault: cudaErrorIllegalAddress
"""


@pytest.mark.parametrize("does", ["run", "profile"])  # watched, its fault is a finding
def test_a_program_makes_graphs(folder, does):
    done = run(folder, "graphs.cu", "--", "a picture.dot", does=does)
    assert (done.stdout, done.returncode) == (GRAPHS, 0), done.stderr
    assert not missing(done.stderr, "cudaGraphAddExternalSemaphoresSignalNode")
    assert 'label="0\\nKERNEL' in (folder / "a picture.dot").read_text()
    assert ("scale: 1 block of 1 thread" in done.stderr) == (does == "profile")


GRAPHS_INSIDE = """\
in the graph: 3 5
counted down: 10 0
by itself: 11 -1
kept: 11, then cudaErrorInvalidValue, 21
no body: 21
reserved: 1, then 0
one of a kind: cudaErrorNotSupported
captured: 4 nodes, 8
"""


@WAYS
def test_graphs_allocate_memory_and_ask_conditions(folder, does):
    done = run(folder, "graphs_inside.cu", does=does)
    assert done.stdout.startswith(GRAPHS_INSIDE) and done.returncode == 0, done.stderr
    shown = re.search(r"count_down: 1 \w+(.*)", done.stderr)
    assert bool(shown) == (does != "run")
    assert bool(shown and " 1 " in shown[1]) == (does == "profile")


TEXTURES = """\
deep: 23.5 25.5 15
rows: 4 14
line: 0 0 4 0
surface: cudaSuccess
of a texture's: cudaErrorInvalidValue
turned: 5 27
around: 14 0 24
no texture: cudaErrorInvalidValue
destroyed twice: cudaErrorInvalidValue
past: cudaErrorIllegalAddress
"""


PROGRAMS = {  # what they print, and facts of what is said besides
    "clusters.cu": (CLUSTERS, (12, "x", 5)),
    "libraries.cu": (LIBRARIES_ANSWERS, ()),
    "arrays.cu": (ARRAYS, ()),
    "textures.cu": (TEXTURES, (0, 999, "3 x 5 x 1")),
}


@WAYS
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_its_answers(folder, name, does):
    answers, facts = PROGRAMS[name]
    done = run(folder, name, "-arch=sm_90", "-std=c++17", does=does)
    assert (done.stdout, done.returncode) == (answers, 0), done.stderr
    assert not missing(done.stderr, *facts)


BLAS = """\
#include <cstdio>
extern "C" {
int cublasCreate_v2(void **);
int cublasSetStream_v2(void *, cudaStream_t);
int cublasDaxpy_v2(void *, int, const double *, const double *, int, double *, int);
}
int main()
{
    void *handle;
    double *x, three = 3;
    cudaStream_t stream;
    cudaMallocManaged(&x, 8);
    *x = 5;
    cudaStreamCreate(&stream);
    int status = cublasCreate_v2(&handle) + cublasSetStream_v2(handle, stream);
    status += cublasDaxpy_v2(handle, 1, &three, x, 1, x, 1);
    cudaStreamSynchronize(stream);
    printf("%d %g\\n", status, *x);
}
"""


@pytest.mark.long  # cuBLAS takes a while to compile
@pytest.mark.parametrize("words", [[], ["-lcublas"], ["-l", "cublas"]])
def test_a_program_finds_the_libraries_that_it_calls(tmp_path, words):
    (tmp_path / "blas.cu").write_text(BLAS)
    done = run(tmp_path, "blas.cu", *words)
    assert (done.stdout, done.stderr, done.returncode) == ("0 20\n", "", 0)


def test_a_library_that_cannot_be_compiled_is_said_to_be_so(tmp_path, monkeypatch):
    (tmp_path / "blas.cu").write_text(BLAS)
    monkeypatch.setenv("CXX", "false")
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path / "empty"))
    done = run(tmp_path, "blas.cu")
    assert done.returncode == 2
    assert not missing(done.stderr, "softgpu", "false")
    assert "Traceback" not in done.stderr


FILES = 2


@pytest.fixture
def some_files(tmp_path, monkeypatch):
    """A program of several files with a common header; nothing is kept of it yet."""
    for n in range(FILES):
        after = f"int f{n + 1}();" if n + 1 < FILES else ""
        value = f"+ f{n + 1}()" if n + 1 < FILES else ""
        body = f"int f{n}() {{ one<<<1, 1>>>(); return VALUE{n} {value}; }}"
        text = f'#include "values.h"\n__global__ static void one() {{}}\n{after}\n{body}\n'
        (tmp_path / f"f{n}.cu").write_text(text)
    main = '#include <cstdio>\nint main() { printf("%d %d\\n", f0(), MORE); }\n'
    (tmp_path / "f0.cu").write_text((tmp_path / "f0.cu").read_text() + main)
    values = "".join(f"#define VALUE{n} {n}\n" for n in range(FILES))
    (tmp_path / "values.h").write_text(values)
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path / "kept"))
    return tmp_path


def _calls_of_nvcc(folder, log, *words):
    """(what a program says, how many files nvcc compiled for it)."""
    log.write_text("")
    done = run(folder, *[f"f{n}.cu" for n in range(FILES)], *words)
    assert done.returncode == 0, done.stderr
    return done.stdout, log.read_text().count(" -MD ")


def test_a_program_is_compiled_again_only_where_it_has_changed(some_files, monkeypatch):
    tools, log = some_files / "bin", some_files / "log"
    tools.mkdir()
    real = toolkit.find_toolkit().nvcc
    (tools / "nvcc").write_text(f'#!/bin/sh\necho " $* " >> "$NVCC_LOG"\nexec {real} "$@"\n')
    (tools / "nvcc").chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(some_files))
    monkeypatch.setenv("NVCC_LOG", str(log))
    assert _calls_of_nvcc(some_files, log, "-DMORE=7") == ("1 7\n", FILES)
    assert _calls_of_nvcc(some_files, log, "-DMORE=7", "--", "1") == ("1 7\n", 0)
    assert _calls_of_nvcc(some_files, log, "-DMORE=8") == ("1 8\n", FILES)
    before = (some_files / "f1.cu").read_text()
    (some_files / "f1.cu").write_text(before.replace("VALUE1", "30"))
    time.sleep(0.2)  # a file that is as new as its object could have changed since
    assert _calls_of_nvcc(some_files, log, "-DMORE=7") == ("30 7\n", 1)
    (some_files / "f1.cu").write_text(before)
    assert _calls_of_nvcc(some_files, log, "-DMORE=7") == ("1 7\n", 0)
    (some_files / "values.h").write_text((some_files / "values.h").read_text() + "#undef VALUE1\n"
                                        "#define VALUE1 50\n")  # fmt: skip
    time.sleep(0.2)
    assert _calls_of_nvcc(some_files, log, "-DMORE=7") == ("50 7\n", FILES)


def test_a_header_that_is_missing_is_said_before_a_library_is_made(tmp_path, monkeypatch):
    (tmp_path / "blas.cu").write_text("#include <cublas_of_tomorrow.h>\n")
    monkeypatch.setenv("CXX", "false")  # nothing can make cuBLAS
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path / "empty"))
    told = run(tmp_path, "blas.cu", "-lcublas")
    assert told.returncode == 2
    assert told.stderr.endswith(": pip install nvidia-cublas\n")


LONG = """\
#include <cstdio>
__global__ void slow(unsigned *out, int n)
{
    unsigned x = threadIdx.x;
    for (int i = 0; i < n; i++) x = x * 1664525 + (x >> 3);
    out[threadIdx.x] = x;
}
int main()
{
    unsigned *out;
    cudaMalloc(&out, 128);
    slow<<<100000, 32>>>(out, 1 << 22);
    printf("%d\\n", cudaDeviceSynchronize());
}
"""


@pytest.mark.long  # one has to wait for it
def test_a_launch_that_takes_long_is_said_to(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTGPU_TIMEOUT", "7")
    (tmp_path / "long.cu").write_text(LONG)
    done = run(tmp_path, "long.cu")
    assert done.stdout == "702\n"
    assert len(re.findall(r"\bslow .* 5 s .* 100000 ", done.stderr)) == 1, done.stderr


def test_a_wheel_that_a_library_needs_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with refused(build.BuildError, "libcublas.so.13", "pip install scipy-openblas64"):
        LIBRARIES["cublas"].built()


def test_malloc_gives_what_a_new_process_would(tmp_path):
    (tmp_path / "sum.cu").write_text("""\
#include <cstdio>
#include <cstdlib>
int main()
{
    long long sum = 0;
    for (size_t bytes = 16; bytes <= 1 << 20; bytes *= 2) {
        char *fresh = (char *)malloc(bytes);
        for (size_t i = 0; i < bytes; i++) sum += fresh[i] != 0;
    }
    printf("%lld\\n", sum);
}
""")
    done = run(tmp_path, "sum.cu")
    assert (done.stdout, done.stderr, done.returncode) == ("0\n", "", 0)


def test_ranges_of_nvtx_are_quiet(tmp_path):
    (tmp_path / "ranges.cu").write_text("""\
#include <cstdio>
#include <nvToolsExt.h>
int main()
{
    nvtxRangePushA("begun");
    nvtxMarkA("here");
    printf("%d\\n", nvtxRangePop() <= 0);
}
""")
    done = run(tmp_path, "ranges.cu", "-lnvToolsExt")
    assert (done.stdout, done.stderr, done.returncode) == ("1\n", "", 0)


OLD = """\
#include <cuda.h>
#define CHECKED(call) do { if (call) return 1; } while (0)
texture<float, 2, cudaReadModeElementType> picture;
int main() {
    cudaDeviceProp p;
    p.clockRate + p.deviceOverlap;
    cudaBindTextureToArray(picture, nullptr);
    cudaMemPrefetchAsync(nullptr, 0, 0, 0);
    cudaLaunchCooperativeKernelMultiDevice(nullptr, 1, 0);
    CUcontext context;
    CHECKED(cuCtxCreate(&context, 0, 0));
    nothing();
}
"""
INSTEAD = [
    ("old.cu(3)", 12, "cudaTextureObject_t picture"),
    ("old.cu(6)", 13, "cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, device)"),
    ("old.cu(6)", 13, "asyncEngineCount > 0"),
    ("old.cu(7)", 12, "cudaCreateTextureObject(&object, &resource, "),
    ("old.cu(8)", 13, "cudaMemLocation place = "),
    ("old.cu(9)", 13),
    ("old.cu(11)", 13, "cuCtxCreate(&context, nullptr, flags, device)"),
]


def test_what_cuda_has_removed_is_said_line_by_line(tmp_path):
    (tmp_path / "old.cu").write_text(OLD)
    told = run(tmp_path, "old.cu")
    assert told.returncode == 2
    lines = [line for line in told.stderr.splitlines() if re.match(r"old.cu\(\d+\): CUDA ", line)]
    assert len(lines) == len(INSTEAD)
    assert not any(missing(line, *facts) for line, facts in zip(lines, INSTEAD))
    assert "--cuda12" not in told.stderr  # where there are no references to textures, either


NEWER = """\
#include <cstdio>
#include <cuda_profiler_api.h>
int main() {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    int clock, memory, ratio, late, mode;
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
    cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, 0);
    cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, 0);
    cudaDeviceGetAttribute(&late, cudaDevAttrKernelExecTimeout, 0);
    cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0);
    printf("%d %d %d %d %d %d\\n", clock, memory, ratio, late, mode, p.asyncEngineCount > 0);
    char *x;
    cudaMallocManaged(&x, 64);
    cudaMemLocation place = {cudaMemLocationTypeDevice, 0};
    printf("%d", cudaMemPrefetchAsync(x, 64, place, 0, 0));
    printf("%d", cudaMemAdvise(x, 64, cudaMemAdviseSetReadMostly, place));
    place = {cudaMemLocationTypeHost, 0};
    printf("%d\\n", cudaMemPrefetchAsync(x, 64, place, 0, 0));
}
"""


def test_what_is_advised_instead_runs(tmp_path):
    (tmp_path / "newer.cu").write_text(NEWER)
    done = run(tmp_path, "newer.cu")
    assert (done.stdout, done.returncode) == ("1980000 3201000 2 0 0 1\n000\n", 0), done.stderr


def test_headers_of_cuda_12_come_first_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(toolkit, "machine_toolkits", lambda: iter(()))
    headers = tmp_path / "nvidia" / "cuda_runtime" / "include"
    with refused(toolkit.ToolkitError, "pip install nvidia-cuda-runtime-cu12"):
        toolkit.find_cuda_12([str(tmp_path)])
    headers.mkdir(parents=True)
    (headers / "cuda_runtime_api.h").write_text("#define CUDART_VERSION  12090\n")
    newer = toolkit.Toolkit("nvcc", ("/new/include",), (13, 0), "wheel")
    monkeypatch.setattr(toolkit, "find_toolkit", lambda: newer)
    found = toolkit.find_cuda_12([str(tmp_path)])
    assert found.include == (str(headers), "/new/include") and found.older == str(headers)
    assert (found.nvcc, found.version) == ("nvcc", (12, 9))


def test_a_fault_is_told_where_it_is_and_breaks_the_calls_after_it(folder):
    done = run(folder, "wrong.cu")
    assert done.returncode == 300 & 0xFF
    assert done.stdout == (
        "launched: cudaSuccess\nwaited: cudaErrorIllegalAddress\n"
        "and then: cudaErrorIllegalAddress\n"
    )
    assert done.stderr.count("fill, wrong.cu:7") == 1 and not missing(done.stderr, 0, "4000-byte")


def test_a_sanitized_program_goes_on_and_hears_of_each_finding_once(folder):
    done = run(folder, "--sanitize", "wrong.cu")
    assert done.stdout.endswith("and then: cudaSuccess\n")
    assert done.stderr.count("out of bounds: wrong.cu:7") == 1
    assert not missing(done.stderr, 1, "(x)", 4000)
    assert "if (i <= n) x[i] = i;" in done.stderr


@pytest.mark.parametrize("does", ["sanitize", "profile"])
def test_a_command_of_its_own_is_run_with_an_option(folder, does):
    own, option = run(folder, "wrong.cu", does=does), run(folder, f"--{does}", "wrong.cu")
    assert (own.stdout, own.returncode) == (option.stdout, option.returncode)
    assert lasting(own.stderr) == lasting(option.stderr) != ""


def lasting(text):
    """A text without times and addresses."""
    return re.sub(r"[\d.]+ [mµn]?s\b|\b0x\w+", "", text)


def test_the_command_is_installed_and_says_its_version(tmp_path):
    (script,) = (s for s in entry_points(group="console_scripts") if s.name == "softgpu")
    assert script.load() is softgpu.__main__.main
    told = run(tmp_path, does="--version")
    assert (told.stdout, told.returncode) == (f"softgpu {softgpu.__version__}\n", 0)


@pytest.mark.parametrize(("does", "fact"), [("walk", "'walk'"), ("run", ".cu")])
def test_what_the_command_cannot_do_is_said(tmp_path, does, fact):
    told = run(tmp_path, does=does)
    assert told.returncode == 2 and fact in told.stderr and "Traceback" not in told.stderr


@pytest.mark.parametrize("does", ["run", "sanitize", "profile", "show"])
def test_each_command_explains_itself(tmp_path, does):
    told = run(tmp_path, "--help", does=does)
    assert told.stdout.startswith(f"usage: softgpu {does} ") and not told.returncode
    assert f"    softgpu {does} " in told.stdout and f"softgpu {does} " in softgpu.__main__.__doc__


def test_ctrl_c_ends_a_kernel_that_does_not(folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = subprocess.Popen(
        command("wrong.cu", "--", "wait"), cwd=folder, env=environment, stdout=subprocess.PIPE
    )
    assert program.stdout.readline() == b"waiting\n"
    program.send_signal(signal.SIGINT)
    assert program.wait(timeout=60) == -signal.SIGINT


@pytest.mark.parametrize(
    "source, words, fact",
    [
        ("", [], ".cu"),
        ("", ["missing.cu"], "missing.cu"),
        ("int main() { return x; }", ["main.cu"], 'main.cu(1): error: identifier "x"'),
        ("int other() { return 0; }", ["main.cu"], "main()"),
        ("void far(); int main() { far(); }", ["main.cu"], "_Z3farv"),
        ("", ["main.cu", "-rdc=true"], "-rdc=true"),
    ],
)
def test_what_cannot_run_is_said_in_a_line(tmp_path, source, words, fact):
    (tmp_path / "main.cu").write_text(source)
    done = run(tmp_path, *words)
    assert done.returncode == 2
    assert fact in done.stderr and "Traceback" not in done.stderr


ASK_FOR_NAMES = """
import ctypes, sys
from softgpu import programs, toolkit
from softgpu.loader import Engine
Engine.as_driver()
library = ctypes.CDLL(str(programs.runtime_library(toolkit.find_toolkit())))
print([name for name in sys.argv[1:] if not hasattr(library, name)])
"""


def test_everything_that_cuda_declares_is_there():
    """To run, or to say that it is not supported."""
    paths = (Path(folder, "cuda_runtime_api.h") for folder in toolkit.find_toolkit().include)
    header = next(path for path in paths if path.exists()).read_text()
    names = set(re.findall(r"cudaError_t CUDARTAPI (\w+)\(", header))
    assert len(names) > 250
    done = python("-c", ASK_FOR_NAMES, *sorted(names))  # this one may be beside a real GPU
    assert done.stdout == "[]\n", done.stdout + done.stderr


# ---- fat binaries ----


def entry(kind, arch, content):
    head = struct.pack("<HHIQIIHHI8xQ8xQ", kind, 0x101, 64, len(content), 0, 0, 0, 9, arch, 0, 0)
    return head + content


def fat(*entries):
    body = b"".join(entries)
    return fatbin.MAGIC + struct.pack("<HHQ", 1, 16, len(body)) + body


def test_the_newest_ptx_that_the_device_can_run_is_taken():
    image = fat(entry(2, 90, b"machine code"), entry(1, 80, b"old\0"), entry(1, 90, b"this\0\0"),
                entry(1, 120, b"too new\0"))  # fmt: skip
    assert fatbin.ptx_for(image + b"what lies after it", 90) == "this"


def test_a_binary_without_ptx_says_how_to_compile_it():
    with refused(PtxError, "sm_80", "sm_100", "compute_90"):
        fatbin.ptx_for(fat(entry(2, 80, b"x"), entry(1, 100, b"y")), 90)
    with refused(PtxError, "compute_90") as caught:
        fatbin.ptx_for(fat()[:7], 90)
    assert "sm_90" in str(caught.value) and str(caught.value).count("sm_") == 1


@pytest.mark.parametrize("mode, module", [("size", "zstandard"), ("speed", "lz4")])
def test_what_nvcc_packs_is_unpacked(mode, module, tmp_path, monkeypatch):
    text = ".version 9.0\n.target sm_90\n.address_size 64\n"
    text += "".join(f".visible .entry kernel{number}()\n{{\nret;\n}}\n" for number in range(100))
    (tmp_path / "k.ptx").write_text(text)
    ptx, binary = tmp_path / "k.ptx", tmp_path / "k.fatbin"
    code = ["-gencode", "arch=compute_90,code=compute_90", f"--compress-mode={mode}"]
    subprocess.run(
        [toolkit.find_toolkit().nvcc, "-fatbin", *code, ptx, "-o", binary], check=True, cwd=tmp_path
    )
    assert binary.stat().st_size < len(text) / 2
    assert fatbin.ptx_for(binary.read_bytes(), 90) == text
    for name in ("zstandard", "lz4", "lz4.block"):
        monkeypatch.setitem(sys.modules, name, None)
    with refused(PtxError, f"pip install {module}", "nvcc --no-compress"):
        fatbin.ptx_for(binary.read_bytes(), 90)


def test_a_client_that_opens_the_runtime_by_name_gets_ours():
    program = (
        "import ctypes, softgpu; softgpu.install(libraries=['cudart']);"
        "count, library = ctypes.c_int(), ctypes.CDLL('libcudart.so.13');"
        "assert library.cudaGetDeviceCount(ctypes.byref(count)) == 0; print(count.value)"
    )
    environment = os.environ | {"SOFTGPU_DEVICES": "3"}
    command = [sys.executable, "-c", program]
    told = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert told.stdout == "3\n", told.stderr
