#!/usr/bin/env python3
"""The cost of a large batch and its cure: large_batch.py PROGRAM [--short] [--json FILE].

One network, one data set (10,000 handwritten digits: 8,000 to train on, 2,000 to validate), equal passes over the data. Arms:
the base batch with SGD; 64 times the batch with the rate multiplied by 64; the same batch with LARS, which gives every tensor
a rate of its own, and a warm-up (You et al. 2017; Yamazaki et al. 2019). With --short one seed, without three.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

import h5py
EPOCHS, BASE, FACTOR = 20, 16, 64
RATE = 0.01  # of the base batch: the best of 0.002, 0.005, 0.01, 0.02, 0.05, 0.1
ARMS = {
    "base": {"batch": BASE, "optimizer": "{type: sgd, momentum: 0.9}", "rate": f"{{type: cosine, start: {RATE}}}"},
    "scaled": {
        "batch": BASE * FACTOR,
        "optimizer": "{type: sgd, momentum: 0.9}",
        "rate": f"{{type: cosine, start: {RATE * FACTOR}}}",
    },
    "lars": {
        "batch": BASE * FACTOR,
        "optimizer": "{type: lars, momentum: 0.9, trust_coefficient: 0.1}",
        "rate": "{type: cosine, start: 0.2}",
        "warm_up": 16,
    },
}
DECK = """
run: {{name: large_batch, directory: {folder}, seed: {seed}}}
stages:
  - train:
      network: {{type: mlp, layers: [128], activation: relu, input: image, target: label, objective: classification, normalise: false}}
      dataset: {{type: hdf5, files: [{data}], fields: [{{name: image}}, {{name: label}}], range: [0, 8000]}}
      validation: {{type: hdf5, files: [{data}], fields: [{{name: image}}, {{name: label}}], range: [8000, 10000]}}
      loader: {{type: buffered, buffer_size: 64}}
      batch: {batch}
      epochs: {epochs}
      optimizer: {optimizer}
      learning_rate: {rate}
      {warm_up}
      divergence_factor: 1e30
      validate: {{every: {every}, keep_best: false, batch: 500}}
      log: 100000
"""


def prepare(folder):
    """The digits with grey values of mean 0 and standard deviation 1 over all images."""
    with h5py.File(os.path.join(os.environ["CAMBIUM_DATA"], "images", "mnist10k.h5"), "r") as source:
        images, labels = source["images"][...].astype("f4"), source["labels"][...]
    path = os.path.join(folder, "digits.h5")
    with h5py.File(path, "w") as file:
        file["image"] = (images - images.mean()) / images.std()
        file["label"] = labels.astype("i4")
    return path


def train(program, data, arm, seed, epochs=EPOCHS):
    """Share of the validation set that the network gets right at the end, in per cent; 10 where training broke down."""
    with tempfile.TemporaryDirectory() as folder:
        steps = -(-8000 // arm["batch"]) * epochs
        warm_up = f"warm_up: {{steps: {arm['warm_up']}}}" if "warm_up" in arm else ""
        text = DECK.format(
            folder=os.path.join(folder, "run"), seed=seed, data=data, epochs=epochs, every=steps, batch=arm["batch"],
            optimizer=arm["optimizer"], rate=arm["rate"], warm_up=warm_up,
        )
        deck = os.path.join(folder, "deck.yaml")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(text)
        answer = subprocess.run([program, "run", deck], capture_output=True, text=True)
        if answer.returncode == 4:
            return 10.0
        if answer.returncode != 0:
            sys.exit(answer.stdout + answer.stderr)
        with open(os.path.join(folder, "run", "train", "validation.csv"), encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
        wrong = rows[0].index(next(name for name in rows[0] if name.startswith("wrong")))
        return 100.0 * (1.0 - float(rows[-1][wrong]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    if not os.environ.get("CAMBIUM_DATA"):
        print("SKIPPED: large batches: CAMBIUM_DATA is not set")
        return 77
    if h5py is None:
        print("SKIPPED: large batches: this Python has no h5py")
        return 77
    seeds = [1] if options.short else [1, 2, 3]
    with tempfile.TemporaryDirectory() as folder:
        data = prepare(folder)
        right = {name: [train(options.program, data, arm, seed) for seed in seeds] for name, arm in ARMS.items()}
    mean = {name: sum(values) / len(values) for name, values in right.items()}
    for name, values in right.items():
        print(f"{name:8} {mean[name]:6.2f} %  {values}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"right_percent": right, "mean": mean, "arms": ARMS, "epochs": EPOCHS, "seeds": seeds}, file, indent=1)
    lost, lars = mean["base"] - mean["scaled"], mean["base"] - mean["lars"]
    print(f"64 times the batch loses {lost:.2f} points with a scaled rate, {lars:.2f} with LARS and warm-up")
    return 0 if lost >= 3.0 and lars <= 1.0 else 1


if __name__ == "__main__":
    sys.exit(main())
