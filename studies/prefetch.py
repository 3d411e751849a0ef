#!/usr/bin/env python3
"""Two ranks with divided weights (zero3), the next module's gathered ahead or not: prefetch.py PROGRAM [--repeats N] [key=value...].

Trains a transformer for a few steps with `parallel.prefetch` on and off in turn and prints one JSON object: of each the least time waited
for messages, the most samples per second, and the windows' memory. Turns and bests, because a shared machine's speed wanders."""

import argparse
import json
import os
import re
import subprocess
import tempfile

import measured

DECK = """run: {name: prefetch, seed: 3}
plugins: [sequence]
stages:
  - train:
      network: {type: transformer, layers: 4, width: 256, heads: 4}
      dataset: {type: synthetic_grammar, samples: 2000, length: 65}
      batch: 8
      steps: 20
      optimizer: {type: adamw, weight_decay: 0.01}
      learning_rate: {type: constant, start: 1e-3}
      parallel: {preset: zero3}
      log_every: 20
"""


def once(program, folder, ahead, overrides):
    deck = os.path.join(folder, "deck.yaml")
    with open(deck, "w") as file:
        file.write(DECK)
    command = ["mpirun", "--oversubscribe", "--bind-to", "core", "-np", "2", program, "run", deck, f"run.directory={folder}/run",
               f"stages[0].train.parallel.prefetch={str(ahead).lower()}", *overrides]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    stage = measured.results(f"{folder}/run", "train")
    return {"waited_seconds": stage["exposed_communication"].value, "waited_percent": stage["exposed_communication_share"].value,
            "samples_per_second": stage.work_items * stage.steps / stage.seconds,
            "modules_in_use_mb": float(re.findall(r"at most beside these: ([\d.]+) MB", out)[-1])}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("--repeats", type=int, default=5)
    wanted = parser.parse_intermixed_args()
    runs = {"ahead": [], "waiting": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(wanted.repeats):
            for name, turns in runs.items():
                turns.append(once(wanted.program, folder, name == "ahead", wanted.overrides))
    command = " ".join(["studies/prefetch.py", "PROGRAM", f"--repeats {wanted.repeats}", *wanted.overrides])
    out = {"repeats": wanted.repeats, "measured": measured.by_program(wanted.program, command, ranks=2)}
    for name, turns in runs.items():
        out[name] = {"waited_seconds": min(t["waited_seconds"] for t in turns), "waited_percent": min(t["waited_percent"] for t in turns),
                     "samples_per_second": max(t["samples_per_second"] for t in turns), "modules_in_use_mb": turns[0]["modules_in_use_mb"],
                     "all": turns}
    out["waited_ratio"] = out["ahead"]["waited_seconds"] / out["waiting"]["waited_seconds"]
    out["speed_ratio"] = out["ahead"]["samples_per_second"] / out["waiting"]["samples_per_second"]
    print(json.dumps(out, indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
