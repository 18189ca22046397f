"""What a GPU reads and writes at once, other blocks see whole or not at all."""

import re
from contextlib import nullcontext

import numpy as np
import pytest

from softgpu import settings
from softgpu.loader import Engine
from softgpu.tests import autoinit

from pycuda import driver as cuda  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

KINDS = """.relaxed.gpu{}.v2.u32 .volatile{}.v2.u32 {}.v2.u32 .relaxed.gpu{}.v4.u32
.relaxed.gpu{}.v2.u64 {}.v4.u32 .relaxed.gpu{}.u64 .volatile{}.v2.u64 .relaxed.gpu{}.v2.u16
{}.v4.u8""".split()
"""Instructions that an H200 does not tear: none of 32 million loads of each of the first nine."""

PLACES = {
    "one": ("p", "threadIdx.x == 0"),
    "row": ("p + threadIdx.x * BYTES", "true"),
    "scattered": ("p + threadIdx.x * 5 % 32 * BYTES", "true"),
}
"""Where lanes load from, and which ones store."""

WAYS = [(way, "global") for way in PLACES] + [("one", "generic")]

TURNS = 20_000

TORN = """
extern "C" __global__ void {way}_{space}(char *p, unsigned *torn, unsigned *begun, int turns)
{{
    if (threadIdx.x == 0) {{
        atomicAdd(begun, 1);
        while (*(volatile unsigned *)begun < gridDim.x) ;
    }}
    __syncthreads();
    unsigned long long at = (unsigned long long)({place});
    int count = 0;
    if (blockIdx.x == 0) {{
        if ({stores})
            for (int i = 1; i < 2 * turns; i++) {{
                {type} word = ({type})(i * {factor});
                asm volatile("st{modifiers} [%0], {stored};" :: "l"(at), "{mark}"(word) : "memory");
            }}
        return;
    }}
    for (int i = 0; i < turns; i++) {{
        {type} v[4];
        asm volatile("ld{modifiers} {loaded}, [%{count}];" : {outputs} : "l"(at) : "memory");
        bool differ = {differ};
        count += differ;
    }}
    atomicAdd(torn, count);
}}
"""


def spelled(kind: str, way: str, space: str) -> str:
    """A kernel whose first block stores words of equal parts while the others load them."""
    vector, element = re.search(r"(?:v(\d))?\.(u\d+)$", kind).groups()
    count, size = int(vector or 1), int(element[1:]) // 8
    type_, mark, factor = {
        "u16": ("unsigned short", "h", "1"),
        "u64": ("unsigned long long", "l", "0x100000001ull"),
    }.get(element, ("unsigned", "r", "1"))
    names = ", ".join(f"%{n}" for n in range(count))
    parts = [f"v[{n}]" for n in range(count)]
    place, stores = PLACES[way]
    halves = "(unsigned)v[0] != (unsigned)(v[0] >> 32)"
    return TORN.format(
        way=way,
        space=space,
        place=place.replace("BYTES", str(size * count)),
        stores=stores,
        type=type_,
        mark=mark,
        factor=factor,
        count=count,
        modifiers=kind.format(".global" if space == "global" else ""),
        stored=f"{{{', '.join(['%1'] * count)}}}" if vector else "%1",
        loaded=f"{{{names}}}" if vector else names,
        outputs=", ".join(f'"={mark}"({part})' for part in parts),
        differ=" || ".join(f"v[0] != {part}" for part in parts[1:]) or halves,
    )


@pytest.fixture(scope="module", params=KINDS)
def module(request):
    kind = request.param
    text = "".join(spelled(kind, *way) for way in WAYS)
    return SourceModule(text, no_extern_c=True)


@pytest.fixture(params=(2, 16))
def blocks(request):
    """As many as there are threads for blocks."""
    if not autoinit.is_software:
        yield request.param
        return
    engine = Engine.as_driver()
    engine.set_threads(request.param)
    yield request.param
    engine.set_threads(settings.threads())


def torn(kernel, blocks: int) -> int:
    """How many loads saw a part of one store and a part of another."""
    words, counts = cuda.mem_alloc(32 * 16), cuda.mem_alloc(8)
    cuda.memset_d8(words, 0, 32 * 16)
    cuda.memset_d8(counts, 0, 8)
    begun, turns = np.intp(int(counts) + 4), np.int32(TURNS * 2 // blocks)
    kernel(words, counts, begun, turns, block=(32, 1, 1), grid=(blocks, 1))
    found = np.zeros(2, np.uint32)
    cuda.memcpy_dtoh(found, counts)
    assert found[1] == blocks
    return int(found[0])


@pytest.mark.parametrize("way, space", WAYS)
@pytest.mark.parametrize("tier", ("quick", "full"))
def test_no_access_is_torn(module, blocks, way, space, tier):
    with Engine.as_driver().tier(tier) if autoinit.is_software else nullcontext():
        assert torn(module.get_function(f"{way}_{space}"), blocks) == 0


@pytest.mark.skipif(not autoinit.is_software, reason="this is about the software GPU's profiles")
@pytest.mark.parametrize("way", ("one", "scattered"))
def test_no_access_that_is_counted_is_torn(module, blocks, way):
    runtime = Engine.as_driver().runtime
    runtime.sg_profile_begin(0)
    assert torn(module.get_function(f"{way}_global"), blocks) == 0
    assert runtime.sg_profile_end().launches == 1
