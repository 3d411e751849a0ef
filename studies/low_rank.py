#!/usr/bin/env python3
"""Networks as products beside their rivals of the same time: low_rank.py PROGRAM [--networks flow_unet,cosmoflow] [--seeds 1,2,3] [--budget 0.6]
[--folder DIR] [--prepare] [--json FILE].

For each network and seed: trains the whole network, compresses it under a budget of the time of a pass, trains on ranks chosen by the table of single
layers, ranks found by search, equal shares, equal energy, the whole network (each by the same steps), and a smaller network from scratch, by the steps
of the whole training and those together. Rivals are as large as the time of the chosen ranks allows, measured in turns with these; how much of it they
take stands beside their loss. flow_unet, stacked_lstm and deep_potential are the decks low_rank.yaml of inputs/superres, inputs/podlstm and inputs/deepmd as they stand, with the
simulations that go on from what the products say, each within the budget of its deck (of time, or of multiplications);
cosmoflow learns Omega_m and sigma_8 of 800 boxes. The table of every stage is kept, with the time that was predicted and the time that was measured for
every set of ranks; for the first seed more budgets, not trained on, are looked at for these times alone. A file of --json is added to, network by
network and seed by seed. Times mean something where nothing else runs on the machine: --prepare only trains the whole networks and keeps them in the
folder, which needs no quiet, and a call with the same folder goes on from there.
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile

import measured

DECKS = {"flow_unet": "superres", "stacked_lstm": "podlstm", "deep_potential": "deepmd"}
INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "inputs")
COSMO = """
run: {name: boxes, directory: runs/boxes, seed: 1}
plugins: [cosmo]
stages:
  - structure_boxes:
      boxes: 800
      vary: {omega_m: [0.1, 0.5], sigma_8: [0.6, 1.0]}
      cosmology: {omega_b: 0.049, h: 0.6711, n_s: 0.9624}
      box: 64
      particles: 16
      initial_scale_factor: 0.1
      num_steps: 10
  - train:
      network: {type: cosmoflow, channels: [32, 128, 128], hidden: [128, 64], pool: mean}
      dataset: &seen {type: hdf5, files: ["{run}/structure_boxes/boxes.h5"], fields: [{name: counts}, {name: target}], range: [0, 700]}
      batch: 8
      steps: 1400
      optimizer: {type: adam}
      learning_rate: {type: cosine, start: 2e-3, stop: 2e-5}
  - compress:
      model: "{run}/train/model.h5"
      dataset: *seen
      validation: {type: hdf5, files: ["{run}/structure_boxes/boxes.h5"], fields: [{name: counts}, {name: target}], range: [700, 800]}
      budget: 0.62  # the first convolution, of one channel, stays whole
      samples: 64
      batch: 8
      search: {steps: 100, batch: 8}
      fine_tune: {steps: 300, batch: 8, learning_rate: 5e-4}
      baselines: [table, search, equal_shares, equal_energy, smaller]
      from_scratch: {learning_rate: 2e-3}
"""
RIVALS = "[table, search, equal_shares, equal_energy, whole, smaller]"
BUDGETS = (0.45, 0.8)
FAIR = 0.03  # the table of the stage says of a rival whose time is further away that it is no comparison


def run(program, deck, *overrides, codes=(0,)):
    answer = subprocess.run([program, "run", deck, *overrides], capture_output=True, text=True, check=False)
    if answer.returncode not in codes:
        sys.exit(answer.stdout + answer.stderr)


def parts_of(name):
    """Head and stages of a deck; what anchors stand for is written where they are named, so that every stage stands alone."""
    text = COSMO
    if name in DECKS:
        with open(os.path.join(INPUTS, DECKS[name], "low_rank.yaml"), encoding="utf-8") as file:
            text = file.read().split("\nx-test:")[0]
    for anchor, value in re.findall(r"&(\w+) (.*)", text):
        text = text.replace(f"&{anchor} ", "").replace(f"*{anchor}", value)
    head, stages = text.split("stages:\n")
    return head + "stages:\n", ["  - " + stage for stage in ("\n" + stages).split("\n  - ")[1:]]


def write_deck(path, head, stages):
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "\n".join(stages) + "\n")
    return path


def table_of(folder):
    with open(os.path.join(folder, "compress", "compress.json"), encoding="utf-8") as file:
        return json.load(file)


def prepare(program, name, seed, folder):
    """Simulations and the whole network, kept where they are there already. Stages that go on from them."""
    head, stages = parts_of(name)
    first = next(k for k, stage in enumerate(stages) if stage.startswith("  - compress:"))
    if not os.path.exists(os.path.join(folder, "train", "model.h5")):
        os.makedirs(folder, exist_ok=True)
        deck = write_deck(os.path.join(folder, "whole.yaml"), head, stages[:first])
        run(program, deck, f"run.directory={folder}", f"run.seed={seed}")
    return head, [re.sub(r"\{run\}/(?=train/|simulate/|simulate_2/|structure_boxes/|label/|pod/)", folder + "/", stage) for stage in stages[first:]]


def only_times(program, head, compress, folder, budget):
    """The table of another budget: ranks are chosen and timed, not trained on."""
    stage = "\n".join(line for line in compress.splitlines() if not line.strip().startswith(("fine_tune", "baselines", "from_scratch", "multiplications")))
    deck = write_deck(os.path.join(folder, "times.yaml"), head, [stage])
    where = os.path.join(folder, f"times_{budget}")
    run(program, deck, f"run.directory={where}", f"stages[0].compress.budget={budget}", "stages[0].compress.choose=table", codes=(0, 4))
    return table_of(where)


def measure(program, name, seed, budget, folder, budgets):
    head, stages = prepare(program, name, seed, folder)
    if budget:
        stages[0] = "\n".join(line for line in stages[0].splitlines() if not line.strip().startswith("multiplications"))
    deck = write_deck(os.path.join(folder, "products.yaml"), head, stages)
    stage = "stages[0].compress."
    run(program, deck, f"run.directory={folder}/products", f"run.seed={seed}", f"{stage}baselines={RIVALS}",
        *([f"{stage}budget={budget}"] if budget else []), codes=(0, 4))
    entry = {"seed": seed, "table": table_of(os.path.join(folder, "products")), "times": {}}
    for other in budgets:
        entry["times"][str(other)] = [{key: row[key] for key in ("name", "seconds", "predicted_seconds", "multiplications")}
                                      for row in only_times(program, head, stages[0], folder, other)["rows"]]
    return entry


def summary(entries):
    """Every network beside the whole one and the chosen ranks, seed by seed, and how far predicted times are off."""
    out, predicted, budget = {}, [], []
    for entry in entries:
        table = entry["table"]
        rows = {row["name"]: row for row in table["rows"]}
        whole, chosen = rows["whole"], rows[table["chosen"] + ", trained on"]
        counted = "wanted_multiplications" in table
        budget.append(chosen["multiplications"] / table["wanted_multiplications"] if counted else chosen["seconds"] / table["wanted_seconds"])
        for name, row in rows.items():
            place = out.setdefault(name, {"loss_over_whole": [], "loss_over_chosen": [], "multiplications_under_whole": [], "time_under_whole": [],
                                          "time_over_chosen": [], "equal_time": []})
            place["loss_over_whole"].append(row["loss"] / whole["loss"])
            place["loss_over_chosen"].append(row["loss"] / chosen["loss"])
            place["multiplications_under_whole"].append(whole["multiplications"] / row["multiplications"])
            place["time_under_whole"].append(whole["seconds"] / row["seconds"])
            over = row["time_over_chosen"] or row["seconds"] / chosen["seconds"]
            place["time_over_chosen"].append(over)
            place["equal_time"].append(abs(over - 1.0) <= FAIR)
        tables = [table["rows"], *entry["times"].values()]
        predicted += [row["predicted_seconds"] / row["seconds"] - 1.0 for rows in tables for row in rows
                      if row["predicted_seconds"] > 0.0 and not row["name"].endswith("trained on")]
    return {"networks": out, ("multiplications" if counted else "time") + "_over_budget": budget,
            "predicted_over_measured": {"models": len(predicted), "worst": max(predicted, key=abs, default=None),
                                        "within_20_percent": sum(abs(x) <= 0.2 for x in predicted)}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--networks", default="flow_unet,cosmoflow")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--budget", type=float)
    parser.add_argument("--folder")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    out = {"networks": {}}
    if options.json and os.path.exists(options.json):
        with open(options.json, encoding="utf-8") as file:
            out = json.load(file)
    program, seeds = os.path.abspath(options.program), [int(seed) for seed in options.seeds.split(",")]
    with contextlib.ExitStack() as stack:
        kept = os.path.abspath(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        for seed in seeds:
            for name in options.networks.split(","):
                folder = os.path.join(kept, f"{name}_{seed}")
                if options.prepare:
                    prepare(program, name, seed, folder)
                    continue
                entry = measure(program, name, seed, options.budget, folder, BUDGETS if seed == seeds[0] else ())
                place = out["networks"].setdefault(name, {"seeds": []})
                place["seeds"] = [other for other in place["seeds"] if other["seed"] != seed] + [entry]
                place["summary"] = summary(place["seeds"])
                words = "studies/low_rank.py PROGRAM" + (f" --budget {options.budget}" if options.budget else "")
                out = {"measured": measured.by_program(options.program, words), "networks": out["networks"]}
                print(name, seed, json.dumps(place["summary"], indent=1), flush=True)
                if options.json:
                    with open(options.json, "w", encoding="utf-8") as file:
                        json.dump(out, file, indent=1)
                        file.write("\n")


if __name__ == "__main__":
    main()
