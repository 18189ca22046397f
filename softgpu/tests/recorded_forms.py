"""The forms of instructions whose answers a GPU gave: all that the kernels of conformance/, asked/
and the course's boxes.cu have.

    python -m softgpu.tests.recorded_forms     # writes softgpu/recorded_forms.txt
"""

from __future__ import annotations

from pathlib import Path

from softgpu.fidelity import RECORDED, form_of
from softgpu.ptx import link, parse
from softgpu.ptx.program import Instruction
from softgpu.tests.conformance import groups, products, runner
from softgpu.tests.conformance.suite import CASES

from pycuda.compiler import compile  # isort: skip (runner chose the driver)

ROOT = Path(__file__).parents[2]
NVCC = {"no_extern_c": True, "arch": "sm_90a"}


def recorded() -> list[str]:
    """All of them, sorted."""
    modules = {module.name: module for module, _, _ in CASES.values()}
    images = [runner.compiled(module).result() for module in modules.values()]
    images += [_compiled(path) for path in sorted((ROOT / "softgpu/tests/asked").glob("*.cu"))]
    images.append(_compiled(ROOT / "tests/course/boxes.cu"))
    found = {form_of(item) for image in images for item in _instructions(image)}
    return sorted(found | {label.split()[0] for of in (products, groups) for label in of.FORMS})


def _compiled(path: Path) -> bytes:
    return compile(path.read_text(), options=["-std=c++17", "-w", f"-I{ROOT}/cuda_src"], **NVCC)


def _instructions(image: bytes) -> list[Instruction]:
    text = image.decode(errors="replace").partition("\n//@@\n")[0].rstrip("\0")
    functions = parse(link(text + "\n")).functions.values()
    return [item for function in functions for item in function.instructions]


if __name__ == "__main__":
    RECORDED.write_text("\n".join(recorded()) + "\n")
