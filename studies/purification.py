#!/usr/bin/env python3
"""Submatrices beside purification at equal true error: purification.py PROGRAM --json FILE [--atoms 10000] [--ranks 1] [--repeat 3]
[--eps 1e-2,1e-3,...].

Runs `bench submatrix_ring` (a ring whose levels are known exactly) for gaps of 0.2 and 0.02 hartree by every method and a row of truncation thresholds.
For each target of the true error of the band energy per atom it takes the cheapest run of a method whose error is no larger, also at all smaller
thresholds, so that an error that happens to pass through zero does not count, and gives the ratios of seconds and of operations."""

import argparse
import json
import subprocess
import sys

import measured

METHODS = {"submatrix, lanczos": ["method=lanczos"], "submatrix, lanczos, float32": ["method=lanczos", "precision=float32"],
           "submatrix, diagonalise": ["method=diagonalise"], "purification, trs4": ["method=trs4"], "purification, canonical": ["method=canonical"]}
GAPS, TARGETS = (0.2, 0.02), (1.0, 0.1, 0.01, 0.001)
EPS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6)
KEPT = ("eps", "seconds", "gflop", "error_mev_per_atom", "grand_error_mev_per_atom", "electrons_off", "idempotency", "iterations", "products", "mean_blocks",
        "mean_dimension", "peak_mib_of_fullest_rank")


def run(given, gap, options, eps):
    command = [given.program, "bench", "submatrix_ring", "--json", f"atoms={given.atoms}", f"gap={gap}", f"eps={eps}", f"repeat={given.repeat}", *options]
    if given.ranks > 1:
        command = ["mpirun", "-np", str(given.ranks)] + command
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    row = json.loads(done.stdout.strip().splitlines()[-1])
    return {key: float(f"{row[key]:.4g}") for key in KEPT if key in row}


def cheapest(rows, target, cost):
    """Rows have descending eps: those from the last one that misses the target on."""
    misses = [k for k, row in enumerate(rows) if abs(row["error_mev_per_atom"]) > target]
    enough = rows[misses[-1] + 1:] if misses else rows
    return min(enough, key=lambda row: row[cost])[cost] if enough else None


def compared(tables):
    out = []
    for target in TARGETS:
        row = {"error_mev_per_atom": target}
        for cost in ("seconds", "gflop"):
            best = {kind: min((c for name, rows in tables.items() if name.startswith(kind) and (c := cheapest(rows, target, cost)) is not None), default=None)
                    for kind in ("submatrix", "purification")}
            row[cost] = best
            row[f"{cost}_ratio"] = float(f"{best['purification'] / best['submatrix']:.3g}") if all(best.values()) else None
        out.append(row)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--atoms", type=int, default=10000)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--eps", type=lambda text: [float(word) for word in text.split(",")], default=EPS, help="descending")
    given = parser.parse_args()
    out = {"what": f"ring of {given.atoms} atoms with four functions each; true error of the band energy; seconds of one density matrix, S = 1",
           "atoms": given.atoms, "ranks": given.ranks, "gaps": {}}
    falls = True
    for gap in GAPS:
        tables = {name: [run(given, gap, options, eps) for eps in given.eps] for name, options in METHODS.items()}
        falls &= all(abs(rows[-1]["error_mev_per_atom"]) < 0.05 * abs(rows[0]["error_mev_per_atom"]) for rows in tables.values())
        out["gaps"][f"{gap:g}"] = {"equal_error": compared(tables), "runs": tables}
    out["check"] = "ok: the true error of every method falls with its threshold" if falls else "failed: the true error does not fall with the threshold"
    measured.write(given, out)
    for gap, table in out["gaps"].items():
        for row in table["equal_error"]:
            print(f"gap {gap}, {row['error_mev_per_atom']} meV/atom: purification / submatrix {row['seconds_ratio']} in seconds, {row['gflop_ratio']} in operations")
    print(out["check"])


if __name__ == "__main__":
    main()
