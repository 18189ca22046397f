"""The folder of compiled kernels: it stays within its size, and costs no launch where it fails."""

import ctypes
import errno
import gc
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from softgpu import build, cache, sass
from softgpu.jit import compile
from softgpu.loaded import LoadedModule
from softgpu.tests import ROOT, autoinit, python
from softgpu.tests.facts import missing, refused

MB = 1 << 20


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache of 1 MB, as a new process finds it."""
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path))
    monkeypatch.setenv("SOFTGPU_CACHE_MB", "1")
    for name in ("PYCUDA_CACHE_DIR", "PYCUDA_DISABLE_CACHE"):
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)
    for name, value in (("_unseen_bytes", None), ("_told", False), ("_pycuda", None)):
        monkeypatch.setattr(cache, name, value)
    return tmp_path


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def age(path, days):
    then = path.stat().st_mtime - days * 86400
    os.utime(path, (then, then))


def test_what_was_written_is_read(folder):
    cache.write("a.o", b"content")
    assert cache.read("a.o") == b"content"
    with pytest.raises(OSError):
        cache.read("b.o")


def test_what_is_kept_is_made_again_only_where_a_part_differs_or_the_file_is_damaged(folder):
    made = []

    def kept(*parts):
        cache.kept(parts, lambda: made.append(parts) or b"content")
        return len(made)

    assert [kept("a", "bc") for _ in range(2)] == [1, 1]
    assert [kept("ab", "c"), kept("a", "bc", ""), kept("bc", "a"), kept("a", "bc")] == [2, 3, 4, 4]
    for path in folder.glob("*.z"):
        path.write_bytes(path.read_bytes()[:-1])
    assert [kept("a", "bc") for _ in range(2)] == [5, 5]
    with pytest.raises(ZeroDivisionError):
        cache.kept(["fails"], lambda: 1 // 0)
    assert kept("fails") == 6


TOOL = """\
#!/bin/sh
[ $1 = --version ] && echo {version} && exit
echo {name} "$@" >>{log}
for last; do :; done
cat "$last" >&2 && [ $1 = -v ] && while [ $1 != -o ]; do shift; done && cp "$last" "$2"
echo code of "$last"
"""


def test_machine_code_is_kept_under_all_that_decides_it(folder, tmp_path_factory):
    tools = tmp_path_factory.mktemp("tools")
    log = tools / "log"

    def tool(name, version=1, mark=""):
        path = tools / name
        path.write_text(TOOL.format(name=name, version=version, log=log) + mark)
        path.chmod(0o755)
        os.utime(path, (0, 0))  # so that nothing but what it is tells it from others
        return str(path)

    def runs(ptx="ptx", target="sm_90", *options, assembler="ptxas", disassembler="nvdisasm"):
        log.write_text("")
        report, _ = sass.assembled(ptx, target, str(tools / assembler))
        assert report == ptx
        sass.disassembly(ptx, target, str(tools / assembler), str(tools / disassembler), *options)
        return [line.split()[0] for line in log.read_text().splitlines()]

    for name in ("ptxas", "nvdisasm", "ptxas2", "nvdisasm2"):
        tool(name)
    both = ["ptxas", "nvdisasm"]
    assert runs() == both and runs() == []
    assert runs("other ptx") == both and runs(target="sm_80") == both
    assert runs("ptx", "sm_90", "-ndf") == ["nvdisasm"] and runs() == []
    assert runs(disassembler="nvdisasm2") == ["nvdisasm2"]
    assert runs(assembler="ptxas2") == ["ptxas2", "nvdisasm"]
    tool("ptxas", mark="# another size\n")
    assert runs() == both and runs() == []
    os.utime(tools / "nvdisasm", (1, 1))
    assert runs() == ["nvdisasm"] and runs() == []
    tool("ptxas", version=2, mark="# another size\n")
    sass._version.cache_clear()  # as in another process: a script may stand for a newer program
    assert runs() == both


def test_what_was_not_used_for_longest_goes_first(folder):
    (folder / "nvcc").mkdir()
    (folder / "nvcc/old.cubin").write_bytes(bytes(MB // 4))
    age(folder / "nvcc/old.cubin", days=40)
    for days in (30, 20, 10):
        cache.write(f"{days}.o", bytes(MB // 4))
        age(folder / f"{days}.o", days)
    cache.read("30.o")
    cache.write("new.o", bytes(MB // 4))
    left = {path.name for path in folder.rglob("*") if path.is_file()}
    assert left == {"30.o", "10.o", "new.o"} and size_of(folder) <= MB


def test_many_writers_stay_within_the_size(folder):
    def work(number):
        for n in range(40):
            cache.write(f"{number}.{n}", bytes(MB // 20))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert size_of(folder) <= MB * (1 + 1 / 16)


def test_what_a_process_left_unfinished_is_removed_in_time(folder):
    for name, days in ((".unfinished-then", 1), (".unfinished-now", 0)):
        (folder / name).write_bytes(b"half")
        age(folder / name, days)
    cache.write("a.o", b"content")
    assert {path.name for path in folder.iterdir()} == {"a.o", ".unfinished-now"}


@pytest.mark.parametrize("step", ["mkstemp", "replace"])
def test_a_full_disk_is_told_once_and_leaves_nothing(step, folder, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", str(folder))

    monkeypatch.setattr(cache.tempfile if step == "mkstemp" else cache.os, step, full)
    for name in ("a.o", "b.o"):
        cache.write(name, b"content")
    assert not list(folder.iterdir())
    (line,) = capsys.readouterr().err.splitlines()
    assert not missing(line, str(folder), "SOFTGPU_CACHE")


def test_pycuda_gets_a_folder_where_there_is_room_for_one(folder, monkeypatch, capsys):
    cache.serve_pycuda()
    assert os.environ["PYCUDA_CACHE_DIR"] == str(folder / "nvcc")
    assert "PYCUDA_DISABLE_CACHE" not in os.environ and not list((folder / "nvcc").iterdir())
    usage = cache.shutil.disk_usage(folder)._replace(free=100 << 10)
    monkeypatch.setattr(cache.shutil, "disk_usage", lambda path: usage)
    cache.guard_pycuda()
    assert os.environ["PYCUDA_DISABLE_CACHE"] == "1"
    assert not missing(capsys.readouterr().err, 100)


def test_a_bad_size_is_refused_at_once(folder, monkeypatch):
    monkeypatch.setenv("SOFTGPU_CACHE_MB", "-1")
    with refused(ValueError, "SOFTGPU_CACHE_MB=-1", 1):
        cache.serve_pycuda()


LAUNCH = """
import softgpu.tests.autoinit, numpy as np, pycuda.driver as cuda
from pycuda.compiler import SourceModule
out = np.zeros(32, np.int32)
for number in (4, 5):
    source = "__global__ void k(int *o) { o[threadIdx.x] = %d; }" % number
    SourceModule(source).get_function("k")(cuda.Out(out), block=(32, 1, 1))
    print(set(out.tolist()))
"""


def test_a_library_lasts_as_long_as_the_process_where_nothing_can_be_kept(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "taken").write_text("in the folder's place")
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path / "taken"))
    monkeypatch.setattr(cache, "_told", False)
    made = cache.made_once("name.so", lambda path: path.write_bytes(b"made"))
    assert made.read_bytes() == b"made" and "SOFTGPU_CACHE" in capsys.readouterr().err
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path / "free"))
    kept = cache.made_once("name.so", lambda path: path.write_bytes(b"made"))
    assert kept == tmp_path / "free/name.so" and kept.read_bytes() == b"made"


MAKE = """
import sys, time
from pathlib import Path
from softgpu import cache

def make(path):
    time.sleep(0.5)
    path.write_bytes(b"made")
    print("made")

assert cache.made_once("a name.so", make).read_bytes() == b"made"
"""


COMPILE = """
import time
import softgpu.tests.autoinit, numpy as np, pycuda.driver as cuda
from softgpu.jit import compile
from softgpu.tests.jit.test_cache import PTX

real = compile.machine_code

def slow(*arguments, **named):
    print("machine code")
    time.sleep(0.5)
    return real(*arguments, **named)

compile.machine_code = slow
kernel = cuda.module_from_buffer(PTX.encode().replace(b"NUMBER", b"4")).get_function("k")
kernel(cuda.Out(np.zeros(32, np.int32)), block=(32, 1, 1))
"""


def said_by_three(script):
    """What three processes print that run a script at once."""
    environment = os.environ | {"PYTHONPATH": ROOT, "HELPERS_DEVICE": "software"}
    command = [sys.executable, "-c", script]
    runs = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = "".join(run.communicate()[0] for run in runs)
    assert not any(run.returncode for run in runs)
    return said


def test_a_library_is_made_by_one_of_the_processes_that_want_it(folder):
    assert said_by_three(MAKE) == "made\n"
    assert [path.name for path in folder.iterdir()] == ["a name.so"]


def test_a_kernel_is_compiled_by_one_of_the_processes_that_want_it(folder):
    assert said_by_three(COMPILE) == "machine code\n"
    assert not any("unfinished" in path.name for path in folder.iterdir())


def test_a_cache_that_cannot_be_made_costs_no_import_and_no_launch(tmp_path):
    taken = tmp_path / "a file"
    taken.write_text("in the folder's place")
    run = python("-c", LAUNCH, HELPERS_DEVICE="software", SOFTGPU_CACHE=str(taken))
    assert run.stdout == "{4}\n{5}\n", run.stderr
    (line,) = run.stderr.splitlines()
    assert not missing(line, str(taken), "SOFTGPU_CACHE")


PTX = """
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{ .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, NUMBER; st.global.u32 [%rd1], %r1; ret; }
"""


def test_a_kernel_that_only_instrumented_builds_ran_is_not_emitted_again(folder, monkeypatch):
    text = PTX.replace("NUMBER", "4")
    first = LoadedModule(text).code("k", "plain")
    first.keep_what_is_known()
    emitted, emit = [], compile.ModuleText.emit
    monkeypatch.setattr(
        compile.ModuleText, "emit", lambda *given: emitted.append(given) or emit(*given)
    )
    again = LoadedModule(text).code("k", "plain")
    assert again.sites == first.sites and again.runs_through and not emitted
    assert json.dumps(again.notes) == json.dumps(first.notes)
    assert again.address(ctypes.CDLL(str(build.build()))) and len(emitted) == 1
    (folder / again._known).write_bytes(b"half")
    assert LoadedModule(text).code("k", "plain", quick=False).sites == first.sites
    assert len(emitted) == 2


@pytest.mark.slow
@pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU's memory")
def test_a_module_that_is_gone_leaves_nothing_in_memory():
    import pycuda.driver as cuda

    memory = cuda.mem_alloc(4)

    def resident_kb(first, last):
        for number in range(first, last):
            module = cuda.module_from_buffer(PTX.replace("NUMBER", str(number)).encode())
            module.get_function("k")(memory, block=(1, 1, 1))
        del module
        gc.collect()
        return int(re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())[1])

    before = resident_kb(0, 100)
    assert resident_kb(100, 300) - before < 200 * 8  # a page for code, one for data is the least


def test_a_module_in_a_circle_of_references_is_collected_without_a_crash():
    program = """
import gc
from softgpu.jit.compile import module_of
circle = [module_of("define void @f() { ret void }")]
circle.append(circle)
del circle
gc.collect()
"""
    assert not python("-c", program).returncode
