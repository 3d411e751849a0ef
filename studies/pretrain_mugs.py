#!/usr/bin/env python3
"""How far a hundred labels carry behind Mugs, all three terms together and each by itself, three seeds:

    studies/pretrain_mugs.py build/bin/cambium mnist10k.h5 --json docs/measured/pretrain_mugs.json

inputs/pretrain/digits_mugs.yaml with the first 8000 digits of MNIST, judged by the last 2000. --held-out trains on the first 7000 and judges by
the next 1000, for choices of settings; --part runs one row of the table, --set adds keys of the deck.
"""

import argparse
import json
import os
import tempfile

import encoder_runs
import measured

PARTS = {"full": (0.1, 0.1, 1), "instance": (1, 0, 0), "local": (0, 1, 0), "group": (0, 0, 1)}
COLUMNS = ("few_nearest", "few_nearest_deviation", "few_linear", "few_linear_deviation", "neighbours", "linear")


def keys(file, part, seed, epochs, held_out):
    weights = "{instance: %g, local: %g, group: %g}" % PARTS[part]
    train, test = ("[0, 7000]", "[7000, 8000]") if held_out else ("[0, 8000]", "[8000, 10000]")
    data = "{type: images, file: %s, range: %s}"
    return [f"run.seed={seed}", f"stages[0].train.epochs={epochs}", f"stages[0].train.network.weights={weights}",
            "stages[0].train.dataset=" + data % (file, train), "stages[1].probe.training=" + data % (file, train),
            "stages[1].probe.test=" + data % (file, test)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("images")
    parser.add_argument("--json")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--set", nargs="*", default=[])
    given = parser.parse_args()
    table, others = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for part in given.part:
            for seed in given.seeds:
                where = encoder_runs.run(given.program, "digits_mugs.yaml", os.path.join(folder, "run"),
                                         *keys(os.path.abspath(given.images), part, seed, given.epochs, given.held_out), *given.set)
                found = encoder_runs.scores(where, "probe", COLUMNS)
                row = table.setdefault(part, {column: [] for column in COLUMNS})
                for column in COLUMNS:
                    row[column].append(found["encoder"][column])
                others.update({f"{method}, seed {seed}": found[method] for method in found if method != "encoder"})
                print(part, seed, {column: round(found["encoder"][column], 4) for column in COLUMNS}, flush=True)
    if given.json:
        command = "studies/pretrain_mugs.py build/bin/cambium mnist10k.h5 --json docs/measured/pretrain_mugs.json"
        if given.epochs != 8:
            command += f" --epochs {given.epochs}"
        what = (f"inputs/pretrain/digits_mugs.yaml over MNIST's digits, {given.epochs} epochs over the first 8000 without labels, judged by the last "
                "2000: share that is right by the nearest and by a linear fit with 10 labels of each class (means and deviations over ten draws), by 20 "
                f"neighbours and by a linear fit with all labels; seeds {', '.join(map(str, given.seeds))}; all terms, and each by itself")
        with open(given.json, "w") as file:
            json.dump({"what": what, **table, "others": others, "measured": measured.by_program(given.program, command)}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
