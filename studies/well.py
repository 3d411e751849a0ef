#!/usr/bin/env python3
"""Forecasts of inputs/superres/well.yaml for several seeds of the networks:

    studies/well.py build/bin/cambium --json docs/measured/well.json [--seeds 1,2,3] [KEY=VALUE ...]

The runs that are forecast are the same for all seeds. Errors depend on neither ranks nor the machine's load. KEY=VALUE changes the deck.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import measured

DECK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "superres", "well.yaml")


def scores(program, folder, seed, changes):
    """The results of the last stage."""
    run = os.path.join(folder, f"well_{seed}")
    done = subprocess.run([program, "run", DECK, f"run.directory={run}", f"run.seed={seed}", *changes], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"seed {seed}: {done.stderr}")
    print(done.stdout)
    found = measured.results(run, "score_forecasts")
    return {key: found[key].value for key in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("changes", nargs="*", metavar="KEY=VALUE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = {"deck": "inputs/superres/well.yaml", "changes": given.changes,
               "seeds": {seed: scores(given.program, folder, seed, given.changes) for seed in given.seeds.split(",")}}
    measured.write(given, out)


if __name__ == "__main__":
    main()
