#!/usr/bin/env python3
"""Networks as products beside their rivals of the same time: low_rank.py PROGRAM [--networks flow_unet,cosmoflow] [--seeds 1,2,3] [--budget 0.6]
[--folder DIR] [--json FILE].

For each network and seed: trains the whole network, compresses it under a budget of the time of a pass, trains on ranks chosen by the table of single
layers, ranks found by search, equal shares, equal energy (each by the same steps), and a smaller network from scratch, by the steps of the whole training
and those together. flow_unet is inputs/superres/low_rank.yaml as it stands; cosmoflow learns Omega_m and sigma_8 of 800 boxes. The table of every
stage is kept, with the time that was predicted and the time that was measured for every set of ranks; more budgets, not trained on, are looked at for
these times alone. A file of --json is added to, network by network and seed by seed. Times mean something where nothing else runs on the machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import measured

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
      start: 0.1
      time_steps: 10
  - train:
      network: {type: cosmoflow, channels: [32, 64, 64], hidden: [128, 64]}
      dataset: &seen {type: hdf5, files: ["{run}/structure_boxes/boxes.h5"], fields: [{name: counts}, {name: target}], range: [0, 700]}
      batch: 8
      steps: 600
      optimizer: {type: adam}
      learning_rate: {type: cosine, start: 1e-3, stop: 1e-5}
  - compress:
      model: "{run}/train/model.h5"
      dataset: *seen
      validation: {type: hdf5, files: ["{run}/structure_boxes/boxes.h5"], fields: [{name: counts}, {name: target}], range: [700, 800]}
      budget: 0.5
      samples: 64
      batch: 8
      search: {steps: 100, batch: 8}
      fine_tune: {steps: 300, batch: 8, learning_rate: 5e-4}
      against: [table, search, equal_shares, equal_energy, smaller]
      from_scratch: {learning_rate: 1e-3}
"""
DECKS = {"flow_unet": 3, "cosmoflow": 2}  # and the number of the stage compress
BUDGETS = (0.4, 0.5, 0.7, 0.85)


def run(program, deck, *overrides, codes=(0,)):
    answer = subprocess.run([program, "run", deck, *overrides], capture_output=True, text=True, check=False)
    if answer.returncode not in codes:
        sys.exit(answer.stdout + answer.stderr)


def table_of(folder):
    with open(os.path.join(folder, "compress", "compress.json"), encoding="utf-8") as file:
        return json.load(file)


def only_times(program, name, folder, budget):
    """Tables of other budgets: ranks are chosen and timed, not trained on."""
    with open(os.path.join(folder, "deck.yaml"), encoding="utf-8") as file:
        text = file.read()
    stages = text.index("stages:") + len("stages:\n")
    compress = text.index("  - compress:")
    rest = text[compress:].split("\n  - evaluate", 1)[0]
    stage = "\n".join(line for line in rest.splitlines() if not line.strip().startswith(("fine_tune", "against", "from_scratch")))
    for anchor in ("crops", "seen"):
        if f"*{anchor}" in stage:
            start = text.index(f"&{anchor} ") + len(anchor) + 2
            stage = stage.replace(f"*{anchor}", text[start:text.index("\n", start)])
    stage = stage.replace("{run}", folder)
    deck = os.path.join(folder, "times.yaml")
    with open(deck, "w", encoding="utf-8") as file:
        file.write(text[:stages] + stage + "\n")
    where = os.path.join(folder, f"times_{budget}")
    run(program, deck, f"run.directory={where}", f"stages[0].compress.budget={budget}", codes=(0, 4))
    return table_of(where)


def measure(program, name, seed, budget, folder):
    deck = os.path.join(folder, "deck.yaml")
    text = COSMO
    if name == "flow_unet":
        with open(os.path.join(INPUTS, "superres", "low_rank.yaml"), encoding="utf-8") as file:
            text = file.read().split("\nx-test:")[0]
    with open(deck, "w", encoding="utf-8") as file:
        file.write(text)
    stage = f"stages[{DECKS[name]}].compress."
    everyone = stage + "against=[table, search, equal_shares, equal_energy, smaller]"
    run(program, deck, f"run.directory={folder}", f"run.seed={seed}", everyone, *([stage + f"budget={budget}"] if budget else []), codes=(0, 4))
    entry = {"seed": seed, "table": table_of(folder), "times": {}}
    for other in BUDGETS:
        entry["times"][str(other)] = [{key: row[key] for key in ("name", "seconds", "predicted_seconds", "multiplications")}
                                      for row in only_times(program, name, folder, other)["rows"]]
    return entry


def summary(entries):
    """Means over seeds beside the whole network, and how far predicted times are off."""
    out, predicted = {}, []
    for entry in entries:
        rows = {row["name"]: row for row in entry["table"]["rows"]}
        whole = rows["whole"]
        for name, row in rows.items():
            place = out.setdefault(name, {"loss_over_whole": [], "multiplications_under_whole": [], "time_under_whole": []})
            place["loss_over_whole"].append(row["loss"] / whole["loss"])
            place["multiplications_under_whole"].append(whole["multiplications"] / row["multiplications"])
            place["time_under_whole"].append(whole["seconds"] / row["seconds"])
        tables = [entry["table"]["rows"], *entry["times"].values()]
        predicted += [row["predicted_seconds"] / row["seconds"] - 1.0 for rows in tables for row in rows
                      if row["predicted_seconds"] > 0.0 and not row["name"].endswith("trained on")]
    return {"networks": out, "predicted_over_measured": {"models": len(predicted), "worst": max(predicted, key=abs, default=None),
                                                         "within_20_percent": sum(abs(x) <= 0.2 for x in predicted)}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--networks", default="flow_unet,cosmoflow")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--budget", type=float)
    parser.add_argument("--folder")
    parser.add_argument("--json")
    options = parser.parse_args()
    out = {"networks": {}}
    if options.json and os.path.exists(options.json):
        with open(options.json, encoding="utf-8") as file:
            out = json.load(file)
    for name in options.networks.split(","):
        for seed in (int(s) for s in options.seeds.split(",")):
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                entry = measure(os.path.abspath(options.program), name, seed, options.budget, folder)
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
