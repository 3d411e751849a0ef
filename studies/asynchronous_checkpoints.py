#!/usr/bin/env python3
"""What a checkpoint costs, and what it costs when a thread writes it: asynchronous_checkpoints.py PROGRAM FOLDER [--pairs 5], one JSON object.

Argon of so many atoms, a checkpoint every 20 of 100 steps: without, plain and asynchronous, in turns. Costs are seconds of the loop for one
checkpoint, medians over turns. FOLDER: on the disk that is meant.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess

import measured

S = "stages[0].simulate."
KINDS = {"none": [S + "checkpoint.every=0"], "plain": [S + "checkpoint.every=20"],
         "asynchronous": [S + "checkpoint.every=20", S + "checkpoint.asynchronous=true"]}
STEPS, CHECKPOINTS = 100, 5


def loop(program, folder, cells, ranks, keys):
    shutil.rmtree(folder, ignore_errors=True)
    words = [program, "run", "md/argon_melt", f"run.directory={folder}", f"{S}structure.lattice.cells=[{cells}, {cells}, {cells}]",
             f"{S}steps={STEPS}", f"{S}thermo.every={STEPS}", f"{S}output=[]", *keys]
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)] if ranks > 1 else []
    subprocess.run(launcher + words, capture_output=True, check=True)
    return measured.results(folder).seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--cells", type=int, nargs="+", default=[16, 40])
    wanted = parser.parse_args()
    out = {"turns": wanted.pairs, "sizes": {}}
    for cells in wanted.cells:
        for ranks in (1, 2):
            taken, bytes_ = {kind: [] for kind in KINDS}, 0
            for turn in range(wanted.pairs):
                for kind in (list(KINDS) if turn % 2 else reversed(list(KINDS))):
                    taken[kind].append(loop(wanted.program, os.path.join(wanted.folder, "run"), cells, ranks, KINDS[kind]))
                    place = os.path.join(wanted.folder, "run", "simulate")
                    bytes_ = max([bytes_] + [os.path.getsize(os.path.join(place, f)) for f in os.listdir(place) if f.startswith("restart.")])
            cost = {kind: statistics.median((a - b) / CHECKPOINTS for a, b in zip(taken[kind], taken["none"])) for kind in ("plain", "asynchronous")}
            out["sizes"][f"{4 * cells ** 3} atoms, {ranks} ranks"] = {"loop": taken, "seconds_for_one": cost, "bytes": bytes_}
    shutil.rmtree(os.path.join(wanted.folder, "run"), ignore_errors=True)
    out["measured"] = measured.by_program(wanted.program, "studies/asynchronous_checkpoints.py PROGRAM FOLDER", 2)
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
