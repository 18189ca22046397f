"""Bulk copies beyond plain loads and stores: reductions, blocks' own copies, changed maps."""

import csv
from pathlib import Path

import numpy as np
import pytest

from softgpu import xray
from softgpu.faults import FaultKind
from softgpu.tests import autoinit, tensor_maps
from softgpu.tests.facts import refused, stopped

from pycuda import gpuarray  # isort: skip
import pycuda.driver as cuda  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

pytestmark = pytest.mark.skipif(
    autoinit.device.compute_capability() < (9, 0), reason="needs a tensor memory accelerator"
)
software = pytest.mark.skipif(not autoinit.is_software, reason="a GPU says less")

HEAD = r"""
#include <cuda_fp16.h>
#define PTX(...) asm volatile(__VA_ARGS__)
struct alignas(64) Map { unsigned long long words[16]; };
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void fence() { PTX("fence.proxy.async;" ::: "memory"); }
__device__ void finish()
{ PTX("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void wait(unsigned long long *bar)
{
    PTX("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra W; }" ::"r"(
        at(bar)) : "memory");
}
__device__ void expect(unsigned long long *bar, int bytes)
{
    PTX("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(bar)) : "memory");
    PTX("fence.mbarrier_init.release.cluster;" ::: "memory");
    PTX("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes) : "memory");
}
// Copies 1 KiB to shared memory.
__device__ void fill(char *tile, const char *in)
{
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = in[i];
    fence();
    __syncthreads();
}
"""


def text(name, parameters, body):
    return f"""
extern "C" __global__ void {name}(const char *in, char *out, {parameters})
{{
    __shared__ alignas(1024) char tile[1024];
    [[maybe_unused]] __shared__ alignas(128) char other[1024];
    [[maybe_unused]] __shared__ unsigned long long bar;
    fill(tile, in);
    if (threadIdx.x == 0) {{ {body} }}
    __syncthreads();
}}
"""


def compiled(*kernels, **options):
    return SourceModule(HEAD + "".join(kernels), no_extern_c=True, **options)


BYTES = [
    *(("add", t) for t in ("u32", "s32", "u64", "f32", "f64", "noftz.f16")),
    *((op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64", "f16")),
    ("inc", "u32"),
    ("dec", "u32"),
    *((op, t) for op in ("and", "or", "xor") for t in ("b32", "b64")),
]
BOXES = [
    *(("add", t) for t in ("u32", "s32", "u64", "f16", "f32", "f64")),
    *((op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64", "f16")),
    ("inc", "u32"),
    ("dec", "u32"),
    *((op, t) for op in ("and", "or", "xor") for t in ("u32", "u64")),
]


def name_of(kind, op, type_):
    return f"{kind}_{op}_{type_.replace('.', '_')}"


@pytest.fixture(scope="module")
def reductions():
    kernels = [
        text(
            name_of("bytes", op, t), "int bytes",
            f'PTX("cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{t} [%0], [%1], %2;" ::'
            ' "l"(out), "r"(at(tile)), "r"(bytes) : "memory"); finish();',
        )
        for op, t in BYTES
    ]  # fmt: skip
    kernels += [
        text(
            f"box_{op}", "const Map *map, int x, int y",
            f'PTX("cp.reduce.async.bulk.tensor.2d.global.shared::cta.{op}.tile.bulk_group '
            '[%0, {%1, %2}], [%3];" :: "l"(map), "r"(x), "r"(y), "r"(at(tile)) : "memory");'
            " finish();",
        )
        for op in ("add", "min", "max", "inc", "dec", "and", "or", "xor")
    ]  # fmt: skip
    return compiled(*kernels)


def dtype_of(type_):
    kind, bits = type_.removeprefix("noftz.")[0], int(type_.split(".")[-1][1:])
    return np.dtype({"u": "u", "b": "u", "s": "i", "f": "f"}[kind] + str(bits // 8))


def reduced(op, old, new):
    """What reductions leave of whole arrays."""
    with np.errstate(over="ignore"):
        if op == "inc":
            return np.where(old >= new, 0, old + 1).astype(old.dtype)
        if op == "dec":
            return np.where((old == 0) | (old > new), new, old - 1).astype(old.dtype)
        called = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
                  "or": np.bitwise_or, "xor": np.bitwise_xor}[op]  # fmt: skip
        return called(old, new)


def drawn(dtype, count, seed):
    rng = np.random.default_rng(seed)
    if dtype.kind == "f":
        numbers = rng.standard_normal(count).astype(dtype)
        numbers[:2] = np.finfo(dtype).smallest_subnormal  # which reductions keep
        return numbers
    some = rng.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype)
    some[::3] = rng.integers(0, 4, len(some[::3]))
    return some


def in_global(map_):
    """A tensor map where kernels find it."""
    return gpuarray.to_gpu(np.frombuffer(map_, np.uint8))


@pytest.mark.parametrize("op, type_", BYTES, ids="-".join)
def test_bytes_are_reduced(reductions, op, type_):
    dtype = dtype_of(type_)
    old, new = (drawn(dtype, 1024 // dtype.itemsize, seed) for seed in (0, 1))
    out = gpuarray.to_gpu(old)
    kernel = reductions.get_function(name_of("bytes", op, type_))
    kernel(gpuarray.to_gpu(new), out, np.int32(512), block=(64, 1, 1))
    half = len(old) // 2
    want = np.concatenate([reduced(op, old[:half], new[:half]), old[half:]])
    np.testing.assert_array_equal(out.get(), want)


@pytest.mark.parametrize("op, type_", BOXES, ids="-".join)
def test_boxes_are_reduced_up_to_the_edge(reductions, op, type_):
    dtype = dtype_of(type_)
    width = 32 // dtype.itemsize
    old = drawn(dtype, 5 * 3 * width, 0).reshape(5, 3 * width)
    new = drawn(dtype, 1024 // dtype.itemsize, 1)
    out = gpuarray.to_gpu(old)
    map_ = in_global(tensor_maps.tiled(out, (4, 2 * width), 64))
    kernel = reductions.get_function(f"box_{op}")
    kernel(gpuarray.to_gpu(new), out, map_, np.int32(2 * width), np.int32(3), block=(64, 1, 1))
    box = unswizzled(new, 64)[: 8 * width].reshape(4, 2 * width)
    want = old.copy()
    want[3:, 2 * width :] = reduced(op, old[3:, 2 * width :], box[:2, :width])
    np.testing.assert_array_equal(out.get(), want)


def test_the_form_of_the_hardware_is_what_nvidias_driver_writes():
    with open(Path(__file__).with_name("tensor_maps_h100.csv")) as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        written = row.pop("map")
        lists = [[int(n) for n in row.pop(k).split()] for k in ("sizes", "strides", "box", "steps")]
        type_, *rest = map(int, row.values())
        assert tensor_maps.hardware_form(type_, *lists, *rest).hex() == written, (row, lists)
    assert len(rows) > 100


@pytest.mark.parametrize("dtype", ["u4", "f2", "f4", "bfloat16"])
@pytest.mark.parametrize("swizzle", [0, 32, 64])
def test_a_map_in_the_form_of_the_hardware_is_read(reductions, dtype, swizzle):
    type_, dtype = (dtype, "u2") if dtype == "bfloat16" else (None, dtype)
    width = 32 // np.dtype(dtype).itemsize
    new = gpuarray.to_gpu(drawn(np.dtype(dtype), 1024 // np.dtype(dtype).itemsize, 1))
    stored = []
    for made in tensor_maps.tiled, tensor_maps.as_hardware_has_it:
        out = gpuarray.to_gpu(np.zeros((5, 3 * width), dtype))
        map_ = in_global(made(out, (4, width), swizzle, type_))
        kernel = reductions.get_function("box_add")
        kernel(new, out, map_, np.int32(width), np.int32(3), block=(64, 1, 1))
        stored.append(out.get())
    assert stored[0].any()
    np.testing.assert_array_equal(*stored)


@software
def test_reductions_of_several_blocks_do_not_race(reductions):
    given, x = gpuarray.zeros(1024, np.uint8), gpuarray.zeros((8, 64), np.float32)
    map_ = in_global(tensor_maps.tiled(x, (2, 16), 0))
    launches = [
        ("box_add", x, (map_, np.int32(0), np.int32(0))),
        ("bytes_add_f32", x, (np.int32(512),)),
    ]
    for name, out, rest in launches:
        kernel, geometry = reductions.get_function(name), dict(grid=4, block=64)
        assert xray.sanitize(kernel, given, out, *rest, **geometry).clean
        assert xray.profile(kernel, given, out, *rest, **geometry).nsight()


def test_a_box_is_stored_in_whole_pieces(reductions):
    out = gpuarray.zeros((5, 12), np.float32)
    rows = in_global(tensor_maps.tiled(out[:, :9], (4, 16), 64))  # 36 bytes, then 12 of padding
    new = gpuarray.to_gpu(np.ones(256, np.float32))
    reductions.get_function("box_add")(new, out, rows, np.int32(0), np.int32(3), block=(64, 1, 1))
    want = np.zeros((5, 12), np.float32)
    want[3:] = 1
    np.testing.assert_array_equal(out.get(), want)


def unswizzled(flat, swizzle):
    chunks = flat.view(np.uint8).reshape(-1, 16)
    place = np.arange(len(chunks))
    return chunks[place ^ (place >> 3) & (swizzle // 16 - 1)].reshape(-1).view(flat.dtype)


@software
@pytest.mark.parametrize("op, dtype", [("inc", "i4"), ("and", "f4"), ("min", "f8"), ("add", "u1")])
def test_what_elements_cannot_do_is_told(reductions, op, dtype):
    out = gpuarray.zeros((8, 64), dtype)
    map_ = in_global(tensor_maps.tiled(out, (2, 16), 0))
    given = gpuarray.zeros(1024, np.uint8), out, map_, np.int32(0), np.int32(0)
    with stopped(FaultKind.BOX_REDUCTION, op):
        reductions.get_function(f"box_{op}")(*given, block=(64, 1, 1))


def test_a_block_of_a_cluster_copies_and_reduces_to_itself():
    between = "cp{}.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes{}"
    body = f"""
        expect(&bar, 512 + 256);
        PTX("{between.format("", "")} [%0], [%1], 512, [%2];"
            :: "r"(at(other)), "r"(at(tile)), "r"(at(&bar)) : "memory");
        PTX("{between.format(".reduce", ".add.u32")} [%0], [%1], 256, [%2];"
            :: "r"(at(other) + 128), "r"(at(tile) + 512), "r"(at(&bar)) : "memory");
        wait(&bar);
        for (int i = 0; i < 512; i++) out[i] = other[i];
    """
    given, out = np.arange(256, dtype=np.uint32) * 77, gpuarray.zeros(128, np.uint32)
    source = text("itself", "int unused", body).replace("void", "void __cluster_dims__(1, 1, 1)")
    kernel = compiled(source).get_function("itself")
    kernel(gpuarray.to_gpu(given), out, np.int32(0), block=(64, 1, 1))
    want = given[:128].copy()
    want[32:96] += given[128:192]
    np.testing.assert_array_equal(out.get(), want)


TOLD = ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
BETWEEN = {
    "a copy": f"cp.async.bulk{TOLD} [%0], [%1], 64, [%2];",
    "a reduction": f"cp.reduce.async.bulk{TOLD}.add.u32 [%0], [%1], 64, [%2];",
    "a store": "{ .reg .b32 a, b; mapa.shared::cluster.u32 a, %0, 0;"
    " mapa.shared::cluster.u32 b, %2, 0;"
    " st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [a], %1, [b]; }",
}


@software
@pytest.mark.parametrize("what", BETWEEN)
def test_from_block_to_block_is_illegal_without_clusters(what):
    """An H200 says so without a reason; it runs all three in clusters of one and, without clusters,
    mapa, multicasts, and loads, stores and atomics of shared::cluster."""
    at = '"r"(at(other)), "r"(at(tile)), "r"(at(&bar))'
    body = f'PTX("{BETWEEN[what]}" :: {at} : "memory");'
    kernel = compiled(text("alone", "int unused", body)).get_function("alone")
    x = gpuarray.zeros(1024, np.uint8)
    with stopped(FaultKind.NO_CLUSTERS, "__cluster_dims__(1, 1, 1)"):
        kernel(x, x, np.int32(0), block=(64, 1, 1))


MULTICAST = r"""
    expect(&bar, 512 + 256);
    PTX("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1], 512, [%2], %3;"
        :: "r"(at(other)), "l"(in), "r"(at(&bar)), "h"((short)blocks) : "memory");
    PTX("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
        :: "r"(at(other) + 512), "l"(map), "r"(0), "r"(0), "r"(at(&bar)), "h"((short)blocks)
        : "memory");
    wait(&bar);
    for (int i = 0; i < 768; i++) out[i] = other[i];
"""


@pytest.mark.parametrize("blocks", [1, pytest.param(3, marks=software)])
def test_a_copy_to_several_blocks_reaches_this_one(blocks):
    kernel = compiled(text("several", "const Map *map, int blocks", MULTICAST))
    given = np.random.default_rng(0).integers(0, 256, (64, 16), np.uint8)
    x, out = gpuarray.to_gpu(given), gpuarray.zeros(768, np.uint8)
    map_ = in_global(tensor_maps.tiled(x, (16, 16), 0))
    arguments = x, out, map_, np.int32(blocks)
    if blocks != 1:
        with stopped(FaultKind.MULTICAST, "0x3", 0):
            kernel.get_function("several")(*arguments, block=(64, 1, 1))
        return
    kernel.get_function("several")(*arguments, block=(64, 1, 1))
    flat = given.reshape(-1)
    np.testing.assert_array_equal(out.get(), np.concatenate([flat[:512], flat[:256]]))


def test_pixels_are_stored_one_after_the_other():
    """im2col_no_offs: from a place on, through the windows' places of the images."""
    body = """
        PTX("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group"
            " [%0, {%1, %2, %3, %4}], [%5];"
            :: "l"(map), "r"(0), "r"(1), "r"(2), "r"(0), "r"(at(tile)) : "memory");
        finish();
    """
    kernel = compiled(text("pixels", "const Map *map", body)).get_function("pixels")
    y = gpuarray.zeros((2, 3, 4, 8), np.float32)
    new = np.random.default_rng(0).standard_normal((8, 8)).astype("f4")
    room = np.zeros(256, np.float32)
    room[:64] = new.reshape(-1)
    map_ = in_global(tensor_maps.im2col(y, [(0, 0), (0, 0)], channels=8, pixels=8))
    kernel(gpuarray.to_gpu(room), y, map_, block=(64, 1, 1))
    want = np.zeros((24, 8), "f4")
    want[9:17] = new
    np.testing.assert_array_equal(y.get().reshape(24, 8), want)


def replaced(*fields):
    """A map is changed in shared memory, copied to global memory and used."""
    changes = "".join(
        f'PTX("tensormap.replace.tile.{name}.shared::cta.b1024.{bits} [%0], {place}%1;"'
        f' :: "r"(at(&map)), "{mark}"({value}) : "memory");'
        for name, bits, place, mark, value in fields
    )
    return (
        HEAD
        + f"""
extern "C" __global__ void changed(const Map *first, Map *second, char *x, char *out, int bytes)
{{
    __shared__ Map map;
    __shared__ alignas(128) char tile[1024];
    __shared__ unsigned long long bar;
    if (threadIdx.x < 16) map.words[threadIdx.x] = first->words[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {{ {changes} }}
    __syncwarp();
    PTX("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
        " [%0], [%1], 128;" :: "l"(second), "r"(at(&map)) : "memory");
    PTX("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(second) : "memory");
    if (threadIdx.x == 0) {{
        expect(&bar, bytes);
        PTX("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
            " [%0], [%1, {{%2, %3}}], [%4];"
            :: "r"(at(tile)), "l"(second), "r"(0), "r"(1), "r"(at(&bar)) : "memory");
        wait(&bar);
        for (int i = 0; i < bytes; i++) out[i] = tile[i];
    }}
}}
"""
    )


def changing(fields, given, first, bytes_):
    """The kernel that changes a map, its arguments, and what it will copy."""
    x, out = gpuarray.to_gpu(given), gpuarray.zeros(bytes_, np.uint8)
    second = gpuarray.zeros(128, np.uint8)
    map_ = in_global(first(x))
    kernel = SourceModule(replaced(*fields), no_extern_c=True, arch="sm_90a")
    arguments = map_, second, x, out, np.int32(bytes_)
    return kernel.get_function("changed"), arguments, out


def changed(fields, given, first, bytes_):
    kernel, arguments, out = changing(fields, given, first, bytes_)
    kernel(*arguments, block=(32, 1, 1))
    return out.get()


@software
def test_a_changed_map_is_copied_without_an_asynchronous_proxy():
    """tensormap.cp_fenceproxy copies in the generic proxy, so what a thread changed needs no
    fence.proxy.async."""
    given, rank = np.zeros((16, 32), np.uint8), ("rank", "b32", "", "r", "1")
    kernel, arguments, _ = changing([rank], given, lambda x: tensor_maps.tiled(x, (8, 16), 0), 128)
    assert xray.sanitize(kernel, *arguments, grid=1, block=32).clean


@software  # a GPU's zeros are for its own layout to know
@pytest.mark.parametrize("blank", [False, True])
def test_a_map_is_changed_field_by_field(blank):
    """Of bytes in lines of 64, or of zeros, a map of other words, shape and address is made."""
    given = np.random.default_rng(0).integers(0, 256, (16, 64), np.uint8)
    fields = [
        ("global_address", "b64", "", "l", "x + 256"),
        ("rank", "b32", "", "r", "1"),
        ("box_dim", "b32", "0, ", "r", "16"),
        ("box_dim", "b32", "1, ", "r", "4"),
        ("global_dim", "b32", "0, ", "r", "12"),
        ("global_dim", "b32", "1, ", "r", "4"),
        ("global_stride", "b64", "0, ", "l", "128ull"),
        ("element_stride", "b32", "1, ", "r", "2"),
        ("elemtype", "b32", "", "n", "7"),
        ("interleave_layout", "b32", "", "n", "0"),
        ("swizzle_mode", "b32", "", "n", "0"),
        ("fill_mode", "b32", "", "n", "0"),
    ]
    got = changed(
        fields, given, lambda x: bytes(128) if blank else tensor_maps.tiled(x, (8, 16), 32), 128
    )
    of = given[4:].reshape(-1, 128)[:4].view(np.float32)  # lines of 128 bytes
    want = np.zeros((2, 16), np.float32)
    for n, line in enumerate((1, 3)):
        want[n, :12] = of[line, :12]
    np.testing.assert_array_equal(got.view(np.float32).reshape(2, 16), want)


@software
@pytest.mark.parametrize(
    "field, facts",
    [
        (("box_dim", "b32", "1, ", "r", "300"), ["box_dim", 300, 1, 256]),
        (("global_stride", "b64", "0, ", "l", "100ull"), ["global_stride", 100, 16]),
    ],
)
def test_a_field_that_cannot_be_is_told(field, facts):
    given = np.zeros((16, 64), np.uint8)
    with stopped(FaultKind.MAP_VALUE, *facts):
        changed([field], given, lambda x: tensor_maps.tiled(x, (8, 16), 32), 128)


@software
def test_a_map_that_was_altered_is_told(reductions):
    out = gpuarray.zeros((8, 64), np.float32)
    map_ = bytearray(tensor_maps.tiled(out, (2, 16), 0))
    map_[9] ^= 1
    given = gpuarray.zeros(1024, np.uint8), out, in_global(map_), np.int32(0), np.int32(0)
    with stopped(FaultKind.MAP_UNKNOWN, "cuTensorMapEncodeTiled", "tensormap.replace"):
        reductions.get_function("box_add")(*given, block=(64, 1, 1))


PREFETCHES = """
    PTX("prefetch.tensormap [%0];" :: "l"(map) : "memory");
    PTX("cp.async.bulk.prefetch.L2.global [%0], 1024;" :: "l"(in) : "memory");
    PTX("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];"
        :: "l"(map), "r"(0), "r"(0) : "memory");
    PTX("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    PTX("fence.proxy.async.global;" ::: "memory");
    out[0] = tile[5];
"""


def test_prefetches_and_fences_change_nothing():
    kernel = compiled(text("ahead", "const Map *map", PREFETCHES)).get_function("ahead")
    x, out = gpuarray.to_gpu(np.arange(1024, dtype=np.uint8)), gpuarray.zeros(4, np.uint8)
    map_ = in_global(tensor_maps.tiled(x.reshape(16, 64), (8, 16), 32))
    kernel(x, out, map_, block=(32, 1, 1))
    assert out.get().tolist() == [5, 0, 0, 0]


@software
@pytest.mark.parametrize(
    "instruction, operands",
    [
        ("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes",
         "[%r1], [%rd1, {%r1, %r1, %r1, %r1, %r1}], [%r1]"),
        ("cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes",
         "[%r1], [%rd1, {%r1, %r1, %r1}], [%r1], {%rs1, %rs1}"),
        ("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
         "[%r1], [%rd1, {%r1}], [%r1]"),
        ("cp.async.bulk.global.shared::cta.bulk_group.cp_mask", "[%rd1], [%r1], %r1, %rs1"),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32", "[%rd1], [%r1], %r1"),
    ],
)  # fmt: skip
def test_forms_of_other_gpus_are_refused_by_name(instruction, operands):
    ptx = f"""
.version 8.6
.target sm_90
.address_size 64
.visible .entry k() {{
  .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .b16 %rs<2>;
  mov.b32 %r1, 0; mov.b64 %rd1, 0; mov.b16 %rs1, 0;
  {instruction} {operands};
  ret;
}}
"""
    with refused(cuda.Error, instruction):
        cuda.module_from_buffer(ptx.encode() + b"\0").get_function("k")
