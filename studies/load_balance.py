#!/usr/bin/env python3
"""How equally the pairs of a droplet, a film and a gradient of density lie on 2 to 64 ranks, in equal bricks and behind planes, and what that
gives on two ranks:

    studies/load_balance.py build/bin/cambium --json docs/measured/load_balance.json [--turns 5]

Pairs are counted, so more ranks than cores are fine (mpiexec from CAMBIUM_MPIEXEC, with --oversubscribe). With --turns the film also runs on
two ranks in turns, bricks and planes one after the other; times need a quiet machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import measured

DECK = """
run: {{name: shape, directory: {folder}, seed: 1}}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure:
        lattice: {{type: fcc, a: 5.4, cells: {cells}, species: [Ar], displacement: 0.2}}
        keep: {keep}
      initial_temperature: 100 K
      potential: {{type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.5, truncation: smooth}}
      timestep: 5 fs
      balance: {{criterion: {by}}}
      steps: {steps}
"""
SHAPES = {
    "droplet": ("[24, 24, 24]", "{sphere: {center: [0.4, 0.45, 0.5], radius: 32, fractional: true}}"),
    "film": ("[16, 16, 32]", "{slab: {axis: z, lower: 0.15, upper: 0.35, fractional: true}}"),
    "half_a_ball_on_a_face": ("[24, 24, 24]", "{sphere: {center: [0, 0.5, 0.5], radius: 38, fractional: true}, slab: {axis: x, lower: 0, upper: 60}}"),
}
RANKS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
MPI = os.environ.get("CAMBIUM_MPIEXEC", "mpiexec;--allow-run-as-root;--oversubscribe;--mca;mpi_yield_when_idle;1").split(";")


def found(program, shape, ranks, by, steps):
    cells, keep = SHAPES[shape]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "deck.yaml")
        with open(path, "w") as file:
            file.write(DECK.format(folder=os.path.join(folder, "run"), cells=cells, keep=keep, by=by, steps=steps))
        done = subprocess.run([*MPI, "-np", str(ranks), program, "run", path], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{shape} on {ranks} ranks: {done.stderr}")
        return measured.results(os.path.join(folder, "run"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json")
    parser.add_argument("--turns", type=int, default=0)
    parser.add_argument("--ranks", default=",".join(map(str, RANKS)))
    given = parser.parse_args()
    out = {"pairs_of_the_busiest_rank_over_the_mean": {}}
    for shape in SHAPES:
        rows = out["pairs_of_the_busiest_rank_over_the_mean"][shape] = {}
        for ranks in map(int, given.ranks.split(",")):
            rows[ranks] = {name: found(given.program, shape, ranks, by, 1)["balance"].value for name, by in (("bricks", "volume"), ("planes", "pairs"))}
            print(shape, ranks, rows[ranks], flush=True)
    if given.turns:
        turns = [[found(given.program, "film", 2, by, 2000).seconds for by in ("volume", "pairs")] for _ in range(given.turns)]
        out["film_on_two_ranks"] = {"bricks_seconds": min(t[0] for t in turns), "planes_seconds": min(t[1] for t in turns),
                                       "bricks_over_planes": statistics.median(t[0] / t[1] for t in turns), "turns": given.turns}
        print(out["film_on_two_ranks"])
    command = "studies/load_balance.py PROGRAM" + (f" --turns {given.turns}" if given.turns else "")
    out["measured"] = measured.by_program(given.program, command, ranks=2)
    if given.json:
        with open(given.json, "w") as file:
            json.dump(out, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
