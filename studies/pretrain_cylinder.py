#!/usr/bin/env python3
"""Which simulation of an ensemble is this? Each moment in turn is left out of the training and then asked among all others, three seeds:

    studies/pretrain_cylinder.py build/bin/cambium heated_cylinder.h5 --json docs/measured/pretrain_cylinder.json

inputs/pretrain/cylinder.yaml with an array `frames` over (simulations, moments, rows, columns). --moments and --set are for choices of settings.
"""

import argparse
import json
import os
import statistics
import tempfile

import encoder_runs
import measured


def keys(file, moment, seed):
    data = "type: field_archive, files: [%s], array: frames" % file
    rest = "{%s, exclude_snapshots: [%d], anomalies: %s%s}"
    out = [f"run.seed={seed}", "stages[0].train.dataset=" + rest % (data, moment, "true", ", apart: 1")]
    for stage, task in ((1, "neighbours"), (2, "probe")):
        known, asked = ("archive", "queries") if stage == 1 else ("training", "test")
        out.append(f"stages[{stage}].{task}.{known}=" + rest % (data, moment, "true", ""))
        out.append(f"stages[{stage}].{task}.{asked}=" + "{%s, moments: [%d], anomalies: true}" % (data, moment))
    return out


RAW = """
run: {name: raw, seed: 1}
plugins: [pretrain]
stages:
  - neighbours:
      archive: &all {type: field_archive, files: [%s], array: frames}
      queries: *all
      by: simulation
      compare: other_moments
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("frames")
    parser.add_argument("--json")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--moments", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--set", nargs="*", default=[])
    given = parser.parse_args()
    frames = os.path.abspath(given.frames)
    encoder, rivals = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "raw.yaml")
        with open(path, "w") as file:
            file.write(RAW % frames)
        raw = encoder_runs.scores(encoder_runs.run(given.program, path, os.path.join(folder, "raw")), "neighbours", ["nearest"])
        print("all moments at once:", raw, flush=True)
        for seed in given.seeds:
            for moment in given.moments:
                where = encoder_runs.run(given.program, "cylinder.yaml", os.path.join(folder, "run"), *keys(frames, moment, seed), *given.set)
                found = encoder_runs.scores(where, "neighbours", ["nearest"])
                encoder.setdefault(seed, []).append(found["encoder"]["nearest"])
                if seed == given.seeds[0]:
                    for method in found:
                        if method != "encoder":
                            rivals.setdefault(method, []).append(found[method]["nearest"])
                print(seed, moment, {method: round(found[method]["nearest"], 3) for method in found}, flush=True)
    means = {seed: statistics.mean(values) for seed, values in encoder.items()}
    print("encoder", means, "rivals", {name: round(statistics.mean(values), 4) for name, values in rivals.items()})
    if given.json:
        command = "studies/pretrain_cylinder.py build/bin/cambium heated_cylinder.h5 --json docs/measured/pretrain_cylinder.json"
        what = ("inputs/pretrain/cylinder.yaml with the heated cylinder's 23 simulations at 10 moments: share of the fields of one moment whose nearest among "
                "all other moments is of their own simulation, each moment left out of the training in turn; fields minus the mean over simulations at their "
                "moment. of_all_moments: without that (pixels), and what needs no training")
        with open(given.json, "w") as file:
            json.dump({"what": what, "encoder": {str(seed): {"mean": means[seed], "by_moment": encoder[seed]} for seed in encoder},
                       "rivals": {name: {"mean": statistics.mean(values), "by_moment": values} for name, values in rivals.items()},
                       "of_all_moments": {name: raw[name]["nearest"] for name in raw},
                       "measured": measured.by_program(given.program, command)}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
