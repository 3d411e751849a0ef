#!/usr/bin/env python3
"""Affinities of inhibitors and kinases beside simple baselines: on the published test fold, and for targets and compounds never seen.

    relate_affinity.py CAMBIUM DAVIS.h5 KIBA.h5 --json FILE [--cases davis-given ...] [--folder FOLDER]

Each case is inputs/relate/davis.yaml on that file: trained on all folds but the test's and one to stop by, three networks (`--models`), judged
each alone, as their mean, and that mean together with the baseline that errs least on the fold to stop by. `given` takes the folds of the file (5 is the test); `targets` and `compounds` keep a sixth of them, drawn once.
Rows that are there already are kept. KIBA has four times the pairs of Davis and takes a third of the epochs (`epochs` in the file)."""

import argparse
import csv
import os
import subprocess
import tempfile

import measured

DECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "inputs", "relate", "davis.yaml")
FOLDS = {"given": "{by: given, fold: 5, validation: 4}", "targets": "{by: targets, fold: 5, validation: 4}",
         "compounds": "{by: compounds, fold: 5, validation: 4}"}
EPOCHS = {"davis": 30, "kiba": 10}
STRONG = {"davis": 7, "kiba": 12.1}  # the thresholds of He et al., J. Cheminform. 9, 24 (2017)


def words(name, file, folds, models, run):
    data = f"{{type: pairs, file: {file}, folds: {folds}%s}}"
    networks = ", ".join(f'"{{run}}/train/model_{k + 1}/model.h5"' for k in range(models))
    return [f"run.directory={run}", "--overwrite", f"stages[0].train.dataset={data % ''}", f"stages[0].train.validation={data % ', part: validation'}",
            f"stages[0].train.epochs={EPOCHS[name]}", f"stages[0].train.ensemble_size={models}", f"stages[1].predict_affinities.models=[{networks}]",
            f"stages[1].predict_affinities.dataset={data % ', part: test'}", f"stages[1].predict_affinities.strong={STRONG[name]}"]


def scores(run):
    with open(os.path.join(run, "predict_affinities", "scores.csv")) as file:
        return {row.pop("method"): {key: float(value) for key, value in row.items() if value} for row in csv.DictReader(file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("davis")
    parser.add_argument("kiba")
    parser.add_argument("--json", required=True)
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--cases", nargs="+", default=[f"{name}-{folds}" for name in EPOCHS for folds in FOLDS])
    parser.add_argument("--folder")
    given = parser.parse_args()
    given.program = os.path.abspath(given.program)
    with tempfile.TemporaryDirectory() as scratch:
        for case in given.cases:
            name, folds = case.split("-")
            run = os.path.abspath(os.path.join(given.folder or scratch, case))
            file = os.path.abspath(given.davis if name == "davis" else given.kiba)
            command = [given.program, "run", DECK, *words(name, file, FOLDS[folds], given.models, run)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            measured.write(given, {"what": "concordance, mean squared error and area under the curve of the pairs held for tests: networks of inputs/relate/davis.yaml, "
                                           "their mean, and baselines that cost little; given: the published test fold, targets and compounds: those never seen",
                                   "cases": {case: {"epochs": EPOCHS[name], "networks": given.models, "methods": scores(run)}}}, rows="cases")
            print(case, scores(run), flush=True)


if __name__ == "__main__":
    main()
