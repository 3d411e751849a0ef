#!/usr/bin/env python3
"""The plugin mace beside LibTorch's run of the same archive: mace_speed.py PROGRAM MODEL --json FILE [--turns 5].

MODEL is a TorchScript archive with copper. 20 steps of 256 atoms on one rank with one thread, both potentials in turns; the time is that of
the loop. Energies of both at the last step are compared."""

import argparse
import csv
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import measured

STEPS = 20
DECK = """
run: {{name: speed, directory: {folder}, seed: 1}}
plugins: [md, {plugin}]
stages:
  - simulate:
      physics: md
      structure: {{lattice: {{type: fcc, a: 3.615, cells: [4, 4, 4], species: [Cu], displacement: 0.1 angstrom}}}}
      initial_temperature: 300 K
      potential: {potential}
      timestep: 1 fs
      steps: {steps}
      thermo: {{every: {steps}}}
"""


def run(program, plugin, potential):
    with tempfile.TemporaryDirectory() as folder:
        deck = Path(folder) / "deck.yaml"
        deck.write_text(DECK.format(folder=Path(folder) / "run", plugin=plugin, potential=potential, steps=STEPS))
        subprocess.run([program, "run", str(deck)], check=True, stdout=subprocess.DEVNULL)
        stage = Path(folder) / "run" / "simulate"
        with open(stage / "thermo.csv", newline="") as file:
            energy = float(list(csv.DictReader(file))[-1]["potential [eV]"])
        return json.loads((stage / "results.json").read_text())["seconds"], energy


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("program")
    options.add_argument("model")
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--json", required=True)
    given = options.parse_args()
    pairs = []
    for _ in range(given.turns):
        ours, energy = run(given.program, "mace", f"{{type: mace, model: {given.model}}}")
        theirs, other = run(given.program, "torch_potential", f"{{type: torch_script, model: {given.model}, trust: true}}")
        assert abs(energy - other) < 1e-8 * abs(energy), (energy, other)
        pairs.append((ours, theirs))
    per_atom = 1e6 / (256 * (STEPS + 1))  # evaluations: one before the first step
    out = {"what": "256 copper atoms, MACE with 1 interaction, 8 channels, degree 1, cut-off 5 Å, float64; seconds of the loop, in turns",
           "archive": Path(given.model).name,
           "peer": "LibTorch by the potential torch_script, same archive",
           "us_per_atom_step": statistics.median(a for a, _ in pairs) * per_atom,
           "peer_us_per_atom_step": statistics.median(b for _, b in pairs) * per_atom,
           "times_as_fast": statistics.median(b / a for a, b in pairs),
           "turns": pairs,
           "measured": measured.by_program(given.program, "studies/mace_speed.py PROGRAM MODEL --json FILE")}
    Path(given.json).write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
