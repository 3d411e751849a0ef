#!/usr/bin/env python3
"""Two threads beside one, and beside two ranks of one thread each, for every physics and for training, with a program whose Kokkos has OpenMP:

    studies/threads.py build-openmp/bin/cambium --json docs/measured/threads.json [--turns 5] [--cases silicon,convection]

The runs of a case follow each other in every turn, in another order each time: one thread, two threads, two ranks, and two programs of one
thread each at the same time, which share nothing but the machine. Of a turn three ratios are taken, and of all turns the median: the rate of
two threads over that of one (Amdahl: what no thread shares stays), over that of two ranks, and over the sum of the two programs' rates, which
is what these two cores can give: where they slow each other (virtual cores, one memory), no sharing of work reaches twice one. Nothing else
may run.
The file of --json keeps the cases that are not asked for.
"""

import argparse
import os
import re
import statistics
import subprocess
import tempfile

import measured
import scale_cases as cases

PAGE = re.compile(r"([0-9.e+-]+) ?([kMG]?) ?(?:(?:atom|cell|node)-steps|samples)/s")
TRAINING = """
run: {{name: case, directory: {folder}, seed: 1}}
plugins: [{plugins}]
stages:
"""
# A wide network on a formula: products of 256 x 512 by 512 x 512.
MLP = """
  - train:
      network: {type: mlp, layers: [512, 512, 512], activation: tanh, precision: float32}
      dataset: {type: expression, samples: 20000, box: {x: [-1, 1], y: [0, 2]}, target: {z: "sin(3*x)*exp(-y) + 0.3*x*y"}}
      batch: 256
      steps: 400
      log_every: 400
      optimizer: adamw
      learning_rate: {type: constant, start: 1e-3}
"""
# Copper that Sutton and Chen's potential labelled, eight frames of 32 atoms a step: four for each rank or thread.
DEEP = """
  - label:
      structure: {lattice: {type: fcc, a: 3.61, cells: [2, 2, 2], species: [Cu]}}
      potential: {type: sutton_chen, element: Cu, cutoff: 6.0, switch_width: 2.0}
      perturbed: {frames: 40, strain: 0.03, displacement: 0.08 angstrom}
  - train:
      network: {type: deep_potential, rcut: 6.0 angstrom, rcut_smth: 2.0 angstrom, neuron: [25, 50, 100], axis_neuron: 16, fitting: [240, 240, 240]}
      dataset: {type: deepmd_npy, systems: ["{run}/label/train"]}
      batch: 8
      steps: 60
      log_every: 60
      learning_rate: {type: constant, start: 1e-3}
"""
# Beside cases of scale_cases.py, larger here; name: overrides of their keys.
S = "stages[0].simulate."
LARGER = {
    "lennard_jones": [S + "structure.lattice.cells=[24, 24, 24]", S + "steps=150"],
    "silicon": [S + "structure.lattice.cells=[16, 16, 16]", S + "steps=150"],
    "copper": [S + "structure.lattice.cells=[20, 20, 20]", S + "steps=100"],
    "kinetic_1x2v": [S + "steps=150"],
    "convection": [S + "cells=[512, 256]", S + "steps=300"],
}
DEEP_POTENTIAL = ("deepmd/copper_melt.yaml", ["stages[0].simulate.structure.lattice.cells=[8, 8, 8]", "stages[0].simulate.steps=30",
                                              "stages[0].simulate.output=[]", "stages[1].simulate.steps=0"])


def decks(inputs, folder):
    """name: (path, overrides)"""
    out = {case: (cases.write_deck(case, folder), overrides) for case, overrides in LARGER.items()}
    deck, overrides = DEEP_POTENTIAL
    out["deep_potential"] = (os.path.join(inputs, deck), overrides + [f"run.directory={os.path.join(folder, 'deep_run')}"])
    for name, plugins, stages in (("train_mlp", "", MLP), ("train_deep_potential", "md, deepmd", DEEP)):
        path = os.path.join(folder, name + ".yaml")
        with open(path, "w") as file:
            file.write(TRAINING.format(folder=os.path.join(folder, name), plugins=plugins) + stages.lstrip("\n"))
        out[name] = (path, [])
    return out


def command(program, deck, overrides, threads, ranks, core=None):
    """The command and its environment; core: the one that it stays on."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS="1", OMP_PROC_BIND="close", OMP_PLACES="cores")
    if ranks > 1 or core is not None:
        del environment["OMP_PROC_BIND"], environment["OMP_PLACES"]  # the launcher binds
    launcher = ["mpirun", "--allow-run-as-root", "--bind-to", "core", "-np", str(ranks)] if ranks > 1 else []
    if core is not None:
        launcher = ["taskset", "-c", str(core)]
    return [*launcher, program, "run", deck, "--overwrite", *overrides], environment


def rate_of(page):
    number, prefix = PAGE.findall(page)[0]
    return float(number) * {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}[prefix]


def rate(program, deck, overrides, threads, ranks):
    words, environment = command(program, deck, overrides, threads, ranks)
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{deck}, {threads} threads, {ranks} ranks: {done.stdout[-500:]}{done.stderr}")
    return rate_of(done.stdout)


def rate_of_two_programs(program, deck, overrides):
    """Sum of the rates of two that run at the same time, each on its core and in its directory."""
    running = []
    with tempfile.TemporaryDirectory() as folder:
        for core in sorted(os.sched_getaffinity(0))[:2]:
            words, environment = command(program, deck, [*overrides, f"run.directory={folder}/{core}"], 1, 1, core)
            running.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment))
        pages = [each.communicate()[0] for each in running]
    if any(each.returncode for each in running):
        raise RuntimeError(f"{deck}, two programs: {pages[0][-500:]}{pages[1][-500:]}")
    return sum(map(rate_of, pages))


WAYS = {"one_thread": (1, 1), "two_threads": (2, 1), "two_ranks": (1, 2), "two_programs": None}


def measure(program, deck, overrides, turns):
    taken = {way: [] for way in WAYS}
    order = list(WAYS)
    for _ in range(turns):
        for way in order:
            taken[way].append(rate(program, deck, overrides, *WAYS[way]) if WAYS[way] else rate_of_two_programs(program, deck, overrides))
        order.append(order.pop(0))
    ratios = {other: [two / one for two, one in zip(taken["two_threads"], taken[other])] for other in WAYS if other != "two_threads"}
    return {**{way + "_per_s": statistics.median(rates) for way, rates in taken.items()},
            **{"two_threads_over_" + other: statistics.median(r) for other, r in ratios.items()}, "turns": taken}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--inputs", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "inputs"))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--cases", help="of all, some: silicon,train_mlp")
    parser.add_argument("--json")
    given = parser.parse_args()
    out = {"turns": given.turns, "cases": {}}
    with tempfile.TemporaryDirectory() as folder:
        every = decks(given.inputs, folder)
        for name in given.cases.split(",") if given.cases else every:
            row = out["cases"][name] = measure(given.program, *every[name], given.turns)
            print(f"{name:22s}" + " ".join(f"{key.removesuffix('_per_s')} {row[key]:10.4g}" for key in row if key != "turns"), flush=True)
    if given.json:
        measured.write(given, out, rows="cases")


if __name__ == "__main__":
    main()
