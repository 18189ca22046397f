"""How Sphinx makes the book: from the checkout as it stands, with nothing run and no network."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts"), str(HERE.parents[1])]

project = html_title = "GPU kernels made fast"
extensions = ["myst_nb", "sphinx_copybutton", "contents", "glossary", "kernels", "notebooks"]
root_doc = "README"
include_patterns = [
    "*.md",
    "*/README.md",
    "publish/*/README.md",
    "softgpu/CONTRIBUTING.md",
    "softgpu/docs/*.md",
    "softgpu/tests/README.md",
    "cuda_src/**",
    "docs/**.md",
    "notebooks/[0-9]*.ipynb",
    "notebooks/glossary.md",
]
exclude_patterns = ["**/.*", ".*", "build", "docs/zh", "work"]

myst_enable_extensions = ["html_image"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_code_prompt_show, nb_code_prompt_hide = "Show {type}", "Hide {type}"
suppress_warnings = ["myst.header"]  # the glossary's words are below no heading but its first

html_theme = "furo"
html_favicon = "static/icon.svg"
html_copy_source = False
html_show_copyright = html_show_sphinx = False
html_use_index = False
html_additional_pages = {"index": "index.html"}
html_static_path = ["static"]
html_css_files = ["book.css"]
html_js_files = [("book.js", {"defer": "defer"})]
templates_path = ["templates"]
pygments_style = "a11y-light"
pygments_dark_style = "a11y-dark"
