#!/usr/bin/env python3
"""Super-resolution against its baselines: superres_table.py PROGRAM FOLDER [--steps N] [--gamma G] [--only d4|d8] [--seeds N] [--unet-steps N]
[--frames N] [--networks NAME ...].

For every fourth point and every second frame (d4), and for every eighth point and every fourth frame (d8), of convection at Ra 1e6:
trains the decoder with the equations, without them and with a stream function (without them), and the U-Net, some seeds each, on one run, and
judges all of them, interpolation, and the solver nudged by the coarse frames, on a run from other noise; the first two also with their answers
refined by the equations, as are those of an untrained network (one step). --networks alone leaves all of them out. Simulations and finished trainings in FOLDER are used again.
The U-Net takes its own number of steps, since it needs more. Prints one JSON object: mean and spread over seeds of every score. On one idle core a step
takes some 20 to 100 ms."""

import argparse
import csv
import json
import os
import re
import subprocess

import measured

EQUATIONS = ["dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b)) = 0",
             "dt(u) + u*dx(u) + w*dz(u) + dx(p) - R*(dxx(u) + dzz(u)) = 0",
             "dt(w) + u*dx(w) + w*dz(w) + dz(p) - b - R*(dxx(w) + dzz(w)) = 0",
             "dx(u) + dz(w) = 0"]
LAWS = {"equations": EQUATIONS, "constants": {"P": 1e-3, "R": 1e-3}}
RATIOS = {"d4": [2, 4, 4], "d8": [4, 8, 8]}


def simulate(seed):
    return {"simulate": {"physics": "rayleigh_benard", "rayleigh": 1e6, "aspect_ratio": 4, "cells": [256, 96],
                         "initial": {"noise": 0.1, "seed": seed}, "end_time": 60, "sample_interval": 0.25, "thermo": {"every": 1000},
                         "output": [{"type": "fields", "interval": 0.25}]}}


def crops(path, ratio, **more):
    return {"type": "crops", "data": [path], "ratio": ratio, "crop": [4, 16, 0], "frames": 161, "points": 512, **more}


def train(model, ratio, data, steps, seeds):
    return {"train": {"network": model, "dataset": crops(data[0], ratio), "batch": 2, "steps": steps, "ensemble_size": seeds,
                      "validation": crops(data[1], ratio, samples=16), "optimizer": {"type": "adam"}, "clip": {"norm": 1.0},
                      "learning_rate": {"type": "cosine", "start": 3e-3, "stop": 3e-5}, "log_every": 100,
                      "validate": {"every": steps, "keep_best": False}}}


def networks(ratio, gamma, steps):
    """gamma rises over the whole training: the equations refine what the data have taught."""
    net = {"type": "meshfree_flow_net", "base_channels": 8, "max_channels": 64, "latent_dim": 16, "decoder": [64, 64, 32],
           "activation": "swish", "blend": "spline", "loss": "l2", **LAWS}
    return {"constrained": {**net, "gamma": gamma, "ramp": steps}, "free": {**net, "gamma": 0.0},
            "unet": {"type": "flow_unet", "base_channels": 8, "max_channels": 64, "ratio": ratio, "loss": "l2"},
            "untrained": {**net, "gamma": 0.0},
            "stream_function": {**net, "gamma": 0.0, "divergence_free": True}}


def run(program, folder, stages):
    if os.path.exists(os.path.join(folder, "done")):
        return
    os.makedirs(folder, exist_ok=True)
    deck = folder + ".yaml"
    with open(deck, "w", encoding="utf-8") as out:
        json.dump({"run": {"name": os.path.basename(folder), "seed": 1, "directory": folder}, "plugins": ["superres"],
                   "stages": stages}, out)
    subprocess.run([program, "run", deck, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
    open(os.path.join(folder, "done"), "w", encoding="utf-8").close()


def scores(program, folder, ratio, wanted):
    """One row per column of the task's table, by name."""
    data = [os.path.join(folder, "data", name, "fields.h5") for name in ("simulate", "simulate_2")]
    run(program, os.path.join(folder, "data"), [simulate(1), simulate(2)])
    models = {}
    seeds = wanted.seeds
    for name, model in networks(RATIOS[ratio], wanted.gamma, wanted.steps).items():
        if name not in wanted.networks:
            continue
        place = os.path.join(folder, f"{ratio}_{name}")
        run(program, place, [train(model, RATIOS[ratio], data, {"unet": wanted.unet_steps, "untrained": 1}.get(name, wanted.steps),
                                    seeds)])
        for k in range(1, seeds + 1):
            models[f"{name}_{k}"] = os.path.join(place, "train", *([f"model_{k}"] if seeds > 1 else []), "model.h5")
    place = os.path.join(folder, f"{ratio}_refined_scores")
    refined = sorted(name for name in models if name.startswith(("constrained", "free", "untrained")))
    again = {"refine": {"models": refined}} if refined else {}
    run(program, place, [{"reconstruct": {"data": data[1], "rayleigh": 1e6, "ratio": RATIOS[ratio], "frames": wanted.frames, "models": models,
                                          "methods": ["linear", "cubic", "nudged"], **again, **LAWS}}])
    with open(os.path.join(place, "reconstruct", "scores.csv"), encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    return dict(zip(["linear", "cubic", "nudged", *sorted(models), *(name + "_refined" for name in refined)], rows))


def summary(rows):
    """Mean and spread over seeds of every number; a residual of all equations together."""
    out = {}
    for name, row in rows.items():
        numbers = {key.split(" ")[0]: float(value) for key, value in row.items()}
        squares = [value ** 2 for key, value in numbers.items() if key.startswith("residual_")]
        numbers["residual"] = (sum(squares) / len(squares)) ** 0.5
        numbers["mean_rel_l2"] = sum(numbers["rel_l2_" + f] for f in "pbuw") / 4
        method = re.sub(r"_\d+", "", name)  # the seed's number
        for key, value in numbers.items():
            out.setdefault(method, {}).setdefault(key, []).append(value)
    return {method: {key: {"mean": sum(v) / len(v), "least": min(v), "most": max(v)} for key, v in keys.items()}
            for method, keys in out.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--gamma", type=float, default=0.0125)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--unet-steps", type=int, default=2000)
    parser.add_argument("--frames", type=int, default=41)
    parser.add_argument("--only", choices=list(RATIOS))
    parser.add_argument("--networks", nargs="*", default=["constrained", "free", "unet", "stream_function"])
    wanted = parser.parse_args()
    folder = os.path.abspath(wanted.folder)
    out = {"steps": wanted.steps, "gamma": wanted.gamma, "seeds": wanted.seeds, "unet_steps": wanted.unet_steps, "frames": wanted.frames, "networks": wanted.networks}
    for ratio in [wanted.only] if wanted.only else RATIOS:
        out[ratio] = summary(scores(wanted.program, folder, ratio, wanted))
    out["measured"] = measured.by_program(wanted.program, " ".join(
        ["superres_table.py cambium FOLDER", f"--steps {wanted.steps} --gamma {wanted.gamma} --seeds {wanted.seeds}",
         f"--unet-steps {wanted.unet_steps} --frames {wanted.frames} --networks {' '.join(wanted.networks)}",
         *([f"--only {wanted.only}"] if wanted.only else [])]))
    print(json.dumps(out, indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
