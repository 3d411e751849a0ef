"""How fast simulations that fill a card run, and what passes between its memory and the host's while they do.

usage: card_rates.py PROGRAM FOLDER OUTPUT.json [NAME ...]
Each deck of inputs runs twice: plainly, for its rate, and under `cambium profile`, for the kernels and for the copies
between memories, which are counted by array. A deck that fails is said, with the end of its page; the others go on.
"""
import json
import os
import re
import subprocess
import sys

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inputs")
STAGE = "stages[0].simulate"
# name: (deck, keys of its first stage to set)
CASES = {
    "lennard_jones": ("md/argon_melt", {"structure.lattice.cells": [80, 80, 80], "steps": 400, "thermo.every": 200}),
    "silicon": ("md/silicon", {"structure.lattice.cells": [64, 64, 64], "steps": 400, "thermo.every": 200}),
    "deep_potential_float64": ("deepmd/copper_melt", {"structure.lattice.cells": [40, 40, 40], "steps": 40,
                                                      "thermo.every": 20, "potential.precision": "float64"}),
    "deep_potential_mixed": ("deepmd/copper_melt", {"structure.lattice.cells": [40, 40, 40], "steps": 40,
                                                    "thermo.every": 20}),
    "weibel_1x2v": ("kinetic/weibel_1x2v", {"domain.cells": [64], "species[0].velocity.cells": [96, 96],
                                            "end_time": 4, "thermo.every": 1000}),
    "oblique_2x2v": ("kinetic/oblique_2x2v", {"domain.cells": [16, 16], "species[0].velocity.cells": [24, 24],
                                              "end_time": 4, "thermo.every": 1000}),
    "sod_bgk": ("kinetic/sod_bgk", {"domain.cells": [512], "species[0].velocity.cells": [512], "end_time": 0.005,
                                    "thermo.every": 1000}),
    "rayleigh_benard": ("superres/rayleigh_benard", {"cells": [2048, 1024], "end_time": 0.2, "average_from": 0,
                                                     "thermo.every": 1000}),
}
RATE = re.compile(r"^([0-9.e+-]+) steps/s, ([0-9.e+-]+) ([kMGT]?)([a-z]+)-steps/s", re.M)
SCALE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
COPY = re.compile(r"^(from|to) the device: (.*)")


def first_stage(keys):
    """The keys of a case as words of the command line; what a deck writes is left out."""
    words = [f"{STAGE}.{key}={json.dumps(value)}" for key, value in keys.items()]
    return words + [f"{STAGE}.output=[]"]


def run(words, log):
    done = subprocess.run(words, capture_output=True, text=True)
    with open(log, "w", encoding="utf-8") as file:
        file.write(done.stdout + done.stderr)
    return done.stdout + done.stderr


def copies(folder, steps):
    """Copies between memories for each array: calls and bytes a step, the longest kernels beside them."""
    path = os.path.join(folder, "simulate", "profile.json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["ranks"][0]["rows"]
    moved = {row["name"]: {"calls_per_step": row["calls"] / steps, "bytes_per_step": row["bytes"] / steps}
             for row in rows if COPY.match(row["name"])}
    longest = sorted((row for row in rows if not COPY.match(row["name"])), key=lambda row: -row["seconds"])[:12]
    return {"copies": moved,
            "longest": [{key: row[key] for key in ("section", "name", "calls", "seconds")} for row in longest]}


def measure(program, folder, name):
    deck, keys = CASES[name]
    place = os.path.join(folder, name)
    words = [os.path.join(INPUTS, f"{deck}.yaml"), f"run.directory={place}", "--overwrite"] + first_stage(keys)
    page = run([program, "run"] + words, os.path.join(folder, f"{name}.log"))
    found = RATE.search(page)
    if not found:
        return {"failed": page.strip().splitlines()[-3:]}
    rate = float(found[2]) * SCALE[found[3]]
    profiled = run([program, "profile"] + words, os.path.join(folder, f"{name}.profile.log"))
    steps = max(1, int((re.search(r"(\d+) steps", profiled) or [0, 1])[1]))
    return {"deck": deck, "set": keys, "steps_per_s": float(found[1]), f"{found[4]}_steps_per_s": rate,
            **copies(place, steps)}


def main():
    program, folder, output = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    results = {}
    for name in sys.argv[4:] or CASES:
        results[name] = measure(program, folder, name)
        said = {key: value for key, value in results[name].items() if key.endswith("steps_per_s") or key == "failed"}
        print(f"{name:24} {said}", flush=True)
        for array, moved in results[name].get("copies", {}).items():
            print(f"    {array}: {moved['calls_per_step']:.3g} copies, {moved['bytes_per_step']:.4g} bytes a step")
        with open(output, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    sys.exit(any("failed" in result for result in results.values()))


if __name__ == "__main__":
    main()
