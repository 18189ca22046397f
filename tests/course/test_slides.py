"""Slides show what the notebooks hold, fit on their pages, and need no network."""

import base64
import re
import sys

import pytest

from softgpu.tests.facts import refused
from tests.course.test_teach import NOTEBOOKS, script
from tests.play.browser import LOADED

SLIDES = script("slides")
DECKS = {deck.notebook.number: deck for deck in SLIDES.decks()}
TOO_FULL = """[...document.querySelectorAll("section")].filter((slide) => {
  const body = slide.querySelector(".body");
  return body.scrollHeight > body.clientHeight || body.scrollWidth > body.clientWidth;
}).map((slide) => slide.querySelector("h2").textContent)"""
TOO_SMALL = """[...document.querySelectorAll("section img")].filter((image) =>
  image.getBoundingClientRect().height < 200).map((image) => image.alt)"""
SHOWN = "[...document.querySelectorAll('section.on footer span')].map((number) => number.innerText)"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The page of each deck, as a file."""
    folder = tmp_path_factory.mktemp("slides")
    made = {number: folder / f"{number}.html" for number in DECKS}
    for number, path in made.items():
        path.write_text(DECKS[number].page(), encoding="utf-8")
    return made


@pytest.fixture
def projector(browser):
    """The browser, as large as a slide."""
    size = {"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    yield browser
    browser.call("Emulation.clearDeviceMetricsOverride")


def test_each_notebook_has_slides():
    assert sorted(DECKS) == NOTEBOOKS


@pytest.mark.parametrize("number", DECKS)
def test_a_deck_has_what_a_lesson_needs(number):
    slides = [*DECKS[number].slides()]
    bodies = [body for _, body in slides]
    assert 8 <= len(slides) <= 16
    assert "The question." in bodies[0]
    assert sum("<img" in body for body in bodies) >= 2
    assert any('class="said"' in body for body in bodies)
    asked = [i for i, body in enumerate(bodies) if 'class="options"' in body]
    assert asked and all('class="right"' in bodies[i + 1] for i in asked)
    assert "<table" in bodies[-3] and slides[-3][0] == "What changed, and why"
    questions, answers = bodies[-2:]
    assert questions.count("<li>") == answers.count("<li>") == 2
    assert questions.count("?") >= 2 and answers.count("<strong>") >= 2


@pytest.mark.parametrize("number", DECKS)
def test_what_is_written_beside_the_references_has_the_notebook_s_numbers(number):
    deck = DECKS[number]
    own = [line for line in deck.text.splitlines() if not line.startswith("@")]
    held = deck.notebook.path.read_text(encoding="utf-8")
    for line in own:
        for figure in re.findall(r"(?<![\w.])\d[\d,.]*\d", line):
            assert re.search(rf"(?<![\d,.]){re.escape(figure)}(?!\d)", held), f"{figure}: {line}"


@pytest.mark.parametrize(
    "reference, facts",
    [
        ("@figure cell-99", ["cell-99"]),
        ("@quote cell-27 Nobody wrote this", ["cell-27", "'Nobody wrote this'"]),
        ("@kernel first/ad.cu", ["first/ad.cu"]),
        ("@table cell-02", ["cell-02"]),
        ("@film cell-02", ["@film"]),
    ],
)
def test_a_reference_that_leads_nowhere_is_an_error(reference, facts):
    with refused((LookupError, FileNotFoundError), *facts):
        list(SLIDES.Deck("00", f"## A slide\n{reference}\n").slides())


def test_a_notebook_without_slides_is_an_error(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["slides.py", "00", "99"])
    with refused(SystemExit, "99"):
        SLIDES.main()


def test_an_answer_is_not_on_screen_before_its_question():
    """No slide before a question has the words that are right."""
    for deck in DECKS.values():
        bodies = [body for _, body in deck.slides()]
        for i, body in enumerate(bodies):
            right = re.search(r'<div class="right"><p>(.*?)</p>', body)
            assert not right or right[1] not in "".join(bodies[:i])


def test_pages_need_no_network(pages):
    for path in pages.values():
        used = re.findall(r"""(?:src|href)=["']?([^"']{0,30})|url\(""", path.read_text())
        assert used and all(one.startswith("data:image/png;base64,") for one in used), path.name


@pytest.mark.parametrize("number", DECKS)
def test_each_slide_fits(projector, pages, number):
    projector.open(pages[number], ready=LOADED)
    assert projector.js(TOO_FULL) == []
    assert projector.js(TOO_SMALL) == []


def test_keys_and_clicks_turn_the_slides(browser, pages):
    browser.open(pages["00"], ready=LOADED)
    assert browser.js(SHOWN) == ["1"]
    browser.press("ArrowRight", times=2)
    browser.until(f"{SHOWN}.join() === '3'")
    browser.press("ArrowLeft")
    browser.until(f"{SHOWN}.join() === '2'")
    browser.click("section.on h2")
    browser.until(f"{SHOWN}.join() === '3'")
    browser.press("Home")
    browser.until(f"{SHOWN}.join() === '1'")


def test_paper_has_a_page_for_each_slide(browser, pages):
    browser.open(pages["03"], ready=LOADED)
    made = browser.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
    sheets = re.findall(rb"/Type\s*/Page\b(?!s)", base64.b64decode(made["data"]))
    assert len(sheets) == len([*DECKS["03"].slides()])
