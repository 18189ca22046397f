"""What cannot run is refused by its name; what goes wrong in the compiler is reported as that."""

import re
import time

import numpy as np
import pytest

from softgpu import cache, loaded, loader
from softgpu.jit.emit import function
from softgpu.ptx.program import Immediate
from softgpu.tests import autoinit
from softgpu.tests.facts import refused

if not autoinit.is_software:
    pytest.skip("about the software GPU's compiler", allow_module_level=True)

import pycuda.compiler
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Nothing is compiled yet."""
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path / "cache"))


def kernel(body, before=""):
    """A kernel of PTX with one parameter, the address %rd1."""
    text = f"""{HEAD}{before}
.visible .entry k(.param .u64 out)
{{
.reg .b32 %r<9>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [out];
{body}
ret;
}}
"""
    return cuda.module_from_buffer(text.encode()).get_function("k")


def results(body, count, before=""):
    out = np.zeros(count, np.uint64)
    kernel(body, before)(cuda.Out(out), block=(1, 1, 1))
    return out.tolist()


# ---- elements of arrays ----

ARRAYS = """
.global .align 8 .u16 g[20];
.global .align 16 .v4 .f32 v[4];
.const .align 8 .f64 c[4];
.shared .align 8 .b64 s[8];
.global .u64 there[3] = {g+6, generic(g)+4, g[5]};
"""


@pytest.mark.parametrize(
    ("element", "origin", "bytes_"),
    [("g[5]", "g", 10), ("g+5", "g", 5), ("g[-1]", "g", -2), ("g[1+2]", "g", 6), ("v[1]", "v", 4),
     ("c[2]", "c", 16), ("s[3]", "s", 24), ("s+8", "s", 8), ("local[2]", "local", 8),
     ("out[1]", "out", 8), ("g[WARP_SZ]", "g", 64)],
)  # fmt: skip
def test_the_address_of_an_element_is_scaled_by_its_size(element, origin, bytes_):
    body = f"""
.local .align 8 .u32 local[4];
mov.u64 %rd2, {element};
mov.u64 %rd3, {origin};
sub.u64 %rd2, %rd2, %rd3;
st.global.u64 [%rd1], %rd2;
"""
    assert results(body, 1, ARRAYS) == [bytes_ % 2**64]


def test_addresses_of_elements_are_initial_values():
    body = "\n".join(
        f"""
ld.global.u64 %rd2, [there+{8 * n}];
mov.u64 %rd3, g;
sub.u64 %rd2, %rd2, %rd3;
st.global.u64 [%rd1+{8 * n}], %rd2;"""
        for n in range(3)
    )
    assert results(body, 3, ARRAYS) == [6, 4, 10]


@pytest.mark.parametrize("name", ["nothing", "k", "%rd1"])
def test_what_is_no_array_has_no_elements(name):
    with refused(cuda.Error, f"mov.u64 %rd2, {name}[1];"):
        kernel(f"mov.u64 %rd2, {name}[1];")


# ---- functions that every GPU has ----

FORMAT = ".global .align 1 .b8 words[4] = {104, 105, 10, 0};\n"
PRINT = """
mov.u64 %rd2, words;
cvta.global.u64 %rd2, %rd2;
{ .param .b64 a; .param .b64 b; st.param.b64 [a], %rd2; st.param.b64 [b], 0;
call.uni vprintf, (a, b); }
"""
TWO = "(.param .b64 a, .param .b64 b)"


@pytest.mark.parametrize("result", ["", "(.param .b32 r)"])
def test_a_result_may_stay_unused(result, capfd):
    kernel(PRINT, f".extern .func {result} vprintf {TWO};\n{FORMAT}")(np.uint64(0), block=(2, 1, 1))
    assert capfd.readouterr().out == "hi\nhi\n"
    body = "{ .param .b64 n; st.param.b64 [n], 8; call.uni malloc, (n); }"
    result = result.replace("b32", "b64")
    before = f".extern .func {result} malloc (.param .b64 n);\n"
    assert results(body + "\nst.global.u64 [%rd1], 5;", 1, before) == [5]


@pytest.mark.parametrize(
    ("declared", "call", "facts"),
    [
        ("(.param .b32 r) vprintf (.param .b64 a)", "(r), vprintf, (a)", ["vprintf", "8 + 8", 4]),
        (f"(.param .b64 q) vprintf {TWO}", "(q), vprintf, (a, b)", ["vprintf", "8 + 8", 4]),
        (f"vprintf {TWO}", "(q), vprintf, (a, b)", ["vprintf", "8 + 8", 4]),
        ("(.param .b64 q) malloc (.param .b32 r)", "(q), malloc, (r)", ["malloc", 8]),
        ("(.param .b32 r) malloc (.param .b64 a)", "(r), malloc, (a)", ["malloc", 8]),
        (f"free {TWO}", "free, (a, b)", ["free", 8, 0]),
        ("free ()", "free, ()", ["free", 8, 0]),
        (f"__assertfail {TWO}", "__assertfail, (a, b)", ["__assertfail", "8 + 8 + 4 + 8 + 8"]),
        (f"cudaGetDevice {TWO}", "cudaGetDevice, (a, b)", ["cudaGetDevice"]),
        (f"vprintf {TWO}", "vprintf, (out, b)", [".param"]),
    ],
)
def test_other_parameters_are_refused_by_the_functions_name(declared, call, facts):
    variables = ".param .b64 a; .param .b64 b; .param .b64 q; .param .b32 r;"
    body = f"{{ {variables}\ncall.uni {call}; }}"
    with refused(cuda.Error, "call.uni", "k", *facts):
        kernel(body, f".extern .func {declared};\n")


# ---- mistakes of the compiler's own ----


OF_ITS_OWN = "SOFTGPU_DEBUG=1"
"""What a mistake of the software GPU's own names, to report it, and no refusal does."""


@pytest.fixture
def broken(monkeypatch):
    def sad(e, item):
        raise KeyError("a mistake")

    monkeypatch.setitem(function._EMITTERS, "sad", sad)


def test_a_mistake_is_told_as_one_with_its_instruction_and_its_line(broken, capfd):
    with refused(cuda.Error, "sad.u32", 9, "k", "KeyError: 'a mistake'", OF_ITS_OWN) as told:
        kernel("sad.u32 %r1, %r2, %r3, %r4;")
    assert "test_refusals.py:" in str(told.value) and capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda e: e.read(Immediate("int", -1), "u32"), r"\w+Error: .* \(\w+\.py:\d+, "),
        (lambda e: e.nothing, r"AttributeError: .*nothing'.* \("),
        (lambda e: e.assign("add i32 1.5, 2"), r"RuntimeError: (?s:.*); sad\.u32 .*, "),
    ],
)
def test_a_mistake_names_its_emitter(wrong, error, monkeypatch):
    monkeypatch.setitem(function._EMITTERS, "sad", lambda e, item: wrong(e))
    with refused(cuda.Error, OF_ITS_OWN) as told:
        results("sad.u32 %r1, %r2, %r3, %r4;\nst.global.u32 [%rd1], %r1;", 1)
    assert re.search(error + r".*test_refusals\.py:\d+", str(told.value))


def test_a_mistake_in_a_pass_is_told_with_its_kernel(monkeypatch):
    monkeypatch.setattr(loader, "facts_of", lambda function, code: {}[0])
    with refused(cuda.Error, "k", "KeyError: 0", OF_ITS_OWN):
        kernel("")


def test_a_refusal_beside_a_mistake_names_both(broken):
    other = ".visible .entry other() { .reg .b32 %r; sad.u32 %r, %r, %r, %r; ret; }\n"
    with refused(cuda.Error, "suq.width.b32", "other", "sad.u32", OF_ITS_OWN):
        kernel("suq.width.b32 %r1, [%rd1];", other)


@pytest.mark.parametrize("body", ["sad.u32 %r1, %r2, %r3, %r4;", "sad.u32 %r1;"])
def test_the_traceback_is_printed_on_demand(broken, body, monkeypatch, capfd):
    monkeypatch.setattr(loader.Engine.as_driver(), "prints_tracebacks", True)
    with pytest.raises(cuda.Error):
        kernel(body)
    assert "Traceback (most recent call last):" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (".local .b8 x[600000]; mov.u64 %rd1, x;", ["k", 600000]),
        (".local .b8 x[1000000000][999999999]; mov.u64 %rd1, x;", ["x", 999999999000000000]),
        (".loc 1 99999999999 1", [99999999999]),
        (".param .u64 out;", ["out"]),
        ("{ .reg .b32 x; { .reg .b64 x; } .local .b32 x; }", ["x", ".local .b32 x"]),
        (".reg .b64 %r<2>;", ["%r0"]),
        ("cp.async.ca.shared.global [%r1], [%rd1], 5;", ["cp.async.ca.shared.global", 5]),
        ("mov.u32 %r1, %tid;", ["mov.u32", "%tid", ".x"]),
    ],
)
def test_what_there_cannot_be_is_refused(words, facts):
    with refused(cuda.Error, *facts):
        kernel(words)


def test_a_dump_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "a file").touch()
    monkeypatch.setenv("SOFTGPU_DUMP", str(tmp_path / "a file"))
    with refused(cuda.Error, f"SOFTGPU_DUMP={tmp_path / 'a file'}"):
        results(SEVEN, 1)


def test_loops_of_cuda_may_count_beyond_32_bits():
    source = """
__global__ void count(long long *o, long long step)
{
    for (long long i = 0; i < 5000000000LL; i += step) o[0]++;
    for (long long i = 0; i > -6000000000LL; i -= step) o[1]++;
    for (unsigned long long i = 1; i < 9223372036854775808ull; i *= 2) o[2]++;
    for (float x = 1; x < 1e30f; x *= step) o[3]++;
}"""
    out = np.zeros(4, np.int64)
    count = SourceModule(source).get_function("count")
    count(cuda.InOut(out), np.int64(1_000_000_000), block=(1, 1, 1))
    assert out.tolist() == [5, 6, 63, 4]


def test_more_parameters_than_a_launch_has_are_refused():
    text = HEAD + ".visible .entry k(.param .b8 x[40000]) { ret; }"
    with refused(cuda.Error, "k", 40000, 32764):
        cuda.module_from_buffer(text.encode()).get_function("k")


@pytest.mark.parametrize("amount", ["-1", "64", "4294967295", "99999999999"])
@pytest.mark.parametrize("opcode", ["shl.b32", "shr.s32", "div.s32", "mul.lo.s32"])
def test_constants_of_any_size_move_addresses(opcode, amount):
    body = f"""
.shared .align 4 .b8 tile[4];
mov.u32 %r1, %tid.x;
{opcode} %r2, %r1, {amount};
cvt.u64.u32 %rd2, %r2;
add.u64 %rd1, %rd1, %rd2;
st.shared.u32 [%r2], %r1;
st.global.u64 [%rd1], 7;"""
    assert results(body, 1) == [7]


# ---- what is interrupted is not remembered ----

SEVEN = "mov.u64 %rd2, 7;\nst.global.u64 [%rd1], %rd2;"


def once(monkeypatch, owner, name, error):
    """Let a function fail the first time."""
    real, failed = getattr(owner, name), []

    def fails(*given, **named):
        if not failed:
            failed.append(True)
            raise error
        return real(*given, **named)

    monkeypatch.setattr(owner, name, fails)


def told(call):
    """Ctrl-C in a call of the driver is a KeyboardInterrupt as soon as its error was raised."""
    try:
        call()
    except cuda.Error:
        time.sleep(0)
        raise


@pytest.mark.parametrize(
    ("owner", "name"),
    [(loaded, "parse"), (loaded, "Layout"), (loader.KernelCode, "_read"), (loader, "facts_of"),
     (loader.KernelCode, "address"), (cache, "write")],
)  # fmt: skip
@pytest.mark.parametrize(
    ("error", "seen"), [(KeyboardInterrupt, KeyboardInterrupt), (MemoryError, cuda.MemoryError)]
)
def test_what_was_interrupted_is_compiled_at_the_next_try(owner, name, error, seen, monkeypatch):
    once(monkeypatch, owner, name, error)
    with pytest.raises(seen):
        told(lambda: results(SEVEN, 1))
    assert results(SEVEN, 1) == [7]


def test_a_launch_after_an_interrupted_one_compiles(monkeypatch):
    function = kernel(SEVEN)
    out = np.zeros(1, np.uint64)
    for error in (KeyboardInterrupt, MemoryError, OSError("the disk")):
        once(monkeypatch, loader.KernelCode, "address", error)
        with pytest.raises((KeyboardInterrupt, cuda.Error)):
            told(lambda: function(cuda.Out(out), block=(1, 1, 1)))
    function(cuda.Out(out), block=(1, 1, 1))
    assert out.tolist() == [7]


def test_an_interrupted_compiler_is_asked_again(monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", "")
    once(monkeypatch, pycuda.compiler, "call_capture_output", KeyboardInterrupt)
    source = "__global__ void again(int *o) { *o = 7; }"
    with pytest.raises(KeyboardInterrupt):
        SourceModule(source)
    out = np.zeros(1, np.int32)
    SourceModule(source).get_function("again")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 7


@pytest.mark.parametrize("bytes_", [0, 300])
def test_half_a_file_of_pycudas_cache_is_compiled_again(bytes_, tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_pycuda", tmp_path)
    source = "__global__ void half(int *o) { *o = 7; }"
    SourceModule(source, cache_dir=tmp_path)
    (kept,) = tmp_path.iterdir()
    with open(kept, "r+b") as file:
        file.truncate(bytes_)
    with pytest.raises(cuda.Error):
        SourceModule(source, cache_dir=tmp_path)
    assert not kept.exists()
    out = np.zeros(1, np.int32)
    SourceModule(source, cache_dir=tmp_path).get_function("half")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 7
