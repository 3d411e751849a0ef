#!/usr/bin/env python3
"""Energies of 960 molecules of GDB-13, five folds: graph_gdb1k.py PROGRAM molecules.h5 [--folds 0,1,2,3,4] [--keep FOLDER].

Runs inputs/graph/molecules.yaml at full size with each fold left out in turn and prints one JSON object: mean absolute errors (kcal/mol) of
both networks, of their mean and of the baselines on the fold that none of them saw, for each fold and on the mean. Folds whose tables already
lie in FOLDER are not computed again. A quarter of an hour on one core."""

import argparse
import csv
import json
import os
import subprocess
import tempfile

import measured

MADE_UP = "synthetic: {molecules: 600, atoms: [4, 9], noise: 1 kcal/mol}"


def deck_of(fold, data):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "inputs", "graph", "molecules.yaml")) as file:
        text = file.read()
    assert text.count(MADE_UP) == 2 and text.count("fold: 0") == 2
    return text.replace(MADE_UP, f"file: {data}, group: gdb1k").replace("fold: 0", f"fold: {fold}")


def errors_of(program, fold, data, folder):
    """By method; from an earlier run's table where there is one."""
    table = os.path.join(folder, f"fold_{fold}", "molecule_energies", "scores.csv")
    if not os.path.exists(table):
        deck = os.path.join(folder, f"fold_{fold}.yaml")
        with open(deck, "w") as file:
            file.write(deck_of(fold, data).replace("name: molecules", f"name: fold_{fold}, directory: {folder}/fold_{fold}"))
        subprocess.run([program, "run", deck, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
    with open(table) as file:
        return {row["method"]: float(row["mae [kcal/mol]"]) for row in csv.DictReader(file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("--folds", default="0,1,2,3,4")
    parser.add_argument("--keep")
    wanted = parser.parse_args()
    program, data = os.path.abspath(wanted.program), os.path.abspath(wanted.data)
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.abspath(wanted.keep or scratch)
        os.makedirs(folder, exist_ok=True)
        folds = {fold: errors_of(program, fold, data, folder) for fold in map(int, wanted.folds.split(","))}
    methods = list(next(iter(folds.values())))
    out = {"molecules": 960, "unit": "kcal/mol", "folds": {str(fold): errors for fold, errors in folds.items()},
           "mae": {method: sum(errors[method] for errors in folds.values()) / len(folds) for method in methods},
           "measured": measured.by_program(program, f"studies/graph_gdb1k.py PROGRAM molecules.h5 --folds {wanted.folds}")}
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
