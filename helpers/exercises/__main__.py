"""python -m helpers.exercises: the exercises, with what the learner has done."""

import argparse
import sys
from pathlib import Path

from . import progress, texts

LEAST = {"seconds": 0.01, "megabytes": 1, "jobs": 1, "seed": 0}
MOST = 1_000_000_000
FILES = {"output": "output", "by_learner": "by-learner", "alike": "alike", "league_to": "league"}


def main():
    parser = argparse.ArgumentParser(prog="python -m helpers.exercises", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("list", help="the exercises (default)")
    grade = commands.add_parser("grade", help="judge what was handed in, to a CSV")
    grade.add_argument("folder", type=Path, help="of notebooks, or of kernels NN.name.cu")
    grade.add_argument("--seconds", type=float, default=60, help="for one kernel (default: 60)")
    grade.add_argument("--megabytes", type=int, default=2048, help="of memory (default: 2048)")
    grade.add_argument("--jobs", type=int, help="kernels at a time (default: the cores)")
    grade.add_argument("--seed", type=int, help="of the class (default: drawn, and told)")
    grade.add_argument(
        "--output", type=Path, metavar="FILE", default="rows.csv", help="default: rows.csv"
    )
    grade.add_argument("--by-learner", type=Path, metavar="FILE", help="a CSV of learners as well")
    grade.add_argument(
        "--reports",
        type=Path,
        metavar="FOLDER",
        dest="reports_to",
        help="a report for each learner",
    )
    grade.add_argument(
        "--alike", type=Path, metavar="FILE", help="a CSV of kernels that are the same"
    )
    grade.add_argument(
        "--league",
        type=Path,
        metavar="FILE",
        dest="league_to",
        help="a page that ranks the kernels that are done by their predicted times",
    )
    grade.add_argument(
        "--named",
        type=Path,
        metavar="FILE",
        help="the learners who agreed to be named there, one a line (default: nicknames)",
    )
    grade.add_argument("--resume", action="store_true", help="keep the rows that FILE has")
    arguments = parser.parse_args()
    if arguments.command == "grade":
        _grade(parser, **vars(arguments))
        return
    for name in texts.names():
        state = progress.state_of(name)
        print(f"{progress.MARKS[state]} {name:<24}{texts.find(name).title}")
    print(progress.course_map().heading)


def _grade(parser, command, **arguments):
    from . import grading

    folder = arguments["folder"]
    if not folder.is_dir():
        parser.error(f"{folder} is {'a file' if folder.exists() else 'not there'}: name a folder")
    for name, least in LEAST.items():
        most = grading.MOST_SEED if name == "seed" else MOST
        if arguments[name] is not None and not least <= arguments[name] <= most:
            parser.error(f"--{name} must be from {least} to {most}")
    for name, option in FILES.items():
        file = arguments[name]
        if file and not file.parent.is_dir():
            parser.error(f"--{option} {file}: there is no folder {file.parent}")
    if named := arguments["named"]:
        if not named.is_file():
            parser.error(f"--named {named}: no such file")
        arguments["named"] = {line.strip() for line in named.read_text().splitlines()}
    else:
        arguments["named"] = ()
    try:
        grading.grade(**arguments)
    except (OSError, grading.RoomError, grading.TableError) as error:
        sys.exit(f"grade: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
