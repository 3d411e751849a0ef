#!/usr/bin/env python3
"""Molten copper by the model that ships with energy networks in few bits: few_bits_md.py PROGRAM [--json FILE] [--steps N].

One melt of the model makes the configurations that the bits are fitted to. Then, for the model in full (two seeds: what chance does), and in 4 to 1 bits,
fitted and not: energies and forces on strained and displaced crystals that nothing was fitted to, beside those in full; the radial distribution
function at 1600 K; the drift of the energy in NVE at 1 fs.
"""

import argparse
import csv
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MODEL = os.path.join(ROOT, "inputs", "deepmd", "models", "copper.dp")

CALIBRATION = """
run: {{name: few_bits, directory: {folder}/melt, seed: 1}}
plugins: [md, deepmd]
stages:
  - label:
      structure: {{lattice: {{type: fcc, a: 3.65, cells: [3, 3, 3], species: [Cu]}}}}
      potential: {{type: deep_potential, model: {model}, compress: 1e-6, precision: mixed}}
      dynamics:
        - {{temperature: [1600], strain: [0.03], melt_at: 4500 K, equilibrate: 400, frames: 32}}
      validation: 0
"""

ARM = """
run: {{name: few_bits, directory: {folder}/{arm}, seed: {seed}}}
plugins: [md, deepmd]
stages:
  - label:
      structure: {{lattice: {{type: fcc, a: 3.65, cells: [2, 2, 2], species: [Cu]}}}}
      potential: {{type: deep_potential, model: {model}{quantize}}}
      perturbed: {{frames: 24, strain: 0.03, volume: 0.04, displacement: 0.25 angstrom}}
      validation: 0
  - simulate:
      physics: md
      structure: {{lattice: {{type: fcc, a: 3.74, cells: [5, 5, 5], species: [Cu], displacement: 0.4}}}}
      initial_temperature: 3000 K
      potential: {{type: deep_potential, model: {model}, compress: 1e-6, precision: mixed{quantize}}}
      integrator: {{type: langevin, temperature: 1600 K, damping: 0.1 ps}}
      timestep: 2 fs
      steps: {steps}
      thermo: {{every: 250}}
      output:
        - {{type: rdf, every: 20, start_step: {start}, r_max: 6.5}}
  - simulate:
      physics: md
      structure: {{lattice: {{type: fcc, a: 3.70, cells: [3, 3, 3], species: [Cu], displacement: 0.3}}}}
      initial_temperature: 2000 K
      potential: {{type: deep_potential, model: {model}, compress: 1e-9{quantize}}}
      timestep: 1 fs
      steps: {steps}
      thermo: {{every: 10}}
"""

ARMS = {"full": None, "4 bits": "{bits: 4, %s}", "3 bits": "{bits: 3, %s}", "2 bits": "{bits: 2, %s}",
        "3 bits, not calibrated": "{bits: 3}", "1 bit": "{bits: 1, %s}"}


def run(program, text, folder, name):
    deck = os.path.join(folder, name + ".yaml")
    with open(deck, "w", encoding="utf-8") as file:
        file.write(text)
    answer = subprocess.run([program, "run", deck, "--overwrite"], capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(answer.stdout + answer.stderr)
    return answer.stdout


def table(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return rows[0], np.array([[float(v) for v in row] for row in rows[1:]])


def arm(program, folder, name, quantize, seed, steps):
    key = re.sub(r"\W+", "_", f"{name}_{seed}")
    given = f", quantize: {quantize % ('calibrate: {systems: [%s/melt/label/train], frames: 32}' % folder) if '%' in quantize else quantize}" if quantize else ""
    place = os.path.join(folder, key)
    if not os.path.exists(os.path.join(place, "simulate_2", "thermo.csv")):  # a folder of --folder goes on where it was
        run(program, ARM.format(folder=folder, arm=key, model=MODEL, quantize=given, seed=seed, steps=steps, start=steps // 3), folder, key)
    labels = os.path.join(place, "label", "train", "set.000")
    _, rdf = table(os.path.join(place, "simulate", "rdf.csv"))
    head, thermo = table(os.path.join(place, "simulate_2", "thermo.csv"))
    column = [h.split(" ")[0] for h in head].index("conserved")
    time = [h.split(" ")[0] for h in head].index("time")
    rows = thermo[len(thermo) // 10:]
    parts = [np.polyfit(part[:, time], part[:, column], 1)[0] / 108.0 for part in np.array_split(rows, 4)]
    drift = np.polyfit(rows[:, time], rows[:, column], 1)[0] / 108.0
    head, melt = table(os.path.join(place, "simulate", "thermo.csv"))
    pressure = np.mean(melt[len(melt) // 3:, [h.split(" ")[0] for h in head].index("pressure")])
    with open(os.path.join(place, "log.txt"), encoding="utf-8") as file:
        said = next((line for line in file if " energy matrices in " in line), "").strip()
    return {"energy": np.load(os.path.join(labels, "energy.npy")).ravel(), "force": np.load(os.path.join(labels, "force.npy")), "rdf": rdf, "drift": drift, "drift_scatter": np.std(parts, ddof=1), "pressure": pressure,
            "said": said}


def write(path, found, steps):
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    found["measured"] = {"command": f"studies/few_bits_md.py PROGRAM --steps {steps} --json FILE", "commit": commit,
                         "date": datetime.datetime.utcnow().strftime("%Y-%m-%dT%H:%M:%SZ"), "ranks": 1, "threads_per_rank": 1}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


def apart(a, b):
    """Largest difference of two distribution functions: in their own bins, and in bins of five."""
    difference = a["rdf"][:, 1] - b["rdf"][:, 1]
    return {"rdf": float(np.max(np.abs(difference))), "rdf_bins_of_five": float(np.max(np.abs(difference.reshape(-1, 5).mean(1))))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--json")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--folder")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    scratch = tempfile.TemporaryDirectory()
    folder = options.folder or scratch.name
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(os.path.join(folder, "melt", "label", "train")):
        run(program, CALIBRATION.format(folder=folder, model=MODEL), folder, "calibration")
    full = arm(program, folder, "full", None, 1, options.steps)
    found = {"check": "ok: crystals that nothing was fitted to, eV/A and eV/atom against the model in full; largest difference of g(r) to it at 1600 K",
             "rms_force": float(np.sqrt(np.mean(full["force"] ** 2))), "by_chance": None, "arms": {}}
    again = arm(program, folder, "full", None, 2, options.steps)
    found["by_chance"] = apart(again, full) | {"pressure": float(again["pressure"])}
    for name, quantize in ARMS.items():
        here = arm(program, folder, name, quantize, 1, options.steps) if quantize else full
        off = (here["energy"] - full["energy"]) / 32.0
        found["arms"][name] = {"energy": float(np.sqrt(np.mean(off ** 2))), "energy_without_mean": float(np.std(off)),
                               "force": float(np.sqrt(np.mean((here["force"] - full["force"]) ** 2))),
                               "drift_per_ps": float(here["drift"]), "drift_scatter_of_quarters": float(here["drift_scatter"]),
                               "pressure": float(here["pressure"]), "said": here["said"]} | apart(here, full)
        print(name, json.dumps(found["arms"][name]), flush=True)
        if options.json:
            write(options.json, found, options.steps)
    print("by chance", found["by_chance"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
