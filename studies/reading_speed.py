#!/usr/bin/env python3
"""Reading speed of two builds in alternating turns, beside xarray and ASE: reading_speed.py OLD NEW [--turns 5] [--scale 1] [--json FILE].

OLD and NEW are programs `cambium`. Two files are made first: a chunked, packed and deflated NetCDF-4 field (256, 1024, 2048) of short integers, 1 GiB
before compression, and an extended XYZ file of a million atoms with velocities. A turn reads each with both programs: `pod` with one mode (values are
unpacked, holes are found, the matrix of snapshots is summed up) and `md` of no step. xarray loads and unpacks the same field, ASE the same atoms, once a
turn. Seconds are of the whole process. --scale 0.1 makes both files a tenth of that. Run it with nothing else on the machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import measured

FIELD = """run: {{name: field, directory: {folder}/field}}
plugins: [podlstm]
stages:
  - pod: {{field: {{files: [{folder}/field.nc], array: sst, missing: land}}, modes: 1}}
"""
ATOMS = """run: {{name: atoms, directory: {folder}/atoms}}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {{file: {folder}/atoms.xyz}}
      potential: {{type: lennard_jones, epsilon: 0.0104, sigma: 3.4, cutoff: 4.0, truncation: smooth}}
      timestep: 1 fs
      steps: 0
"""
XARRAY = "import sys, xarray; xarray.open_dataset(sys.argv[1], engine='netcdf4').sst.load()"
ASE = "import sys, ase.io; ase.io.read(sys.argv[1])"


def make_field(path, scale):
    import netCDF4
    import numpy as np
    shape = (max(8, round(256 * scale)), 1024, 2048)
    rng = np.random.default_rng(1)
    with netCDF4.Dataset(path, "w") as file:
        for name, size in zip(("time", "lat", "lon"), shape):
            file.createDimension(name, size)
        time_axis = file.createVariable("time", "f8", ("time",))
        time_axis.units = "days since 1981-11-01"
        time_axis[:] = 7.0 * np.arange(shape[0])
        for name, unit, low, high in (("lat", "degrees_north", -90, 90), ("lon", "degrees_east", 0, 360)):
            axis = file.createVariable(name, "f4", (name,))
            axis.units = unit
            size = file.dimensions[name].size
            axis[:] = low + (np.arange(size) + 0.5) * (high - low) / size
        sst = file.createVariable("sst", "i2", ("time", "lat", "lon"), zlib=True, complevel=1, shuffle=True, chunksizes=(1, 512, 512), fill_value=-32768)
        sst.scale_factor, sst.add_offset, sst.units = 0.01, 10.0, "degC"
        sst.set_auto_maskandscale(False)
        base = (1500 * np.cos(np.linspace(-1.5, 1.5, shape[1])))[:, None] + 100 * np.sin(np.linspace(0, 20, shape[2]))[None]
        for step in range(shape[0]):
            values = (base + 200 * np.sin(0.1 * step) + rng.integers(-8, 8, shape[1:])).astype("i2")
            values[300:500, 400:900] = -32768
            sst[step] = values
    return int(np.prod(shape)) * 2


def make_atoms(path, scale):
    import numpy as np
    edge = max(10, round((1e6 * scale) ** (1 / 3)))
    rng = np.random.default_rng(2)
    places = 3.9 * np.stack(np.meshgrid(*3 * [np.arange(edge)], indexing="ij"), -1).reshape(-1, 3) + rng.normal(0, 0.05, (edge**3, 3)) + 1.0
    velocities = rng.normal(0, 1.5, places.shape)
    with open(path, "w") as file:
        size = 3.9 * edge
        file.write(f'{edge**3}\nLattice="{size} 0 0 0 {size} 0 0 0 {size}" Properties=species:S:1:pos:R:3:velo:R:3 pbc="T T T"\n')
        for r, v in zip(places.tolist(), velocities.tolist()):
            file.write("Ar %16.8f %16.8f %16.8f %16.8f %16.8f %16.8f\n" % (*r, *v))
    return edge**3


def version_of(package):
    """Debian's version of a Python package, where it is Debian's: some name none of their own there."""
    asked = subprocess.run(["dpkg-query", "-W", "-f=${Version}", f"python3-{package}"], capture_output=True, text=True)
    return f"{package} {asked.stdout if asked.returncode == 0 else __import__(package).__version__}"


def seconds(words):
    start = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.perf_counter() - start


def turns(given, deck, peer):
    """Medians of the seconds of both programs and of the peer, and the median of the ratios within a turn."""
    taken = {"old": [], "new": [], "peer": []}
    for turn in range(given.turns):
        order = [("old", given.old), ("new", given.new)]
        for name, program in order if turn % 2 == 0 else order[::-1]:
            taken[name].append(seconds([program, "run", deck, "--overwrite"]))
        taken["peer"].append(seconds(peer))
    ratios = [a / b for a, b in zip(taken["old"], taken["new"])]
    return {**{f"{name}_s": round(statistics.median(values), 3) for name, values in taken.items()},
            "old_over_new": round(statistics.median(ratios), 3), "peer_over_new": round(statistics.median(taken["peer"]) / statistics.median(taken["new"]), 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json")
    given = parser.parse_args()
    python = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name) for name in ("field.nc", "atoms.xyz", "field.yaml", "atoms.yaml")}
        size, atoms = make_field(paths["field.nc"], given.scale), make_atoms(paths["atoms.xyz"], given.scale)
        for name, deck in (("field.yaml", FIELD), ("atoms.yaml", ATOMS)):
            with open(paths[name], "w") as file:
                file.write(deck.format(folder=folder))
        cases = {
            "netcdf4": {"bytes_before_compression": size, "peer": f"{version_of('xarray')}, engine netcdf4",
                        **turns(given, paths["field.yaml"], [python, "-c", XARRAY, paths["field.nc"]])},
            "extended_xyz": {"atoms": atoms, "peer": version_of("ase"),
                             **turns(given, paths["atoms.yaml"], [python, "-c", ASE, paths["atoms.xyz"]])}}
    out = {"turns": given.turns, "cases": cases}
    for name, case in cases.items():
        print(name, case)
    if given.json:
        command = f"studies/reading_speed.py OLD NEW --turns {given.turns} --scale {given.scale:g} --json FILE"
        out["measured"] = measured.by_program(given.new, command)
        with open(given.json, "w") as file:
            json.dump(out, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
