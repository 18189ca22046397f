"""Grading what strangers hand in: a row for each, whatever it does, and nothing else from it."""

import contextlib
import csv
import io
import itertools
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from helpers import exercises
from helpers.exercises import __main__ as command
from helpers.exercises import grading
from helpers.exercises.grading import league, reports, rooms, sandbox, table
from helpers.exercises.grading.collected import collected
from softgpu.tests.facts import missing, numbers, refused
from tests import ROOT

pytestmark = pytest.mark.slow

collecting = sys.modules[collected.__module__]
FIRST = "00.double"
RIGHT = exercises.solution(FIRST)
RATED = "13.capstone_linear"  # its verdict has times that are recorded
MEGABYTES = 600


def changed(old, new):
    assert old in RIGHT
    return RIGHT.replace(old, new)


def hand_in(folder, files):
    """Put files into a folder: {path below it: text, bytes, or the cells of a notebook}."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = json.dumps({"cells": content, "metadata": {}, "nbformat": 4})
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def cell(source, *tags, kind="code"):
    return {"cell_type": kind, "metadata": {"tags": [*tags]}, "source": source, "outputs": []}


def by_learner(rows):
    return {row["learner"]: row for row in rows}


# --- a folder full of it, graded once -------------------------------------------------------------

TAG = f"exercise:{FIRST}"
IN_NOTEBOOKS = {
    "eve.ipynb": [cell("!touch /tmp/owned\n%run x.py"), cell(f"%%kernel\n{RIGHT}", TAG)],
    "blank/week1/n.ipynb": [
        cell(f"\n\n  %%kernel\n{RIGHT}", "Exercise:00.Double".replace("E", "e"))
    ],
    "lost/n.ipynb": [cell(f"%%kernel\n{RIGHT}"), cell("%%kernel\n__global__ void mine() {}")],
    "twice/n.ipynb": [cell(f"%%kernel\n{RIGHT}", TAG), cell("%%kernel\nrubbish", TAG)],
    "ben/n.ipynb": [
        cell(f"%%kernel\n{exercises.stub(FIRST)}", TAG),
        cell(f"%%kernel\n{RIGHT}"),
        cell(f'# exercises.judge("00.loop", loop)\nexercises.judge("{FIRST}", twice)'),
    ],
    "choice/n.ipynb": [
        cell("%%kernel TIMES=2\nconstexpr int TIMES = 3;\n" + changed("2 * x", "TIMES * x"), TAG)
    ],
    "choices/n.ipynb": [cell(f"%%kernel BLOCK=64\n{RIGHT}", TAG)],
    "none/n.ipynb": [cell("print(1)", TAG), cell("# 00.double", TAG, kind="markdown")],
}
AT_LAST = (
    'if (n == 65536) {{ if (i == 0) printf("{}\\n"); __syncthreads(); __trap(); }}\n    if (i < n)'
)


def printing(text):
    """A kernel that is right, but prints a text when it is counted, and traps."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "#include <cstdio>\n" + changed("if (i < n)", AT_LAST.format(escaped))


FORGED = {
    "verdict": '{"verdict": "done", "counters": "ld.sectors 8192 (best 8192)", "reasons": ""}',
    "more": '{"verdict": "done", "x": 1}',
    "list": "[1, 2]",
    "number": "5",
    "half": '{"verdict": "\\ud800"}',
    "formula": '{"verdict": "done", "reasons": "=HYPERLINK(1)", "counters": "+1"}',
}
HANDED_IN = {
    "ann/week1/00.double.cu": RIGHT,
    "rated/13.capstone_linear.cu": f"// für 中, kᵀ\r\n{exercises.solution(RATED)}".encode(
        "utf-8-sig"
    ),
    "bob/00.DOUBLE.CU": changed("i < n", "i <= n"),
    "bom/00.double.cu": RIGHT.encode("utf-8-sig"),
    "cy/00.double.cu": "../rubbish",
    "di/00.double.cu": exercises.stub(FIRST),
    "wide/00.double.cu": RIGHT.encode("utf-16"),
    "windows/00.double.cu": RIGHT.replace("\n", "\r\n"),
    "empty/00.double.cu": b"",
    "noise/00.double.cu": bytes(range(256)) * 9,
    "large/00.double.cu": RIGHT + "//" * 600_000,
    "fay.ipynb": "{}",
    "hal.ipynb": 100_000 * "[",
    "=1+1/00.double.cu": RIGHT,
    "@SUM(1)/00.double.cu": "",
    "-2+3/00.double.cu": "",
    "\tx/00.double.cu": "",
    "\x1b[2Jx\udc80/00.double.cu": "",
    "course/00.double.cu": f'#include "{ROOT}/exercises/{FIRST}/solution.cu"\n',
    "passwords/00.double.cu": '#include "/etc/passwd"\n' + RIGHT,
    "guess/00.double.cu": '#if __has_include("/etc/passwd")\n#error "it is there"\n#endif\n'
    + RIGHT,
} | {f"forged_{what}/00.double.cu": printing(text) for what, text in FORGED.items()}
MISNAMED = (
    "3.double.cu", "double.cu", "00.double (1).cu", "00.double.cu.txt", "00.double.cuh", "notes.md",
)  # fmt: skip


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """(rows, what was said) of a folder with everything above."""
    folder = tmp_path_factory.mktemp("handed in")
    hand_in(folder, HANDED_IN | IN_NOTEBOOKS | {f"misnamed/{name}": RIGHT for name in MISNAMED})
    neighbour = f'extern "C" {{\n#include "{folder}/ann/week1/{FIRST}.cu"\n}}'
    hand_in(folder, {"copycat/00.double.cu": neighbour})
    odd = {
        name: folder / name / f"{FIRST}.cu" for name in ("fifo", "zeros", "linked", "hard", "ida")
    }
    for path in odd.values():
        path.parent.mkdir()
    os.mkfifo(odd["fifo"])
    odd["zeros"].symlink_to("/dev/zero")
    odd["linked"].symlink_to(folder / "ann/week1/00.double.cu")
    hand_in(folder, {"kept/mine.txt": RIGHT})
    os.link(folder / "kept/mine.txt", odd["hard"])
    odd["ida"].mkdir()
    (folder / "sparse").mkdir()
    with open(folder / f"sparse/{FIRST}.cu", "w") as file:
        file.truncate(1 << 40)
    (folder / "zoe").symlink_to(folder / "ann")
    return graded_by_command(folder)


def graded_by_command(folder, *arguments):
    path = folder.with_suffix(".csv")
    command_line = [sys.executable, "-m", "helpers.exercises", "grade", folder, *arguments]
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run(
        [*command_line, "--output", path], cwd=ROOT, env=environment, capture_output=True
    )
    assert not done.returncode and not done.stdout, done.stderr
    return rows_in(path), done.stderr.decode()


def rows_in(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


VERDICTS = {
    "ann": "done",
    "rated": "done",
    "bob": "tried",
    "bom": "done",
    "cy": "tried",
    "di": "open",
    "wide": "done",
    "windows": "done",
    "eve": "done",
    "blank": "done",
    "lost": "done",
    "choice": "done",
    "choices": "tried",
    "'=1+1": "done",
    "fay": "unreadable",
    "hal": "unreadable",
    "large": "unreadable",
    "fifo": "unreadable",
    "zeros": "unreadable",
    "linked": "unreadable",
    "hard": "done",
    "sparse": "unreadable",
    "ida": "unreadable",
} | {f"forged_{what}": "tried" for what in FORGED}


@pytest.mark.parametrize("learner, verdict", VERDICTS.items())
def test_each_has_its_row(graded, learner, verdict):
    row = by_learner(graded[0])[learner]
    assert row["verdict"] == verdict, row


def test_rows_are_in_the_order_of_the_files(graded):
    files = [row["file"] for row in graded[0]]
    assert len(files) == 43 and files[5:] == sorted(files[5:])  # the first have odd names


def test_rows_are_of_use_as_feedback(graded):
    rows = by_learner(graded[0])
    row = rows["bob"]
    assert row["reasons"].startswith("sanitizer: ") and row["line"] == "5"
    assert "<" in row["advice"] and row["case"]
    assert rows["ann"]["counters"].startswith("ld.sectors 8192 (best 8192)")
    assert not missing(rows["choices"]["reasons"], "BLOCK")


def test_a_cell_that_lost_its_tag_has_a_row_that_says_so(graded):
    rows = [row for row in graded[0] if row["learner"] == "ben"]
    assert [row["verdict"] for row in rows] == ["open", "done"]
    assert not missing(rows[1]["reasons"], TAG)


def test_what_may_be_of_several_exercises_has_a_row(tmp_path):
    text = "".join(exercises.solution(name) for name in ("00.double", "00.loop"))
    hand_in(tmp_path / "all", {"ann/n.ipynb": [cell(f"%%kernel\n{text}")]})
    grading.grade(tmp_path / "all", tmp_path / "rows.csv", by_learner=tmp_path / "class.csv")
    (row,) = rows_in(tmp_path / "rows.csv")
    assert row["verdict"] == "untagged" and not missing(row["exercise"], "00.double", "00.loop")
    assert (tmp_path / "class.csv").read_text() == "learner,total\nann,0\n"


@pytest.mark.parametrize(
    "file, meant", [("15_x", {"15.a"}), ("15b_x", {"15b.a"}), ("15bis", {"15.a"}), ("x", None)]
)
def test_a_kernel_is_of_the_notebook_whose_number_its_file_has(file, meant, monkeypatch):
    both = {"15.a", "15b.a"}
    monkeypatch.setattr(collecting, "_exercises_of", lambda: {"level": both})
    assert collecting._meant(Path(f"{file}.ipynb"), "void level(int *x)") == (meant or both)


def test_the_notebooks_of_the_course_lack_no_tag():
    said = []
    found = collected(ROOT / "notebooks", lambda place, why: said.append(why))
    assert {s.exercise for s in found} == {*exercises.names()}
    assert not any("exercise:" in why for why in said)


def test_the_same_exercise_twice_gives_two_rows(graded):
    rows = [row for row in graded[0] if row["learner"] == "twice"]
    assert [row["file"] for row in rows] == [f"twice/n.ipynb, cell {n}" for n in (1, 2)]
    assert [row["verdict"] for row in rows] == ["done", "tried"]


def test_no_cell_is_a_formula_and_all_is_text(graded):
    learners = {row["learner"] for row in graded[0]}
    assert {"'=1+1", "'@SUM(1)", "'-2+3", "\\x1b[2Jx\\udc80"} <= learners
    cells = [cell for row in graded[0] for cell in row.values()]
    assert not any(cell.startswith(table.FORMULAS) or "\x1b" in cell for cell in cells)


def test_what_is_passed_over_is_told(graded):
    said = graded[1]
    lines = {}
    for line in filter(re.compile(": .*: ").search, said.splitlines()):
        place = line.split(": ")[1]
        lines[place] = f"{lines.get(place)}\n{line}"
    for name in MISNAMED[:-1]:
        assert not missing(lines[f"misnamed/{name}"], FIRST), said
    assert missing(lines["misnamed/notes.md"], FIRST) and "zoe" in lines
    for place, number in ("lost/n.ipynb", 1), ("ben/n.ipynb", 2):
        assert not missing(lines[place], number, TAG)
    assert not missing(lines["none/n.ipynb"], FIRST, "%%kernel")


def test_no_file_but_the_courses_can_be_included(graded):
    rows, said = by_learner(graded[0]), graded[1]
    if sandbox.KINDS["none"] in said:
        pytest.skip("bubblewrap makes no sandbox on this machine")
    for learner in "passwords", "copycat", "course":
        assert rows[learner]["verdict"] == "tried", rows[learner]
    assert "root:" not in rows["passwords"]["case"] + rows["passwords"]["reasons"]
    assert rows["guess"]["verdict"] == "done" or "it is there" not in rows["guess"]["reasons"]


def test_progress_and_a_summary_are_told(graded):
    rows, said = graded
    assert "sandbox" in said
    assert f"\n1 of {len(rows)}  " in said and f"\n{len(rows)} of {len(rows)}  " in said
    assert numbers(said.splitlines()[-1])[:2] == [len(rows)] * 2


# --- the command ----------------------------------------------------------------------------------


def run_here(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["exercises", "grade", *map(str, arguments)])
    command.main()


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["nowhere"], "nowhere is not there: name a folder"),
        ([__file__], "test_grading.py is a file: name a folder"),
        ([ROOT / "exercises", "--jobs", "0"], "--jobs must be from 1 to"),
        ([ROOT / "exercises", "--seconds", "nan"], "--seconds must be from 0.01 to"),
        ([ROOT / "exercises", "--seed", "-1"], "--seed must be from 0 to"),
        ([ROOT / "exercises", "--named", "nowhere"], "--named nowhere: no such file"),
        ([ROOT / "exercises", "--alike", "nowhere/a.csv"], "there is no folder nowhere"),
    ],
)
def test_a_wrong_command_is_an_error(monkeypatch, capsys, arguments, says):
    with pytest.raises(SystemExit) as ended:
        run_here(monkeypatch, *arguments)
    assert ended.value.code == 2 and says in capsys.readouterr().err


def test_an_empty_folder_is_told(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    run_here(monkeypatch, tmp_path)
    assert (tmp_path / "rows.csv").read_text() == ",".join(table.FIELDS) + "\n"
    assert not missing(capsys.readouterr().err, tmp_path)


def test_another_table_is_not_written_over(monkeypatch, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("name,points\n")
    with refused(SystemExit, "other.csv"):
        run_here(monkeypatch, tmp_path, "--resume", "--output", other)
    assert other.read_text() == "name,points\n"


# --- rows that are there already ------------------------------------------------------------------

REFUSED = '#include "/etc/passwd"'  # before anything is compiled
QUICK = {f"{learner}/{FIRST}.cu": REFUSED for learner in ("ann", "bob", "cy", "di")}


def graded_to(folder, path, **options):
    grading.grade(folder, path, **{"seed": 1, **options})
    return path.read_bytes()


def test_learners_have_a_table_with_their_best_verdicts(tmp_path):
    ann = [cell(f"%%kernel\n{text}", TAG) for text in (RIGHT, "rubbish")]
    hunt = exercises.stub("00.hunt_guard")
    hand_in(
        tmp_path / "all", {"ann/n.ipynb": ann, "bob/00.hunt_guard.cu": hunt, "cy/x.ipynb": "{}"}
    )
    for resume in False, True:
        options = {"by_learner": tmp_path / "class.csv", "resume": resume}
        graded_to(tmp_path / "all", tmp_path / "rows.csv", **options)
        rows = (tmp_path / "class.csv").read_text().splitlines()
        assert rows == [
            "learner,00.double,00.hunt_guard,total", "ann,done,,1", "bob,,open,0", "cy,,,0",
        ]  # fmt: skip


def test_each_learner_has_a_report(tmp_path):
    odd = "x" * 240
    said = {"reasons": "n = 1: wrong\\n# Done", "advice": "look", "line": "5"}
    written = [
        row("ann", FIRST, "done"),
        row("ann", "00.loop", "tried", **said),
        row(odd, FIRST, "open"),
    ]
    reports.write(written, tmp_path / "reports", {}, None)
    names = sorted(path.name for path in (tmp_path / "reports").iterdir())
    assert len(names) == 2 and names[0] == "ann.md" and len(names[1]) < 230
    text = (tmp_path / "reports/ann.md").read_text()
    head, _, rest = text.partition("\n")
    assert head.startswith("# ") and numbers(head) == [1, 2]
    assert "## 00.loop Few threads, many elements: tried\n" in rest
    for words in said["reasons"], "line 5", "look":
        assert f"\n    {words}\n" in text


def row(learner, exercise, verdict, **more):
    """What the table has of a kernel."""
    return dict.fromkeys(table.FIELDS, "") | {
        "learner": learner, "exercise": exercise, "verdict": verdict, **more,
    }  # fmt: skip


PTX = """\
\t.reg .b32 \t%r<3>;
\t.loc\t1 5 3
\tld.param.u64 \t%rd1, [twice_param_0];
$L__BB0_1:
\tadd.s32 \t%r2, %r1, 1;
\t@%p1 bra \t$L__BB0_1;
"""


@pytest.mark.parametrize(
    "old, new, is_same",
    [
        ("%r1", "%r7", True),
        ("$L__BB0_1", "$L__BB2_9", True),
        ("twice_param", "mine_param", True),
        ("\t.loc\t1 5 3\n", "// a comment\n", True),
        ("%r<3>", "%r<9>", True),
        (" 1;", " 2;", False),
        ("%r2, %r1", "%r1, %r1", False),
        ("add", "sub", False),
        ("_param_0", "_param_1, [twice_param_0", False),
    ],
)
def test_a_fingerprint_is_of_the_instructions_not_of_their_names(old, new, is_same):
    assert old in PTX
    first, other = (reports.fingerprint(text) for text in (PTX, PTX.replace(old, new)))
    assert first.startswith("3 ") and reports.PTX.fullmatch(first)
    assert (first == other) == is_same


def test_kernels_that_are_alike_are_told_the_most_telling_first():
    short, long, ours, rare = (f"{n} {n:012x}" for n in (5, 90, 80, 6))
    forged = "9" * 5000 + " ffffffffffff"
    written = [
        *(row(learner, FIRST, "done", ptx=ours) for learner in ("ann", "bob", "cy")),
        *(row(learner, "00.loop", "tried", ptx=long) for learner in ("di", "eve")),
        *(row(learner, "00.first", "done", ptx=short) for learner in ("di", "ann")),
        *(row(learner, "00.first", "done", ptx=forged) for learner in ("x", "y")),
        row("ann", "00.brighter", "done", ptx=rare),
        row("ann", "00.brighter", "done", ptx=rare),
    ]
    found = [*csv.reader(io.StringIO(reports.alike(written, {FIRST: {"ptx": ours}})))][1:]
    assert found == [
        ["00.loop", "90", "no", "2", "di; eve"],
        ["00.first", "5", "no", "2", "ann; di"],
        [FIRST, "80", "yes", "3", "ann; bob; cy"],
    ]


def test_who_changed_names_only_is_told(tmp_path):
    renamed = RIGHT.replace("long long i ", "long long place ").replace("i < n", "place < n")
    hand_in(
        tmp_path / "in",
        {
            "ann/00.double.cu": RIGHT,
            "bob/00.double.cu": renamed.replace("[i]", "[place]"),
            "cy/00.double.cu": changed("2 * x", "3 * x"),
        },
    )
    graded_to(
        tmp_path / "in", tmp_path / "rows.csv",
        alike=tmp_path / "alike.csv", reports_to=tmp_path / "reports",
    )  # fmt: skip
    (group,) = csv.DictReader((tmp_path / "alike.csv").open())
    assert (group["exercise"], group["who"], group["ours"]) == (FIRST, "ann; bob", "yes")
    assert numbers((tmp_path / "reports/cy.md").read_text().splitlines()[0]) == [0, 1]


def test_a_table_that_was_begun_is_gone_on_with(tmp_path, monkeypatch, capsys):
    hand_in(tmp_path / "all", QUICK)
    path = tmp_path / "rows.csv"
    whole = graded_to(tmp_path / "all", path, jobs=2)
    lines = whole.splitlines(keepends=True)
    gone = lines[1].replace(b"ann", b"zoe")
    path.write_bytes(b"".join([lines[0], lines[3], gone, lines[2], lines[4][:-9]]))
    capsys.readouterr()
    judged = []
    real = rooms.Rooms.judged
    monkeypatch.setattr(
        rooms.Rooms, "judged", lambda *arguments: judged.append(1) or real(*arguments)
    )
    assert graded_to(tmp_path / "all", path, resume=True) == whole + gone
    assert len(judged) == 2 and not missing(capsys.readouterr().err, 2)


def test_rows_are_the_same_every_time(tmp_path):
    texts = (
        changed("2 * x", "3 * x"), changed("i < n", "i < n && i % 3"), "rubbish", RIGHT,
        changed("long long i = blockIdx.x * (long long)", "int i = blockIdx.x * "),
        changed("if (i < n)", 'if (i == 9) asm volatile("ld.global.f32 %0, [%1];" : "=f"(out[0]) :'
                ' "l"((char *)x + 1)); if (i < n)'),
    )  # fmt: skip
    hand_in(tmp_path / "all", {f"{n}/{FIRST}.cu": text for n, text in enumerate(texts)})
    path = tmp_path / "rows.csv"
    alone = graded_to(tmp_path / "all", path, jobs=1)
    assert graded_to(tmp_path / "all", path, jobs=3) == alone
    assert b"0x" not in alone
    seeds = {row["seed"] for row in rows_in(path)}
    assert len(seeds) == len(texts)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_is_interrupted_is_not_lost(tmp_path, how):
    """And nothing goes on, or stays behind."""
    folder, path, place = tmp_path / "all", tmp_path / "rows.csv", tmp_path / "temporary"
    place.mkdir()
    hand_in(folder, QUICK | {f"bz/{FIRST}.cu": changed("if (i < n)", "for (;;) if (i < n)")})
    running = subprocess.Popen(
        [sys.executable, "-m", "helpers.exercises", "grade", folder, "--output", path, "--jobs=1"],
        cwd=ROOT, env=os.environ | {"TMPDIR": place}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not path.exists() or path.read_text().count("\n") < 3:
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(how)
    assert running.wait() != 0
    assert [line[:3] for line in path.read_text().splitlines()] == ["lea", "ann", "bob"]
    until(lambda: not any(str(place) in words for words in of_processes("environ")))
    until(lambda: not list(place.iterdir()))


def of_processes(what):
    """The command lines ("cmdline"), or the environments ("environ"), of all that runs."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/{what}", errors="replace") as file:
            yield file.read()


def until(is_so):
    """Wait for what comes, but not for ever."""
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.05)
    pytest.fail("it does not come")


# --- seeds, and what one learner may take ---------------------------------------------------------


def test_nobody_knows_the_seeds_but_who_has_the_class(tmp_path, capsys):
    hand_in(tmp_path / "all", QUICK)
    path = tmp_path / "rows.csv"
    drawn = [graded_to(tmp_path / "all", path, seed=None) for _ in range(2)]
    assert drawn[0] != drawn[1]
    seed = int((tmp_path / "rows.csv.seed").read_text())
    assert not missing(capsys.readouterr().err, f"--seed {seed}")
    assert graded_to(tmp_path / "all", path, seed=seed) == drawn[1]
    path.write_bytes(b"".join(drawn[1].splitlines(keepends=True)[:3]))
    assert graded_to(tmp_path / "all", path, seed=None, resume=True) == drawn[1]


def test_a_seed_that_is_none_is_not_gone_on_with(monkeypatch, tmp_path):
    hand_in(tmp_path, {"rows.csv": table.HEAD, "rows.csv.seed": "one"})
    with refused(SystemExit, "rows.csv.seed"):
        run_here(monkeypatch, tmp_path, "--resume", "--output", tmp_path / "rows.csv")


def found_in(folder):
    """([exercise and place of each submission], what was passed over)"""
    said: list[str] = []
    found = collected(folder, lambda place, why: said.append(f"{place}: {why}"))
    return [f"{one.exercise} {one.place}" for one in found], said


def test_one_cell_is_one_kernel_of_an_exercise_however_often_it_says_so(tmp_path):
    hand_in(tmp_path, {"ann/n.ipynb": [cell(f"%%kernel\n{RIGHT}", *40_000 * [TAG], "exercise:x")]})
    found, (line,) = found_in(tmp_path)
    assert found == [f"{FIRST} ann/n.ipynb, cell 1"] and not missing(line, "ann/n.ipynb", 1, "x")


def test_what_one_learner_may_take_is_bounded_and_the_rest_is_told(tmp_path):
    cells = [cell("%%kernel\n", TAG)] * 4000
    hand_in(tmp_path, {"ann/n.ipynb": cells, f"bob/{FIRST}.cu": RIGHT})
    hand_in(tmp_path, {f"cy/{n:03}.ipynb": "{}" for n in range(collecting.MOST_IN_ALL + 30)})
    found, said = found_in(tmp_path)
    of_ann = [f"{FIRST} ann/n.ipynb, cell {n}" for n in (1, 2, 3)]
    assert found[:4] == [*of_ann, f"{FIRST} bob/{FIRST}.cu"]
    assert len(found) == 4 + collecting.MOST_IN_ALL
    assert not missing(said[0], "ann/n.ipynb", 4, FIRST, 3)
    assert any(line.startswith("ann: ") and numbers(line) == [3977] for line in said)
    assert said[-1].startswith("cy: ") and numbers(said[-1]) == [10]
    assert len(said) == 2 * (collecting.MOST_TOLD + 1)


def test_a_folder_without_end_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(collecting, "MOST_ENTRIES", 5)
    hand_in(tmp_path, {f"ann/{n}/x": "" for n in range(9)} | {f"bob/{FIRST}.cu": RIGHT})
    found, said = found_in(tmp_path)
    assert found == [f"{FIRST} bob/{FIRST}.cu"]
    assert said[-1].startswith("ann: ") and numbers(said[-1]) == [5]


def test_of_a_hard_link_both_are_judged_and_each_says_so(tmp_path):
    hand_in(tmp_path, {"ann/01/00.double.cu": RIGHT})
    (tmp_path / "bob").mkdir()
    os.link(tmp_path / "ann/01/00.double.cu", tmp_path / "bob/00.double.cu")
    os.link(tmp_path / "ann/01/00.double.cu", tmp_path / "ann/01/00.loop.cu")
    notes = {s.file: s.note for s in collected(tmp_path, None) if s.kernel()[0] == RIGHT}
    assert len(notes) == 3 and not missing(notes["bob/00.double.cu"], "ann/01/00.double.cu")
    for file in "ann/01/00.double.cu", "ann/01/00.loop.cu":
        assert not missing(notes[file], "bob/00.double.cu")


# --- 63 folders that mean harm --------------------------------------------------------------------

ODD_NAMES = [
    "a\nb", "a\n\nb", "a \N{DIVISION SLASH} b", "a\\nb", "\n", "\r", "\t", " ", "'", "'=1+1",
    "=1+1", "-rf", "--seed", "~", "$(touch owned)", "`id`", "%s%n", "{}", "*", "CON", "..a", "\x07",
    "\N{RIGHT-TO-LEFT OVERRIDE}abc", "\udcff", "é", "e\N{COMBINING ACUTE ACCENT}", 240 * "x",
    60 * "\N{GRINNING FACE}", 80 * "\udcff", "<script>alert(1)</script>",
    "[a](javascript:alert(1))", "# Done", "a;b,c\"d", "\N{LINE SEPARATOR}",
]  # fmt: skip
ODD_FILES = {
    "tags": ("n.ipynb", [cell("%%kernel\nrubbish", *40_000 * [TAG])]),
    "image": ("<img src=x onerror=alert(1)>.ipynb", "{"),
    "link": ("[click](javascript:alert(1)).ipynb", "{"),
    "break": ("a\nb.ipynb", "{"),
    "deep": ("n.ipynb", 100_000 * "["),
    "numbers": ("n.ipynb", '{"cells": 5}'),
    "no cells": ("n.ipynb", '{"cells": [{"cell_type": "code"}]}'),
    "choice": ("n.ipynb", [cell("%%kernel A='x\nrubbish", TAG)]),
    "choices": ("n.ipynb", [cell('%%kernel "A\tB=1"\nrubbish', TAG)]),
    "half": ("n.ipynb", [cell("%%kernel\n\ud800", TAG)]),
    "none": (f"{FIRST}.cu", ""),
    "noise": (f"{FIRST}.cu", bytes(range(256)) * 9),
    "large": (f"{FIRST}.cu", 600_000 * "//"),
    "brackets": (f"{FIRST}.cu", 50_000 * "{"),
    "directive": (f"{FIRST}.cu", f"#{60 * '/**/'} x\n{RIGHT}"),
    "directives": (f"{FIRST}.cu", f"//{80_000 * '#/*#/*#*/'}\n{RIGHT}"),
    "open comments": (f"{FIRST}.cu", 300_000 * "/*"),
    "long error": (f"{FIRST}.cu", f"{RIGHT}\nint a = {70_000 * 'b'};"),
    "long errors": (f"{FIRST}.cu", f"{RIGHT}\nint a = b{30_000 * '+b'};"),
    "passwords": (f"{FIRST}.cu", f'#include "/etc/passwd"\n{RIGHT}'),
    "ptx": (f"{FIRST}.cu", changed("2 * x", '({ asm(".include \\"/etc/passwd\\""); 2.0f; }) * x')),
    "digits": (f"{FIRST}.cu", f"#{200_000 * '1'}\n#{100_000 * '/*#'}"),
    "nuls": (f"{FIRST}.cu", "#" + 300_000 * "\0" + "include <x>"),
    "endless": (f"{FIRST}.cu", "template <int N> struct T { T<N + 1> t; }; T<0> t;"),
}


def odd_nodes(folder):
    """Files that are none: each in a folder of its own."""
    for what in "fifo", "socket", "zeros", "dangling", "folder":
        (folder / what).mkdir()
    os.mkfifo(folder / f"fifo/{FIRST}.cu")
    with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(folder / "socket"):
        listening.bind(f"{FIRST}.cu")
    (folder / f"zeros/{FIRST}.cu").symlink_to("/dev/zero")
    (folder / f"dangling/{FIRST}.cu").symlink_to("/nowhere")
    (folder / f"folder/{FIRST}.cu").mkdir()


@pytest.fixture(scope="module")
def hostile_class(tmp_path_factory):
    """(rows, reports, the page that ranks them, what was said)"""
    folder = tmp_path_factory.mktemp("hostile")
    there = folder / "in"
    hand_in(there, {f"{name}/{FIRST}.cu": exercises.stub(FIRST) for name in ODD_NAMES})
    hand_in(there, {f"{what}/{name}": content for what, (name, content) in ODD_FILES.items()})
    odd_nodes(there)
    assert len([*there.iterdir()]) == 63
    rows, said = graded_by_command(
        there, f"--reports={folder}/reports", f"--league={folder}/league.html",
        f"--alike={folder}/alike.csv", f"--by-learner={folder}/class.csv",
    )  # fmt: skip
    return rows, [*(folder / "reports").iterdir()], said


@pytest.mark.long
def test_63_hostile_folders_have_a_row_and_a_report_each(hostile_class):
    rows, written, said = hostile_class
    assert len(rows) == 63 == len({row["learner"] for row in rows}) == len(written)
    assert {row["verdict"] for row in rows} <= {"open", "tried", "unreadable", "done"}
    texts = [path.read_text() for path in written]
    assert all(numbers(text.splitlines()[0]) in ([0, 1], [1, 1]) for text in texts)


@pytest.mark.long
def test_errors_however_long_leave_a_verdict(hostile_class):
    rows = by_learner(hostile_class[0])
    for what in "long error", "long errors":
        assert rows[what]["verdict"] == "tried" and "compiler" in rows[what]["reasons"], rows[what]


@pytest.mark.long
def test_comments_cost_no_time(hostile_class):
    rows = by_learner(hostile_class[0])
    assert rows["directives"]["verdict"] == "done"
    for what in "directive", "digits", "nuls", "open comments":
        assert rows[what]["verdict"] == "tried", rows[what]


@pytest.mark.long
def test_names_are_no_markup_in_reports(hostile_class):
    headings = [
        line
        for path in hostile_class[1]
        for line in path.read_text().splitlines()
        if line[:1] == "#"
    ]
    assert not any("<img" in line.replace("\\<", "") or "](" in line for line in headings)
    assert any(r"\<img src\=x" in line for line in headings)


# --- a page that ranks them -----------------------------------------------------------------------


def test_a_class_is_ranked_by_what_the_clock_predicts():
    def one(learner, exercise, predicted, verdict="done"):
        return row(learner, exercise, verdict, predicted=predicted)

    rows = [
        one("ann", FIRST, "98.5 µs"), one("ann", FIRST, "97.5 µs"), one("bob", FIRST, "97.5 µs"),
        one("<b>", FIRST, "120.0 µs"), one("cy", FIRST, "1.0 µs", "tried"),
        one("di", FIRST, "-1 µs"),
        one("ann", RATED, "30.1 TFLOP/s"), one("bob", RATED, "40.2 TFLOP/s"),
    ]  # fmt: skip
    names = league.nicknames(("ann", "bob", "<b>", "cy", "di"), 7, {"bob", "<b>"})
    assert len({*names.values()}) == 5 and names["bob"] == "bob" and "ann" not in names["ann"]
    assert names != league.nicknames(names, 8, {"bob", "<b>"})
    page = league.page(rows, names, {FIRST: {"predicted": "98.0 µs"}})
    lines = [re.sub("<td>", "|", line) for line in page.splitlines() if line.startswith("<tr")]
    first, rated = (
        [*group] for is_head, group in itertools.groupby(lines, lambda s: "<th" in s) if not is_head
    )
    assert [line.split("|")[1:] for line in rated] == [
        ["1", "bob", "40.2 TFLOP/s"], ["2", names["ann"], "30.1 TFLOP/s"]
    ]  # fmt: skip
    top = sorted(["bob", names["ann"]])
    assert [line.split("|")[1:] for line in first] == [
        ["1", top[0], "97.5 µs"], ["1", top[1], "97.5 µs"], ["", league.OURS, "98.0 µs"],
        ["3", "&lt;b&gt;", "120.0 µs"],
    ]  # fmt: skip


def test_what_is_done_is_predicted_where_it_is_asked_for(graded, tmp_path):
    files = {f"ann/{FIRST}.cu": RIGHT, f"bob/{RATED}.cu": exercises.solution(RATED)}
    hand_in(tmp_path / "all", files)
    path, league_to = tmp_path / "rows.csv", tmp_path / "league.html"
    graded_to(tmp_path / "all", path, league_to=league_to, reports_to=tmp_path / "reports")
    with path.open() as file:
        plain, rated = csv.DictReader(file)
    unasked = by_learner(graded[0])
    for row, is_asked in (plain, True), (unasked["ann"], False):
        assert row["predicted"].endswith(" µs") == is_asked
    for row in rated, unasked["rated"]:
        assert row["predicted"].endswith(" TFLOP/s")
    assert plain["predicted"] in league_to.read_text()
    report = (tmp_path / "reports/ann.md").read_text()
    nickname = re.search(r"The class's page calls you (.*)\.", report)[1]
    assert f"<td>{nickname}<td>{plain['predicted']}" in league_to.read_text()


# --- kernels that take all there is ---------------------------------------------------------------

GREEDY = {
    "endless": changed("if (i < n)", "for (;;) if (i < n)"),
    "flood": "#include <cstdio>\n"
    + changed("if (i < n)", f'for (;;) printf("{1000 * "A"}");\n    if (i < n)'),
    "macros": "#define A0 x x x x x x x x\n"
    + "".join(f"#define A{n} {8 * f'A{n - 1} '}\n" for n in range(1, 12))
    + f"{RIGHT}\nvoid f() {{ A11; }}",
    "zeros": f'#include "/dev/zero"\n{RIGHT}',
    "templates": "template <int N> struct T { static const int n = T<N - 1>::n + T<N - 2>::n; };\n"
    + changed("2 * x", "T<100000>::n * x"),
    "deep": "__device__ __noinline__ int deep(volatile int n) { return deep(n + 1) + n; }\n"
    + changed("2 * x[i]", "deep(n)"),
    "large": "__device__ char large[1LL << 40];\n" + changed("2 * x", "large[i << 20] * x"),
}


@pytest.fixture(scope="module")
def small():
    """Rooms with little time."""
    with rooms.Rooms(2, MEGABYTES) as all_rooms:
        yield all_rooms


@pytest.mark.parametrize("what", GREEDY)
def test_what_takes_all_there_is_costs_a_row(small, what):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    row = small.judged(FIRST, GREEDY[what], {}, 0)
    assert row["verdict"] in ("tried", "stopped") and row["reasons"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + (32 << 10)


# --- a kernel that has taken over its process -----------------------------------------------------

MARK = "mark-of-a-test-of-grading"
HIDDEN = ROOT / "softgpu/tests"


@contextmanager
def hostile(kind):
    """A judge of this kind of sandbox runs Python; other tests meanwhile have the usual one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "KINDS", {kind: ""})
        patch.setattr(sandbox, "COURSE", (*sandbox.COURSE, "tests"))
        patch.setattr(rooms, "WORKER", "tests.course.hostile")
        yield


@pytest.fixture(scope="module", params=sandbox.KINDS)
def room(request):
    """A function that has Python run as if it were a kernel."""
    try:
        with hostile(request.param):
            all_rooms = rooms.Rooms(60, MEGABYTES, [HIDDEN])
    except rooms.RoomError as error:
        if request.param == "none":
            raise
        pytest.skip(f"this machine has no {request.param}: {error}")

    def run(text, seconds=60):
        all_rooms.limits = seconds, MEGABYTES
        with hostile(request.param):
            return all_rooms.judged(FIRST, f"# Python\n{text}", {}, 0)

    with all_rooms:
        yield run


PASSED = {
    "seconds": ("import time; time.sleep(60)", "more than 1 s"),
    "work": ("while True: pass", "more than 1 s"),
    "stopped": ("import os; os.kill(os.getpid(), 19)", "more than 1 s"),
    "memory": ("whole = b'1' * (1 << 30)", "600 MB of memory"),
    "shared memory": (
        "import mmap\nwhole = mmap.mmap(-1, 1 << 30)\n"
        "for _ in range(64): whole.write(b'1' * (16 << 20))",
        "600 MB of memory",
    ),
    "memory of others": (
        "import subprocess, sys\n"
        "one = [sys.executable, '-c', 'x = b\"1\" * (150 << 20); import time; time.sleep(60)']\n"
        "[subprocess.Popen(one) for _ in range(5)][0].wait()",
        "600 MB of memory",
    ),
    "processes": (
        "import subprocess\nwhile True: subprocess.Popen(['sleep', '60'], start_new_session=True)",
        "64 processes",
    ),
    "files": (
        "import tempfile\nkept = []\nwhile True:\n"
        " kept.append(tempfile.NamedTemporaryFile()); kept[-1].write(bytes(50 << 20))",
        "256 MB of temporary files",
    ),
}


@pytest.mark.parametrize("what", PASSED)
def test_limits_end_it(room, what):
    text, limit = PASSED[what]
    row = room(text, seconds=1 if "1 s" in limit else 60)
    assert row["verdict"] == "stopped" and limit in row["reasons"], row
    assert room("")["verdict"] == "done"


CRASHED = {
    "leaves": ("import os; os._exit(0)", "ended with 0"),
    "dies": ("import os; os.abort()", "ended with -"),
    "raises": ("1 / 0", "ZeroDivisionError"),
    "one file": ("open('large', 'wb').write(bytes(70 << 20))", "File too large"),
    "ends the judge": ("import os; os.kill(os.getppid(), 9); os.abort()", ""),
    "floods": ("import os\nfor _ in range(9000): os.write(2, b'x' * 65536)\n1 / 0", "ZeroDivision"),
    "answers much": ("answer = {'verdict': 'done', 'reasons': 'x' * (64 << 20)}", "no word"),
}


@pytest.mark.parametrize("what", CRASHED)
def test_crashes_cost_a_row(room, what):
    text, says = CRASHED[what]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    row = room(text)
    assert row["verdict"] == "crashed" and says in row["reasons"], row
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + (32 << 10)
    assert room("")["verdict"] == "done"


ODD = ["1", "[1, 2]", "'done'", "None", "{}", "{'verdict': 'perfect'}", "{'verdict': ['done']}"]


@pytest.mark.parametrize("answer", ODD)
def test_an_odd_answer_is_no_verdict(room, answer):
    assert room(f"answer = {answer}")["verdict"] == "crashed"


def test_only_known_fields_are_taken(room, tmp_path):
    answer = {"verdict": "tried", "reasons": "\ud800", "learner": "bob", "line": 5, "seed": "1"}
    assert room(f"answer = {answer!r}") == {"verdict": "tried", "reasons": "\ud800"}
    rows = table.File(tmp_path / "rows.csv", False)
    rows.add(0, {"learner": "ann", "reasons": "\ud800"})
    assert rows.path.read_bytes().endswith(b"\nann,,,,,\\ud800,,,,,,\n")


def test_nothing_stays_behind(room):
    row = room(
        "import os, subprocess, tempfile\n"
        "open(tempfile.gettempdir() + '/left', 'w').close()\n"
        "open(tempfile.gettempdir() + '/../left', 'w').close()\n"
        f"subprocess.Popen(['sh', '-c', 'setsid sleep 61 {MARK} &'], start_new_session=True)\n"
        "answer = {'verdict': 'tried', 'reasons': os.getcwd()}"
    )
    assert row["verdict"] == "tried" and not os.path.exists(row["reasons"])
    assert not any(MARK in line for line in of_processes("cmdline"))
    others = "[name for name in os.listdir('..') if name != os.path.basename(os.getcwd())]"
    folder = Path(tempfile.gettempdir())
    course = [ROOT.relative_to(folder).parts[0]] if ROOT.is_relative_to(folder) else []
    assert answered(room, others) in ("[]", str(course))


def answered(room, expression):
    """What an expression gives in a kernel's process."""
    row = room(
        f"import os, socket\nanswer = {{'verdict': 'tried', 'reasons': str(({expression}))}}"
    )
    return row["reasons"]


@pytest.fixture
def sandboxed(room, request):
    if "none" in request.node.name:
        pytest.skip("without a sandbox all this is there")
    return room


def test_a_sandbox_has_nothing_but_the_course(sandboxed, tmp_path):
    (tmp_path / "secret").write_text("secret")
    for path in tmp_path / "secret", "/etc/passwd", ROOT / "work", ROOT / ".git", "/dev/sda":
        assert answered(sandboxed, f"os.path.exists({str(path)!r})") == "False"
    assert answered(sandboxed, f"os.listdir({str(HIDDEN)!r})") == "[]"
    for path in ROOT / "helpers/new", ROOT / ".cache/softgpu/new", "/usr/new":
        said = answered(sandboxed, f"open({str(path)!r}, 'w')")
        assert "Read-only file system" in said or "Permission denied" in said
    assert int(answered(sandboxed, "sum(map(str.isdigit, os.listdir('/proc')))")) < 5


def test_a_sandbox_has_no_network(sandboxed):
    with socket.create_server(("127.0.0.1", 0)) as server:
        said = answered(sandboxed, f"socket.create_connection({server.getsockname()!r}, 1)")
    assert "Error" in said or "unreachable" in said
