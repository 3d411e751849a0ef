"""What the studies of the plugin pretrain share: a run of a deck with other keys, and its tables."""

import csv
import os
import shutil
import subprocess
import sys

INPUTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "pretrain")


def run(program, deck, folder, *overrides):
    """Runs a deck (a path, or the name of one in inputs/pretrain) in a folder that is made anew; ends here when it fails."""
    shutil.rmtree(folder, ignore_errors=True)
    path = deck if os.path.exists(deck) else os.path.join(INPUTS, deck)
    done = subprocess.run([program, "run", path, f"run.directory={folder}", *overrides], capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    if done.returncode:
        sys.exit(f"{deck} {' '.join(overrides)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return folder


def rows(folder, stage, table="scores.csv"):
    """A table that a stage wrote."""
    with open(os.path.join(folder, stage, table), newline="") as file:
        return list(csv.DictReader(file))


def scores(folder, stage, columns):
    """Of each method, the numbers in these columns."""
    return {row["method"]: {column: float(row[column]) for column in columns} for row in rows(folder, stage)}
