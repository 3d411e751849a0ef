#!/usr/bin/env python3
"""A plugin of some kind, from its template to a run: new_kind.py KIND PROGRAM BUILD SCRATCH COMPILER LAUNCHER MPIEXEC...

Made by `cambium new-plugin --kind KIND`, built against the build folder of this Cambium, its own tests run on one rank and on
two, its deck run on one rank and on two with the same table at the end; nothing of the template's name is left in it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

kind, program, build, scratch, compiler, launcher, *mpiexec = sys.argv[1:]
NAME = f"fresh_{kind}"
TABLES = {"physics": "simulate/thermo.csv", "potential": "simulate/thermo.csv", "network": "train/training.csv", "dataset": "train/training.csv",
          "writer": f"simulate/{NAME}.csv", "task": f"{NAME}/{NAME}.csv"}
folder = Path(scratch) / NAME


def call(*command, environment=None):
    print("$", *command, flush=True)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if done.returncode:
        sys.exit(f"ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def numbers(path):
    return [[float(value) for value in line.split(",")] for line in path.read_text().splitlines()[1:]]


def shown(one, two):
    """The template's grid_fields(): every moment of the field, whatever the number of ranks. Looked at where h5py is installed."""
    try:
        import h5py
    except ImportError:
        return
    with h5py.File(one) as first, h5py.File(two) as second:
        a, b = (file["VTKHDF/CellData/temperature"][...] for file in (first, second))
        assert a.size == 3 * 32 and abs(a - b).max() < 1e-6 and a.ptp() > 0.1, (a.shape, a - b)


def main():
    shutil.rmtree(folder, ignore_errors=True)
    said = call(program, "new-plugin", NAME, folder, "--kind", kind)
    assert f"made the plugin '{NAME}' ({kind})" in said, said
    for path in folder.rglob("*"):
        assert f"my_{kind}" not in path.name and (path.is_dir() or f"my_{kind}" not in path.read_text()), path
    options = [f"-DCMAKE_CXX_COMPILER={compiler}", f"-Dcambium_DIR={build}", "-DCMAKE_BUILD_TYPE=Release"]
    if launcher:
        options.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
    call("cmake", "-S", folder, "-B", folder / "build", *options)
    warnings = call("cmake", "--build", folder / "build", "-j", "2")
    assert "warning:" not in warnings, warnings
    call("ctest", "--test-dir", folder / "build", "--output-on-failure")
    call(*mpiexec, "-np", "2", folder / "build" / f"test_{NAME}")
    place = {"CAMBIUM_PLUGIN_PATH": str(folder / "build")}
    deck = folder / "decks" / f"{NAME}.yaml"
    tables = []
    for ranks in (1, 2):
        run = folder / f"run_{ranks}"
        call(*(mpiexec + ["-np", "2"] if ranks == 2 else []), program, "run", deck, "--test-size", f"run.directory={run}",
             environment=place)
        tables.append(numbers(run / TABLES[kind]))
    if kind == "physics":
        shown(*(folder / f"run_{ranks}" / "simulate" / "output.vtkhdf" for ranks in (1, 2)))
    for one, two in zip(*tables):
        assert all(abs(a - b) <= 1e-9 * max(1.0, abs(a)) for a, b in zip(one, two)), (one, two)
    print(f"{kind}: made, built, tested and run on one rank and on two")


if __name__ == "__main__":
    main()
