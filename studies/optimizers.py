#!/usr/bin/env python3
"""Steps to one loss by optimizer: optimizers.py PROGRAM [--cases transformer,deep_potential,flow_unet] [--seeds 1,2,3] [--scale 1] [--json FILE].

AdamW, schedule-free AdamW, SOAP and Muon train one network each on the same samples, with a constant rate behind the same warm-up. Every optimizer
is tuned alike: by the same number of rates, a factor of 3 apart, on a seed of its own (99); where the best is at an end of the grid, the grid is
moved by one. The rate kept is that of the least validation loss at the end of the tuning runs. The loss to reach is what tuned AdamW has on the
tuning seed after three quarters of the steps. Then all seeds run; counted are the steps until the validation loss is first that low, between two
validations by interpolation of the logarithm of the loss. "gain" is the mean over seeds of AdamW's steps over the optimizer's, by logarithms, with
the standard deviation of a single seed; one is claimed where it is more than two deviations from 1. Steps, not times: a step of SOAP or Muon takes
longer. Lower --scale shortens all trainings.
"""

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import measured

OPTIMIZERS = {"adamw": "{type: adamw, weight_decay: 0.01}", "schedule_free_adamw": "{type: schedule_free_adamw, weight_decay: 0.01}",
              "soap": "{type: soap, weight_decay: 0.01}", "muon": "{type: muon, weight_decay: 0.01, vector_rate: 0.2}"}
TUNING_SEED = 99
LABEL = """
  - label:
      structure: {lattice: {type: fcc, a: 3.61, cells: [2, 2, 2], species: [Cu]}}
      potential: {type: sutton_chen, element: Cu, cutoff: 5.0, switch_width: 1.5}
      perturbed: {frames: 100, strain: 0.03, volume: 0.04, displacement: 0.08 angstrom}
      validation: 0.2
"""
CONVECTION = "".join(f"""
  - simulate:
      physics: rayleigh_benard
      rayleigh: 1e6
      aspect_ratio: 2
      cells: [64, 32]
      initial: {{noise: 0.1, seed: {seed}}}
      end_time: {end}
      sample_interval: 0.25
      output: [{{type: fields, interval: 0.25}}]
""" for seed, end in ((1, 30), (2, 20)))
POTENTIAL = ("{type: deep_potential, rcut: 5.0 angstrom, rcut_smth: 2.0 angstrom, neuron: [8, 16], axis_neuron: 4, fitting: [32, 32, 32], "
             "precision: float32, loss: {start_pref_e: 1, limit_pref_e: 1, start_pref_f: 100, limit_pref_f: 100}}")
#: Of each the plugins, the stage before, network, data, unseen data, batch, steps, steps between validations, and where AdamW's grid of rates begins.
CASES = {
    "transformer": dict(plugins="sequence", before="", network="{type: transformer, layers: 2, width: 64, heads: 4}",
                        data="{type: grammar, samples: 20000, length: 33}",
                        unseen="{type: grammar, samples: 200, length: 33, first_index: 100000}", batch=16, steps=300, every=10, first=1e-3),
    "deep_potential": dict(plugins="md, deepmd", before=LABEL, network=POTENTIAL, data='{type: deepmd_npy, systems: ["BEFORE/label/train"]}',
                           unseen='{type: deepmd_npy, systems: ["BEFORE/label/validation"]}', batch=4, steps=300, every=10, first=1e-3),
    "flow_unet": dict(plugins="superres", before=CONVECTION, network="{type: flow_unet, features: 8, most_features: 32}",
                      data='{type: snapshots, data: ["BEFORE/simulate/fields.h5"], history: 2}',
                      unseen='{type: snapshots, data: ["BEFORE/simulate_2/fields.h5"], history: 2}', batch=8, steps=200, every=10, first=1e-3),
}
#: The grid of an optimizer begins at this multiple of AdamW's.
BEGIN = {"adamw": 1.0, "schedule_free_adamw": 1.0, "soap": 1.0, "muon": 3.0}
DECK = """
run: {{name: steps, directory: {folder}, seed: {seed}}}
plugins: [{plugins}]
stages:
  - train:
      network: {network}
      dataset: {data}
      validation: {unseen}
      batch: {batch}
      steps: {steps}
      optimizer: {optimizer}
      learning_rate: {{type: constant, start: {rate}}}
      warm_up: {{steps: {warm_up}}}
      validate: {{every: {every}, batch: 16, keep_best: false}}
      log_every: {every}
      divergence_factor: 1e30
"""


def run(program, text, folder):
    deck = os.path.join(folder, "deck.yaml")
    with open(deck, "w", encoding="utf-8") as file:
        file.write(text)
    return subprocess.run([program, "run", deck, "--overwrite"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


def curve(options, case, before, optimizer, rate, seed):
    """(step, validation loss) of a training; empty where it diverged."""
    steps, every = max(20, round(case["steps"] * options.scale)), case["every"]
    with tempfile.TemporaryDirectory() as folder:
        keys = {key: case[key].replace("BEFORE", before) for key in ("network", "data", "unseen")}
        answer = run(options.program, DECK.format(folder=os.path.join(folder, "run"), seed=seed, plugins=case["plugins"], batch=case["batch"], steps=steps,
                                                  optimizer=OPTIMIZERS[optimizer], rate=rate, warm_up=max(1, steps // 20), every=every, **keys), folder)
        if answer.returncode == 4:
            return []
        if answer.returncode != 0:
            sys.exit(answer.stdout + answer.stderr)
        with open(os.path.join(folder, "run", "train", "learning_curve.csv"), encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
    names = [name.split(" ")[0] for name in rows[0]]
    at, loss = names.index("step"), names.index("validation_loss")
    return [(int(float(row[at])), float(row[loss])) for row in rows[1:]]


def steps_to(points, target):
    """Where the loss is first so low; None where it never is."""
    before = None
    for step, loss in points:
        if not math.isfinite(loss):
            return None
        if loss <= target:
            if before is None or before[1] <= loss:
                return float(step)
            share = (math.log(before[1]) - math.log(target)) / (math.log(before[1]) - math.log(loss))
            return before[0] + share * (step - before[0])
        before = (step, loss)
    return None


def last_of(points):
    """Mean loss of the last three validations."""
    losses = [loss for _, loss in points[-3:]]
    return sum(losses) / len(losses) if len(losses) == 3 and all(map(math.isfinite, losses)) else math.inf


def tuned(options, case, before, optimizer):
    """The curves of the grid by rate, moved while its best is at an end (twice at most)."""
    rates = [case["first"] * BEGIN[optimizer] * 3.0 ** k for k in range(3)]
    curves = {}
    for _ in range(3):
        for rate in rates:
            if rate not in curves:
                curves[rate] = curve(options, case, before, optimizer, float(f"{rate:.3g}"), TUNING_SEED)
        best = min(rates, key=lambda rate: last_of(curves[rate]))
        if best == rates[0]:
            rates = [rates[0] / 3.0] + rates
        elif best == rates[-1]:
            rates = rates + [rates[-1] * 3.0]
        else:
            break
    return min(curves, key=lambda rate: last_of(curves[rate])), curves


def compared(counts):
    """Ratios to AdamW over the seeds on which both reached the loss."""
    out = {}
    for optimizer, of in counts.items():
        both = [seed for seed in of if of[seed] and counts["adamw"].get(seed)]
        if optimizer == "adamw" or len(both) < 2:
            continue
        logs = [math.log(counts["adamw"][seed] / of[seed]) for seed in both]
        mean = sum(logs) / len(logs)
        deviation = math.sqrt(sum((x - mean) ** 2 for x in logs) / (len(logs) - 1))
        out[optimizer] = {"seeds": len(both), "gain": math.exp(mean), "log_gain": mean, "deviation": deviation, "claimed": abs(mean) > 2.0 * deviation}
    return out


def measure(options, name):
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        before = os.path.join(folder, "before")
        if case["before"]:
            answer = run(options.program, f"run: {{name: before, directory: {before}, seed: 1}}\nplugins: [{case['plugins']}]\nstages:{case['before']}", folder)
            if answer.returncode != 0:
                sys.exit(answer.stdout + answer.stderr)
        grids = {optimizer: tuned(options, case, before, optimizer) for optimizer in OPTIMIZERS}
        steps = max(20, round(case["steps"] * options.scale))
        target = min((abs(step - 0.75 * steps), loss) for step, loss in grids["adamw"][1][grids["adamw"][0]])[1]
        out = {"target": target, "steps": steps, "batch": case["batch"], "network": case["network"], "rates": {}, "tuning": {}, "counts": {}, "last": {}}
        for optimizer, (rate, curves) in grids.items():
            out["rates"][optimizer] = float(f"{rate:.3g}")
            out["tuning"][optimizer] = {f"{r:.3g}": last_of(points) if math.isfinite(last_of(points)) else None for r, points in curves.items()}
            out["counts"][optimizer], out["last"][optimizer] = {}, {}
            for seed in options.seeds:
                points = curve(options, case, before, optimizer, out["rates"][optimizer], seed)
                out["counts"][optimizer][seed] = steps_to(points, target)
                out["last"][optimizer][seed] = last_of(points) if math.isfinite(last_of(points)) else None
            print(f"{name:15} {optimizer:20} rate {out['rates'][optimizer]:8.3g} steps", *(f"{n:.0f}" if n else "-" for n in out["counts"][optimizer].values()),
                  flush=True)
    out["gains"] = compared(out["counts"])
    for optimizer, gain in out["gains"].items():
        print(f"{name:15} {optimizer:20} {gain['gain']:.3f} times fewer steps, deviation {100 * gain['deviation']:.1f} %, claimed: {gain['claimed']}", flush=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json")
    options = parser.parse_args()
    options.seeds = [int(seed) for seed in options.seeds.split(",")]
    out = {"seeds": options.seeds, "tuning_seed": TUNING_SEED, "optimizers": OPTIMIZERS, "cases": {}}
    for name in options.cases.split(","):
        out["cases"][name] = measure(options, name)
        if options.json:
            measured.write(options, dict(out, cases=dict(out["cases"])), rows="cases")


if __name__ == "__main__":
    main()
