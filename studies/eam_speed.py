#!/usr/bin/env python3
"""The potential eam beside LAMMPS' eam/alloy: eam_speed.py PROGRAM LMP --json FILE [--turns 5].

200 steps of 32,000 copper atoms at 300 K with the table of inputs/md on one core, both programs in turns, the same skin; seconds of the loop."""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

import measured

TABLE = Path(__file__).resolve().parents[1] / "inputs" / "md" / "cu_sutton_chen.eam.alloy"
ATOMS, STEPS = 32000, 200
DECK = """
run: {{name: speed, directory: {folder}, seed: 1}}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {{lattice: {{type: fcc, a: 3.61, cells: [20, 20, 20], species: [Cu]}}}}
      initial_temperature: 600 K
      potential: {{type: eam, file: {table}}}
      timestep: 2 fs
      steps: {steps}
      thermo: {{every: {steps}}}
"""
INPUT = """units metal
lattice fcc 3.61
region cell block 0 20 0 20 0 20
create_box 1 cell
create_atoms 1 box
mass 1 63.546
velocity all create 600 4711
pair_style eam/alloy
pair_coeff * * {table} Cu
neighbor 1.0 bin
neigh_modify delay 0 every 1 check yes
fix n all nve
timestep 0.002
thermo {steps}
run {steps}
"""


def ours(program):
    with tempfile.TemporaryDirectory() as folder:
        deck = Path(folder) / "deck.yaml"
        deck.write_text(DECK.format(folder=Path(folder) / "run", table=TABLE, steps=STEPS))
        subprocess.run([program, "run", str(deck)], check=True, stdout=subprocess.DEVNULL)
        return measured.results(Path(folder) / "run").seconds


def lammps(program):
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "in.lmp"
        text.write_text(INPUT.format(table=TABLE, steps=STEPS))
        out = subprocess.run([program, "-in", str(text), "-log", "none"], check=True, capture_output=True, text=True, cwd=folder).stdout
        return float(re.search(r"Loop time of ([\d.]+)", out)[1]), re.search(r"LAMMPS \((.*)\)", out)[1]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("program")
    options.add_argument("lammps")
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--json", required=True)
    given = options.parse_args()
    pairs, version = [], ""
    for _ in range(given.turns):
        one = ours(given.program)
        other, version = lammps(given.lammps)
        pairs.append((one, other))
    out = {"what": f"{ATOMS} copper atoms, {STEPS} steps, embedded-atom table of inputs/md; seconds of the loop, in turns",
           "peer": f"LAMMPS {version}, eam/alloy",
           "million_atom_steps_per_s": ATOMS * STEPS / statistics.median(a for a, _ in pairs) / 1e6,
           "peer_million_atom_steps_per_s": ATOMS * STEPS / statistics.median(b for _, b in pairs) / 1e6,
           "times_as_fast": statistics.median(b / a for a, b in pairs), "turns": pairs,
           "measured": measured.by_program(given.program, "studies/eam_speed.py PROGRAM LMP --json FILE")}
    Path(given.json).write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
