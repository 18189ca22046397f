"""Links to the glossary lead both ways: a linked word bears its meaning, and the glossary's word
names the notebooks in which it is linked."""

import re
from collections import defaultdict
from pathlib import Path

from docutils import nodes

GLOSSARY = "notebooks/glossary"
LINK = re.compile(r"\(glossary\.md#([\w-]+)\)")


def find_uses(app):
    """{word: the notebooks that link it}; each does so once."""
    app.env.word_uses = defaultdict(list)
    for path in sorted(Path(app.srcdir, "notebooks").glob("*.ipynb")):
        for word in LINK.findall(path.read_text()):
            app.env.word_uses[word].append(f"notebooks/{path.stem}")


def drop_anchors(app, doctree):
    """GitHub and JupyterLab need anchors of their own in headings; here each section has its id."""
    for title in doctree.findall(nodes.title):
        for anchor in [*title.findall(nodes.raw)]:
            title.remove(anchor)


def place(word):
    """The id of the link to a word in a notebook."""
    return f"word-{word}"


def link(app, doctree, docname):
    if docname == GLOSSARY:
        add_uses(app, doctree)
    else:
        add_meanings(app, doctree)


def add_uses(app, glossary):
    for section in glossary.findall(nodes.section):
        links = []
        for notebook in app.env.word_uses.get(section["ids"][0], []):
            page = app.builder.get_relative_uri(GLOSSARY, notebook)
            title = app.env.titles[notebook].astext()
            number = title.partition(" ")[0]
            links += [nodes.Text(" · " if links else "In "), nodes.reference(
                "", number, refuri=f"{page}#{place(section['ids'][0])}", reftitle=title
            )]  # fmt: skip
        if links:
            section += nodes.paragraph("", "", *links, classes=["uses"])


def add_meanings(app, doctree):
    known = {
        section["ids"][0]: section.next_node(nodes.paragraph).astext()
        for section in app.env.get_doctree(GLOSSARY).findall(nodes.section)
    }
    for reference in doctree.findall(nodes.reference):
        page, _, word = reference.get("refuri", "").rpartition("#")
        if page.endswith("glossary.html") and word in known:
            reference["classes"].append("word")
            reference["reftitle"] = known[word].replace("\n", " ")
            reference["ids"].append(place(word))


def setup(app):
    app.connect("builder-inited", find_uses)
    app.connect("doctree-read", drop_anchors, priority=100)  # before contents are collected
    app.connect("doctree-resolved", link)
