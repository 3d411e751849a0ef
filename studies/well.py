#!/usr/bin/env python3
"""Forecasts of inputs/superres/well.yaml for pairs of Rayleigh and Prandtl number and for seeds of the networks:

    studies/well.py build/bin/cambium --json docs/measured/well.json [--pairs 1e6:1,1e6:10] [--seeds 1,2,3] [--cells 128x32]
        [--without-networks [--test-run] | --rollouts] [--folder FOLDER] [KEY=VALUE ...]

The runs that are forecast are the same for all seeds. --without-networks leaves out what is trained, and forecasts all five runs, or with --test-run
that of test/ alone.
--rollouts trains variants of the Fourier operator instead of the four networks: frames that it sees, noise, push-forward; each is scored on
the run of valid/, by which a variant is chosen, and on that of test/.
Errors depend on neither ranks nor the machine's load. KEY=VALUE changes the deck. The file is written after each case, and cases that it
holds are not run again: a study that was stopped goes on. With --folder run directories stay there, and a case that was stopped goes on from its checkpoint.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import measured

DECK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "superres", "well.yaml")
WELL = "{{run}}/write_well/data/{}/rayleigh_benard_Rayleigh_1e6_Prandtl_1.hdf5"
RUNS = [WELL.format("train") + f"#{n}" for n in range(3)] + [WELL.format("valid") + "#0", WELL.format("test") + "#0"]
VARIANTS = {"one_frame": (1, ""), "two_frames": (2, ""), "four_frames": (4, ""), "noise_1": (4, ", noise: 0.01"), "noise_3": (4, ", noise: 0.03"),
            "push_1": (4, ", push_forward: 1"), "push_2": (4, ", push_forward: 2"), "push_1_noise_1": (4, ", push_forward: 1, noise: 0.01")}


def stages_of(text, name):
    """The text of the stages of this name."""
    return re.findall(rf"^  - {name}:.*\n(?:(?!  - )(?:    .*)?\n)*", text, re.M)


def without_networks(text, runs):
    """No training; these runs are forecast, each seen by a filter of its own."""
    for stage in stages_of(text, "train"):
        text = text.replace(stage, "")
    text = re.sub(r" +models:.*\n", "", text)
    filtered, = stages_of(text, "assimilate")
    text = text.replace(filtered, "".join(re.sub(r"data: .*", f'data: "{run}"', filtered) for run in runs))
    before, last = text.split("  - score_forecasts:")
    last = re.sub(r"data: .*", "data: " + json.dumps(runs), last)
    folders = ["assimilate"] + [f"assimilate_{n}" for n in range(2, len(runs) + 1)]
    files = {kind: [f"{{run}}/{folder}/letkf.{kind}.h5" for folder in folders] for kind in ("one_step", "rollout")}
    return before + "  - score_forecasts:" + re.sub(r"letkf: .*", "letkf: " + json.dumps(files), last)


def with_variants(text):
    """Trainings of one network in several ways, scored on the run that chooses among them and on the one that judges."""
    first, *others = stages_of(text, "train")
    for stage in others + stages_of(text, "assimilate"):
        text = text.replace(stage, "")
    trainings = ""
    for history, keys in VARIANTS.values():
        stage = first.replace("&runs", "").replace("&chosen", "").replace("ahead: 2", "ahead: 3").replace("history: 4", f"history: {history}")
        trainings += re.sub(r"network: .*", f"network: {{type: fourier_operator, width: 16, modes: [16, 12]{keys}}}", stage)
    text = text.replace(first, trainings)
    before, last = text.split("  - score_forecasts:")
    last = re.sub(r" +forecasts:\n +letkf: .*\n", "", last)
    models = {name: "{run}/train" + (f"_{n}" if n > 1 else "") + "/model.h5" for n, name in enumerate(VARIANTS, 1)}
    last = re.sub(r"models: .*", "models: " + json.dumps(models), last)
    return before + "".join("  - score_forecasts:" + re.sub(r"data: .*", f'data: ["{WELL.format(split)}"]', last).rstrip() + "\n\n"
                            for split in ("valid", "test")).replace("{{", "{").replace("}}", "}")


def deck_of(given, rayleigh, prandtl):
    with open(DECK) as file:
        text = file.read().split("x-test:")[0]
    if given.without_networks:
        text = without_networks(text, RUNS[-1:] if given.test_run else RUNS)
    if given.rollouts:
        text = with_variants(text)
    text = text.replace("{{run}}", "{run}").replace("rayleigh: 1e6", f"rayleigh: {rayleigh}").replace("prandtl: 1", f"prandtl: {prandtl}")
    text = text.replace("Rayleigh_1e6_Prandtl_1.", f"Rayleigh_{rayleigh}_Prandtl_{prandtl}.")
    return text.replace("cells: [128, 32]", "cells: [{}, {}]".format(*given.cells.split("x")))


def scores(given, folder, rayleigh, prandtl, seed):
    """The errors of the stages that score: of the last, or of both. Times are left out, which the machine's load changes."""
    run = os.path.join(folder, f"well_{rayleigh}_{prandtl}_{seed}")
    if os.path.exists(os.path.join(run, "stages_done.txt")):
        command = [given.program, "restart", run]
    else:
        deck = os.path.join(folder, f"well_{rayleigh}_{prandtl}.yaml")
        with open(deck, "w") as file:
            file.write(deck_of(given, rayleigh, prandtl))
        command = [given.program, "run", deck, "--overwrite", f"run.directory={run}", f"run.seed={seed}", *given.changes]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"Ra {rayleigh}, Pr {prandtl}, seed {seed}: {done.stderr}")
    print(done.stdout, flush=True)
    found = {stage: measured.results(run, stage) for stage in ("score_forecasts", "score_forecasts_2")[:2 if given.rollouts else 1]}
    values = {stage: {key: each[key].value for key in each if not key.startswith("seconds_")} for stage, each in found.items()}
    return {"valid": values["score_forecasts"], "test": values["score_forecasts_2"]} if given.rollouts else values["score_forecasts"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--pairs", default="1e6:1", help="RAYLEIGH:PRANDTL,...")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--cells", default="128x32")
    parser.add_argument("--folder")
    parser.add_argument("--test-run", action="store_true")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--without-networks", action="store_true")
    which.add_argument("--rollouts", action="store_true")
    parser.add_argument("changes", nargs="*", metavar="KEY=VALUE")
    given = parser.parse_intermixed_args()
    given.program = os.path.abspath(given.program)
    done = measured.kept(given.json, "cases")
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or scratch
        os.makedirs(folder, exist_ok=True)
        for pair in given.pairs.split(","):
            rayleigh, prandtl = pair.split(":")
            for seed in given.seeds.split(","):
                case = f"Ra {rayleigh}, Pr {prandtl}, seed {seed}"
                if case in done:
                    continue
                found = scores(given, folder, rayleigh, prandtl, seed)
                out = {"deck": "inputs/superres/well.yaml", "cells": given.cells, "changes": given.changes,
                       "networks": "variants" if given.rollouts else not given.without_networks,
                       "runs": 1 if given.test_run or not given.without_networks else len(RUNS), "cases": {case: found}}
                measured.write(given, out, "cases")


if __name__ == "__main__":
    main()
