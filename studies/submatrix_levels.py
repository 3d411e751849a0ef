#!/usr/bin/env python3
"""Errors of levels learned from small crystals: submatrix_levels.py PROGRAM [OVERRIDE ...]. Runs inputs/submatrix/diamond_levels.yaml (two
minutes) and prints one JSON object."""

import json
import os
import re
import subprocess
import sys
import tempfile

import measured

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def numbers(text, pattern, names):
    found = re.search(pattern, text)
    return dict(zip(names, map(float, found.groups()))) if found else {}


def main():
    program, overrides = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, "run", os.path.join(SOURCE, "inputs", "submatrix", "diamond_levels.yaml"), f"run.directory={folder}", *overrides],
                              capture_output=True, text=True)
    text = done.stdout
    sets = {}
    for row in re.findall(r"^(\w+) +(\d+) Hamiltonians, (\d+) block columns; band energy of a column \S+ \+- (\S+) eV, mu \S+ \+- (\S+) eV, smallest gap (\S+) eV", text, re.M):
        sets[row[0]] = dict(zip(("hamiltonians", "columns", "band_energy_spread_ev", "mu_spread_ev", "smallest_gap_ev"), map(float, row[1:])))
    errors = re.findall(r"  band_energy +(\S+) eV\n  homo +(\S+) eV\n  lumo +(\S+) eV\n  mu +(\S+) eV", text)
    for name, row in zip(("test", "larger"), errors):
        sets[name]["errors_ev"] = dict(zip(("band_energy", "homo", "lumo", "mu"), map(float, row)))
    out = {"sets": sets,
           "density_matrix": {**numbers(text, r"their middle (\S+) eV from mu; (\d+) evaluations of N\(mu\), (\d+) without it", ("mu_error_ev", "evaluations", "evaluations_without")),
                              **numbers(text, r"columns (\S+) eV from theirs \(root mean square\); (\d+) further than (\S+) eV", ("band_energy_error_ev", "suspects", "tolerance_ev")),
                              **numbers(text, r"\(gap \S+ hartree, (\S+) eV\)", ("gap_ev",))},
           "what": "diamond, carbon xu: trained on 64 and 216 atoms, test 64 atoms, larger 512 atoms, density_matrix 1,000 atoms; root mean square errors",
           "check": "ok" if done.returncode == 0 and len(errors) == 2 else "failed",
           "measured": measured.by_program(program, " ".join(["submatrix_levels.py", os.path.basename(program), *overrides]))}
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
