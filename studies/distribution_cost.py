#!/usr/bin/env python3
"""Compressed distribution functions: how much smaller, and what part of the loop writing them takes, by decks that ship:

    studies/distribution_cost.py build/bin/cambium --json docs/measured/distribution_cost.json

Each deck runs with `distribution` at a relative bound of 1e-4 and, for comparison, without compression. Seconds need a quiet machine: each is the
least of three runs.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import measured

INPUTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "kinetic")
FINE = ["stages[0].simulate.domain.cells=[48]", "stages[0].simulate.species[0].velocity.cells=[32, 32]"]
# name: deck, overrides, steps between two distributions
CASES = {
    "two_stream": ("two_stream", [], 1000),
    "bump_on_tail": ("bump_on_tail", [], 1000),
    "weibel_1x2v": ("weibel_1x2v", [*FINE, "stages[0].simulate.end_time=20"], 100),
}


def run(program, folder, deck, changes, every, compress):
    """(seconds of the loop, seconds of its output, bytes of the distributions)."""
    name = os.path.join(folder, "run")
    output = f"stages[0].simulate.output=[{{type: distribution, every: {every}{compress}}}]"
    done = subprocess.run([program, "run", os.path.join(INPUTS, deck + ".yaml"), "--overwrite", f"run.directory={name}", output, *changes],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{deck}: {done.stderr}")
    loop = float(re.search(r"^Loop ([0-9.]+) s", done.stdout, re.M)[1])
    written = float(re.search(r"^output +([0-9.]+)", done.stdout, re.M)[1])
    stage = os.path.join(name, "simulate")
    sizes = [os.path.getsize(os.path.join(stage, file)) for file in os.listdir(stage) if re.fullmatch(r"distribution\.\d+\.h5", file)]
    return loop, written, sum(sizes), len(sizes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    given = parser.parse_args()
    cases = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (deck, changes, every) in CASES.items():
            row = {"deck": deck, "changes": changes, "every": every}
            for kind, compress in (("plain", ""), ("compressed", ", compress: {relative: 1e-4}")):
                runs = [run(given.program, folder, deck, changes, every, compress) for _ in range(3)]
                loop, written, size, files = min(runs, key=lambda found: found[1] / found[0])
                row[kind] = {"loop_s": loop, "output_s": written, "share": written / loop, "bytes": size, "files": files}
            row["times_smaller"] = row["plain"]["bytes"] / row["compressed"]["bytes"]
            cases[name] = row
            print(name, row, flush=True)
    measured.write(given, {"cases": cases})


if __name__ == "__main__":
    main()
