"""Record the goldens on the GPU at hand: python -m softgpu.tests.conformance.record [FAMILY ...]"""

from __future__ import annotations

import datetime
import sys
import time
import warnings

from softgpu.tests import autoinit

from . import runner
from .suite import CASES, FAMILIES, Golden, family


def main(families: list[str]) -> int:
    if autoinit.is_software:
        print("answers are recorded on a real GPU, and this is the software GPU", file=sys.stderr)
        return 1
    started = time.time()
    warnings.simplefilter("default")
    for which in families:
        runner.prepare(which)
    answers: dict[str, bytes] = {}
    failed = []
    for which in families:
        kernels = {k.entry: (m, k) for n, (m, k, _) in CASES.items() if family(n) == which}
        for module, kernel in kernels.values():
            first = runner.answers(module, kernel)
            again = runner.answers(module, kernel)
            failed += [name for name in first if first[name] != again[name]]
            answers |= first
        print(f"{which}: {len(kernels)} kernels, {time.time() - started:.1f} s", flush=True)
    if failed:
        print("not recorded, these answers differ from run to run:", *failed, sep="\n")
        return 1
    major, minor = divmod(runner.cuda.get_driver_version(), 1000)
    origin = {
        "device": autoinit.device.name(),
        "driver": f"CUDA {major}.{minor // 10}",
        "toolkit": str(autoinit.compiler),
        "date": datetime.date.today().isoformat(),
    }
    Golden().record(origin, answers)
    print(f"{len(answers)} answers, {sum(map(len, answers.values()))} bytes, {origin}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:] or FAMILIES))
