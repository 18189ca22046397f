"""python -m helpers.exercises: the exercises, with what the learner has done."""

import argparse
import sys
from pathlib import Path

from . import progress, texts


def main():
    parser = argparse.ArgumentParser(prog="python -m helpers.exercises", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("list", help="the exercises (default)")
    grade = commands.add_parser("grade", help="judge what was handed in: a CSV")
    grade.add_argument("folder", type=Path, help="of notebooks, or of kernels NN.name.cu")
    grade.add_argument("--seconds", type=float, default=60, help="for one exercise of one learner")
    grade.add_argument("--megabytes", type=int, default=2048, help="of memory, likewise")
    arguments = parser.parse_args()
    if arguments.command == "grade":
        from . import grading

        grading.grade(arguments.folder, sys.stdout, arguments.seconds, arguments.megabytes)
        return
    for name in texts.names():
        state = progress.state_of(name)
        print(f"{progress.MARKS[state]} {name:<24}{texts.find(name).title}")
    print(progress.course_map().heading)


if __name__ == "__main__":
    main()
