"""Kernel files: shown with the numbers that findings name, refused with a reason."""

import copy
import re
from html import unescape

import pytest

from helpers import sources
from softgpu.tests.facts import refused

FILES = sorted(str(p.relative_to(sources.ROOT)) for p in sources.ROOT.rglob("*.cu*"))


def numbered(shown):
    """{number: line} of what a terminal shows."""
    return {int(n): line for n, line in re.findall(r"^ *(\d+)(?:  (.*))?$", repr(shown), re.M)}


@pytest.mark.parametrize("name", FILES)
def test_lines_bear_their_numbers(name):
    lines = sources.find(name).read_text().splitlines()
    shown = numbered(sources.show(name))
    assert all(lines[number - 1] == line for number, line in shown.items())
    last = list(shown)[-1]
    assert list(shown) == list(range(min(shown), last + 1)) and last == len(lines)
    assert all(line.startswith("//") or not line for line in lines[: min(shown) - 1])


def test_part_bears_the_numbers_of_its_file():
    part = sources.show("common/operators.cuh", "Sum")
    lines = sources.find("common/operators.cuh").read_text().splitlines()
    first = lines.index("struct Sum : Operator<A> {")  # counted from 0: its template line's number
    assert list(numbered(part)) == list(range(first, first + 5))
    assert str(part).startswith("template <typename A>\nstruct Sum")


def test_a_comment_that_names_a_part_is_not_the_part():
    part = sources.show("elementwise/operators.cuh", "apply")
    assert (
        part.startswith("template")
        and part.splitlines()[1] == "__device__ Out apply(Op op, T a, T b)"
    )


def test_numbers_are_aligned():
    lines = repr(sources.show("reduce/shared.cu")).splitlines()
    assert lines[0] == ' 4  #include "common/operators.cuh"' and lines[-1] == "23  }"


@pytest.mark.parametrize("name", FILES)
def test_text_in_a_notebook_is_apart_from_its_numbers(name):
    """Whoever selects the text gets what compiles, whatever a viewer makes of colours."""
    shown = sources.show(name)
    numbers, text = re.findall(r"<pre[^>]*>(.*?)</pre>", shown._repr_html_(), re.DOTALL)
    assert unescape(re.sub("<[^>]*>", "", text)) == shown
    assert numbers.split() == [str(n) for n in numbered(shown)]


def test_unknown_part_is_refused():
    with refused(LookupError, "common/operators.cuh", "'Product'"):
        sources.show("common/operators.cuh", "Product")


@pytest.mark.parametrize(
    "text", ["__global__ void f() {}", "extern int x;\n" + "int y;\n" * 1000], ids=["line", "long"]
)
def test_source_text_is_no_file(text):
    with refused(TypeError, "cuda_src", "SourceModule"):
        sources.find(text)


def test_wrong_name_is_met_with_near_ones():
    with refused(FileNotFoundError, "'reduce/shard.cu'", "reduce/shared.cu"):
        sources.find("reduce/shard.cu")


def test_listing_can_be_copied():
    shown = sources.show("reduce/shared.cu")
    assert copy.copy(shown) == shown and repr(copy.copy(shown)) == repr(shown)


def test_lines_are_shown_from_one_text_to_another():
    shown = sources.show("reduce/shared.cu", lines=("for (int half", "__syncthreads"))
    first, *_, last = repr(shown).splitlines()
    assert re.match(r" *\d+ +for \(int half", first) and "__syncthreads();" in last
    assert "__syncthreads" not in repr(shown).replace(last, "")
    with refused(LookupError, "reduce/shared.cu", "'for'", "'a text'"):
        sources.show("reduce/shared.cu", lines=("for", "a text"))


def test_a_text_of_warpgroups_is_for_the_one_architecture_that_has_them():
    written = '__global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }'
    assert sources.architecture(written) == "sm_90a"
    assert sources.architecture('#include "gemm/warpgroup.cuh"\n') == "sm_90a"
    assert sources.architecture('#include "common/boxes.cuh"\n') is None
