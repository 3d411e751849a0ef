#!/usr/bin/env python3
"""Forces of single elements from the frames of the benchmark mlearn, by inputs/deepmd/mlearn.yaml:

    studies/mlearn.py build/bin/cambium FOLDER --json docs/measured/mlearn.json [--elements Si,Li] [--seeds 1,2,3] [KEY=VALUE ...]

FOLDER holds ELEMENT_training.xyz and ELEMENT_test.xyz. Rows that the file has already, and that this call does not measure, stay.
Errors depend on neither ranks nor the machine's load; seconds are processor time of one core. KEY=VALUE changes the deck.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile

import measured

DECK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "deepmd", "mlearn.yaml")


def trained(program, data, element, seed, changes):
    with tempfile.TemporaryDirectory() as run:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([program, "run", DECK, f"run.directory={run}/run", f"run.seed={seed}", *changes,
                               f"stages[0].train.dataset.files=[{data}/{element}_training.xyz]",
                               f"stages[1].compare.systems=[{data}/{element}_test.xyz]"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{element}, seed {seed}: {done.stderr}")
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        found = measured.results(os.path.join(run, "run"), "compare")
        row = {key: found[key].value for key in found if key.endswith("deep_potential")}
    print(element, seed, row, f"{seconds:.0f} s", flush=True)
    return {**row, "core_seconds": seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("--json", required=True)
    parser.add_argument("--elements", default="Si,Li")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("changes", nargs="*", metavar="KEY=VALUE")
    given = parser.parse_intermixed_args()
    command = f"studies/mlearn.py build/bin/cambium FOLDER --json docs/measured/mlearn.json --elements {given.elements} --seeds {given.seeds}"
    for element in given.elements.split(","):
        for seed in given.seeds.split(","):
            row = trained(given.program, given.data, element, seed, given.changes)
            out = {"runs": {f"{element}_{seed}": row}, "deck": "inputs/deepmd/mlearn.yaml", "changes": given.changes}
            sys.argv = [command]  # without the paths of this machine
            measured.write(given, out, rows="runs")


if __name__ == "__main__":
    main()
