"""Notebooks as the course stores them: what JupyterLab folds is folded, exercises can be linked to,
and CUDA has CUDA's colours. Nothing can be run here: no verdict asks for it; pages say where."""

import nbformat
import students
from docutils import nodes

from helpers.words import Shown

RUN_IT = (
    "A page to read. To run its cells, and to write kernels and have them judged, open the same"
    " notebook with `make lab`: [how to begin](../README.md#begin)."
)
FOLDED = {"outputs_hidden": "hide-output", "source_hidden": "hide-input"}


def read(text):
    notebook = nbformat.reads(text, as_version=4)
    if students.is_asked_for():
        notebook.cells = students.without_solutions(notebook.cells)
    known = set()
    for cell in notebook.cells:
        tags = cell.metadata.setdefault("tags", [])
        hidden = cell.metadata.get("jupyter", {})
        tags += [tag for what, tag in FOLDED.items() if hidden.get(what)]
        for name in {tag for tag in tags if tag.startswith("exercise:")} - known:
            known.add(name)
            cell.source = f"({name.replace(':', '-')})=\n{cell.source}"
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not is_open(output)]
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell(RUN_IT))
    return notebook


def is_open(output):
    return Shown.WRITE.value in output.get("data", {}).get("text/plain", "")


def colour_kernels(app, doctree):
    for block in doctree.findall(nodes.literal_block):
        if block.get("language") == "c++" or block.astext().startswith("%%kernel"):
            block["language"] = "cuda"


def setup(app):
    app.config.nb_custom_formats = {".ipynb": ["notebooks.read", {}, False]}
    app.connect("doctree-read", colour_kernels)
