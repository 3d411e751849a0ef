#!/usr/bin/env python3
"""Memory per rank of training on one big graph, whole and divided: graph_memory.py PROGRAM [--edges 10000000] [--ranks 1,2,4].

Writes a graph of made-up edges between near nodes (7 edges for each of them, 16 numbers per node) to a folder of its own, trains a network
of one hidden layer for three epochs with `divided: false` and `divided: true` and prints one JSON object: the largest peak of a rank in MiB.
Needs numpy and h5py."""

import argparse
import json
import os
import subprocess
import tempfile

import measured

DECK = """
run: {name: big, seed: 1}
plugins: [graph]
stages:
  - train:
      network: {type: gcn, layers: [16], precision: float32}
      dataset: {type: graph, divided: true, file: big.h5}
      loader: full_graph
      epochs: 3
      optimizer: adam
      learning_rate: {type: constant, start: 0.01}
"""


def write_graph(path, edges):
    import h5py
    import numpy as np

    random = np.random.default_rng(1)
    nodes = max(2, edges * 3 // 20)
    u = random.integers(0, nodes, edges)
    v = np.clip(u + random.integers(-200, 201, edges), 0, nodes - 1)
    with h5py.File(path, "w") as file:
        file.attrs["nodes"] = nodes
        file["edges"] = np.stack([u, v], 1).astype(np.int32)
        file["labels"] = random.integers(0, 8, nodes).astype(np.int32)
        file["split"] = random.integers(0, 3, nodes).astype(np.int32)
        file["features"] = random.standard_normal((nodes, 16)).astype(np.float32)
    return nodes


def largest_peak(program, folder, ranks, divided):
    """MiB of the rank that had most."""
    command = ["mpirun", "--oversubscribe", "-np", str(ranks), program, "run", "deck.yaml", "--overwrite",
               f"stages[0].train.dataset.divided={str(divided).lower()}"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return measured.results(os.path.join(folder, "runs", "big"), "train").memory / 1048576


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--ranks", default="1,2,4")
    wanted = parser.parse_args()
    program = os.path.abspath(wanted.program)
    out = {"edges": wanted.edges}
    with tempfile.TemporaryDirectory() as folder:
        out["nodes"] = write_graph(os.path.join(folder, "big.h5"), wanted.edges)
        with open(os.path.join(folder, "deck.yaml"), "w") as deck:
            deck.write(DECK)
        for ranks in (int(r) for r in wanted.ranks.split(",")):
            for divided in (False, True):
                name = "divided" if divided else "whole"
                out[f"{name}_mib_{ranks}_ranks"] = largest_peak(program, folder, ranks, divided)
    out["measured"] = measured.by_program(program, f"studies/graph_memory.py PROGRAM --edges {wanted.edges} --ranks {wanted.ranks}")
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
