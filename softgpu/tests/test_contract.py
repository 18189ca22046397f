"""runtime.h as Python reads it is what the C compiler and the compiled kernels make of it."""

import re
import subprocess

import pytest

from softgpu import build, contract, settings
from softgpu.contract import ffi
from softgpu.jit.emit.module_text import ModuleText
from softgpu.jit.facts.layout import Image, Layout
from softgpu.jit.passes import BUILDS
from softgpu.ptx import parse
from softgpu.tests import ROOT
from softgpu.tests.facts import refused

XRAY = ROOT / "softgpu/tests/xray"
STRUCTS = """Warp Range Site KernelFacts Origin Fault Finding Step Sample Row Rows Touched Profile
CacheShape CacheSite CacheCounts Waves Recorded""".split()
ENUMS = """Device Space SiteKind Operation Type Shuffle Build Tier Counter BarrierCounter AtomicForm
StepKind Arrival Wait AccessHint FenceHint BarrierHint FaultKind FindingKind Note Limit Answer
BoxHow BoxShift MapField TexelHow ClusterAddress EventKind MmaType MmaHow Rounding
TensorCounter""".split()
LLVM = {"void": "void", "int": "i32", "int32_t": "i32", "uint32_t": "i32", "uint64_t": "i64"}
REST = """
#include <cassert>
#include <cstdio>
__device__ __noinline__ int deep(int n) { return n ? deep(n - 1) + n : 0; }
__device__ void bulk(char *to, const char *from, unsigned long long *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1], 16, [%2], 1;"
                 :: "r"((int)__cvta_generic_to_shared(to)), "l"(from),
                 "r"((int)__cvta_generic_to_shared(barrier)) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], 1, [%1];"
                 :: "r"((int)__cvta_generic_to_shared(to)),
                 "r"((int)__cvta_generic_to_shared(barrier)) : "memory");
}
extern "C" __global__ __launch_bounds__(128, 2) void rest(int *x, long long *time)
{
    assert(x[0]);
    if (x[1]) __trap();
    printf("%d", deep(x[2]));
    int *p = (int *)malloc(4);
    *time = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(*time));
    asm volatile("bar.arrive 1, 64; barrier.cluster.arrive; barrier.cluster.wait;");
    asm volatile("mov.u32 %0, %reserved_smem_offset_begin;" : "=r"(x[4]));
    cudaGraphSetConditional(*time, 1);
    x[3] = __match_any_sync(0xffffffff, x[threadIdx.x]);
    free(p);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
                 " {%0, %1}, {%0, %1, %0, %1}, {%0, %1}, {%0, %1};" : "+r"(x[0]), "+r"(x[1]));
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"
                 " {%0, %1, %0, %1}, {%0, %1}, {%0, %1}, {%0, %1, %0, %1};"
                 : "+r"(x[0]), "+r"(x[1]));
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %0}, {%0}, {%0}, {%0, %0};"
                 : "+d"(*(double *)time));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(x[0]));
    __shared__ unsigned long long barrier;
    __shared__ char to[16];
    bulk(to, (const char *)x, &barrier);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"((int)__cvta_generic_to_shared(to)), "l"(x));
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];"
                 :: "l"(x), "r"(x[0]), "r"((int)__cvta_generic_to_shared(to)));
    asm volatile("tensormap.replace.tile.rank.b1024.b32 [%0], 1;" :: "l"(x));
    asm volatile("tex.1d.v4.u32.s32 {%0, %0, %0, %0}, [%1, {%0}];"
                 " sust.b.1d.b32.trap [%1, {%0}], %0;" : "+r"(x[0]) : "l"(*time));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %4, 1;"
                 : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]) : "l"(*time));
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(x[0]) : "r"((int)__cvta_generic_to_shared(to)));
}
"""


def struct(name):
    return ffi.typeof(name if name in ffi.list_types()[0] else f"struct {name}")


def test_offsets_and_numbers_are_the_compilers(tmp_path):
    expected = []
    for name in STRUCTS:
        kind = struct(name)
        expected += [(f"offsetof({kind.cname}, {n})", field.offset) for n, field in kind.fields]
    for name in ENUMS:
        expected += ffi.typeof(f"enum {name}").relements.items()
    lines = "".join(f'_Static_assert({what} == {value}u, "{what}");\n' for what, value in expected)
    source = tmp_path / "contract.c"
    headers = "".join(f'#include "{header}"\n' for header in contract.HEADERS)
    source.write_text(headers + lines)
    command = [
        build.find_compiler(),
        "-std=gnu11",
        f"-I{build.DRIVER}",
        "-fsyntax-only",
        str(source),
    ]
    assert not subprocess.run(command, capture_output=True, text=True).stderr
    assert len(expected) > 150


def test_every_struct_and_enum_is_compared():
    text = "".join(header.read_text() for header in contract.HEADERS)
    named = re.findall(r"^(?:typedef )?(?:struct|enum) (\w+) \{", text, re.MULTILINE)
    assert set(named) <= {*STRUCTS, *ENUMS}
    assert not re.findall(r"^enum \{(?!.*LANES)", text, re.MULTILINE), "an enum without a name"


def test_settings_and_the_driver_take_as_many_threads():
    assert ffi.integer_const("MOST_WORKERS") == settings.MOST_THREADS


def test_names_of_flags_are_no_numbers():
    assert contract.names("Space", "SPACE_")[:3] == ("generic", "global", "shared")
    with refused(ValueError, "AtomicForm", 0):
        contract.names("AtomicForm", "AS_")


@pytest.fixture(scope="module")
def declared():
    """{declaration in LLVM: the kernels that need it} of every build of many kernels."""
    from pycuda.compiler import compile

    from softgpu.tests import autoinit  # noqa: F401  (before what needs a driver)
    from softgpu.tests.xray.nsight.case import source

    planted = sorted((XRAY / "planted").glob("[bmw]*.cu"))
    texts = {f'#line 1 "{path.name}"\n{path.read_text()}': ["-DBUG=0"] for path in planted}
    unfenced = (XRAY / "planted/wgmma.cu").read_text() + "\n"
    texts |= {unfenced: ["-DBUG=1"], source("kernels.cu"): []}  # so far as other tests compile them
    texts[REST] = ["-G"]
    found = {}
    for text, options in texts.items():
        made = compile(text, no_extern_c=True, options=options, arch="sm_90a", target="ptx")
        module = parse(made.decode())
        image = Image(module)
        for kernel in module.kernels:
            for build_name in contract.names("Build", "BUILD_"):
                for quick in {False, build_name == "plain"}:
                    layout = Layout(module, image, kernel.name)
                    emitted = ModuleText(layout, BUILDS[build_name], quick)
                    emitted.emit(kernel.name)
                    for name, declaration in emitted.declared.items():
                        found.setdefault((name, declaration), kernel.name)
    return found


def in_llvm(kind):
    return "ptr" if kind.kind == "pointer" else LLVM[kind.cname]


@pytest.mark.long
def test_kernels_call_functions_as_the_header_declares_them(declared):
    runtime = contract.open_runtime(str(build.build()))
    called = set()
    for name, declaration in declared:
        if hasattr(runtime, name):
            called.add(name)
            kind = ffi.typeof(getattr(runtime, name))
            takes = ", ".join([*map(in_llvm, kind.args), *["..."] * kind.ellipsis])
            assert declaration == f"declare {in_llvm(kind.result)} @{name}({takes})"
    text = "".join(header.read_text() for header in contract.HEADERS)
    for_kernels = re.findall(
        r"^(?:void|u?int\d+_t) (sg_\w+)\((?:Warp \*|(?:const )?void \*row|uint32_t (?:mode|bytes))",
        text,
        re.M,
    )
    assert called >= set(for_kernels)


def test_the_header_is_parsed_once_and_what_it_declares_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path))
    contract._open()
    monkeypatch.delattr(contract, "_declared")
    kept = contract._open()
    for name in STRUCTS:
        kind = struct(name)
        found = kept.typeof(kind.cname).fields
        assert [(n, f.offset) for n, f in found] == [(n, f.offset) for n, f in kind.fields]
