"""Reads the folder of a sweep of Cambium.

    import cambium_sweep
    sweep = cambium_sweep.Sweep("runs/landau_sweep")
    sweep.keys, sweep.values["k"], sweep.units["k"]     # what was swept
    sweep["gamma"]                                      # array over the keys, NaN where a run is missing
    sweep.runs                                          # folders, states and reasons, one dictionary per run
    sweep.dataset()                                     # the same with coordinates, where xarray is installed

Needs numpy and h5py.
"""

import csv
from pathlib import Path

import h5py
import numpy as np


def text_of(value):
    return value.decode() if isinstance(value, bytes) else str(value)


class Sweep:
    def __init__(self, path):
        self.path = Path(path)
        file = self.path / "results.h5"
        if not file.is_file():
            raise FileNotFoundError(f"'{path}' has no results.h5; `cambium report {path}` writes it from the runs that are done")
        with h5py.File(file, "r") as data:
            self.keys = [text_of(name) for name in np.atleast_1d(data.attrs["swept_keys"])]
            self.paths = dict(zip(self.keys, (text_of(name) for name in np.atleast_1d(data.attrs["swept_paths"]))))
            self.zip = bool(data.attrs["zip"])
            self.command = text_of(data.attrs["command"])
            self.values = {key: self._values(data[key]) for key in self.keys}
            self.names = [name for name, node in data.items() if isinstance(node, h5py.Dataset) and name not in self.keys]
            self.units = {name: text_of(data[name].attrs.get("units", "")) for name in self.keys + self.names}
            self.meaning = {name: text_of(data[name].attrs.get("long_name", "")) for name in self.names}
            self._results = {name: data[name][()] for name in self.names}
        with open(self.path / "results.csv", newline="") as table:
            rows = list(csv.reader(table))
        heads = [heading.partition(" [")[0] for heading in rows[0]]
        self.runs = [dict(zip(heads, row)) for row in rows[1:]]

    @staticmethod
    def _values(data):
        values = data[()]
        return values if values.dtype.kind == "f" else np.array([text_of(value) for value in values])

    def __getitem__(self, name):
        return self._results[name]

    def __contains__(self, name):
        return name in self._results

    def __len__(self):
        """Number of runs."""
        return len(self.runs)

    def flat(self, name):
        """One value for each run, in the order of the table: of a result or of a key."""
        if name in self._results:
            return self._results[name].ravel()
        if self.zip:
            return self.values[name]
        shape = [len(self.values[key]) for key in self.keys]
        return self.values[name][np.indices(shape)[self.keys.index(name)].ravel()]

    def is_seed(self, key):
        """Whether results are averaged over this key."""
        return self.paths[key].split(".")[-1] == "seed"

    def folder(self, run):
        """Path of a run's folder, counted from 0."""
        return self.path / self.runs[run]["folder"]

    def dataset(self):
        """An xarray.Dataset over the swept keys."""
        import xarray

        return xarray.load_dataset(self.path / "results.h5")
