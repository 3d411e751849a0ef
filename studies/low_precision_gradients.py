#!/usr/bin/env python3
"""Gradients of networks in training, their tails, and their errors in 4 bits: low_precision_gradients.py BUILD [--json FILE].

BUILD/bin holds the tests that print the tables: a byte transformer, a Deep Potential on water and a convolutional network on digits (the
last two with CAMBIUM_DATA), three seeds each. "gain" is how many times the randomised Hadamard transform makes the error smaller that 4 bits
in groups of 128 leave, "gain_32" what the transform of 32 without random signs does. A matrix is heavy-tailed where the kurtosis within
its groups, weighted by their squares, is above 30 (tests/gradient_tails.hpp says what that means). Exit status 1 when the mean gain of
heavy-tailed matrices is below 2.
"""

import argparse
import json
import os
import subprocess
import sys

import measured

PROGRAMS = ("test_wire", "test_deepmd_water", "test_train_gradient_tails")
#: Name and least kurtosis within groups of the kinds of matrices in the table.
KINDS = (("heavy_tailed", 30.0), ("kurtosis_8_or_more", 8.0), ("all", 0.0))


def rows_of(program):
    answer = subprocess.run([program, "[.table]"], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        sys.exit(answer.stdout + answer.stderr)
    for line in answer.stdout.splitlines():
        if not line.startswith("gradient "):
            continue
        network, seed, steps, tensor, *numbers = line.split()[1:]
        elements, kurtosis, within, plain, of_32, randomised = map(float, numbers)
        if plain > 0 and of_32 > 0 and randomised > 0:
            yield {"network": network, "seed": int(seed), "steps": int(steps), "tensor": tensor, "elements": int(elements), "kurtosis": kurtosis,
                   "within_groups": within, "error": plain, "error_32": of_32, "error_randomised": randomised,
                   "gain": round(plain / randomised, 4), "gain_32": round(plain / of_32, 4)}


def summary(rows):
    if not rows:
        return {"matrices": 0}
    out = {"matrices": len(rows)}
    for name in ("gain", "gain_32"):
        gains = [row[name] for row in rows]
        out |= {"mean_" + name: round(sum(gains) / len(gains), 3), "least_" + name: min(gains), "most_" + name: max(gains)}
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = [row for name in PROGRAMS if os.path.exists(path := os.path.join(options.build, "bin", name)) for row in rows_of(path)]
    networks = sorted({row["network"] for row in rows})
    result = {}
    for kind, least in KINDS:
        chosen = [row for row in rows if row["within_groups"] > least]
        result[kind] = {"all": summary(chosen)} | {name: summary([row for row in chosen if row["network"] == name]) for name in networks}
    met = result["heavy_tailed"]["all"].get("mean_gain", 0.0) >= 2.0
    result["check"] = ("ok" if met else "failed") + ": mean gain of heavy-tailed matrices, 2 is asked"
    print(json.dumps(result, indent=1))
    if options.json:
        result["measured"] = measured.by_program(os.path.join(options.build, "bin", "cambium"), "studies/low_precision_gradients.py build --json FILE")
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result | {"gradients": rows}, file, indent=1)
            file.write("\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
