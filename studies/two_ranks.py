#!/usr/bin/env python3
"""Two ranks beside one: two_ranks.py PROGRAM BENCH KEY[,KEY...] [option=value...] [--repeats N].

Runs `PROGRAM bench BENCH` on one rank and on two in turn and prints one JSON object: for every KEY (a rate: more is
better) the best of each and their ratio, `KEY_two_rank_ratio`. Turns and bests, because the speed of a shared machine
wanders by more than what is looked for here."""

import argparse
import json
import os
import subprocess


def once(program, bench, options, ranks):
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "core", "-np", "2"] if ranks == 2 else []
    command = launcher + [program, "bench", bench, *options, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("bench")
    parser.add_argument("keys")
    parser.add_argument("options", nargs="*")
    parser.add_argument("--repeats", type=int, default=5)
    wanted = parser.parse_args()
    keys = wanted.keys.split(",")
    runs = {1: [], 2: []}
    for _ in range(wanted.repeats):
        for ranks in runs:
            runs[ranks].append(once(wanted.program, wanted.bench, wanted.options, ranks))
    out = {"repeats": wanted.repeats, "check": runs[2][-1].get("check", "")}
    for key in keys:
        one, two = (max(run[key] for run in runs[ranks]) for ranks in (1, 2))
        out[f"{key}_one_rank"], out[f"{key}_two_ranks"], out[f"{key}_two_rank_ratio"] = one, two, two / one
        out[f"{key}_all"] = {str(ranks): [run[key] for run in runs[ranks]] for ranks in runs}
    out["measured"] = runs[2][-1]["measured"]
    out["measured"]["command"] = " ".join(["two_ranks.py", os.path.basename(wanted.program), wanted.bench, wanted.keys,
                                           *wanted.options, f"--repeats {wanted.repeats}"])
    print(json.dumps(out, indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
