#!/usr/bin/env python3
"""Errors of tight binding by submatrices: tight_binding_truncation.py TEST_PROGRAM [forces|drift|silicon_forces|silicon_drift ...]. Runs the long tests of the table
in the plugin's README (TEST_PROGRAM is test_tight_binding; minutes each), both or one of them, and prints one JSON object. Commit and
machine are of the folder and the computer on which it runs."""

import json
import os
import subprocess
import sys

import measured

CASES = {"forces": "force errors at eps 1e-4\\, 1e-5 and 1e-6\\, 512 atoms", "drift": "drift of dynamics at eps 1e-4\\, 1e-5 and 1e-6\\, 216 atoms",
         "silicon_forces": "silicon: force errors at eps 1e-3\\, 1e-4 and 1e-5\\, 512 atoms",
         "silicon_drift": "silicon: drift of dynamics at eps 1e-2\\, 1e-3 and 1e-4\\, 216 atoms"}


def rows_of(program, case):
    done = subprocess.run([program, CASES[case]], capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {"rows": rows, "check": "ok: all shrink with eps" if done.returncode == 0 else "failed: see the test"}


def main():
    program, chosen = sys.argv[1], sys.argv[2:] or sorted(CASES)
    out = {case: rows_of(program, case) for case in chosen}
    out["what"] = ("carbon xu (silicon_*: bowler), diamond, every coordinate moved by up to 0.1 angstrom at random; forces and energy against one diagonalisation of the "
                   "same cell, then velocity Verlet: slope of the total energy by least squares, its standard error from four windows, and what is "
                   "left around the line; eps 0 is one diagonalisation of all atoms")
    out["measured"] = measured.here(" ".join(["tight_binding_truncation.py", os.path.basename(program), *sys.argv[2:]]))
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
