"""Run the course's right kernels under NVIDIA's compute-sanitizer, which must have nothing to say:

python -m softgpu.tests.xray.nsight.checked [TOPIC ...]

On a machine with a GPU. Each launch of cases.py has arrays of exactly the size that it may touch.
TOPIC: a folder of cuda_src, such as elementwise; default: all."""

import subprocess
import sys
from pathlib import Path

from .cases import CASES, OWN

TOOLS = "memcheck", "racecheck", "synccheck", "initcheck"


def main():
    topics = sys.argv[1:] or {case.file.split("/")[0] for case in CASES}
    course = [case for case in CASES if case.file not in OWN and "/wrong_" not in case.file]
    cases = [case for case in course if case.file.split("/")[0] in topics]
    names = Path("build/nsight/names.txt")
    names.parent.mkdir(parents=True, exist_ok=True)
    names.write_text("\n".join(case.name for case in cases))
    launch = [sys.executable, "-m", "softgpu.tests.xray.nsight.record", "--launch", names]
    subprocess.run(launch, check=True)  # compiles
    for tool in TOOLS:
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "1", *launch]
        done = subprocess.run(command, capture_output=True, text=True)
        print(f"{tool}: {len(cases)} launches,", "something" if done.returncode else "nothing")
        if done.returncode:
            sys.exit("\n".join((done.stdout + done.stderr).splitlines()[-60:]))


if __name__ == "__main__":
    main()
