#!/usr/bin/env python3
"""A Fourier neural operator trained on one run without and with the symmetries of the layer, by inputs/superres/augment.yaml:

    studies/augmentation.py build/bin/cambium --json docs/measured/augmentation.json [--seeds 1,2,3] [KEY=VALUE ...]

The seed is that of the networks and of the transformations; the three runs of the solver are the same. Errors depend on neither ranks nor the
machine's load. For each model: VRMSE of one step and of leads 6 to 11, with mean and standard deviation of a single seed. KEY=VALUE changes the deck.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

import measured

DECK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "superres", "augment.yaml")


def scores(program, folder, seed, changes):
    run = os.path.join(folder, f"augment_{seed}")
    done = subprocess.run([program, "run", DECK, f"run.directory={run}", f"run.seed={seed}", *changes], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"seed {seed}: {done.stderr}")
    out = {key: result.value for key, result in measured.results(run, "score_forecasts").items() if not key.startswith("seconds_per_frame")}
    print(seed, out, flush=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("changes", nargs="*", metavar="KEY=VALUE")
    given = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        seeds = {seed: scores(given.program, folder, seed, given.changes) for seed in given.seeds.split(",")}
    rows = {key: [row[key] for row in seeds.values()] for key in next(iter(seeds.values()))}
    out = {"deck": "inputs/superres/augment.yaml", "changes": given.changes, "seeds": seeds,
           "mean": {key: statistics.mean(values) for key, values in rows.items()},
           "deviation": {key: statistics.stdev(values) if len(values) > 1 else None for key, values in rows.items()}}
    measured.write(given, out)


if __name__ == "__main__":
    main()
