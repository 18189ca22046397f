"""Run PyCUDA's own tests, from its source package, on the software GPU.

tests/softgpu/pycuda_expected.txt names the tests that do not pass there, each with its reason. A
test that fails and is not named, or is named and passes, makes this fail. Tests "not run" need more
memory than machines have.
"""

import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree

import setup

EXPECTED = setup.ROOT / "tests/softgpu/pycuda_expected.txt"
FOLDER = setup.CACHE / "pycuda/tests"
CONFTEST = """\
import softgpu

softgpu.install()
"""


def unpack():
    """PyCUDA's test files, beside a conftest.py that makes the software GPU the driver."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tarfile.open(setup.pycuda_sdist()) as archive:
        for member in archive:
            folder, _, name = member.name.rpartition("/")
            if folder.endswith("/test") and name.startswith("test_"):
                (FOLDER / name).write_bytes(archive.extractfile(member).read())
    (FOLDER / "conftest.py").write_text(CONFTEST)
    (FOLDER / "pytest.ini").write_text("[pytest]\nmarkers = cuda\njunit_family = xunit1\n")


def outcomes(report):
    """Test name -> whether it passed, from pytest's report; a skipped test did not."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        group = case.get("classname").split(".")
        name = "::".join([group[0] + ".py", *group[1:], case.get("name")])
        found[name] = all(case.find(kind) is None for kind in ("failure", "error", "skipped"))
    return found


def main(arguments):
    unpack()
    lines = EXPECTED.read_text().splitlines()
    excused = dict(line.split(maxsplit=1) for line in lines if line and line[0] != "#")
    too_large = [f"--deselect={n}" for n, why in excused.items() if why.startswith("not run")]
    report = FOLDER / "report.xml"
    report.unlink(missing_ok=True)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "logical", "--tb=line", "--disable-warnings",
         f"--junitxml={report}", *too_large, *arguments],
        cwd=FOLDER,
    )  # fmt: skip
    found = outcomes(report)
    failed = {name for name, good in found.items() if not good}
    for name in sorted(failed - excused.keys()):
        print("failed, and", EXPECTED.name, "does not name it:", name)
    for name in sorted(excused.keys() & found.keys() - failed):
        print("passed, although", EXPECTED.name, "names it:", name)
    print(f"{len(found) - len(failed)} passed, {len(failed & excused.keys())} failed as expected")
    return failed - excused.keys() or excused.keys() & found.keys() - failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
