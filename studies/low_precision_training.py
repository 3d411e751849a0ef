#!/usr/bin/env python3
"""Training in few bits, arm by arm: low_precision_training.py PROGRAM [--model transformer|water] [--steps N] [--seeds 1,2,3] [--width W]
[--arms a,b] [--json FILE].
With --json, runs and whatever else the file holds already are kept, so that the table can be made in pieces.

A byte transformer on the made language of known entropy; every arm sees the same first weights and texts for one seed. Arms with
messages in few bits run on four ranks as 2 nodes x 2, the others on one. Losses are of 500 texts that no training saw. With --model
water a small Deep Potential learns DeePMD-kit's water frames in CAMBIUM_DATA; what is compared is the force error on frames it did not see. It is so
small, and its rate falls so far, that runs settle; the weights of energy and force in the loss stay as they are. "paired" holds, for each number and arm, the mean
over seeds of the logarithm of its error over that of bf16, and the standard error of this mean.
Exit status 1 when an arm misses its aim (see main).
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

MPIRUN = os.environ.get("CAMBIUM_MPIEXEC", "mpirun").split() + ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
LEVELS = "levels: [{name: node, size: 2%s}, {name: world%s}]"
PLAIN = LEVELS % ("", "")
TWO_LEVEL = LEVELS % (", codec: int8", ", codec: int4")
INT8 = "{activations: int8}"
MICROSCALED = ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp4"]
# name: (ranks, further lines of the stage, products inside the blocks)
ARMS = {
    "float32": (1, "", "{}"),
    "bf16": (4, "parallel: {preset: zero1, %s, update_codec: bf16}, reduce: {codec: bf16}" % PLAIN, "{}"),
    "weights_int4": (4, "parallel: {preset: zero1, %s, update_codec: int4}" % PLAIN, "{}"),
    "difference_two_level": (4, "parallel: {preset: zero1, %s, update_codec: difference}" % TWO_LEVEL, "{}"),
    "bitnet": (1, "", "{weights: ternary, activations: int8}"),
    "direct_int8": (1, "direct: {weights: int8}", INT8),
    "direct_ternary": (1, "direct: {weights: ternary}", INT8),
    "nearest_int8": (1, "direct: {weights: int8, rounding: nearest}", INT8),
    "nearest_ternary": (1, "direct: {weights: ternary, rounding: nearest}", INT8),
    # Asked for by --arms: the formats of OCP microscaling, in products and in messages.
    **{f"products_{name}": (1, "", f"{{weights: {name}, activations: {name}}}") for name in MICROSCALED},
    "products_mxfp4_mxfp8": (1, "", "{weights: mxfp4, activations: mxfp8_e4m3}"),
    **{f"messages_{name}": (4, "parallel: {preset: zero1, %s}, reduce: {codec: %s}" % (PLAIN, name), "{}") for name in MICROSCALED},
}
DECK = """
run: {{name: bits, directory: {folder}, seed: {seed}}}
plugins: [sequence]
stages:
  - {{train: {{network: {{type: transformer, layers: 2, width: {width}, heads: 4, linear: {linear}}},
      dataset: {{type: synthetic_grammar, samples: 100000, length: 65}}, batch: 16, steps: {steps}, optimizer: {{type: adamw, weight_decay: 0.01}},
      learning_rate: {{type: cosine, start: 2e-3, stop: 2e-5}}, warm_up: {{steps: {warm_up}}}, clip: {{norm: 1.0}}, log_every: {log}{more}}}}}
  - evaluate: {{model: "{{run}}/train/model.h5", dataset: {{type: synthetic_grammar, samples: 500, length: 65, first_index: 100000}}, batch: 50}}
"""

WATER = """
run: {{name: bits, directory: {folder}, seed: {seed}}}
plugins: [md, deepmd]
stages:
  - {{train: {{network: {{type: deep_potential, rcut: 4.0 angstrom, rcut_smth: 0.5 angstrom, neuron: [8, 16], axis_neuron: 4, fitting: [32, 32],
      precision: float32, loss: {{start_pref_e: 1, limit_pref_e: 1, start_pref_f: 100, limit_pref_f: 100}}, statistics_frames: 40}},
      dataset: {{type: deepmd_npy, systems: ["{data}/data_0", "{data}/data_1", "{data}/data_2"]}}, batch: 4, steps: {steps}, optimizer: adam,
      learning_rate: {{type: cosine, start: 5e-3, stop: 1e-6}}, warm_up: {{steps: {warm_up}}}, log_every: {log}{more}}}}}
  - evaluate: {{model: "{{run}}/train/model.h5", dataset: {{type: deepmd_npy, systems: ["{data}/data_3"]}}, batch: 8}}
"""
WATER_ARMS = ["float32", "bf16", "weights_int4", "difference_two_level"]
#: By model: deck, what the stage evaluate calls the number that is compared, and more numbers to keep.
MODELS = {"transformer": (DECK, "nats_per_byte", ["above_floor"]), "water": (WATER, "force", ["energy"])}


def train(options, arm, seed):
    """What one run says: errors on what it did not see and, for weights kept in few bits, how many changed per step."""
    ranks, more, linear = ARMS[arm]
    text, first, others = MODELS[options.model]
    data = os.path.join(os.environ.get("CAMBIUM_DATA", ""), "deepmd", "water")
    with tempfile.TemporaryDirectory() as folder:
        deck = os.path.join(folder, "deck.yaml")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(text.format(folder=os.path.join(folder, "run"), data=data, seed=seed, width=options.width, linear=linear, steps=options.steps,
                                   warm_up=max(1, options.steps // 10), log=max(1, options.steps // 10), more=", " + more if more else ""))
        command = (MPIRUN + ["-np", str(ranks)] if ranks > 1 else []) + [options.program, "run", deck]
        answer = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if answer.returncode != 0:
            sys.exit(answer.stdout + answer.stderr)
    page = re.split(r"on \d+ samples:", answer.stdout)[1]
    out = {name: float(re.search(name + r" +([-\d.e+]+)", page).group(1)) for name in [first] + others}
    if "direct" in more:
        rows = re.findall(r"^ +\d+(?: +[\d.e+-]+){4,} +([\d.e+-]+)$", answer.stdout, re.M)
        out["flips_by_tenths"] = [float(row) for row in rows]
        out["memory"] = re.search(r"weights: .*", answer.stdout).group(0)
    return out


def paired(runs, measure):
    """Runs of one seed begin with the same weights and see the same samples: seeds scatter more than arms differ."""
    out = {}
    for arm, of in runs.items():
        both = sorted(set(of) & set(runs.get("bf16", {})))
        if arm == "bf16" or len(both) < 2:
            continue
        logs = [math.log(of[seed][measure] / runs["bf16"][seed][measure]) for seed in both]
        mean = sum(logs) / len(logs)
        out[arm] = {"seeds": len(both), "mean": mean, "standard_error": math.sqrt(sum((x - mean) ** 2 for x in logs) / (len(logs) - 1) / len(logs))}
    return out


def judge(mean, flips):
    """Aims, as (text, value, met). Ratios are of losses above nothing, as papers give them."""
    ratio = lambda arm, base: mean[arm] / mean[base]
    checks = []
    add = lambda text, value, met: checks.append({"aim": text, "value": value, "met": bool(met)})
    if {"weights_int4", "bf16"} <= mean.keys():
        add("weights sent in 4 bits: at least 3 % worse than bf16", ratio("weights_int4", "bf16"), ratio("weights_int4", "bf16") >= 1.03)
    if {"difference_two_level", "bf16"} <= mean.keys():
        add("differences and two-level gradients: within 0.5 % of bf16", ratio("difference_two_level", "bf16"),
            ratio("difference_two_level", "bf16") <= 1.005)
    if {"direct_int8", "bitnet"} <= mean.keys():
        add("direct int8 within 5 % of BitNet with a copy in full", ratio("direct_int8", "bitnet"), ratio("direct_int8", "bitnet") <= 1.05)
    for arm in ("nearest_int8", "nearest_ternary"):
        if arm in flips:
            add(f"{arm}: fewer than 1e-4 of the weights change in a step of the last tenth", flips[arm], flips[arm] < 1e-4)
    return checks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--model", choices=list(MODELS), default="transformer")
    parser.add_argument("--steps", type=int, help="300, of water 3000")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--arms")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.steps = options.steps or (300 if options.model == "transformer" else 3000)
    measure = MODELS[options.model][1]
    default = [arm for arm in ARMS if not arm.startswith(("products_", "messages_"))] if options.model == "transformer" else WATER_ARMS
    arms, seeds = options.arms.split(",") if options.arms else default, [int(seed) for seed in options.seeds.split(",")]
    runs, result = {arm: {} for arm in ARMS}, {}
    if options.json and os.path.exists(options.json):
        with open(options.json, encoding="utf-8") as file:
            result = json.load(file)
        for arm, known in result["runs"].items():
            runs[arm] = {int(seed): run for seed, run in known.items()}
    for seed in seeds:
        for arm in arms:
            runs[arm][seed] = train(options, arm, seed)
            print(f"{arm:22} seed {seed}: " + ", ".join(f"{name} {runs[arm][seed][name]:.6g}" for name in [measure] + MODELS[options.model][2]),
                  flush=True)
            known = {name: of for name, of in runs.items() if of}
            mean = {name: sum(run[measure] for run in of.values()) / len(of) for name, of in known.items()}
            flips = {name: max(run["flips_by_tenths"][-1] for run in of.values()) for name, of in known.items() if "direct:" in ARMS[name][1]}
            result |= {"command": " ".join(["studies/low_precision_training.py"] + sys.argv[2:]), "model": options.model, "steps": options.steps,
                       "width": options.width, "mean_" + measure: mean, "checks": judge(mean, flips), "runs": known,
                       "paired": {name: paired(known, name) for name in [measure] + MODELS[options.model][2]},
                       "arms": {name: {"ranks": ARMS[name][0], "stage": ARMS[name][1], "linear": ARMS[name][2]} for name in known}}
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump(result, file, indent=1)
    for check in result["checks"]:
        print(f"{'met   ' if check['met'] else 'MISSED'} {check['aim']}: {check['value']:.5g}")
    return 0 if all(check["met"] for check in result["checks"]) else 1


if __name__ == "__main__":
    sys.exit(main())
