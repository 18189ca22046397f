"""A worker whose kernels are Python: what a kernel could do if it had taken over its process."""

import json
import sys

from helpers.exercises.grading import worker


def _words(exercise, text, *_):
    names = {"answer": {"verdict": "done"}}
    if text.startswith("# Python"):
        exec(text, names)
    return names["answer"]


if __name__ == "__main__":
    worker._words = _words
    worker.main(**json.loads(sys.argv[1]))
