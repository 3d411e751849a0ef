#!/usr/bin/env python3
"""Writes the demonstration set inputs/submatrix/hc: Slater-Koster files of H and C from formulas, H = k S (e_a + e_b) / 2 (M. Wolfsberg and
L. Helmholz, J. Chem. Phys. 20, 837 (1952)). Bond lengths of H2 and CH4 are about right; no other number is.

    python3 plugins/submatrix/python/write_hc_set.py inputs/submatrix/hc
"""
import os
import sys
from math import exp, log

SPACING, POINTS, K = 0.1, 90, 4.0
ONSITE = {"H": (-0.24,), "C": (-0.50, -0.19)}
LINE = {"H": "0.0 0.0 -0.24 0.0 0.0 0.0 0.42 0.0 0.0 1.0", "C": "0.0 -0.19 -0.50 0.0 0.36 0.36 0.36 0.0 2.0 2.0"}
MASS = {"H": 1.008, "C": 12.011}
#: Overlaps by pair, angular momenta and sigma or pi, and a factor of all.
FACTOR = 0.4
OVERLAP = {
    ("H", "H", 0, 0): [lambda r: (1 + 1.2 * r + 0.48 * r * r) * exp(-1.2 * r)],
    ("C", "H", 0, 0): [lambda r: (1 + 1.1 * r + 0.4 * r * r) * exp(-1.1 * r)],
    ("H", "C", 0, 1): [lambda r: -0.5 * r * (1 + 0.3 * r) * exp(-0.8 * r)],
    ("C", "C", 0, 0): [lambda r: (1 + r + r * r / 3) * exp(-r)],
    ("C", "C", 0, 1): [lambda r: -0.5 * r * (1 + 0.4 * r) * exp(-0.8 * r)],
    ("C", "C", 1, 1): [lambda r: -0.25 * r * r * (1 + 0.3 * r) * exp(-0.9 * r), lambda r: (1 + 0.9 * r + 0.2 * r * r) * exp(-1.1 * r)],
}
OVERLAP["H", "C", 0, 0] = OVERLAP["C", "H", 0, 0]
#: Where integrals stand in a row, and repulsion strength (range - r)^3.
COLUMN = {(0, 0): (9,), (0, 1): (8,), (1, 1): (5, 6)}
REPULSION = {("H", "H"): (0.0204, 2.8), ("C", "H"): (0.00477, 3.6), ("C", "C"): (0.02, 4.6)}


def row(a, b, r):
    h, s = [0.0] * 10, [0.0] * 10
    for la in range(len(ONSITE[a])):
        for lb in range(la, len(ONSITE[b])):
            for column, function in zip(COLUMN[la, lb], OVERLAP.get((a, b, la, lb), [])):
                s[column] = FACTOR * function(r)
                h[column] = 0.5 * K * s[column] * (ONSITE[a][la] + ONSITE[b][lb])
    words = []
    for value in h + s:
        if value == 0.0 and words and words[-1].endswith("*0.0"):
            words[-1] = f"{int(words[-1].split('*')[0]) + 1}*0.0"
        else:
            words.append("1*0.0" if value == 0.0 else f"{value:.12g}")
    return " ".join(words)


def spline(strength, end):
    """The cubic from 0.8 bohr on; below it an exponential with its value and slope."""
    start = 0.8
    y, a = end - start, 1.2
    e = 3 * strength * y * y / a
    out = ["Spline", f"1 {end}", f"{a} {log(e) + a * start:.12g} {strength * y**3 - e:.12g}"]
    return out + [f"{start} {end} {strength * y**3:.12g} {-3 * strength * y * y:.12g} {3 * strength * y:.12g} {-strength:.12g} 0.0 0.0"]


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for a in MASS:
        for b in MASS:
            lines = [f"{SPACING} {POINTS + 1}"] + ([LINE[a]] if a == b else []) + [f"{MASS[a] if a == b else 0.0}, 19*0.0"]
            lines += [row(a, b, SPACING * (k + 1)) for k in range(POINTS)]
            lines += spline(*REPULSION[min(a, b), max(a, b)])
            with open(os.path.join(folder, f"{a}-{b}.skf"), "w") as file:
                file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
