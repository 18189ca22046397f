"""The sanitizer: planted bugs are caught where they are, and nothing else is."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from helpers import autoinit
from helpers.xray.sanitizer import sanitize
from tests.planted import FILES, planted

CASES = [case for file in FILES for case in planted(file)]
FOLDER = Path(__file__).parent / "planted"


@pytest.fixture(scope="module")
def modules():
    """The files of planted bugs, compiled: modules by (file, with the bug)."""
    from pycuda.compiler import compile
    from pycuda.driver import module_from_buffer

    def compiled(file, bug):
        source = f'#line 1 "{file}"\n{(FOLDER / file).read_text()}'
        return compile(source, no_extern_c=True, options=[f"-DBUG={int(bug)}"], arch="sm_90")

    with ThreadPoolExecutor(2) as pool:
        images = {
            (file, bug): pool.submit(compiled, file, bug) for file in FILES for bug in (False, True)
        }
    return {key: module_from_buffer(image.result()) for key, image in images.items()}


def report_of(modules, case, bug):
    arguments, options = case.launch(bug)
    return sanitize(modules[case.file, bug].get_function(case.name), *arguments, **options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_bug_is_caught(modules, case):
    report = report_of(modules, case, True)
    assert [f for f in report if f.kind == case.kind and case.lines <= set(f.lines)], report


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_twin_is_clean(modules, case):
    report = report_of(modules, case, False)
    assert report.clean, report
