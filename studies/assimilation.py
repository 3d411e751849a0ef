#!/usr/bin/env python3
"""What every filter of the decks inputs/assimilate reaches, at full length:

    studies/assimilation.py build/bin/cambium --json docs/measured/assimilation.json [--decks lorenz96,lorenz63,convection]

Scores depend on the seed alone, not on ranks or the machine's load. A deck that is not named stays as the file has it.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import measured

INPUTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "assimilate")
STAGES = {"lorenz96": ["assimilate"], "lorenz63": ["assimilate"], "convection": ["assimilate", "assimilate_2"]}


def scores(program, deck, folder):
    """The results of every stage of a deck."""
    run = os.path.join(folder, deck)
    done = subprocess.run([program, "run", os.path.join(INPUTS, deck + ".yaml"), f"run.directory={run}"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{deck}: {done.stderr}")
    print(done.stdout)
    out = {}
    for stage in STAGES[deck]:
        found = measured.results(run, stage)
        out[stage] = {key: found[key].value for key in found}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--decks", default=",".join(STAGES))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = {"decks": {deck: scores(given.program, deck, folder) for deck in given.decks.split(",")}}
    measured.write(given, out, "decks")


if __name__ == "__main__":
    main()
