#!/usr/bin/env python3
"""Why networks for clicks stay behind logistic regression on a few thousand records, and which keys help.

    relate_criteo.py CAMBIUM CRITEO.h5 --json FILE

Keys are compared by four-fold cross validation over the records of raw_train alone (the rest of each fold's training divided 11 : 1 into
records to learn from and to stop by). The dlrm of the largest area under the curve, and logistic regression beside it, are then judged on
raw_test once, stopped by raw_dev. CRITEO.h5 is laid out as plugins/relate/README.md says."""

import argparse
import csv
import json
import os
import re
import subprocess
import tempfile

import h5py
import numpy as np

DECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "inputs", "relate", "clicks.yaml")
ARRAYS = ("label", "dense", "categorical")
FOLDS = 4
T = "stages[0].train."


def network(keys):
    return [T + f"network={{{keys}}}"]


def rates(tables, weights, rule="adagrad", more=""):
    return [T + f"tables={{optimizer: {rule}, rate: {tables:g}{more}}}", T + f"learning_rate.start={weights:g}"]


def five():
    models = ", ".join(f'"{{run}}/train/model_{k}/model.h5"' for k in range(1, 6))
    return [T + "models=5", f"stages[1].evaluate_clicks.models=[{models}]"]


# Name: (keys of the deck, least).
ARMS = {
    "dlrm, keys of the deck": ([], 2),
    "rare values share a row, 4": ([], 4),
    "rare values share a row, 10": ([], 10),
    "tables slower": (rates(5, 1e-3), 4),
    "tables slower, weights faster": (rates(5, 3e-3), 4),
    "tables slower still, weights faster": (rates(2, 1e-2), 4),
    "rows decay": (rates(20, 1e-3, more=", decay: 1"), 4),
    "narrow": ([T + "network.width=4", T + "network.bottom=[16]", T + "network.top=[16]"], 4),
    "no hidden layers": (rates(5, 3e-3) + [T + "network.bottom=[]", T + "network.top=[]"], 4),
    "five networks": (rates(2, 1e-2) + five(), 4),
    "five networks, rare values share a row, 10": (rates(2, 1e-2) + five(), 10),
    "factors, weights alone": (network("type: factorization_machine, embedding_dim: 0, init_scale: 0") + rates(5, 3e-3) + [T + "epochs=12"], 4),
    "factors, width 4": (network("type: factorization_machine, embedding_dim: 4, init_scale: 0.01") + rates(30, 3e-3, "sgd") + [T + "epochs=12"], 4),
}


def with_folds(source, path):
    """A copy with the groups fold_<k>_train, _dev and _test beside the three of the source."""
    with h5py.File(source) as old, h5py.File(path, "w") as new:
        for group in ("raw_train", "raw_dev", "raw_test"):
            for name in ARRAYS:
                new[f"{group}/{name}"] = old[f"{group}/{name}"][:]
        count = len(old["raw_train/label"])
        order, size = np.random.RandomState(5).permutation(count), count // FOLDS
        for k in range(FOLDS):
            test = order[k * size:(k + 1) * size]
            rest = np.concatenate([order[:k * size], order[(k + 1) * size:]])
            dev = rest[:len(rest) // 12]
            for part, rows in (("test", test), ("dev", dev), ("train", rest[len(dev):])):
                for name in ARRAYS:
                    new[f"fold_{k}_{part}/{name}"] = old[f"raw_train/{name}"][:][np.sort(rows)]


def run(program, data, groups, arm, folder):
    """Area under the curve and log loss by method."""
    keys, least = arm
    train, dev, test = groups

    def records(group):
        return f"{{type: clicks, file: {data}, group: {group}, vocabulary: {train}, min_count: {least}}}"

    done = subprocess.run([program, "run", DECK, f"run.directory={folder}", "--overwrite", T + f"dataset={records(train)}",
                           T + f"validation={records(dev)}", f"stages[1].evaluate_clicks.training={records(train)}",
                           f"stages[1].evaluate_clicks.dataset={records(test)}", *keys], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    with open(os.path.join(folder, "evaluate_clicks", "scores.csv"), encoding="utf-8") as file:
        rows = [(re.sub(r" \(lambda.*", "", row["method"]), float(row["auc"]), float(row["log_loss"])) for row in csv.DictReader(file)]
    means = [row for row in rows if row[0].startswith("mean")] or rows[-1:]
    singles = [row for row in rows if row[0].startswith(("dlrm", "factors"))]
    chosen = {"network": means[0][1:], "single": tuple(np.mean([row[1:] for row in singles], axis=0))}
    return chosen | {row[0]: row[1:] for row in rows if row[0].startswith("logistic")}


def scores(pairs):
    auc, loss = np.mean(pairs, axis=0)
    out = {"auc": round(float(auc), 4), "log_loss": round(float(loss), 4)}
    return out | ({"auc_of_folds": [round(float(p[0]), 4) for p in pairs]} if len(pairs) > 1 else {})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("--json", required=True)
    options = parser.parse_args()
    out = {"command": "studies/relate_criteo.py cambium criteo.h5 --json FILE", "folds": FOLDS, "cross_validation": {}}
    with tempfile.TemporaryDirectory() as place:
        data, folder = os.path.join(place, "criteo.h5"), os.path.join(place, "run")
        with_folds(options.data, data)
        for name, arm in ARMS.items():
            found = [run(options.program, data, [f"fold_{k}_{part}" for part in ("train", "dev", "test")], arm, folder) for k in range(FOLDS)]
            out["cross_validation"][name] = {key: scores([one[key] for one in found]) for key in found[0]}
            print(name, out["cross_validation"][name], flush=True)
        candidates = [name for name in ARMS if not name.startswith("factors")]
        best = max(candidates, key=lambda name: out["cross_validation"][name]["network"]["auc"])
        for kind, name in (("chosen", best), ("deck", candidates[0])):
            found = run(options.program, data, ["raw_train", "raw_dev", "raw_test"], ARMS[name], folder)
            out[f"test_{kind}"] = {"arm": name} | {key: scores([value]) for key, value in found.items()}
            print(kind, out[f"test_{kind}"], flush=True)
        with open(os.path.join(folder, "provenance.yaml"), encoding="utf-8") as file:
            about = dict(re.findall(r"^(\w+): (.+)$", file.read().split("\ndeck:")[0], re.M))
    out["commit"] = about["git_hash"]
    out["measured"] = {key: about[key] for key in ("date", "compiler", "instruction_set", "mpi", "hdf5", "ranks", "threads_per_rank")}
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(out, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
