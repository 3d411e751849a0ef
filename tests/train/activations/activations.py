#!/usr/bin/env python3
"""Training with compressed and recomputed activations: activations.py PROGRAM [--short] [--json FILE].

A deep convolutional network (41 convolutions, 40 of them in residual blocks, 16 channels, 14 x 14 places) on 10,000 handwritten digits
(8,000 to train on, 2,000 to validate), equal steps. Arms: whole activations; compressed, with bounds that follow from the error of
gradients (COMET, PVLDB 15, 2021); recomputed; and an absurd bound, under which training must break. With --short one seed and fewer steps; without, three seeds. FILE is written after every
run, and what it holds is not run again; --seeds and --arms choose.

What an absurd bound leaves. Zeros stay zeros and signs stay signs, whatever the bound: activations of a few units under a bound of 100 come back as
0 and 50. So each weight's gradient keeps the products that it is made of, with other factors, and is some fifty times too large; masks of relu,
places of maxima and gradients of biases are exact. Measured on the network here (tests/train/networks/torch/test_deep_activations.cpp): gradients of
convolutions have a cosine of 0.77 with the exact ones within 100 as within 10000, and are 21 and 2084 times as large. Adam divides by the gradient's own
size and takes the same steps under both, so no factor breaks it: it learns along a rougher direction, more slowly, and catches up with enough steps. Under
Adam the bound is therefore asked to show after 60 steps (arms _early); what is left of it at the end is reported. Descent with momentum takes the gradient at its
word (COMET's bound is a share of the mean momentum), and is where the bound must show: arms _sgd.
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

ABSURD = "{keep: compressed, bound: 100}"
ADAM, SGD = ("adam", 2e-3), ("{type: sgd, momentum: 0.9}", 2e-3)
EARLY = 60
#: Name: activations, blocks of the network, optimizer and first rate; steps, where they are others.
ARMS = {"whole": ("{keep: whole}", 20, ADAM), "compressed": ("{keep: compressed}", 20, ADAM), "recomputed": ("{keep: recomputed}", 20, ADAM),
        "absurd": (ABSURD, 20, ADAM), "whole_sgd": ("{keep: whole}", 20, SGD), "compressed_sgd": ("{keep: compressed}", 20, SGD), "absurd_sgd": (ABSURD, 20, SGD),
        "whole_without_blocks": ("{keep: whole}", 0, ADAM), "absurd_without_blocks": (ABSURD, 0, ADAM),
        "whole_early": ("{keep: whole}", 20, ADAM, EARLY), "absurd_early": (ABSURD, 20, ADAM, EARLY)}
ONCE = ("recomputed", "absurd", "compressed_sgd", "whole_without_blocks", "absurd_without_blocks")  # the same bits and the same ruin: one seed shows them
DECK = """
run: {{name: activations, directory: {folder}, seed: {seed}}}
stages:
  - train:
      network: {{type: conv_net, channels: {channels}, residual_blocks: {residual}, hidden: 64, input: image, target: label}}
      dataset: {{type: hdf5, files: [{data}], fields: [{{name: image}}, {{name: label}}], range: [0, 8000]}}
      validation: {{type: hdf5, files: [{data}], fields: [{{name: image}}, {{name: label}}], range: [8000, 10000]}}
      batch: 16
      steps: {steps}
      optimizer: {optimizer}
      learning_rate: {{type: cosine, start: {rate}, stop: 1e-5}}
      activations: {keep}
      divergence_factor: 1e30
      validate: {{every: {steps}, keep_best: false, batch: 500}}
      log: 100000
"""
KEPT = re.compile(r"activations: (\S+) MB at most stored")
READ = re.compile(r"(\S+) MB with the array that is being read")
ALL = re.compile(r"(\S+) MB at most with all that a pass allocates")


def prepare(folder):
    with h5py.File(os.path.join(os.environ["CAMBIUM_DATA"], "images", "mnist10k.h5"), "r") as source:
        images, labels = source["images"][...].astype("f4"), source["labels"][...]
    path = os.path.join(folder, "digits.h5")
    with h5py.File(path, "w") as file:
        images = images.reshape(-1, 14, 2, 14, 2).mean((2, 4))  # 28 x 28 numbers to 14 x 14
        file["image"] = images / 255.0 if images.max() > 2 else images
        file["label"] = labels.astype("i4")
    return path


def train(program, data, arm, seed, steps, show=False):
    """What the last page and the validation say: per cent right (10 where training broke down), MB kept, MB allocated, s."""
    with tempfile.TemporaryDirectory() as folder:
        deck = os.path.join(folder, "deck.yaml")
        keep, blocks, (optimizer, rate), *own = arm
        steps = min([steps, *own])
        with open(deck, "w", encoding="utf-8") as file:
            file.write(DECK.format(folder=os.path.join(folder, "run"), seed=seed, data=data, steps=steps, keep=keep, residual=blocks, optimizer=optimizer, rate=rate,
                                   channels="[16]" if blocks else "[16, 16]"))
        answer = subprocess.run([program, "run", deck], capture_output=True, text=True)
        if answer.returncode == 4:
            return {"right": 10.0, "broke_down": True}
        if answer.returncode != 0:
            sys.exit(answer.stdout + answer.stderr)
        with open(os.path.join(folder, "run", "train", "validation.csv"), encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
        wrong = rows[0].index(next(name for name in rows[0] if name.startswith("wrong")))
        gradient = re.search(r"^gradient\s+(\S+)", answer.stdout, re.M)
        if show:
            print(answer.stdout[-2500:])
        kept, reading = KEPT.search(answer.stdout), READ.search(answer.stdout)
        return {"right": 100.0 * (1.0 - float(rows[-1][wrong])), "kept_mb": float(kept[1]), "kept_or_read_mb": float((reading or kept)[1]),
                "allocated_mb": float(ALL.search(answer.stdout)[1]), "gradient_s": float(gradient[1]) if gradient else None}


def mean(runs, key, seeds):
    return sum(runs[seed][key] for seed in seeds) / len(seeds)


def judge(runs, lost_at_most, short):
    """Figures and whether they meet the bar, by the seeds that both arms of a comparison have."""
    both = sorted(set(runs["whole"]) & set(runs["compressed"]))
    less = {name: mean(runs["whole"], of, both) / mean(runs["compressed"], by, both)
            for name, of, by in (("kept", "kept_mb", "kept_mb"), ("kept_or_read", "kept_mb", "kept_or_read_mb"), ("allocated", "allocated_mb", "allocated_mb"))}
    lost = mean(runs["whole"], "right", both) - mean(runs["compressed"], "right", both)
    out = {"seeds": both, "times_less": less, "lost_points": lost}
    good = less["kept_or_read"] >= 5.0 and lost <= lost_at_most
    if sgd := sorted(set(runs["whole_sgd"]) & set(runs["compressed_sgd"])):
        out["lost_points_sgd"] = mean(runs["whole_sgd"], "right", sgd) - mean(runs["compressed_sgd"], "right", sgd)
        good = good and out["lost_points_sgd"] <= 1.0  # of one seed
    for kind in ("", "_early", "_sgd", "_without_blocks"):
        if absurd := sorted(set(runs["whole" + kind]) & set(runs["absurd" + kind])):
            points = out["lost_points_absurd" + kind] = mean(runs["whole" + kind], "right", absurd) - mean(runs["absurd" + kind], "right", absurd)
            good = good and ((kind == "" and not short) or points > 5.0)
    for seed in set(runs["whole"]) & set(runs["recomputed"]):
        good = good and runs["recomputed"][seed]["right"] == runs["whole"][seed]["right"]
    return good, out


def load(path, steps):
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
        if known["steps"] == steps:
            return known["runs"]
    return {}


def save(path, runs, steps, good, figures):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    known = {}
    if os.path.exists(path):  # the machine, and studies beside this one
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
    measured = known.get("measured", {}) | {"commit": commit, "command": "tests/train/activations/activations.py build/bin/cambium --json FILE"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(known | {"check": "ok" if good else "failed", **figures, "arms": ARMS, "runs": runs, "steps": steps, "deck": DECK, "measured": measured},
                  file, indent=1)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seeds", nargs="*", default=["1", "2", "3"])
    parser.add_argument("--arms", nargs="*", default=list(ARMS))
    parser.add_argument("--json")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    if not os.environ.get("CAMBIUM_DATA"):
        print("SKIPPED: compressed activations: CAMBIUM_DATA is not set")
        return 77
    if h5py is None:
        print("SKIPPED: compressed activations: this Python has no h5py")
        return 77
    seeds, steps = (["1"], 60) if options.short else (options.seeds, 500)
    runs = {name: {} for name in ARMS} | load(options.json, steps)
    good, figures = False, {}
    with tempfile.TemporaryDirectory() as folder:
        data = prepare(folder)
        for seed in seeds:
            for arm in options.arms:
                if seed in runs[arm] or (arm in ONCE and seed != seeds[0]) or (options.short and len(ARMS[arm]) > 3):  # short runs are early ones
                    continue
                runs[arm][seed] = train(options.program, data, ARMS[arm], seed, steps, options.v)
                print(arm, seed, runs[arm][seed], flush=True)
                if runs["whole"] and runs["compressed"] and set(runs["whole"]) & set(runs["compressed"]):
                    # One short run of one seed tells 2,000 digits apart only by chance.
                    good, figures = judge(runs, 1.0 if options.short else 0.3, options.short)
                if options.json:
                    save(options.json, runs, steps, good, figures)
    print("ok" if good else "failed", figures)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
