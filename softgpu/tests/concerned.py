"""Which tests a change of the driver, of the compiler or of the course's kernels concerns: `make
test` runs all of their cases, and `make mutants ENGINE=1` no others. Imports nothing of softgpu, so
that both can ask."""

from __future__ import annotations

from pathlib import PurePath

__all__ = ["tests_of"]

TESTS = {
    "driver/api": "driver/test_contexts_and_streams.py driver/test_entry_points.py"
    " driver/test_driver.py test_declarations.py",
    "driver/base": "driver graphs test_devices.py test_declarations.py",
    "driver/count": "driver/test_rules.py xray/test_xray.py xray/test_clock.py",
    "driver/graphs": "graphs",
    "driver/memory": "driver/test_memory_calls.py driver/test_driver.py graphs test_devices.py"
    " test_textures.py test_bulk.py test_ipc.py ../../tests/course/test_tensormap.py",
    "driver/modules": "driver/test_driver.py driver/test_libraries.py",
    "driver/run": "driver test_softgpu.py test_clusters.py test_bulk.py test_wgmma.py"
    " test_groups.py test_textures.py test_conformance.py test_programs.py"
    " xray/test_sanitizer.py",
    "driver/streams": "driver/test_beside.py driver/test_contexts_and_streams.py"
    " driver/test_driver.py graphs test_devices.py",
    "driver/watch": "xray/test_sanitizer.py test_findings.py xray/test_ways.py"
    " test_bulk.py driver/test_torn.py",
    "jit/analysis": "jit test_softgpu.py test_conformance.py xray/test_sanitizer.py"
    " xray/test_ways.py",
    "jit/builds": "jit xray/test_sanitizer.py xray/test_xray.py xray/test_ways.py",
    "jit/emit": "jit test_softgpu.py test_conformance.py test_clusters.py",
    "jit/facts": "jit test_softgpu.py test_conformance.py xray/test_sanitizer.py",
    "jit/instructions": "test_softgpu.py test_conformance.py test_bulk.py test_textures.py"
    " test_wgmma.py test_groups.py driver/test_together.py jit",
    "jit": "jit test_softgpu.py",
}
"""Of a folder: those that a change there concerns, the most telling first."""

TOPICS = {"col2im": "im2col", "higherdim": "reduce", "ranks": "collective", "rowreduce": "reduce"}
"""Folders of kernels that tests of another name try."""


def tests_of(changed: str) -> list[str]:
    """Files and folders of tests, for a changed file, both by their paths in the repository."""
    if changed.startswith("cuda_src/"):
        topic = PurePath(changed).parts[1]
        return [f"tests/course/test_{TOPICS.get(topic, topic)}.py"]
    folders = (parent.as_posix() for parent in PurePath(changed).parents)
    named = (TESTS.get(folder.removeprefix("softgpu/"), "") for folder in folders)
    tests = next(filter(None, named), "")
    return [f"softgpu/tests/{name}".replace("softgpu/tests/../../", "") for name in tests.split()]
