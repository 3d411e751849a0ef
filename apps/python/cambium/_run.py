"""The files of a run as arrays."""
import csv
import json
import os

import numpy as np


def _table(path):
    """Columns of a CSV file by their names, without units; texts where a column holds some."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    out = {}
    for number, heading in enumerate(rows[0] if rows else []):
        column = [row[number] for row in rows[1:]]
        try:
            out[heading.split(" [")[0]] = np.array(column, dtype=float)
        except ValueError:
            out[heading.split(" [")[0]] = np.array(column)
    return out


def _hdf5(path):
    """xarray.Dataset where xarray is installed, else a dict of numpy arrays by their paths."""
    try:
        import xarray
    except ImportError:
        import h5py
        found = {}
        with h5py.File(path) as file:
            file.visititems(lambda name, item: found.__setitem__(name, item[()]) if isinstance(item, h5py.Dataset) else None)
        return found
    return xarray.open_dataset(path, engine="h5netcdf" if _has("h5netcdf") else None)


def _has(module):
    import importlib.util
    return importlib.util.find_spec(module) is not None


class Run:
    """A finished or running run: `run.files` lists them, run["train/training.csv"] reads one (columns, xarray.Dataset, or text),
    run.results holds the numbers of each stage, by key."""

    def __init__(self, folder):
        self.folder = str(folder)
        if not os.path.isdir(self.folder):
            raise FileNotFoundError(f"'{self.folder}' is no folder of a run")
        self.files = sorted(os.path.relpath(os.path.join(place, name), self.folder) for place, _, names in os.walk(self.folder)
                            for name in names if not name.endswith(".part"))

    @property
    def results(self):
        """{stage: {key: (value, unit)}}, of the results.json of each stage."""
        out = {}
        for name in self.files:
            if os.path.basename(name) == "results.json":
                with open(os.path.join(self.folder, name)) as file:
                    results = json.load(file)["results"]
                out[os.path.dirname(name)] = {r["key"]: (r["value"], r.get("unit", "")) for r in results}
        return out

    def __getitem__(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.isfile(path):
            raise KeyError(f"no file '{name}' in '{self.folder}'; it has: {', '.join(self.files)}")
        if name.endswith(".csv"):
            return _table(path)
        if name.endswith((".h5", ".nc")):
            return _hdf5(path)
        if name.endswith(".json"):
            with open(path) as file:
                return json.load(file)
        with open(path) as file:
            return file.read()

    def __repr__(self):
        return "\n".join([f"<cambium run {self.folder}>"] + [f"  {name:<40} {os.path.getsize(os.path.join(self.folder, name))} bytes"
                                                              for name in self.files])
