#!/usr/bin/env python3
"""A run that goes on from a checkpoint leaves the same files, bit for bit, as one that was never interrupted.

    read_back_restart.py CAMBIUM MPIEXEC...

Every writer is on; the interrupted run finds output from beyond its checkpoint, as after a crash, and must drop it.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: files after a restart read by h5py: {error}")
    sys.exit(77)

CAMBIUM, MPIEXEC = sys.argv[1], sys.argv[2:]
DECK = """
run: {name: argon, seed: 2, directory: DIRECTORY}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.719, cells: [4, 4, 4], species: [Ar]}}
      initial_temperature: 240 K
      potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.0, truncation: smooth}
      timestep: 5 fs
      steps: 400
      thermo: {every: 10}
      output:
        - {type: rdf, every: 10, average: 120}
        - {type: msd, every: 10, max_lag: 12, origins: 4}
        - {type: vacf, every: 2, max_lag: 20, origins: 10}
        - {type: h5md, every: 20, velocities: true, forces: true}
        - {type: extxyz, every: 20}
      checkpoint: {every: 150, keep: 9}
"""


def datasets(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


def cambium(ranks, *arguments):
    command = [CAMBIUM] if ranks == 1 else [*MPIEXEC, "-np", str(ranks), CAMBIUM]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"cambium {' '.join(arguments)} on {ranks} ranks ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def compare(whole, cut):
    for path in sorted(whole.iterdir()):
        other = cut / path.name
        if path.name == "results.json":  # it holds times
            continue
        if path.suffix in (".h5", ".h5md"):
            a, b = datasets(path), datasets(other)
            assert set(a) == set(b), path.name
            for key in a:
                assert np.array_equal(a[key], b[key]), f"{path.name}: {key} differs"
        else:
            assert path.read_bytes() == other.read_bytes(), f"{path.name} differs"


def main():
    for ranks in (1, 2):
        with tempfile.TemporaryDirectory(prefix="cambium_restart_") as folder:
            folder = Path(folder)
            run, whole = folder / "run", folder / "whole"
            (folder / "deck.yaml").write_text(DECK.replace("DIRECTORY", str(run)))
            cambium(ranks, "run", str(folder / "deck.yaml"))
            shutil.copytree(run, whole)
            (run / "stages_done.txt").unlink()
            for late in (run / "simulate").glob("restart.*.h5"):
                if late.name != "restart.150.h5":
                    late.unlink()
            with open(run / "simulate" / "thermo.csv", "a") as file:
                file.write("410,2.05,1")  # half a line
            text = cambium(ranks, "restart", str(run))
            assert "resumed at step 150" in text, text
            compare(whole / "simulate", run / "simulate")
            print(f"{ranks} rank(s): {len(list((run / 'simulate').iterdir()))} files alike")


if __name__ == "__main__":
    main()
