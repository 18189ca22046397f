"""The book holds what the notebooks, the pages and the kernels do, its links lead somewhere, and it
needs nothing from elsewhere."""

import ast
import csv
import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from packaging.requirements import Requirement

from helpers import exercises
from helpers.words import Shown
from softgpu.tests import python
from softgpu.tests.xray.nsight.record import golden
from tests import ROOT
from tests.course.answers import answered
from tests.play.browser import LOADED

SITE, STUDENTS = ROOT / "build/book", ROOT / "build/book-students"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
KERNELS = sorted((ROOT / "cuda_src").rglob("*.cu"))
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
KINDS = "README.html", "notebooks/00_first_kernel.html", "notebooks/glossary.html"
KINDS += "cuda_src/reduce/shared.html", "docs/clock.html"


class Page(HTMLParser):
    """What a page says, links to and loads, and the places in it that can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.path, self.tags, self.words = path, [], []
        self.ids, self.links, self.loads = set(), [], []
        self.feed(path.read_text())
        self.text = "".join(self.words)

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        self.tags.append(tag)
        self.ids.add(facts.get("id"))
        if tag == "a" and "href" in facts:
            self.links.append(facts["href"])
        if facts.get(LOADS.get(tag)):
            self.loads.append(facts[LOADS[tag]])

    def handle_data(self, words):
        self.words.append(words)


@pytest.fixture(scope="module")
def book():
    """{path below the site: its page}"""
    return pages(SITE, solutions="")


def pages(site, solutions):
    """Make an edition of the book."""
    made = python("scripts/book.py", COURSE_SOLUTIONS=solutions)
    assert made.returncode == 0, made.stderr
    return {str(path.relative_to(site)): Page(path) for path in sorted(site.rglob("*.html"))}


def page_of(book, path):
    return book[str(path.relative_to(ROOT).with_suffix(".html"))]


def cells(notebook):
    return json.loads(notebook.read_text())["cells"]


def test_the_lock_holds_what_is_asked_for():
    asked = (ROOT / "publish/book/requirements.in").read_text().splitlines()[1:]
    locked = (ROOT / "publish/book/requirements.lock").read_text().splitlines()
    assert {line.partition(" #")[0] for line in asked} <= set(locked)
    assert all(re.fullmatch("==[^*]+", str(Requirement(line).specifier)) for line in locked[1:])


@pytest.mark.slow
@pytest.mark.long
class TestPages:
    def test_nothing_comes_from_elsewhere(self, book):
        loads = {load for page in book.values() for load in page.loads}
        styles = "".join(path.read_text() for path in SITE.rglob("*.css"))
        loads |= set(re.findall(r"""(?:url\(|@import )["']?([^"')]+)""", styles))
        assert len(loads) > 20
        assert {urlsplit(load).scheme for load in loads} <= {"", "data"}
        assert not [load for load in loads if load.startswith("/")]

    def test_links_lead_somewhere(self, book):
        lost, found = [], 0
        for name, page in book.items():
            for link in page.links:
                to = urlsplit(link)
                if to.scheme:
                    assert to.scheme in ("http", "https", "mailto"), link
                    continue
                path = (page.path.parent / unquote(to.path)).resolve() if to.path else page.path
                place = unquote(to.fragment)
                there = path.is_file() and (
                    not place or place in book[str(path.relative_to(SITE))].ids
                )
                found += there
                lost += [] if there else [(name, link)]
        assert found > 10_000 and not lost

    @pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
    def test_a_notebook_is_there_with_all_that_folds(self, book, path):
        page = page_of(book, path)
        text = "".join("".join(c["source"]) for c in cells(path) if c["cell_type"] == "markdown")
        folded = [c for c in cells(path) if any(c["metadata"].get("jupyter", {}).values())]
        assert page.tags.count("details") >= text.count("<details>") + len(folded) > 0
        printed = ["".join(o.get("text", "")) for c in cells(path) for o in c.get("outputs", [])]
        assert all(output.strip() in page.text for output in printed)
        pictures = [o for c in cells(path) for o in c.get("outputs", []) if "srcdoc" in str(o)]
        assert page.tags.count("iframe") == len(pictures)

    def test_nobody_is_asked_to_run_what_cannot_be_run_here(self, book):
        module = ast.parse((ROOT / "publish/book/notebooks.py").read_text())  # needs docutils
        told = {node.targets[0].id: node.value for node in module.body if hasattr(node, "targets")}
        where_to = ast.literal_eval(told["RUN_IT"]).partition(" `")[0]
        for path in NOTEBOOKS:
            text = page_of(book, path).text
            assert Shown.WRITE() not in text and text.count(where_to) == 1

    def test_each_exercise_can_be_linked_to(self, book):
        places = {place for page in book.values() for place in page.ids if place}
        names = {re.sub(r"\W|_", "-", f"exercise-{name}") for name in exercises.names()}
        assert len(names) > 60 and names <= places

    def test_each_kernel_has_a_page_with_its_lines(self, book):
        assert len(KERNELS) > 100
        for path in KERNELS:
            text = page_of(book, path).text
            lines = [line for line in path.read_text().splitlines() if line[:2] != "//"]
            assert not [line for line in lines if line.strip() not in text]

    def test_kernels_are_listed_by_their_steps(self, book):
        page = book["cuda_src/README.html"]
        listed = [link for link in dict.fromkeys(page.links) if link.startswith("reduce/")]
        files = [link.replace("reduce/", "").replace(".html", ".cu") for link in listed]
        heads = [(ROOT / "cuda_src/reduce" / file).read_text() for file in files]
        numbers = [int(found[1]) for head in heads if (found := re.search(r"Step (\d+)", head))]
        assert len(numbers) > 10 and numbers == sorted(numbers)
        assert "one_thread · Step 1: the CPU" in page.text
        assert "wrong_race · WRONG on purpose: shared.cu without the barrier" in page.text

    def test_a_kernels_page_has_what_was_recorded(self, book):
        text = page_of(book, ROOT / "cuda_src/reduce/shared.cu").text
        with (ROOT / "notebooks/recorded/03_shared_memory_reduce.csv").open() as file:
            rows = [row for row in csv.DictReader(file) if row["step"] == "shared"]
        told = re.findall(r"\bshared\n+([\d,]+)\n+([\d,.]+)\n+", text)
        recorded = [(int(row["size"]), round(float(row["median_us"]), 1)) for row in rows]
        assert recorded == [(int(s.replace(",", "")), float(t.replace(",", ""))) for s, t in told]
        counted = golden()["reduce/shared.cu 8 of 128"][1]
        for metric, count in counted.items():
            assert not count or re.search(rf"{re.escape(metric)}\n+{count}\n", text)

    def test_the_glossary_leads_back(self, book):
        back = [link for link in book["notebooks/glossary.html"].links if "#word-" in link]
        linked = [
            f"{path.stem}.html#word-{word}"
            for path in NOTEBOOKS
            for word in re.findall(r"\(glossary\.md#([\w-]+)\)", path.read_text())
        ]
        assert sorted(back) == sorted(linked)


@pytest.mark.slow
@pytest.mark.long
def test_the_students_edition_has_no_solution(book):
    students = pages(STUDENTS, solutions="0")
    assert students.keys() == book.keys()
    shown = {name for page in book.values() for name in answered(page.text)}
    assert len(shown) > 60
    for name, page in students.items():
        assert not answered(page.text), name


@pytest.mark.slow
@pytest.mark.long
class TestInABrowser:
    def test_pictures_can_be_played(self, book, browser):
        browser.open(SITE / "notebooks/00_first_kernel.html")
        picture = "[...document.querySelectorAll('iframe')].at(-1).contentDocument"
        browser.until(f"{picture}?.body?.dataset.ready !== undefined")
        assert browser.js("scrollY") == 0
        assert "step 1 of" in browser.js(f"{picture}.body.innerText")
        buttons = f"[...{picture}.querySelectorAll('button')]"
        browser.js(f"{buttons}.find(button => button.innerText.startsWith('step')).click()")
        assert "step 2 of" in browser.js(f"{picture}.body.innerText")
        browser.js("document.body.dataset.theme = 'dark'; 0")
        browser.until(f"{picture}.documentElement.classList.contains('dark')")

    def test_a_word_shows_its_meaning(self, book, browser):
        browser.open(SITE / "notebooks/00_first_kernel.html")
        browser.hover("a.word[href$='#cuda']")
        assert browser.text("#meaning").startswith("NVIDIA")
        browser.hover("h1")
        assert not browser.js("document.querySelector('#meaning').matches(':popover-open')")

    def test_search_finds_words(self, book, browser):
        browser.open(SITE / "search.html", ready=LOADED)
        browser.js("location.search = '?q=grid-stride'")
        browser.until("document.querySelectorAll('#search-results li a').length > 2")

    def test_paper_has_no_sidebars_and_nothing_folded(self, book, browser):
        def seen(what):
            return set(browser.all(what, "checkVisibility()"))

        browser.open(SITE / "notebooks/03_shared_memory_reduce.html")
        assert seen(".sidebar-drawer") == {True} and seen("details pre") == {False}
        browser.call("Emulation.setEmulatedMedia", media="print")
        try:
            assert seen(".sidebar-drawer") == {False} and seen("details pre") == {True}
        finally:
            browser.call("Emulation.setEmulatedMedia", media="")

    def test_no_page_is_wider_than_a_phone(self, book, browser):
        phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        browser.call("Emulation.setDeviceMetricsOverride", **phone)
        try:
            for page in (*KINDS, *(f"notebooks/{path.stem}.html" for path in NOTEBOOKS)):
                browser.open(SITE / page, ready=LOADED)
                assert browser.js("document.documentElement.scrollWidth") == 390, page
        finally:
            browser.call("Emulation.clearDeviceMetricsOverride")

    def test_code_is_not_cut_on_a_desktop(self, book, browser):
        desktop = {"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.call("Emulation.setDeviceMetricsOverride", **desktop)
        cut = "[...document.querySelectorAll('.highlight pre')]"
        cut += ".filter(pre => pre.scrollWidth > pre.clientWidth).map(pre => pre.innerText)"
        try:
            for page in (*KINDS, "notebooks/13_product.html", "notebooks/15_hardware_im2col.html"):
                browser.open(SITE / page, ready=LOADED)
                assert browser.js(cut) == [], page
                assert browser.js("document.documentElement.scrollWidth") <= 1400, page
        finally:
            browser.call("Emulation.clearDeviceMetricsOverride")

    @pytest.mark.parametrize("dark", [False, True])
    def test_the_recording_keeps_its_own_ground(self, book, browser, dark):
        browser.open(SITE / "README.html", dark, ready=LOADED)
        tone = "getComputedStyle(document.querySelector(`img[src*='{}']`)).filter"
        assert browser.js(tone.format("recording")) == "none"
        assert browser.js(tone.format("ladder")) != "none"

    @pytest.mark.parametrize("dark", [False, True])
    def test_pages_can_be_read_without_sight_or_mouse(self, book, browser, dark):
        for page in KINDS:
            browser.open(SITE / page, dark, ready=LOADED)
            assert not objections(browser, "[window]"), page

    @pytest.mark.parametrize("dark", [False, True])
    def test_so_can_pictures(self, book, browser, dark):
        frames = "[...document.querySelectorAll('iframe')].map(e => e.contentWindow)"
        drawn = f"{frames}.every(frame => frame.document.body?.dataset.ready !== undefined)"
        for name in (name for name, page in book.items() if "iframe" in page.tags):
            browser.open(SITE / name, dark, ready=f"{LOADED} && {drawn}")
            assert not objections(browser, frames), name


def objections(browser, windows):
    """What axe has against some windows' pages, each without the pictures in it. It does not see
    the filter that gives listings their contrast."""
    (axe,) = (ROOT / ".cache/book").glob("lib/*/site-packages/axe_playwright_python/axe.min.js")
    apart = json.dumps({"exclude": [["iframe"], [".cell_output td pre"]]})
    browser.js(f"{windows}.forEach(w => w.eval({json.dumps(axe.read_text())}))")
    found = (
        f"(await Promise.all({windows}.map(w => w.axe.run({apart})))).flatMap(r => r.violations)"
    )
    serious = "filter(v => ['serious', 'critical'].includes(v.impact))"
    return browser.js(
        f"(async () => {found}.{serious}.map(v => [v.help, v.nodes.map(n => n.html)]))()"
    )
