#!/usr/bin/env python3
"""Held-out check-ins of Gowalla, all users: gowalla.py PROGRAM gowalla.h5 graph|relate [--tune KEY=VALUE ...] [--keep FOLDER].

Runs inputs/graph/gowalla.yaml (light_gcn) or inputs/relate/gowalla.yaml (cosine_factorization) at full size on the file and prints one JSON object:
Recall@20 and NDCG@20 of the network, its baselines and the public table BARS. With --tune the check-ins that the file holds for validation are left out of training and
looked for instead of those of the test, and further words change keys of the deck (stages[0].train.network.width=64): to choose settings by. With
--set keys change and the test judges all the same: for settings that were chosen so.
Ten minutes to two hours on one core, 4 GB for EASE; relate needs h5py with --tune."""

import argparse
import csv
import json
import os
import subprocess
import tempfile

import measured

# Recall@20 and NDCG@20 of the same split in the public table BARS (github.com/reczoo/BARS, commit 5b5e61f, docs/Matching/leaderboard/gowalla_m1.csv).
PUBLIC = {"SimpleX": (.1872, .1557), "UltraGCN": (.1862, .1580), "GF-CF": (.1849, .1518), "MF-CCL": (.1837, .1493), "LightGCN": (.1820, .1547),
          "EASE^R": (.1765, .1467), "ItemCF": (.1570, .1214)}


def without_test(data, folder):
    """A file of choices whose test is the validation of `data`."""
    import h5py

    path = os.path.join(folder, "validation.h5")
    with h5py.File(data) as file, h5py.File(path, "w") as out:
        for name, value in file.attrs.items():
            out.attrs[name] = value
        starts, items = {}, {}
        for part in ("train", "validation"):
            starts[part], items[part] = file[part + "/indptr"][:], file[part + "/items"][:]
        kept, begin = [], [0]
        for user in range(len(starts["train"]) - 1):
            of = {part: items[part][starts[part][user]:starts[part][user + 1]] for part in starts}
            held = set(of["validation"].tolist())
            kept += [item for item in of["train"].tolist() if item not in held]
            begin.append(len(kept))
        out["train/indptr"], out["train/items"] = begin, kept
        out["test/indptr"], out["test/items"] = starts["validation"], items["validation"]
    return path


def words_of(plugin, data, tuned):
    if plugin == "graph":
        links = f"{{type: links, file: {data}{', tuning: true' if tuned else ''}}}"
        return [f"stages[0].train.dataset={links}", f"stages[1].predict_links.dataset={links}"]
    joined = "" if tuned else ", join_validation: true"
    return [f"stages[0].train.dataset={{type: interactions, file: {data}, num_negatives: 0{joined}}}",
            f"stages[1].recommend.dataset={{type: interactions, file: {data}, split: test{joined}}}", "stages[1].recommend.users=0",
            "stages[1].recommend.ease_memory=4e9", "stages[1].recommend.ease_lambda=[300, 1000]"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("plugin", choices=["graph", "relate"])
    parser.add_argument("--tune", nargs="*")
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--keep")
    wanted = parser.parse_args()
    tuned, program, data = wanted.tune is not None, os.path.abspath(wanted.program), os.path.abspath(wanted.data)
    deck = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "inputs", wanted.plugin, "gowalla.yaml")
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.abspath(wanted.keep or scratch)
        os.makedirs(folder, exist_ok=True)
        if tuned and wanted.plugin == "relate":
            data = without_test(data, folder)
        run = os.path.join(folder, "run")
        subprocess.run([program, "run", deck, "--overwrite", f"run.directory={run}", *words_of(wanted.plugin, data, tuned), *(wanted.tune or wanted.set)],
                       check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(run, "predict_links" if wanted.plugin == "graph" else "recommend", "scores.csv")) as file:
            rows = list(csv.DictReader(file))
    command = f"studies/gowalla.py PROGRAM gowalla.h5 {wanted.plugin}" + (" --tune " + " ".join(wanted.tune) if tuned else " --set " + " ".join(wanted.set) if wanted.set else "")
    print(json.dumps({"looked_for": "check-ins held for validation" if tuned else "check-ins of the test", "users": "all who have some",
                      "runs": 1, "recall_at_20": {row["method"]: float(row["recall"]) for row in rows},
                      "ndcg_at_20": {row["method"]: float(row["ndcg"]) for row in rows}, "public": {"recall_at_20": {name: of[0] for name, of in PUBLIC.items()}, "ndcg_at_20": {name: of[1] for name, of in PUBLIC.items()},
                                 "source": "BARS, reczoo/BARS 5b5e61f, gowalla_m1.csv"},
                      "measured": measured.by_program(program, command)}, indent=1))


if __name__ == "__main__":
    main()
