"""The README's recording is what the judge says today, and shows what it is said to show."""

import importlib.util
import re
import xml.etree.ElementTree as xml

import pytest

from tests import ROOT

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("recording", ROOT / "scripts/recording.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HELPERS_DEVICE", "software")
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def picture():
    return xml.fromstring((ROOT / "docs/recording.svg").read_text())


def frames(picture):
    return ["\n".join(group.itertext()) for group in picture.iter(f"{SVG}g")]


def test_it_is_what_the_judge_says(script):
    written = (ROOT / "docs/recording.svg").read_text()
    assert script.recording() == written, "run .venv/bin/python scripts/recording.py"


def test_it_goes_from_a_named_thread_and_line_to_done(picture):
    first, refused, fixed, done = frames(picture)
    assert "judge" not in first + fixed
    assert re.search(r"kernel\.cu:\d+: thread \(1,0,0\) of block", refused) and "not yet" in refused
    assert "if (i < n)" not in refused and "if (i < n)" in fixed
    assert ": done" in done and "12   of 12" in done


def test_frames_take_turns_and_fit(script, picture):
    style = picture.find(f"{SVG}style").text
    shown = re.findall(r"([\d.]+)% \{ visibility: visible; \} ([\d.]+)% \{ visibility: hid", style)
    ends = [float(end) for _, end in shown]
    assert [float(begin) for begin, _ in shown] == [0.0, *ends[:-1]] and ends[-1] == 100
    height = float(picture.get("viewBox").split()[-1])
    for text in picture.iter(f"{SVG}text"):
        assert float(text.get("y")) < height and len(text.text) <= script.COLUMNS
