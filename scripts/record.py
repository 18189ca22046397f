"""Run notebooks from top to bottom and store them as they ran, in the one form that lint asks for.

On a GPU the times that they measure go to notebooks/recorded. Without one the notebooks run just
the same, but their outputs are the software GPU's: nothing to commit.

    python scripts/record.py [--commit HASH] [notebooks/00_first_kernel.ipynb ...]
"""

import argparse
import json
import os
import subprocess
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from helpers import choice

ROOT = Path(__file__).resolve().parent.parent
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
MEASURED = ("cuda_src", "helpers")
KEPT = "tags", "jupyter"  # of a cell's metadata: the latter folds what would answer a question


def current_commit():
    """The commit that is checked out, with a + if what is measured differs from it."""

    def git(*arguments):
        command = ["git", "-C", ROOT, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", *MEASURED)
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def execute(path):
    """Run a notebook in its folder and write it back with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources=resources, record_timing=False
    )
    client.execute()
    notebook.metadata = nbformat.from_dict(KERNEL)
    for cell in notebook.cells:
        kept = {key: cell.metadata[key] for key in KEPT if key in cell.metadata}
        cell.metadata = nbformat.from_dict(kept)
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
    nbformat.validate(notebook)
    data = json.loads(nbformat.writes(notebook))
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def joined(outputs):
    """Outputs with the pieces of a stream, which come as chance has it, put together."""
    kept = []
    for output in outputs:
        last = kept[-1] if kept else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            kept.append(output)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of the course")
    parser.add_argument("--commit", help="what is measured, where git cannot tell")
    arguments = parser.parse_args()
    if missing := [str(path) for path in arguments.notebooks if not path.is_file()]:
        parser.error(f"there is no {', '.join(missing)}")

    driver, compiler = choice.choose()
    if driver:
        os.environ["HELPERS_RECORD"] = arguments.commit or current_commit()
        print(f"On the GPU, {compiler}: outputs and times are recorded.", flush=True)
    else:
        print("On the software GPU: outputs are stored, no times.", flush=True)
    for path in arguments.notebooks or sorted(ROOT.glob("notebooks/*.ipynb")):
        start = time.monotonic()
        print(f"  {path.name:<40}", end="", flush=True)
        execute(path.resolve())
        print(f"{time.monotonic() - start:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
