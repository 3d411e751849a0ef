#!/usr/bin/env python3
"""What taking a profile costs: profile_cost.py PROGRAM INPUTS [--pairs 9], one JSON object.

Every deck runs with and without `run.profile` in turns; the cost is the median over pairs of the ratio of the times that the loop or the
stage says. Also: the least share of a rank's time that has a name, and the largest difference of classes + idle and wall.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile

import measured

DECKS = {
    "md": ("md/copper_melting.yaml", 1, ["stages[0].simulate.steps=1500"]),
    "convection": ("superres/rayleigh_benard.yaml", 1, ["stages[0].simulate.cells=[256, 64]", "stages[0].simulate.end_time=20"]),
    "kinetic": ("kinetic/two_stream.yaml", 1, []),
    "submatrix": ("submatrix/water.yaml", 1, []),
    "training_two_ranks": ("train/surrogate.yaml", 2, ["stages[0].train.epochs=200"]),
}


def seconds(program, deck, ranks, keys, folder, profile):
    words = [program, "run", deck, f"run.directory={folder}", "--overwrite", *keys] + (["run.profile=true"] if profile else [])
    launcher = ["mpirun", "--bind-to", "core", "-np", str(ranks)] if ranks > 1 else []
    said = subprocess.run(launcher + words, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"^(?:Loop|Stage) ([\d.]+) s", said, re.M).group(1))


def judged(folder):
    """(least share with a name, largest gap) over ranks of the first stage."""
    stages = [d for d in os.listdir(folder) if os.path.isfile(os.path.join(folder, d, "profile.json")) and d != "evaluate"]
    with open(os.path.join(folder, stages[0], "profile.json")) as file:
        ranks = json.load(file)["ranks"]
    named = [sum(row["seconds"] for row in rank["rows"]) for rank in ranks]
    shares = [n / rank["wall_seconds"] for n, rank in zip(named, ranks)]
    gaps = [abs(n + rank["idle_seconds"] - rank["wall_seconds"]) / rank["wall_seconds"] for n, rank in zip(named, ranks)]
    host = [sum(r["seconds"] for r in rank["rows"] if r["class"] == "host") / rank["wall_seconds"] for rank in ranks]
    return {"named_share": min(shares), "gap": max(gaps), "host_share": max(host)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("inputs")
    parser.add_argument("--pairs", type=int, default=9)
    wanted = parser.parse_args()
    out = {"pairs": wanted.pairs, "decks": {}}
    with tempfile.TemporaryDirectory() as scratch:
        for name, (deck, ranks, keys) in DECKS.items():
            path, folder = os.path.join(wanted.inputs, deck), os.path.join(scratch, name)
            pairs = []
            for k in range(wanted.pairs):
                order = (False, True) if k % 2 else (True, False)
                taken = {profile: seconds(wanted.program, path, ranks, keys, f"{folder}_{profile}", profile) for profile in order}
                pairs.append((taken[True], taken[False]))
            out["decks"][name] = {"ranks": ranks, "plain_seconds": statistics.median(p[1] for p in pairs),
                                  "profile_over_plain_ratio": statistics.median(a / b for a, b in pairs),
                                  **judged(f"{folder}_True")}
    out["measured"] = measured.by_program(wanted.program, f"studies/profile_cost.py PROGRAM inputs --pairs {wanted.pairs}")
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
