#!/usr/bin/env python3
"""What few bits cost a trained model that is not trained again: quantized_model.py PROGRAM [--steps N] [--json FILE].

Trains the transformer of inputs/train/quantized.yaml once and evaluates it with weights of 1 to 4 bits and ternary ones, rounded each by itself
and fitted to texts of the training (calibrate), each beside the model in full in the same run; and a transformer that was trained with ternary
products, by ternary weights.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

import measured

DECK = os.path.join(os.path.dirname(__file__), "..", "inputs", "train", "quantized.yaml")
ARMS = {"1_bit": "{bits: 1}", "2_bits": "{bits: 2}", "3_bits": "{bits: 3}", "4_bits": "{bits: 4}", "ternary": "{weights: ternary}"}
CALIBRATE = "calibrate: {dataset: {type: synthetic_grammar, samples: 1000, length: 65}, samples: 64}"
ARMS |= {name + "_fitted": quantize[:-1] + ", " + CALIBRATE + "}" for name, quantize in ARMS.items()}


EVALUATE = """
run: {{name: few_bits, directory: {folder}/{arm}}}
plugins: [sequence]
stages:
  - evaluate:
      model: {folder}/train/model.h5
      dataset: {{type: synthetic_grammar, samples: 500, length: 65, first_index: 200000}}
      quantize: {quantize}
"""


def run(*command):
    answer = subprocess.run([*command], capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(answer.stdout + answer.stderr)


def evaluated(program, folder, arm, quantize):
    """The rows of evaluation.csv as dictionaries: the model in full, then in few bits."""
    deck = os.path.join(folder, arm + ".yaml")
    with open(deck, "w", encoding="utf-8") as file:
        file.write(EVALUATE.format(folder=folder, arm=arm, quantize=quantize))
    run(program, "run", deck, "--overwrite")
    with open(os.path.join(folder, arm, "evaluate", "evaluation.csv"), encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return [dict(zip(rows[0], map(float, row))) for row in rows[1:3]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--json")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for linear in ("{weights: full}", "{weights: ternary}"):
            folder = os.path.join(scratch, re.sub(r"\W+", "", linear))
            run(options.program, "run", DECK, f"run.directory={folder}", f"stages[0].train.steps={options.steps}", f"stages[0].train.network.linear={linear}")
            for arm, quantize in ARMS.items():
                if linear == "{weights: full}" or arm == "ternary":  # what was trained ternary loses nothing and needs no fit
                    found[f"trained with {linear}, {arm}"] = evaluated(options.program, folder, arm, quantize)
    for name, (full, few) in found.items():
        print(name, "full", full, "few bits", few, sep="\n  ")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"steps": options.steps, "arms": ARMS, "rows": found,
                       "measured": measured.by_program(options.program, "studies/quantized_model.py PROGRAM --json FILE")}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
