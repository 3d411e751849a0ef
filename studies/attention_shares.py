#!/usr/bin/env python3
"""Where a transformer's time goes as texts become longer: attention_shares.py PROGRAM [--lengths 256,512,...] [--json FILE].

Trains some steps of the network of inputs/train/long_sequences.yaml with run: {profile: true}, for each type of attention, causal and masked, and adds
up the seconds of profile.json by class: matrix (products), vector (elementwise, reduction, transcendental), and everything else (movement, files, host,
idle). Shares are of the stage train; counted_flops is what the products of the profile say that they did. Where the vector share passes the matrix share
is said, too. Seconds mean something where nothing else runs on the machine; shares move little.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import measured

TYPES = {"softmax": "{type: softmax}", "two_pass": "{type: two_pass}", "linear": "{type: linear}", "favor_128": "{type: favor, features: 128}"}
DECK = """
run: {name: shares, directory: %s, seed: 3, profile: true}
plugins: [sequence]
stages:
  - train:
      network: {type: transformer, layers: 2, width: 64, heads: 2, mlp_ratio: 2, attention: %s, causal: %s, loss_on: answers}
      dataset: {type: associative_recall, samples: 1000, length: %d, pairs: 16, queries: 16, keys: 20, values: 8}
      batch: 2
      steps: %d
      log_every: 1000
      learning_rate: {type: constant, start: 1e-4}
"""
GROUPS = {"matrix": "matrix", "elementwise": "vector", "reduction": "vector", "transcendental": "vector"}


def profiled(program, attention, causal, length, steps, folder):
    deck = os.path.join(folder, "deck.yaml")
    with open(deck, "w", encoding="utf-8") as file:
        file.write(DECK % (folder, attention, causal, length, steps))
    answer = subprocess.run([program, "run", deck], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        sys.exit(answer.stdout + answer.stderr)
    with open(os.path.join(folder, "train", "profile.json"), encoding="utf-8") as file:
        return json.load(file)


def shares(profile):
    """Shares of the wall time of the stage, seconds, and what the products counted."""
    rank = profile["ranks"][0]
    out = {"matrix": 0.0, "vector": 0.0, "other": rank["idle_seconds"]}
    flops = 0.0
    for row in rank["rows"]:
        out[GROUPS.get(row["class"], "other")] += row["seconds"]
        flops += row["flops"] if row["class"] == "matrix" else 0.0
    return {**{name: seconds / rank["wall_seconds"] for name, seconds in out.items()}, "seconds": rank["wall_seconds"], "counted_flops": flops}


def crossing(rows):
    """The first length at which the vector classes take longer than products; none where they never do."""
    for length, row in sorted((int(key), row) for key, row in rows.items()):
        if row["vector"] > row["matrix"]:
            return length
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--lengths", default="128,256,512,1024,2048,4096")
    parser.add_argument("--json")
    options = parser.parse_args()
    found = {}
    for name, attention in TYPES.items():
        for kind, causal in (("causal", "true"), ("masked", "false")):
            rows = found.setdefault(name, {}).setdefault(kind, {})
            for length in (int(x) for x in options.lengths.split(",")):
                with tempfile.TemporaryDirectory() as folder:
                    rows[str(length)] = row = shares(profiled(options.program, attention, causal, length, max(2, 8192 // length), folder))
                print(f"{name:10} {kind:7} {length:5}: matrix {row['matrix']:.3f}, vector {row['vector']:.3f}, other {row['other']:.3f}", flush=True)
    out = {"measured": measured.by_program(options.program, "studies/attention_shares.py PROGRAM"), "shares": found,
           "vector_passes_matrix_at": {name: {kind: crossing(rows) for kind, rows in kinds.items()} for name, kinds in found.items()}}
    print(json.dumps(out["vector_passes_matrix_at"]))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(out, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
