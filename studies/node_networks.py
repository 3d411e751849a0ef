#!/usr/bin/env python3
"""Classes of nodes on published graphs: node_networks.py PROGRAM FOLDER --json FILE [--sets cora citeseer chameleon] [--models 10].

FOLDER has cora.h5, citeseer.h5 and chameleon.h5 (plugins/graph/method.md says how they are laid out; README of the measured page says which
splits). For each graph and network the stage train makes some networks of different seeds, with and without skip connections and layer
normalisation, and classify_nodes says how many nodes of the test and of the validation part are right. Features are divided by their sum or not as
the network chooses on validation nodes. Minutes on one core."""

import argparse
import csv
import os
import subprocess
import tempfile

import measured

# Share of test nodes that are right, as published for the public split.
PUBLISHED = {"cora": {"gcn": .815, "graph_attention": .830}, "citeseer": {"gcn": .703, "graph_attention": .725}}
SOURCES = {"gcn": "Kipf and Welling 2017, table 2", "graph_attention": "Velickovic et al. 2018, table 2"}
NETWORKS = {"gcn": "layers: [16], bias: false", "graph_sage": "layers: [16]", "graph_attention": "layers: [8], heads: 8"}
DEEP = {"gcn": "layers: [64, 64, 64, 64], bias: false", "graph_sage": "layers: [64, 64, 64, 64]"}
VARIANTS = {"plain": "", "residual": ", residual: true", "layer": ", normalization: layer", "residual and layer": ", residual: true, normalization: layer"}

DECK = """
run: {{name: nodes, seed: 1, directory: {folder}}}
plugins: [graph]
stages:
  - train:
      network: {{type: {network}, {keys}}}
      dataset: {{type: graph, file: {file}}}
      loader: full_graph
      epochs: 200
      optimizer: {{type: adam, weight_decay: 5e-4}}
      learning_rate: {{type: constant, start: 0.01}}
      ensemble_size: {models}
  - classify_nodes:
      models: ["{{run}}/train/model_*/model.h5"]
      dataset: {{type: graph, file: {file}, nodes: test}}
      baselines: {baselines}
"""


def scores(program, file, network, keys, models, baselines):
    with tempfile.TemporaryDirectory() as scratch:
        deck = os.path.join(scratch, "deck.yaml")
        folder = os.path.join(scratch, "run")
        with open(deck, "w") as out:
            out.write(DECK.format(folder=folder, network=network, keys=keys, file=file, models=models, baselines="true" if baselines else "false"))
        subprocess.run([program, "run", deck], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(folder, "classify_nodes", "scores.csv")) as table:
            return {row["method"]: {key: round(float(row[key]), 4) for key in ("test", "deviation", "validation")} | {"networks": int(row["networks"])}
                    for row in csv.DictReader(table)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--json", required=True)
    parser.add_argument("--sets", nargs="*", default=["cora", "citeseer", "chameleon"])
    parser.add_argument("--models", type=int, default=10)
    given = parser.parse_args()
    sets = {}
    for name in given.sets:
        file = os.path.abspath(os.path.join(given.folder, name + ".h5"))
        found = {"published": PUBLISHED.get(name, {}), "baselines": {}}
        for shape, networks in (("shallow", NETWORKS), ("four hidden layers", DEEP)):
            for network, keys in networks.items():
                for variant, more in VARIANTS.items():
                    first = not found["baselines"]
                    rows = scores(given.program, file, network, keys + more, given.models, first)
                    own = [method for method in rows if method.startswith(network)][0]
                    found.setdefault(shape, {}).setdefault(network, {})[variant] = rows.pop(own)
                    if first:
                        found["baselines"] = rows
        sets[name] = found
    measured.write(given, {"sets": sets, "sources": SOURCES, "share": "of nodes that are right, mean and deviation over seeds"}, "sets")


if __name__ == "__main__":
    main()
