#!/usr/bin/env python3
"""cosmoflow in ten runs at each of three batches: cosmoflow_runs.py PROGRAM FOLDER --json OUT [--cosmologies quijote_latin_hypercube.h5].

Makes 2,000 boxes once (those of the deck, or of a file of cosmologies; omega_m and sigma_8 are to be learnt, the rest varies unseen), trains each network of
NETWORKS with one seed and takes the one with the least error on the validation boxes. Its target is then GAIN of the best fit's error on these boxes: that
is what `cambium suite run cosmo/regression` runs it to over seeds and batches. All models and fits are judged by the last 200 boxes, and by --fresh ones
that are made for it alone, with cosmologies and phases of their own, since 200 leave an error of 6 % on a mean. Goes on where it was stopped. About 15 s of
one core for 100 boxes, 5 minutes for 20 epochs of the first two networks and 2 for those of the others, less where a run reaches its target sooner."""

import argparse
import csv
import glob
import json
import os
import subprocess

import measured

# What they differ in; the first is the published one at this size.
WIDE, NARROW = "channels=[16, 32, 64]", "channels=[8, 16, 32]"
NETWORKS = {"published": [WIDE, "pool=all", "statistics=''"], "mean": [WIDE, "pool=mean", "statistics=''"],
            "mean and statistics": [NARROW, "pool=mean", "statistics=power"],
            "statistics alone": ["channels=[]", "statistics=power"],
            "without the fit": [NARROW, "pool=mean", "statistics=power", "fit=false"]}
SPLIT = {"training": 1600, "validation": 1800, "test": 2000}
B, T = "stages[0].structure_boxes.", "stages[1].train."
# Of the Quijote simulations (F. Villaescusa-Navarro et al., ApJS 250, 2, 2020).
HYPERCUBE = "{omega_m: [0.1, 0.5], omega_b: [0.03, 0.07], h: [0.5, 0.9], n_s: [0.8, 1.2], sigma_8: [0.6, 1.0]}"
LEARNT = "[omega_m, sigma_8]"
NEVER = 1e-6  # a target: all epochs are run
GAIN = 0.96  # of the fit's error


def call(given, *arguments):
    launcher = ["mpirun", "-np", str(given.ranks), "--bind-to", "core"] if given.ranks > 1 else []
    subprocess.run([*launcher, given.program, *arguments], check=True)


def share(made, data):
    """Boxes are made once: another folder of data refers to them, under its own name in the deck that made them."""
    os.makedirs(data, exist_ok=True)
    for name in os.listdir(made):
        if name == "deck.resolved.yaml":
            with open(os.path.join(made, name)) as old, open(os.path.join(data, name), "w") as new:
                new.write(old.read().replace(made, data))
        elif not os.path.exists(os.path.join(data, name)):
            os.symlink(os.path.join(made, name), os.path.join(data, name))


def of_network(name):
    fields = "[{name: counts}, {name: power}, {name: target}]" if "statistics=power" in NETWORKS[name] else "[{name: counts}, {name: target}]"
    return [T + "network." + key for key in NETWORKS[name]] + [T + data + ".fields=" + fields for data in ("dataset", "validation")]


def suite(given, network, seeds, batches, into, target):
    boxes = [B + f"boxes={given.boxes or SPLIT['test']}", B + f"targets={LEARNT}"]
    if given.cosmologies:
        boxes += [B + "vary=null", B + f"cosmologies={os.path.abspath(given.cosmologies)}"]
    call(given, "suite", "run", "cosmo/regression", *boxes, *of_network(network), T + "epochs=20", T + "average={decay: 0.99}", T + "validate.every=20",
         T + f"validate.target={target:.6g}", *given.more, T + f"dataset.range=[0, {SPLIT['training']}]",
         T + f"validation.range=[{SPLIT['training']}, {SPLIT['validation']}]", "--seeds", str(seeds), "--batches", ",".join(map(str, batches)),
         "--runs", str(max(3, seeds)), "--into", into)


def choosing(given, name):
    return os.path.join(given.folder, "choose_" + name.replace(" ", "_"))


def least_error(folder):
    """On the validation boxes, of the runs of a sweep."""
    out = []
    for path in glob.glob(os.path.join(folder, "cosmoflow", "train_sweep", "*", "train", "validation.csv")):
        with open(path) as file:
            out.append(min(float(row["absolute_error"]) for row in csv.DictReader(file)))
    return min(out)


def judged(given, models, boxes, folder, training, test, fresh=None):
    """Mean absolute errors of omega_m and sigma_8 by model and by fit: their names and rows."""
    os.makedirs(folder, exist_ok=True)
    deck = os.path.join(folder, "judge.yaml")
    with open(deck, "w") as file:
        file.write(f"run: {{name: judge, directory: {folder}/judge}}\nplugins: [cosmo]\nstages:\n  - infer_cosmology:\n      boxes: {boxes}\n"
                   f"      training: {training}\n      test: {test}\n      models: {json.dumps(models)}\n" + (f"      test_boxes: {fresh}\n" if fresh else ""))
    subprocess.run([given.program, "run", deck, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "judge", "infer_cosmology", "scores.csv")) as file:
        rows = list(csv.reader(file))
    return [[float(x) for x in column] for column in zip(*rows[1:])], rows[0]


def fresh_boxes(given):
    """A file of boxes that are made for judging alone."""
    folder = os.path.join(given.folder, "fresh")
    path, deck = os.path.join(folder, "structure_boxes", "boxes.h5"), folder + ".yaml"
    vary = HYPERCUBE if given.cosmologies else "{omega_m: [0.1, 0.5], sigma_8: [0.6, 1.0]}"
    with open(deck, "w") as file:
        file.write(f"run: {{name: fresh, directory: {folder}, seed: 2}}\nplugins: [cosmo]\nstages:\n  - structure_boxes:\n      boxes: {given.fresh}\n"
                   f"      vary: {vary}\n      targets: {LEARNT}\n      cosmology: {{omega_b: 0.049, h: 0.6711, n_s: 0.9624}}\n      box: 128\n"
                   "      particles: 32\n      start: 0.1\n      time_steps: 20\n")
    if not os.path.exists(os.path.join(folder, "deck.resolved.yaml")):
        call(given, "run", deck)
    elif not os.path.exists(os.path.join(folder, "stages_done.txt")):
        call(given, "restart", folder)
    return path


def tables(given, folders, data, fresh):
    """Errors by the last boxes and by fresh ones: fits, and models under the names of their runs."""
    out = {}
    for name, test, path in (("last boxes", [SPLIT["validation"], SPLIT["test"]], None), ("fresh boxes", [0, given.fresh], fresh)):
        rows, names = judged(given, folders, data, os.path.join(given.folder, "judge_" + name.split()[0]), [0, SPLIT["validation"]], test, path)
        fits = len(names) - len(folders)
        out[name] = {"fits": dict(zip(names[:fits], rows[:fits])),
                     "runs": {os.path.basename(os.path.dirname(os.path.dirname(path))): row for path, row in zip(folders, rows[fits:])}}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("folder", type=os.path.abspath)
    parser.add_argument("--json", default="")
    parser.add_argument("--cosmologies")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--batches", default="8,16,32")
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), default=list(NETWORKS))
    parser.add_argument("--gain", type=float, default=GAIN, help="the target over the best fit's error on the validation boxes")
    parser.add_argument("--choose-only", action="store_true", help="one seed of each network, all epochs, and their errors")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--boxes", type=int, help="fewer, for a try")
    parser.add_argument("--fresh", type=int, default=1000, help="boxes for judging alone")
    parser.add_argument("--more", nargs="*", default=[], help="further overrides of the deck")
    given = parser.parse_args()
    if given.boxes:
        SPLIT.update(training=given.boxes * 8 // 10, validation=given.boxes * 9 // 10, test=given.boxes)
    given.program = given.program if os.path.exists(given.program) else os.path.basename(given.program)
    batches = [int(b) for b in given.batches.split(",")]
    data = os.path.join(given.folder, "runs", "cosmoflow", "data")
    errors = {}
    made = os.path.join(choosing(given, given.networks[0]), "cosmoflow", "data")
    for name in given.networks:
        into = choosing(given, name)
        if errors:
            share(made, os.path.join(into, "cosmoflow", "data"))
        try:
            suite(given, name, 1, batches[1:2] or batches, into, NEVER)
        except subprocess.CalledProcessError as failed:  # one seed makes no score, which is exit code 2
            if failed.returncode != 2 or not glob.glob(os.path.join(into, "cosmoflow", "train_sweep", "*", "train", "model.h5")):
                raise
        errors[name] = least_error(into)
    chosen = min(errors, key=errors.get)
    share(made, data)
    boxes = os.path.join(data, "structure_boxes", "boxes.h5")
    fits, names = judged(given, [], boxes, os.path.join(given.folder, "judge_fits"), [0, SPLIT["training"]], [SPLIT["training"], SPLIT["validation"]])
    target = given.gain * min(sum(errors_of) / len(errors_of) for errors_of in fits)
    if given.choose_only:
        print(json.dumps({"validation_errors": errors, "fits_on_validation": dict(zip(names, fits))}, indent=1))
        return
    into = os.path.join(given.folder, "runs")
    try:
        suite(given, chosen, given.seeds, batches, into, target)
    except subprocess.CalledProcessError as failed:  # a run that missed its target
        if failed.returncode != 2:
            raise
    with open(os.path.join(into, "suite.json")) as file:
        sets = json.load(file)["sets"]
    folders = sorted(glob.glob(os.path.join(into, "cosmoflow", "train_sweep", "*", "train", "model.h5")))
    out = {"boxes": SPLIT["test"], "fresh": given.fresh, "learnt": LEARNT, "validation_errors": errors, "chosen": chosen, "target": target,
           "fits_on_validation": dict(zip(names, fits)), **tables(given, folders, boxes, fresh_boxes(given)), "sets": sets}
    measured.write(given, out)


if __name__ == "__main__":
    main()
