#!/usr/bin/env python3
"""What LAMMPS around Cambium's potentials costs: lammps_speed.py CAMBIUM LMP_CAMBIUM [--turns N].

Runs the same atoms, velocities, steps and skin of neighbour lists through `cambium run` and through lmp_cambium in turn on
one core and prints one JSON object: for each potential the best loop time of each in seconds and `POTENTIAL_ratio`,
LAMMPS' over Cambium's. Turns and bests, and each program first in every other turn, because the speed of a shared machine
wanders by more than what is looked for here."""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile

import measured

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODEL = os.path.join(SOURCE, "inputs/deepmd/models/copper.dp")
CASES = {  # deck, pair_style, pair_coeff, species, mass, lattice, steps
    "stillinger_weber": ("{type: stillinger_weber}", "cambium stillinger_weber", '"{}" Si', "Si", 28.085,
                         ("diamond 5.431", "0 16 0 16 0 16"), 300),
    "deep_potential": (f"{{type: deep_potential, model: {MODEL}}}", "cambium", f"{MODEL} Cu", "Cu", 63.546,
                       ("fcc 3.61", "0 10 0 10 0 10"), 10),
}


def lammps(program, folder, text):
    with open(os.path.join(folder, "in.lmp"), "w") as out:
        out.write(text)
    done = subprocess.run([program, "-in", "in.lmp", "-log", "none"], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def start(program, folder, case):
    lattice, cells = case[5]
    lammps(program, folder, f"units metal\nlattice {lattice}\nregion cell block {cells}\ncreate_box 1 cell\n"
           f"create_atoms 1 box\nmass 1 {case[4]}\nvelocity all create 600 4711\nwrite_data start.data\n")


def theirs(program, folder, case):
    out = lammps(program, folder, f"units metal\nread_data start.data\npair_style {case[1]}\npair_coeff * * {case[2]}\n"
                 f"neighbor 1.0 bin\nneigh_modify delay 0 every 1 check yes\nfix 1 all nve\ntimestep 0.001\nthermo 10\nrun {case[6]}\n")
    return float(re.search(r"Loop time of (\S+) on", out).group(1))


def ours(program, folder, case):
    with open(os.path.join(folder, "deck.yaml"), "w") as out:
        out.write(f"run: {{name: speed, directory: run}}\nplugins: [md, deepmd]\nstages:\n  - simulate:\n      physics: md\n"
                  f"      structure: {{file: {folder}/start.data, species: [{case[3]}]}}\n      potential: {case[0]}\n"
                  f"      integrator: nve\n      timestep: 1 fs\n      steps: {case[6]}\n      thermo: {{every: 10}}\n")
    shutil.rmtree(os.path.join(folder, "run"), ignore_errors=True)
    subprocess.run([program, "run", "deck.yaml"], cwd=folder, capture_output=True, check=True)
    return measured.results(os.path.join(folder, "run")).seconds


def turn(theirs_first, cambium, lmp, folder, case):
    """Seconds of both programs' time loops."""
    before = theirs(lmp, folder, case) if theirs_first else None
    mine = ours(cambium, folder, case)
    return mine, before or theirs(lmp, folder, case)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cambium")
    parser.add_argument("lmp_cambium")
    parser.add_argument("--turns", type=int, default=7)
    wanted = parser.parse_args()
    cambium, lmp = os.path.abspath(wanted.cambium), os.path.abspath(wanted.lmp_cambium)
    out = {"turns": wanted.turns}
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            start(lmp, folder, case)
            times = [turn(k % 2, cambium, lmp, folder, case) for k in range(wanted.turns)]
        mine, other = (min(pair[k] for pair in times) for k in (0, 1))
        out.update({f"{name}_cambium_s": mine, f"{name}_lammps_s": other, f"{name}_ratio": other / mine,
                    f"{name}_all_s": times})
    out["measured"] = measured.by_program(cambium, f"lammps_speed.py cambium lmp_cambium --turns {wanted.turns}")
    print(json.dumps(out, indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
