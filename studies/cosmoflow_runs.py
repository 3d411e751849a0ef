#!/usr/bin/env python3
"""cosmoflow in ten runs at each of three batches: cosmoflow_runs.py PROGRAM FOLDER --json OUT [--cosmologies quijote_latin_hypercube.h5].

Makes 2,000 boxes once (those of the deck, or of a file of cosmologies), trains each network of NETWORKS with one seed and takes the one with the least error on the
validation boxes, then runs `cambium suite run cosmo/regression` with it over seeds and batches, and judges every model by 200 boxes that neither training
nor choice saw, beside the fits of infer_cosmology. Goes on where it was stopped. About 15 s of one core for 100 boxes, and for each network and each run of
20 epochs about 8 minutes: 4 hours in all with 10 seeds and 3 batches, half of it with `mpirun -np 2` (--ranks 2)."""

import argparse
import csv
import glob
import json
import os
import subprocess

import measured

# What they differ in; the first is the published one at this size.
NETWORKS = {"published": ["pool=all", "statistics=''", "dropout=0"], "dropout": ["pool=all", "statistics=''", "dropout=0.5"],
            "mean": ["pool=mean", "statistics=''"], "mean and statistics": ["pool=mean", "statistics=power"]}
SPLIT = {"training": 1600, "validation": 1800, "test": 2000}
B, T = "stages[0].structure_boxes.", "stages[1].train."


def call(given, *arguments):
    launcher = ["mpirun", "-np", str(given.ranks), "--bind-to", "core"] if given.ranks > 1 else []
    subprocess.run([*launcher, given.program, *arguments], check=True)


def of_network(name):
    words = [T + "network." + key for key in NETWORKS[name]]
    if "statistics=power" in NETWORKS[name]:
        words += [T + data + ".fields=[{name: counts}, {name: power}, {name: target}]" for data in ("dataset", "validation")]
    return words


def suite(given, network, seeds, batches, into):
    boxes = [B + f"boxes={given.boxes or SPLIT['test']}"]
    if given.cosmologies:
        boxes += [B + "vary=null", B + f"cosmologies={os.path.abspath(given.cosmologies)}"]
    call(given, "suite", "run", "cosmo/regression", *boxes, *of_network(network), *given.more, T + f"dataset.range=[0, {SPLIT['training']}]",
         T + f"validation.range=[{SPLIT['training']}, {SPLIT['validation']}]", "--seeds", str(seeds), "--batches", ",".join(map(str, batches)),
         "--runs", str(max(3, seeds)), "--into", into)


def least_error(folder):
    """On the validation boxes, of the runs of a sweep."""
    out = []
    for path in glob.glob(os.path.join(folder, "cosmoflow", "train_sweep", "*", "train", "validation.csv")):
        with open(path) as file:
            out.append(min(float(row["absolute_error"]) for row in csv.DictReader(file)))
    return min(out)


def judged(given, models, boxes, folder):
    """Mean absolute errors by model and by fit: {name: {number: error}}."""
    os.makedirs(folder, exist_ok=True)
    deck = os.path.join(folder, "judge.yaml")
    with open(deck, "w") as file:
        file.write(f"run: {{name: judge, directory: {folder}/judge}}\nplugins: [cosmo]\nstages:\n  - infer_cosmology:\n      boxes: {boxes}\n"
                   f"      training: [0, {SPLIT['validation']}]\n      test: [{SPLIT['validation']}, {SPLIT['test']}]\n      models: {json.dumps(models)}\n")
    subprocess.run([given.program, "run", deck, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "judge", "infer_cosmology", "scores.csv")) as file:
        rows = list(csv.reader(file))
    return [[float(x) for x in column] for column in zip(*rows[1:])], rows[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("folder", type=os.path.abspath)
    parser.add_argument("--json", required=True)
    parser.add_argument("--cosmologies")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--batches", default="8,16,32")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--boxes", type=int, help="fewer, for a try")
    parser.add_argument("--more", nargs="*", default=[], help="further overrides of the deck")
    given = parser.parse_args()
    if given.boxes:
        SPLIT.update(training=given.boxes * 8 // 10, validation=given.boxes * 9 // 10, test=given.boxes)
    given.program = given.program if os.path.exists(given.program) else os.path.basename(given.program)
    batches = [int(b) for b in given.batches.split(",")]
    data = os.path.join(given.folder, "runs", "cosmoflow", "data")
    errors = {}
    for name in NETWORKS:
        into = os.path.join(given.folder, "choose_" + name.replace(" ", "_"))
        if errors:  # boxes are made once
            os.makedirs(os.path.join(into, "cosmoflow"), exist_ok=True)
            if not os.path.exists(os.path.join(into, "cosmoflow", "data")):
                os.symlink(os.path.join(given.folder, "choose_published", "cosmoflow", "data"), os.path.join(into, "cosmoflow", "data"))
        try:
            suite(given, name, 1, batches[1:2] or batches, into)
        except subprocess.CalledProcessError as failed:  # one seed makes no score, which is exit code 2
            if failed.returncode != 2 or not glob.glob(os.path.join(into, "cosmoflow", "train_sweep", "*", "train", "model.h5")):
                raise
        errors[name] = least_error(into)
    chosen = min(errors, key=errors.get)
    os.makedirs(os.path.dirname(data), exist_ok=True)
    if not os.path.exists(data):
        os.symlink(os.path.join(given.folder, "choose_published", "cosmoflow", "data"), data)
    into = os.path.join(given.folder, "runs")
    try:
        suite(given, chosen, given.seeds, batches, into)
    except subprocess.CalledProcessError as failed:  # a run that missed its target
        if failed.returncode != 2:
            raise
    with open(os.path.join(into, "suite.json")) as file:
        sets = json.load(file)["sets"]
    folders = sorted(glob.glob(os.path.join(into, "cosmoflow", "train_sweep", "*", "train", "model.h5")))
    columns, names = judged(given, folders, os.path.join(data, "structure_boxes", "boxes.h5"), os.path.join(given.folder, "judge"))
    fits = len(names) - len(folders)
    out = {"boxes": SPLIT["test"], "validation_errors": errors, "chosen": chosen, "fits": dict(zip(names[:fits], columns[:fits])),
           "runs": {os.path.basename(os.path.dirname(os.path.dirname(path))): column for path, column in zip(folders, columns[fits:])}, "sets": sets}
    measured.write(given, out)


if __name__ == "__main__":
    main()
