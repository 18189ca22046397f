"""The tables of contents, which GitHub's readers of the same pages don't need, and links that lead
out of the book."""

from fnmatch import filter as matching
from pathlib import Path

from docutils import nodes
from kernels import gist
from sphinx import addnodes

GROUPS = {  # a page is in the first that names it
    "The course": ["docs/lab", "notebooks/[0-9]*", "notebooks/glossary"],
    "Appendices": ["docs/appendix/*"],
    "The kernels": ["cuda_src/README", "docs/peers"],
    "The software GPU": [
        "softgpu/README",
        "softgpu/docs/*",
        "docs/experiments",
        "docs/take_it_with_you",
        "docs/for_maintainers",
        "docs/elsewhere",
        "docs/host",
        "docs/streams",
        "docs/debugging",
        "docs/ncu",
        "docs/clock",
    ],
    "The project": [
        *("CONTRIBUTING", "softgpu/CONTRIBUTING", "docs/style", "tests/README"),
        *("softgpu/tests/README", "CHANGELOG", "*"),
    ],
}
KERNELS = "cuda_src/README"


def toctree(caption, pages, *options):
    lines = [f":caption: {caption}", *options, "", *(f"/{page}" for page in pages)]
    return "\n".join(["", "", "```{toctree}", *lines, "```"])


def grouped(pages):
    """{caption: its pages, in order}"""
    groups, left = {}, set(pages)
    for caption, patterns in GROUPS.items():
        groups[caption] = []
        for pattern in patterns:
            groups[caption] += sorted(matching(left, pattern))
            left.difference_update(groups[caption])
    return groups


def add_contents(app, docname, source):
    kernels = sorted(matching(app.env.found_docs, "cuda_src/*/*"))
    if docname == app.config.root_doc:
        for caption, pages in grouped(app.env.found_docs - {docname, *kernels}).items():
            source[0] += toctree(caption, pages, ":hidden:")
    elif docname == KERNELS:
        for topic in sorted({kernel.split("/")[1] for kernel in kernels}):
            source[0] += steps(app, topic, matching(kernels, f"cuda_src/{topic}/*"))


def steps(app, topic, pages):
    """A topic's kernels in the order of its steps, with a sentence about each."""
    gists = {page: gist(Path(app.env.doc2path(page)).read_text()) for page in pages}
    ordered = sorted(pages, key=lambda page: (gists[page][0], page))
    lines = [f"- [{page.split('/')[-1]}](/{page}.cu) · {gists[page][1]}" for page in ordered]
    listed = "\n".join(["", "", f"## {topic}", "", *lines])
    return listed + toctree(topic, ordered, ":hidden:", ":titlesonly:")


def leave_words(app, doctree):
    """A link to what is in the repository and not in the book, such as a folder, becomes text."""
    here = Path(app.env.doc2path(app.env.docname)).parent
    for link in [*doctree.findall(addnodes.pending_xref)]:
        to = link["reftarget"]
        if (to not in app.env.found_docs) if link["refdomain"] == "doc" else (here / to).is_dir():
            link.replace_self(nodes.inline("", "", *link[0].children))


def setup(app):
    app.connect("source-read", add_contents)
    app.connect("doctree-read", leave_words)
