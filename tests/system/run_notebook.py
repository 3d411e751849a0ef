#!/usr/bin/env python3
"""Executes the code cells of a notebook in order, without Jupyter.

    run_notebook.py NOTEBOOK [PICTURES]

Runs in the notebook's folder with matplotlib's Agg backend; each plt.show() writes PICTURES/NN.png. Prints how long each
cell took. The first cell that raises ends it, with the notebook's own traceback and exit code 1.
"""

import json
import os
import sys
import time
import traceback
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"


def save_what_is_shown(folder):
    """plt.show() writes the open figures to the folder instead; returns the list that it fills."""
    import matplotlib.pyplot as plt

    saved = []

    def show(*_, **__):
        for number in plt.get_fignums():
            path = folder / f"{len(saved) + 1:02d}.png"
            plt.figure(number).savefig(path, dpi=100)
            saved.append(path)
        plt.close("all")

    plt.show = show
    return saved


def execute(notebook, saved):
    names = {"__name__": "__main__"}
    cells = [c for c in json.loads(notebook.read_text())["cells"] if c["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        before, pictures = time.time(), len(saved)
        where = f"{notebook.name}, code cell {number}"
        print(f"--- {where}", flush=True)
        exec(compile("".join(cell["source"]), where, "exec"), names)
        print(f"--- {time.time() - before:.1f} s, {len(saved) - pictures} picture(s)", flush=True)


def main():
    notebook = Path(sys.argv[1]).resolve()
    pictures = Path(sys.argv[2] if len(sys.argv) > 2 else ".").resolve()
    pictures.mkdir(parents=True, exist_ok=True)
    os.chdir(notebook.parent)
    sys.path.insert(0, str(notebook.parent))
    try:
        import h5py  # noqa: F401
        import numpy  # noqa: F401
        saved = save_what_is_shown(pictures)
    except ImportError as missing:
        print(f"SKIPPED: notebook {notebook.stem}: {missing}")
        return 77
    start = time.time()
    try:
        execute(notebook, saved)
    except Exception:  # the traceback names notebook and cell
        traceback.print_exc()
        return 1
    if not saved:
        print(f"{notebook.name} shows no picture")
        return 1
    print(f"{notebook.name}: {time.time() - start:.1f} s, {len(saved)} pictures in {pictures}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
