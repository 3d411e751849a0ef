#!/usr/bin/env python3
"""How far submatrices of Hamiltonians of neighbours alone are off: submatrix_ring.py PROGRAM. Writes rings of 160 atoms (hopping 0.35 and 0.25
hartree in turn, gap 0.20; Su, Schrieffer and Heeger 1979) as Matrix Market files, runs the stage density_matrix on each at four eps, compares
with the exact levels and prints one JSON object. Two minutes; nothing in it depends on the machine but the last digits."""

import json
import os
import subprocess
import sys
import tempfile

import numpy

import measured

ATOMS, HOPPING, MEV = 160, (0.35, 0.25), 27211.386245988
CASES = {"orthogonal": (0.0, 0), "overlap_0.07": (0.2, 0), "overlap_0.25": (0.7, 0), "orthogonal_groups_of_4": (0.0, 4),
         "overlap_0.25_groups_of_4": (0.7, 4)}


def matrices(overlap):
    """H, and S of which each element between neighbours is -overlap times that of H."""
    h = numpy.zeros((ATOMS, ATOMS))
    for a in range(ATOMS):
        b = (a + 1) % ATOMS
        h[a, b] = h[b, a] = -HOPPING[a % 2]
    return h, numpy.eye(ATOMS) - overlap * h


def exact_levels(h, s):
    values, vectors = numpy.linalg.eigh(s)
    root = vectors / numpy.sqrt(values) @ vectors.T
    return numpy.linalg.eigvalsh(root @ h @ root)


def write(path, matrix):
    rows = [(i, j) for i in range(ATOMS) for j in range(i + 1) if i == j or matrix[i, j] != 0.0]
    with open(path, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real symmetric\n{ATOMS} {ATOMS} {len(rows)}\n")
        file.writelines(f"{i + 1} {j + 1} {matrix[i, j]!r}\n" for i, j in rows)


def run(program, folder, case, eps, levels):
    overlap, groups = CASES[case]
    h, s = matrices(overlap)
    write(os.path.join(folder, "h.mtx"), h)
    write(os.path.join(folder, "s.mtx"), s)
    stage = {"matrices": {"hamiltonian": "{deck}/h.mtx", "molecule": [1], **({"overlap": "{deck}/s.mtx"} if overlap else {})},
             "electrons": ATOMS, "eps_filter": eps, "solver": "diagonalise"}
    if overlap:
        stage["eps_filter_overlap"] = eps
    if groups:
        stage["groups"] = {"by": "graph", "size": groups}
    deck = {"run": {"name": "ring", "directory": os.path.join(folder, f"{case}_{eps:g}")}, "plugins": ["submatrix"], "stages": [{"density_matrix": stage}]}
    path = os.path.join(folder, "ring.yaml")
    with open(path, "w") as file:
        json.dump(deck, file)  # YAML reads it
    done = subprocess.run([program, "run", path], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    found = measured.results(os.path.join(folder, f"{case}_{eps:g}"), "density_matrix")
    energy, electrons, mu = (found[key].value for key in ("band_energy", "electrons", "mu"))
    exact = 2.0 * float(numpy.minimum(levels - mu, 0.0).sum())
    return {"eps": eps, "off_mev_per_atom": float(f"{MEV * (energy - mu * electrons - exact) / ATOMS:.3g}"),
            "stated_mev_per_atom": float(f"{found['error_estimate'].value:.3g}"), "margin_mev_per_atom": float(f"{found['error_margin'].value:.2g}"),
            "electrons_off": float(f"{electrons - ATOMS:.2g}"), "rows": round(found["mean_dimension"].value)}


def main():
    program, out = sys.argv[1], {}
    with tempfile.TemporaryDirectory() as folder:
        for case, (overlap, _) in CASES.items():
            levels = exact_levels(*matrices(overlap))
            out[case] = [run(program, folder, case, eps, levels) for eps in (1e-2, 1e-3, 1e-4, 1e-5)]
    falls = all(abs(rows[3]["off_mev_per_atom"]) < 0.1 * abs(rows[1]["off_mev_per_atom"]) for rows in out.values())
    held = all(abs(row["off_mev_per_atom"] - row["stated_mev_per_atom"]) <= row["margin_mev_per_atom"] for rows in out.values() for row in rows)
    print(json.dumps({**out, "what": "ring of 160 atoms, one function each, hopping 0.35 and 0.25 hartree in turn; overlap_X: S of neighbours X and 0.71 X; "
                                     "computed less exact E - mu N at the mu of the run, what the run states of it with its margin, mean rows of a submatrix; diagonalise",
                      "check": "ok: falls with eps, and the stated interval holds it" if falls and held else f"failed: falls {falls}, held {held}",
                      "measured": measured.by_program(program, f"submatrix_ring.py {os.path.basename(program)}")}, indent=1))


if __name__ == "__main__":
    main()
