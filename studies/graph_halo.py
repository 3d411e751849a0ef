#!/usr/bin/env python3
"""Halo bytes of simulations on graphs and meshes with ranges of nodes and with parts by cut: graph_halo.py PROGRAM --json FILE [--ranks 2 4 8].

Each case makes a few steps on every number of ranks; the program counts the bytes that all ranks receive of each other's nodes in a step, message by
message. No time is measured, so a busy machine changes nothing. Minutes."""

import argparse
import json
import os
import subprocess
import tempfile

import measured

CASES = {
    "random graph of 20,000 nodes": "physics: graph_diffusion, graph: {random: {nodes: 20000, degree: 8}}, "
                                    "species: [{name: u, diffusion: 0.1, initial: x}], timestep: 0.01, end_time: 0.03",
    "grid of 30 x 30 x 30": "physics: graph_diffusion, graph: {grid: {nodes: [30, 30, 30]}}, species: [{name: u, diffusion: 0.1, initial: x}], "
                            "timestep: 0.01, end_time: 0.03",
    "disc of 15,000 nodes": "physics: mesh_transport, mesh: {disc: {rings: 70}}, diffusivity: 1e-3, initial: x, timestep: 1e-5, end_time: 3e-5",
    "channel of 400 x 40 cells": "physics: mesh_transport, mesh: {rectangle: {cells: [400, 40], size: [10, 1]}}, diffusivity: 1e-3, initial: x, "
                                 "timestep: 1e-5, end_time: 3e-5",
}
DECK = "run: {{name: halo, seed: 1, directory: {folder}}}\nplugins: [graph]\nstages:\n  - simulate: {{{case}, partition: {partition}}}\n"


def bytes_of(program, case, partition, ranks):
    with tempfile.TemporaryDirectory() as scratch:
        deck, folder = os.path.join(scratch, "deck.yaml"), os.path.join(scratch, "run")
        with open(deck, "w") as out:
            out.write(DECK.format(folder=folder, case=case, partition=partition))
        command = ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", str(ranks), program, "run", deck]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(folder, "simulate", "results.json")) as file:
            found = {entry["key"]: entry["value"] for entry in json.load(file)["results"]}
    return found["halo_bytes_per_step"], found["halo_bytes_per_step_of_ranges"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4, 8])
    given = parser.parse_args()
    cases = {}
    for name, case in CASES.items():
        for ranks in given.ranks:
            ranges, same = bytes_of(given.program, case, "ranges", ranks)
            cut, counted = bytes_of(given.program, case, "cut", ranks)
            auto, _ = bytes_of(given.program, case, "auto", ranks)
            assert same == ranges and counted == ranges, "what ranges would receive is what they do receive"
            cases.setdefault(name, {})[str(ranks)] = {"ranges": ranges, "cut": cut, "auto": auto}
    measured.write(given, {"halo_bytes_per_step": cases}, "halo_bytes_per_step")


if __name__ == "__main__":
    main()
