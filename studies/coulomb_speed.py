#!/usr/bin/env python3
"""Charges beside LAMMPS' pppm: coulomb_speed.py PROGRAM LMP --json FILE [--turns 5] [--ranks 1].

100 steps of 8,000 ions of NaCl (Tosi and Fumi) on one core, both programs in turns: the same atoms, cut-off 9 Å, accuracy 1e-5 and skin; seconds
of the loop. The energies of the first step are compared."""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

import measured
import numpy as np

CELLS, STEPS, EDGE = 10, 100, 5.9
ATOMS = 8 * CELLS**3
BORN = {("Na", "Na"): (0.2637, 2.340, 1.0486, 0.4993), ("Na", "Cl"): (0.2110, 2.755, 6.9906, 8.6758), ("Cl", "Cl"): (0.1582, 3.170, 72.4022, 145.4285)}
DECK = """
run: {{name: speed, directory: {folder}/run, seed: 1}}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {{file: {folder}/start.data, species: [Na, Cl]}}
      initial_temperature: 1000 K
      potential:
        type: sum
        terms:
          - {{type: coulomb, charges: {{Na: 1, Cl: -1}}, accuracy: 1e-5, cutoff: 9.0}}
          - {{type: born_mayer, cutoff: 9.0, pairs: [{pairs}]}}
      timestep: 1 fs
      steps: {steps}
      thermo: {{every: {steps}}}
"""
INPUT = """units metal
atom_style charge
read_data start.data
velocity all create 1000 4711
pair_style born/coul/long 9.0
{coeffs}
kspace_style pppm 1e-5
neighbor 1.0 bin
neigh_modify delay 0 every 1 check yes
fix n all nve
timestep 0.001
thermo_style custom step pe
thermo {steps}
thermo_modify format float %.12g
run {steps}
"""


def write_atoms(path):
    """Rock salt, every coordinate moved by up to 0.15 Å at random."""
    n, rng = 2 * CELLS, np.random.default_rng(1)
    lines = ["salt", "", f"{ATOMS} atoms", "2 atom types", "", *(f"0 {EDGE * CELLS} {x}lo {x}hi" for x in "xyz"), "", "Masses", "", "1 22.98976928", "2 35.45", "", "Atoms # charge", ""]
    for k in range(ATOMS):
        site = np.array([k % n, k // n % n, k // n**2])
        x = site * EDGE / 2 + rng.uniform(-0.15, 0.15, 3)
        chlorine = int(site.sum() % 2)
        lines.append(f"{k + 1} {1 + chlorine} {1 - 2 * chlorine} {x[0]:.12g} {x[1]:.12g} {x[2]:.12g}")
    path.write_text("\n".join(lines) + "\n")


def launched(ranks, command):
    return (["mpirun", "-np", str(ranks)] if ranks > 1 else []) + command


def ours(program, ranks):
    pairs = ", ".join(f"{{species: [{a}, {b}], a: {s}, rho: 0.317, sigma: {sigma}, c: {c}, d: {d}}}" for (a, b), (s, sigma, c, d) in BORN.items())
    with tempfile.TemporaryDirectory() as folder:
        write_atoms(Path(folder) / "start.data")
        deck = Path(folder) / "deck.yaml"
        deck.write_text(DECK.format(folder=folder, pairs=pairs, steps=STEPS))
        subprocess.run(launched(ranks, [program, "run", str(deck)]), check=True, stdout=subprocess.DEVNULL)
        table = (Path(folder) / "run" / "simulate" / "thermo.csv").read_text().splitlines()
        column = [name.split(" ")[0] for name in table[0].split(",")].index("potential")
        return measured.results(Path(folder) / "run").seconds, float(table[1].split(",")[column])


def lammps(program, ranks):
    coeffs = "\n".join(f"pair_coeff {1 + (a == 'Cl')} {1 + (b == 'Cl')} {s} 0.317 {sigma} {c} {-d}" for (a, b), (s, sigma, c, d) in BORN.items())
    with tempfile.TemporaryDirectory() as folder:
        write_atoms(Path(folder) / "start.data")
        text = Path(folder) / "in.lmp"
        text.write_text(INPUT.format(coeffs=coeffs, steps=STEPS))
        out = subprocess.run(launched(ranks, [program, "-in", str(text), "-log", "none"]), check=True, capture_output=True, text=True, cwd=folder).stdout
    first = re.search(r"^ *0 +(-[\d.e+]+)", out, re.M)
    return float(re.search(r"Loop time of ([\d.]+)", out)[1]), float(first[1]), re.search(r"LAMMPS \((.*)\)", out)[1]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("program")
    options.add_argument("lammps")
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--ranks", type=int, default=1)
    options.add_argument("--json", required=True)
    given = options.parse_args()
    pairs, version, energies = [], "", ()
    for _ in range(given.turns):
        one, energy = ours(given.program, given.ranks)
        other, peer_energy, version = lammps(given.lammps, given.ranks)
        pairs.append((one, other))
        energies = (energy, peer_energy)
    out = {"what": f"{ATOMS} ions of NaCl, {STEPS} steps, particle-mesh Ewald to 1e-5, {given.ranks} rank(s); seconds of the loop, in turns",
           "peer": f"LAMMPS {version}, born/coul/long with pppm",
           "million_atom_steps_per_s": ATOMS * STEPS / statistics.median(a for a, _ in pairs) / 1e6,
           "peer_million_atom_steps_per_s": ATOMS * STEPS / statistics.median(b for _, b in pairs) / 1e6,
           "times_as_fast": statistics.median(b / a for a, b in pairs), "turns": pairs,
           "check": {"energy_relative_difference": abs(energies[0] / energies[1] - 1)},
           "measured": measured.by_program(given.program, "studies/coulomb_speed.py PROGRAM LMP --json FILE")}
    Path(given.json).write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
