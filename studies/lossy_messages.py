#!/usr/bin/env python3
"""Gradients in messages within a bound of error: lossy_messages.py PROGRAM [--steps N] [--seeds 1,2,3] [--json FILE].

The transformer and the small Deep Potential of low_precision_training.py on two ranks, with `reduce: {lossy: {relative: BOUND}}`: bytes
that a rank sends beside those of float32, and the error on what no training saw, mean over seeds. The Deep Potential needs CAMBIUM_DATA.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import measured
from low_precision_training import MODELS, MPIRUN

ARMS = {"float32": "", "bf16": ", reduce: {codec: bf16}"} | {bound: ", reduce: {lossy: {relative: %s}}" % bound for bound in ("1e-1", "1e-2", "1e-3", "1e-4")}


def train(options, model, arm, seed):
    """MB that a rank sends in gradients, and the error on what it did not see."""
    text, measure, _ = MODELS[model]
    data = os.path.join(os.environ.get("CAMBIUM_DATA", ""), "deepmd", "water")
    more = ARMS[arm] or ", reduce: {shared_memory: false}"
    with tempfile.TemporaryDirectory() as folder:
        deck = os.path.join(folder, "deck.yaml")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(text.format(folder=os.path.join(folder, "run"), data=data, seed=seed, width=128, linear="{}", steps=options.steps,
                                   warm_up=max(1, options.steps // 10), log=options.steps, more=more))
        answer = subprocess.run(MPIRUN + ["-np", "2", options.program, "run", deck], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if answer.returncode != 0:
        sys.exit(answer.stdout + answer.stderr)
    rows = re.findall(r"^(?:reduce-scatter|all-gather|allreduce) +(?!terms)\S+ +\d+ +([\d.]+)$", answer.stdout, re.M)
    error = re.search(measure + r" +([-\d.e+]+)", re.split(r"on \d+ samples:", answer.stdout)[1])
    return sum(map(float, rows)), float(error.group(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--json")
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    result = {"steps": options.steps, "seeds": seeds}
    for model in ["transformer"] + (["water"] if os.environ.get("CAMBIUM_DATA") else []):
        table = result[model] = {"error": MODELS[model][1]}
        for arm in ARMS:
            runs = [train(options, model, arm, seed) for seed in seeds]
            sent, error = (sum(run[k] for run in runs) / len(runs) for k in (0, 1))
            table[arm] = {"MB_per_rank": round(sent, 3), "mean_error": error, "errors": [run[1] for run in runs]}
            table[arm]["times_shorter"] = round(table["float32"]["MB_per_rank"] / sent, 2)
            print(model, arm, table[arm], flush=True)
    if options.json:
        result["measured"] = measured.by_program(options.program, "studies/lossy_messages.py build/bin/cambium --json FILE", 2)
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result | {"check": "ok: bytes as the runs count them"}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
