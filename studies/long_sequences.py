#!/usr/bin/env python3
"""What each type of attention looks up, over seeds: long_sequences.py PROGRAM [--seeds 1,2,3] [--at-once 2] [--what causal,masked,lstm] [--times]
[--json FILE].

Runs the table of inputs/train/long_sequences.yaml with each seed: the share of 3200 questions of texts that no training saw that is answered. `masked`
is the same with causal: false, where answers are hidden and all else is seen; `lstm` is byte_lstm of as many numbers as the transformer has, and wider.
Beside them stand what needs no training: looking the key up, which the rule that makes the texts says is always right, and guessing one of the
eight values. --times keeps milliseconds per step, which mean something where nothing else runs on the machine; then runs follow one another.
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

DECK = os.path.join(os.path.dirname(__file__), "..", "inputs", "train", "long_sequences.yaml")


def name_of(attention):
    """favor_32 of {type: favor, features: 32}, byte_lstm_48 of {type: byte_lstm, width: 48, ...}."""
    kind, size = re.search(r"type: (\w+)", attention).group(1), re.search(r"(?:features|width): (\d+)", attention)
    return kind + ("_" + size.group(1) if size else "")


NETWORK = "stages[0].train.network"
LSTM = [f"{{type: byte_lstm, width: {width}, loss_on: answers}}" for width in (48, 128)]
MORE = {"causal": [], "masked": [NETWORK + ".causal=false"], "lstm": []}


def table(program, seeds, at_once, folder, what):
    """A row for each run of the sweep, with its folder."""
    arms = NETWORK + "=[" + ", ".join(LSTM) + "]" if what == "lstm" else NETWORK + ".attention=" + over()
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(at_once)] if at_once > 1 else []
    answer = subprocess.run(launcher + [program, "sweep", DECK, f"run.directory={folder}", *MORE[what], "--over", f"run.seed={seeds}", "--over", arms],
                            capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        sys.exit(answer.stdout + answer.stderr)
    with open(os.path.join(folder, "results.csv"), encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def over():
    with open(DECK, encoding="utf-8") as file:
        return re.search(r"network\.attention: (\[.*\])", file.read()).group(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--what", default="causal")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    seeds = [int(s) for s in options.seeds.split(",")]
    found = {}
    for what in options.what.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "sweep")
            for row in table(options.program, seeds, 1 if options.times else options.at_once, folder, what):
                name = name_of(row["network" if what == "lstm" else "attention"]) + ("_masked" if what == "masked" else "")
                entry = found.setdefault(name, {"answers_right": []})
                entry["answers_right"].append(float(row["evaluate_answers_right"]))
                if options.times:
                    with open(os.path.join(folder, row["folder"], "train", "results.json"), encoding="utf-8") as file:
                        stage = json.load(file)
                    entry.setdefault("ms_per_step", []).append(1e3 * stage["seconds"] / stage["steps"])
    for entry in found.values():
        entry["mean_answers_right"] = sum(entry["answers_right"]) / len(entry["answers_right"])
    words = f"studies/long_sequences.py PROGRAM --seeds {options.seeds}" + f" --what {options.what}" * (options.what != "causal") + " --times" * options.times
    out = {"measured": measured.by_program(options.program, words), "seeds": seeds, "types": found,
           "by_rule": {"looking_up": 1.0, "guessing": 0.125}}
    print(json.dumps(out, indent=1))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(out, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
