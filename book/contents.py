"""The table of contents, which GitHub's readers of the same pages don't need."""

from pathlib import Path

BOOK = """
```{toctree}
:caption: The course
:hidden:
:glob:

notebooks/[0-9]*
notebooks/glossary
```

```{toctree}
:caption: Appendices
:hidden:
:glob:

docs/appendix/*
```

```{toctree}
:caption: The kernels
:hidden:

cuda_src/README
```

```{toctree}
:caption: The software GPU
:hidden:

softgpu/README
docs/take_it_with_you
docs/elsewhere
docs/streams
docs/debugging
docs/ncu
docs/clock
```

```{toctree}
:caption: The project
:hidden:

CONTRIBUTING
docs/style
tests/README
CHANGELOG
SECURITY
```
"""
TOPIC = """
```{{toctree}}
:caption: {topic}
:glob:

{topic}/*
```
"""


def add_contents(app, docname, source):
    if docname == app.config.root_doc:
        source[0] += BOOK
    if docname == "cuda_src/README":
        topics = sorted({path.parent.name for path in Path(app.srcdir).glob("cuda_src/*/*.cu")})
        source[0] += "".join(TOPIC.format(topic=topic) for topic in topics)


def setup(app):
    app.connect("source-read", add_contents)
