"""What a report says of its own results: which have a GPU's bits, and what the others decide."""

import json

import numpy as np
import pytest

from softgpu import xray
from softgpu.fidelity import RECORDED
from softgpu.findings import Findings
from softgpu.tests import autoinit
from softgpu.tests.facts import refused
from softgpu.tests.recorded_forms import recorded
from softgpu.words import FindingKind

from pycuda import gpuarray  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

pytestmark = pytest.mark.skipif(not autoinit.is_software, reason="the real GPU is PyCUDA's driver")

BODIES = {  # what a kernel does with an approximation, and what it decides
    "out[i] = __expf(x[i]);": (),
    "out[i] = f(__expf(x[i]));": (),
    "tile[i] = __expf(x[i]); __syncthreads(); out[i] = tile[i ^ 1];": (),
    "tile[i] = __expf(x[i]); out[(int)x[i + 1] & 31] = tile[i ^ 1];": (),
    "out[(int)__expf(x[i]) & 31] = 1;": ("addresses",),
    "tile[i] = __expf(x[i]); __syncthreads(); out[(int)tile[i ^ 1] & 31] = 1;": ("addresses",),
    "out[i] = __expf(x[i]); __syncthreads(); out[(int)out[i ^ 1] & 31] = 1;": ("addresses",),
    "out[(int)f(__expf(x[i])) & 31] = 1;": ("addresses",),
    "out[(int)g(x[i]) & 31] = 1;": ("addresses",),
    "out[(int)__shfl_xor_sync(~0u, __expf(x[i]), 1) & 31] = 1;": ("addresses",),
    "if (__sinf(x[i]) > 0.5f) { out[i] = 1; __threadfence(); out[i + 32] = 2; }": ("branches",),
    "for (float s = 0; s < 3; s += __fdividef(1.f, x[i] + 1)) atomicAdd(out, 1.f);": ("branches",),
}


def launch(watch, body):
    """What profile or sanitize has of a kernel with this body."""
    source = f"""
__device__ __noinline__ float f(float v) {{ return v + 1; }}
__device__ __noinline__ float g(float v) {{ return __expf(v); }}
__global__ void k(const float *x, float *out)
{{
    __shared__ float tile[32];
    int i = threadIdx.x;
    tile[i] = 0;
    {body}
}}"""
    x, out = gpuarray.to_gpu(np.linspace(0, 3, 64, dtype="f4")), gpuarray.zeros(64, "f4")
    return watch(SourceModule(source).get_function("k"), x, out, grid=1, block=32)


def profiled(body):
    return launch(xray.profile, body)


@pytest.mark.parametrize("body, decides", BODIES.items())
def test_the_sanitizer_says_it_of_all_that_the_kernel_has(body, decides):
    never = f"if (x[0] > 100) {{ {body} }}"
    found = launch(xray.sanitize, never)
    assert found.clean and found.fidelity.approximate and found.fidelity.decides == decides
    assert found.of(FindingKind.RACE).fidelity == found.fidelity
    plain = launch(xray.sanitize, "out[i] = x[i];").fidelity
    assert plain.exact and not plain.approximate and not plain.by_the_manual


def test_findings_of_no_launch_say_nothing():
    with refused(LookupError, "k"):
        Findings("k").fidelity  # noqa: B018


@pytest.mark.parametrize("body, decides", BODIES.items())
def test_what_an_approximation_decides(body, decides):
    fidelity = profiled(body).fidelity
    assert fidelity.approximate and fidelity.exact and not fidelity.by_the_manual
    assert fidelity.decides == decides


def test_instructions_that_did_not_run_are_not_counted():
    fidelity = profiled("if (x[i] > 100) out[i] = __expf(x[i]); else out[i] = 2;").fidelity
    assert not fidelity.approximate and fidelity.exact and not fidelity.decides


def test_each_instruction_that_ran_is_counted():
    report = profiled("for (int n = 0; n < 7; ++n) out[i] += __expf(x[i] + n) + f(n);")
    fidelity = report.fidelity
    assert fidelity.approximate == {"ex2.approx.f32": 7}
    assert fidelity.exact + 7 == report.total["instructions"]


def test_a_form_without_a_recorded_answer_is_by_the_manual():
    policy = "createpolicy.fractional.L2::evict_last.b64"
    report = profiled(f'long long n; asm("{policy} %0, 1.0;" : "=l"(n)); out[i] = n;')
    assert report.fidelity.by_the_manual == {"createpolicy.fractional.b64": 1}


def test_json_has_it():
    report = profiled("out[i] = __expf(x[i]);")
    assert json.loads(json.dumps(report.as_dict()["fidelity"])) == {
        "exact": report.total["instructions"] - 1,
        "approximate": {"ex2.approx.f32": 1},
        "by_the_manual": {},
        "decides": [],
    }


@pytest.mark.long  # compiles all kernels of conformance whole
def test_the_recorded_forms_are_those_of_the_goldens():
    """Else: python -m softgpu.tests.recorded_forms."""
    assert RECORDED.read_text().split() == recorded()
