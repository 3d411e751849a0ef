#!/usr/bin/env python3
"""A coarse solver corrected by a network beside finer solvers, by inputs/superres/correction.yaml:

    studies/correction.py build/bin/cambium --json docs/measured/correction.json [--seeds 1,2,3] [KEY=VALUE ...]

The seed is that of the network; the runs are the same. Errors depend on neither ranks nor the machine's load. Seconds are processor time of
one core for one frame of a long forecast. KEY=VALUE changes the deck.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import measured

DECK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "superres", "correction.yaml")
STAGES = {"fine": "simulate_3", "coarse": "simulate_4", "corrected": "simulate_5", "finer": "simulate_6"}


def found(program, folder, seed, changes):
    run = os.path.join(folder, f"correction_{seed}")
    done = subprocess.run([program, "run", DECK, f"run.directory={run}", f"run.seed={seed}", *changes], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"seed {seed}: {done.stderr}")
    print(done.stdout)
    coarse, finest = measured.results(run, "score_forecasts"), measured.results(run, "score_forecasts_2")
    out = {key: coarse[key].value for key in coarse}
    out.update({key + "_4": finest[key].value for key in finest})
    for name, stage in STAGES.items():
        of_run = measured.results(run, stage)
        out["nusselt_" + name] = of_run["nusselt_number_volume"].value
        out["nusselt_bottom_" + name] = of_run["nusselt_number_bottom"].value
        out["kinetic_energy_" + name] = of_run["averages_kinetic_energy"].value
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("changes", nargs="*", metavar="KEY=VALUE")
    given = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        out = {"deck": "inputs/superres/correction.yaml", "changes": given.changes,
               "seeds": {seed: found(given.program, folder, seed, given.changes) for seed in given.seeds.split(",")}}
    measured.write(given, out)


if __name__ == "__main__":
    main()
