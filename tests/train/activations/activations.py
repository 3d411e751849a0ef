#!/usr/bin/env python3
"""Training with compressed and recomputed activations: activations.py PROGRAM [--short] [--json FILE].

A small convolutional network on 10,000 handwritten digits (8,000 to train on, 2,000 to validate), equal steps. Arms: whole
activations; compressed, with bounds that follow from the error of gradients (COMET, PVLDB 15, 2021); recomputed; and an absurd
bound, under which training must break. With --short one seed and fewer steps; without, three seeds.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import h5py
except ImportError:
    h5py = None

ARMS = {"whole": "{keep: whole}", "compressed": "{keep: compressed}", "recomputed": "{keep: recomputed}",
        "absurd": "{keep: compressed, bound: 100}"}
DECK = """
run: {{name: activations, directory: {folder}, seed: {seed}}}
stages:
  - train:
      model: {{type: conv_net, channels: [16, 32], hidden: 64, input: image, target: label}}
      dataset: {{type: hdf5, files: [{data}], fields: [{{name: image}}, {{name: label}}], range: [0, 8000]}}
      validation: {{type: hdf5, files: [{data}], fields: [{{name: image}}, {{name: label}}], range: [8000, 10000]}}
      batch: 64
      steps: {steps}
      optimizer: {{type: sgd, momentum: 0.9}}
      learning_rate: {{type: cosine, start: 0.02, stop: 1e-4}}
      activations: {keep}
      explode: 1e30
      validate: {{every: {steps}, keep_best: false, batch: 500}}
      log: 100000
"""
KEPT = re.compile(r"activations: (\S+) MB at most kept")
TORCH = re.compile(r"Torch allocated (\S+) MB")


def prepare(folder):
    with h5py.File(os.path.join(os.environ["CAMBIUM_DATA"], "images", "mnist10k.h5"), "r") as source:
        images, labels = source["images"][...].astype("f4"), source["labels"][...]
    path = os.path.join(folder, "digits.h5")
    with h5py.File(path, "w") as file:
        file["image"] = images / 255.0 if images.max() > 2 else images
        file["label"] = labels.astype("i4")
    return path


def train(program, data, keep, seed, steps):
    """What the last page and the validation say: per cent right (10 where training broke down), MB kept, MB allocated, s."""
    with tempfile.TemporaryDirectory() as folder:
        deck = os.path.join(folder, "deck.yaml")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(DECK.format(folder=os.path.join(folder, "run"), seed=seed, data=data, steps=steps, keep=keep))
        answer = subprocess.run([program, "run", deck], capture_output=True, text=True)
        if answer.returncode == 4:
            return {"right": 10.0}
        if answer.returncode != 0:
            sys.exit(answer.stdout + answer.stderr)
        with open(os.path.join(folder, "run", "train", "validation.csv"), encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
        wrong = rows[0].index(next(name for name in rows[0] if name.startswith("wrong")))
        gradient = re.search(r"^gradient\s+(\S+)", answer.stdout, re.M)
        if seed == 1 and "-v" in sys.argv:
            print(answer.stdout[-2500:])
        return {"right": 100.0 * (1.0 - float(rows[-1][wrong])), "kept_mb": float(KEPT.search(answer.stdout)[1]),
                "allocated_mb": float(TORCH.search(answer.stdout)[1]), "gradient_s": float(gradient[1]) if gradient else None}


def mean(runs, key):
    return sum(run[key] for run in runs) / len(runs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    if not os.environ.get("CAMBIUM_DATA"):
        print("SKIPPED: compressed activations: CAMBIUM_DATA is not set")
        return 77
    if h5py is None:
        print("SKIPPED: compressed activations: this Python has no h5py")
        return 77
    seeds, steps = ([1], 150) if options.short else ([1, 2, 3], 750)
    with tempfile.TemporaryDirectory() as folder:
        data = prepare(folder)
        runs = {name: [train(options.program, data, keep, seed, steps) for seed in seeds] for name, keep in ARMS.items()}
    for name, of in runs.items():
        print(name, *of, sep="\n  ")
    fewer = mean(runs["whole"], "kept_mb") / mean(runs["compressed"], "kept_mb")
    lost = mean(runs["whole"], "right") - mean(runs["compressed"], "right")
    broken = mean(runs["whole"], "right") - mean(runs["absurd"], "right")
    print(f"kept {fewer:.2f} times less at {lost:.2f} points; an absurd bound costs {broken:.1f} points")
    same = [run["right"] for run in runs["recomputed"]] == [run["right"] for run in runs["whole"]]
    # One short run of one seed tells 2,000 digits apart by less than three of them only by chance.
    good = fewer >= 5.0 and lost <= (1.0 if options.short else 0.3) and broken > 5.0 and same
    if options.json:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"check": "ok" if good else "failed", "arms": ARMS, "runs": runs, "seeds": seeds, "steps": steps, "times_less_kept": fewer,
                       "lost_points": lost, "lost_points_absurd": broken,
                       "measured": {"commit": commit, "command": "tests/train/activations/activations.py PROGRAM --json FILE"}}, file, indent=1)
            file.write("\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
