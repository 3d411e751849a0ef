#!/usr/bin/env python3
"""Forecasts of inputs/superres/well.yaml for several seeds of the networks:

    studies/well.py build/bin/cambium --json docs/measured/well.json [--seeds 1,2,3] [--without-networks] [KEY=VALUE ...]

The runs that are forecast are the same for all seeds. --without-networks leaves out what is trained, and
forecasts all five runs. Errors depend
on neither ranks nor the machine's load. KEY=VALUE changes the deck.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import measured

DECK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "superres", "well.yaml")


WELL = "{{run}}/write_well/data/{}/rayleigh_benard_Rayleigh_1e6_Prandtl_1.hdf5#{}"
RUNS = [WELL.format(split, number) for split, number in (("train", 0), ("train", 1), ("train", 2), ("valid", 0), ("test", 0))]


def deck_in(folder, networks):
    """The deck, or a copy without its trainings."""
    if networks:
        return DECK
    with open(DECK) as file:
        before, rest = file.read().split("  - train:", 1)
    last, _ = rest[rest.index("  - score_forecasts:"):].split("      models:")
    last = re.sub(r"data: .*", "data: " + json.dumps(RUNS), last)
    path = os.path.join(folder, "well.yaml")
    with open(path, "w") as file:
        file.write(before + last)
    return path


def scores(program, folder, deck, seed, changes):
    """The results of the last stage."""
    run = os.path.join(folder, f"well_{seed}")
    done = subprocess.run([program, "run", deck, f"run.directory={run}", f"run.seed={seed}", *changes], capture_output=True, text=True)
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
    parser.add_argument("--without-networks", action="store_true")
    parser.add_argument("changes", nargs="*", metavar="KEY=VALUE")
    given = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        deck = deck_in(folder, not given.without_networks)
        out = {"deck": "inputs/superres/well.yaml", "changes": given.changes, "networks": not given.without_networks,
               "seeds": {seed: scores(given.program, folder, deck, seed, given.changes) for seed in given.seeds.split(",")}}
    measured.write(given, out)


if __name__ == "__main__":
    main()
