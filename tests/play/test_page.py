"""The frame that all pictures share: themes, size, a place inside other pages."""

import re
from html.parser import HTMLParser

import pytest

from helpers.play.page import HERE, Page
from softgpu.tests.facts import contrast

FILLS = ("page", "cell", "on", "read", "write", "bad", "good")


def colours(theme):
    css = (HERE / "frame.css").read_text()
    block = re.search(
        r":root\.dark \{(.*?)\}" if theme == "dark" else r":root \{(.*?)\}", css, re.S
    )
    return dict(re.findall(r"--(\w+): (#\w{6})", block[1]))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_enough_contrast(theme):
    named = colours(theme)
    pairs = [("text", fill) for fill in FILLS]
    pairs += [("soft", "page"), ("alarm", "page"), ("mark", "page"), ("mark", "on")]
    for text, fill in pairs:
        assert contrast(named[text], named[fill]) >= 4.5, (text, fill)


class Frame(HTMLParser):
    def handle_starttag(self, tag, facts):
        self.found = tag, dict(facts)


@pytest.fixture
def page():
    data = {"kernel": "none", "grid": [1, 1, 1], "block": [1, 1, 1], "arguments": [], "steps": []}
    return Page("launch", "Nothing < at all", data, "words")


def test_a_notebook_gets_the_whole_page_in_a_frame(page):
    parser = Frame()
    parser.feed(page._repr_html_())
    assert parser.found[0] == "iframe" and parser.found[1]["srcdoc"] == page.html
    assert repr(page) == "words" and "http" not in page.html.replace("http://www.w3.org/2000", "")


@pytest.mark.parametrize("colour, dark", [("#111111", True), ("#ffffff", False)])
def test_in_another_page_it_takes_that_ones_theme_and_the_height_it_needs(
    page, browser, tmp_path, colour, dark
):
    around = f'<body style="background: {colour}"><div>{page._repr_html_()}</div></body>'
    (tmp_path / "around.html").write_text(around)
    browser.open(tmp_path / "around.html", dark=not dark)
    inside = "document.querySelector('iframe').contentDocument"
    assert browser.js(f"{inside}.documentElement.classList.contains('dark')") == dark
    assert browser.js(f"{inside}.documentElement.scrollHeight") < 150
    assert browser.js("document.querySelector('iframe').offsetHeight") < 150
