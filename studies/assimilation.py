#!/usr/bin/env python3
"""What every filter of the decks inputs/assimilate reaches, at full length:

    studies/assimilation.py build/bin/cambium --json docs/measured/assimilation.json [--decks lorenz96,lorenz63,convection] [--without-noise] [--wide]
        [--seeds 2,3,4]

Scores depend on the seed alone, not on ranks or the machine's load. A deck that is not named stays as the file has it.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile

import measured

INPUTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "assimilate")
STAGES = {"lorenz96": ["assimilate"], "lorenz63": ["assimilate"], "convection": ["assimilate", "assimilate_2"]}


def scores(program, deck, folder, *keys):
    """The results of every stage of a deck."""
    run = os.path.join(folder, deck + "".join(keys))
    done = subprocess.run([program, "run", os.path.join(INPUTS, deck + ".yaml"), f"run.directory={run}", *keys], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{deck}: {done.stderr}")
    print(done.stdout)
    out = {}
    for stage in STAGES[deck]:
        found = measured.results(run, stage)
        out[stage] = {key: found[key].value for key in found}
    return out


NUDGED = """
run: {{name: nudged, directory: {folder}, seed: 1}}
plugins: [superres]
stages:
  - simulate: {{physics: rayleigh_benard, rayleigh: 1e6, width: 2, cells: [128, 96], initial: {{noise: 0.1}}, end_time: 80, sample_interval: 0.25,
               output: [{{type: fields, interval: 0.25}}]}}
  - reconstruct: {{data: "{{run}}/simulate/fields.h5", rayleigh: 1e6, ratio: [4, 8, 8], frames: 81, methods: [cubic, nudged]}}
"""


def without_noise(program, folder):
    """Relative errors of interpolation and of the nudged solver on the flow of convection.yaml, from every 4th frame and every 8th point
    without noise, all fields observed."""
    run = os.path.join(folder, "nudged")
    deck = os.path.join(folder, "nudged.yaml")
    with open(deck, "w") as file:
        file.write(NUDGED.format(folder=run))
    subprocess.run([program, "run", deck], capture_output=True, check=True)
    with open(os.path.join(run, "reconstruct", "scores.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    return {method: {key: float(row[key]) for key in row if key.startswith("rel_l2")} for method, row in zip(("cubic", "nudged"), rows)}


def wide(program, folder):
    """The first stage of convection.yaml on the domain of docs/measured/superres_nudged.json, with the LETKF alone."""
    with open(os.path.join(INPUTS, "convection.yaml")) as file:
        text = file.read().split("\n  - assimilate:\n      model: *layer")[0]
    deck = os.path.join(folder, "wide.yaml")
    with open(deck, "w") as file:
        file.write(text + "\n")
    run = os.path.join(folder, "wide")
    filters = "{letkf: {type: letkf, members: 16, localisation: 0.25, inflation: 1.06}}"
    stage = "stages[0].assimilate."
    subprocess.run([program, "run", deck, f"run.directory={run}", stage + "model.aspect_ratio=4", stage + "model.cells=[256, 96]", stage + f"filters={filters}"],
                   check=True)
    found = measured.results(run, "assimilate")
    return {"assimilate": {key: found[key].value for key in found}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--decks", default=",".join(STAGES))
    parser.add_argument("--without-noise", action="store_true", help="also the nudged solver of superres, whose observations have no noise")
    parser.add_argument("--seeds", default="", help="each deck once for each of these seeds, 2,3,4, as deck_2 and so on; without: the deck's own")
    parser.add_argument("--wide", action="store_true", help="also convection four heights wide")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seeds = [seed for seed in given.seeds.split(",") if seed]
        decks = [deck for deck in given.decks.split(",") if deck]
        out = {"decks": {f"{deck}_{seed}": scores(given.program, deck, folder, f"run.seed={seed}") for deck in decks for seed in seeds}
               if seeds else {deck: scores(given.program, deck, folder) for deck in decks}}
        if given.without_noise:
            out["decks"]["without_noise"] = without_noise(given.program, folder)
        if given.wide:
            out["decks"]["wide"] = wide(given.program, folder)
    measured.write(given, out, "decks")


if __name__ == "__main__":
    main()
