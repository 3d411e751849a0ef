#!/usr/bin/env python3
"""What scheme, inner rate, temperature and optimizer are worth for halves of digits at batch 64, and what larger batches give InfoNCE, three seeds:

    studies/pretrain_table.py build/bin/cambium mnist10k.h5 --json docs/measured/pretrain_table.json --picture docs/pictures/pretrain_batches.svg

inputs/pretrain/digits_table.yaml over the first 8000 digits, judged by partners found first among the last 2000. Rows that are there already are kept,
so that a stopped study goes on. A temperature is constant (infonce, v0, v1), of each sample (v2) or learnt (v3). --samples takes fewer digits to train.
"""

import argparse
import json
import os
import re
import statistics
import tempfile

import encoder_runs
import measured

SCHEMES = ("infonce", "v0", "v1", "v2", "v3")
FORMS = ("constant", "cosine")
OPTIMIZERS = ("adamw", "lamb")
BATCHES = (32, 64, 128, 256, 512)


def arms():
    """Name and keys of each row; InfoNCE has no inner rate."""
    out = {}
    for scheme in SCHEMES:
        for form in FORMS if scheme != "infonce" else FORMS[:1]:
            for optimizer in OPTIMIZERS:
                name = f"{scheme}, {form}, {optimizer}" if scheme != "infonce" else f"infonce, {optimizer}"
                out[name] = [f"stages[0].train.network.loss.scheme={scheme}", f"stages[0].train.network.loss.inner_rate.form={form}",
                             f"stages[0].train.optimizer.type={optimizer}"]
    for batch in BATCHES:
        if batch != 64:
            out[f"infonce, adamw, batch {batch}"] = [*out["infonce, adamw"], f"stages[0].train.batch={batch}"]
    return out


def data(file, samples, halves):
    text = "{type: images, file: %s, split_halves: %s, range: [%d, %d]}"
    known, asked = text % (file, halves, 0, samples), text % (file, halves, 8000, 10000)
    return [f"stages[0].train.dataset={known}", f"stages[1].neighbours.archive={known}", f"stages[1].neighbours.queries={asked}"]


def draw(path, table):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams["svg.hashsalt"] = "cambium"
    figure, axis = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
    rows = {batch: table.get("infonce, adamw" if batch == 64 else f"infonce, adamw, batch {batch}") for batch in BATCHES}
    there = [batch for batch in BATCHES if rows[batch]]
    axis.errorbar(there, [statistics.mean(rows[b]["first"]) for b in there], yerr=[statistics.pstdev(rows[b]["first"]) for b in there],
                  marker="o", label="InfoNCE")
    for scheme in ("v1", "v3"):
        row = table.get(f"{scheme}, cosine, adamw")
        if row:
            axis.errorbar([64], [statistics.mean(row["first"])], yerr=[statistics.pstdev(row["first"])], marker="s", linestyle="", label=scheme)
    cca = next(iter(table.values()))["cca"][0]
    axis.axhline(cca, color="grey", linestyle=":", label="canonical correlations")
    axis.set_xscale("log", base=2)
    axis.set_xticks(there, there)
    axis.set(xlabel="Batch", ylabel="Fraction of partners found first")
    axis.legend()
    figure.savefig(path, metadata={"Date": None} if path.endswith("svg") else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("images")
    parser.add_argument("--json", required=True)
    parser.add_argument("--picture")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--samples", type=int, default=8000)
    parser.add_argument("--halves", default="top_bottom")
    parser.add_argument("--rows", default="", help="only those whose name this regular expression finds")
    given = parser.parse_args()
    table = {}
    if os.path.exists(given.json):
        with open(given.json) as file:
            table = json.load(file)["table"]
    command = (f"studies/pretrain_table.py build/bin/cambium mnist10k.h5 --json docs/measured/pretrain_table.json --epochs {given.epochs} "
               f"--samples {given.samples} --halves {given.halves}")
    what = (f"inputs/pretrain/digits_table.yaml: halves of digits ({given.halves}), {given.samples} pairs to train, {given.epochs} epochs, 2000 never seen; batch 64 "
            "unless the row says another; share of partners found first and among ten; each row names its seeds")
    file_name = os.path.abspath(given.images)
    with tempfile.TemporaryDirectory() as folder:
        for seed in given.seeds:
            for name, keys in arms().items():
                row = table.setdefault(name, {"seeds": [], "first": [], "among_ten": [], "cca": []})
                if seed in row["seeds"] or not re.search(given.rows, name):
                    continue
                where = encoder_runs.run(given.program, "digits_table.yaml", os.path.join(folder, "run"), "sweep=null", f"run.seed={seed}",
                                         f"stages[0].train.epochs={given.epochs}", *data(file_name, given.samples, given.halves), *keys)
                found = encoder_runs.scores(where, "neighbours", ["nearest", "among_ten"])
                row["seeds"].append(seed)
                row["first"].append(found["encoder"]["nearest"]), row["among_ten"].append(found["encoder"]["among_ten"])
                row["cca"].append(found["CCA"]["nearest"])
                print(seed, name, round(found["encoder"]["nearest"], 4), flush=True)
                with open(given.json, "w") as file:
                    json.dump({"what": what, "table": table, "measured": measured.by_program(given.program, command)}, file, indent=1)
                    file.write("\n")
    if given.picture:
        draw(given.picture, table)


if __name__ == "__main__":
    main()
