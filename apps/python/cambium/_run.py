"""The files of a run as arrays."""
import csv
import json
import os
import re
from collections.abc import Mapping

import numpy as np


class Table(dict):
    """A table as {name of a column: array}: integers, real numbers (NaN for empty cells) or texts. `units` has the units by name, `frame()`
    gives a pandas.DataFrame. Columns of one name keep their whole headings. A line that is being written is left out."""

    def __init__(self, path):
        self.path, self.units = path, {}
        with open(path, newline="", encoding="utf-8-sig") as file:
            text = file.read()
        rows = list(csv.reader(text[:text.rfind("\n") + 1].splitlines(keepends=True)))
        headings = rows[0] if rows else []
        whole = [row for row in rows[1:] if len(row) == len(headings)]
        for number, heading in enumerate(headings):
            name, _, unit = heading.partition(" [")
            if [other.partition(" [")[0] for other in headings].count(name) > 1:
                name = heading if headings.count(heading) == 1 else f"{heading}.{headings[:number].count(heading)}"
            self[name] = _column([row[number] for row in whole])
            self.units[name] = unit[:-1] if unit.endswith("]") else ""

    def frame(self):
        """The table as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame(dict(self))

    def __repr__(self):
        rows = len(next(iter(self.values()))) if self else 0
        names = [name + (f" [{self.units[name]}]" if self.units[name] else "") for name in self]
        return f"<table {self.path}: {rows} rows of {', '.join(names)}>"


def _column(cells):
    if cells and all(re.fullmatch(r"[-+]?\d{1,19}", cell) for cell in cells):
        numbers = [int(cell) for cell in cells]
        if -2**63 <= min(numbers) and max(numbers) < 2**63:
            return np.array(numbers, dtype=np.int64)  # float64 would round those above 2^53
    try:
        if not cells or any(cells):
            return np.array([cell or "nan" for cell in cells], dtype=float)
    except ValueError:
        pass
    return np.array(cells)


class Arrays(Mapping):
    """Arrays of an HDF5 file or of one group in it, {path: array}, each read when it is asked for."""

    def __init__(self, path, group="/"):
        import h5py
        self.path, self.group, self._shapes = path, group, {}

        def note(name, item):
            if isinstance(item, h5py.Dataset):
                self._shapes[name] = (item.shape, item.dtype)

        with h5py.File(path) as file:
            file[group].visititems(note)

    def __getitem__(self, name):
        import h5py
        if name not in self._shapes:
            raise KeyError(f"no array '{name}' in '{self.path}'; it has: {', '.join(self)}")
        with h5py.File(self.path) as file:
            return file[self.group][name][()]

    def __iter__(self):
        return iter(self._shapes)

    def __len__(self):
        return len(self._shapes)

    def __repr__(self):
        return "\n".join([f"<arrays of {self.path}{'' if self.group == '/' else ' in ' + self.group}>"] +
                         [f"  {name:<40} {'text' if dtype.kind == 'O' else dtype} {shape}" for name, (shape, dtype) in self._shapes.items()])


def _hdf5(path, inside=""):
    """xarray.Dataset where xarray is installed and the file or group has the layout of netCDF; else Arrays. An array for the path of one."""
    if _has("h5py"):
        import h5py

        import cambium_io  # noqa: F401 - names the folder of Cambium's filter to HDF5
        with h5py.File(path) as file:
            if inside and inside not in file:
                raise KeyError(f"no group or array '{inside}' in '{path}'; it has: {', '.join(file)}")
            if inside and isinstance(file[inside], h5py.Dataset):
                return file[inside][()]
    if not _has("xarray"):
        return Arrays(path, inside or "/")
    import xarray
    try:
        found = xarray.open_dataset(path, engine="h5netcdf" if _has("h5netcdf") else None, group=inside or None)
        if found.variables or not _has("h5py"):
            return found
        found.close()
    except (ValueError, TypeError):  # arrays without dimensions, types that netCDF has not
        if not _has("h5py"):
            raise
    return Arrays(path, inside or "/")


def _has(module):
    import importlib.util
    return importlib.util.find_spec(module) is not None


def _content(path):
    """A file of another kind: arrays of numpy, text, or bytes where it is none."""
    with open(path, "rb") as file:
        start = file.read(8)
        if start == b"\x89HDF\r\n\x1a\n":
            return Arrays(path)
        if start.startswith(b"\x93NUMPY"):
            return np.load(path)
        content = start + file.read()
    try:
        return content.decode("utf-8") if b"\0" not in content else content
    except UnicodeDecodeError:
        return content


class Run:
    """A finished or running run: `run.files` lists them, `run.results` holds the numbers of each stage, by key.

    >>> run["train/training.csv"]["loss"]         # a Table: columns by name; .units, .frame()
    >>> run["predict/predicted.h5"]               # xarray.Dataset; Arrays where a file has not the layout of netCDF
    >>> run["evaluate/parity.h5/energy"]          # a group of a file, or one array
    >>> run["train/results.json"], run["deck.resolved.yaml"]   # content of JSON, text, bytes"""

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
                with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                    results = json.load(file)["results"]
                out[os.path.dirname(name)] = {r["key"]: (float("nan") if r["value"] is None else r["value"], r.get("unit", "")) for r in results}
        return out

    def _split(self, name):
        """The file that a name begins with, and what it names inside of it."""
        parts = os.path.normpath(name).split(os.sep)
        for count in range(len(parts), 0, -1):
            path = os.path.join(self.folder, *parts[:count])
            if os.path.isfile(path) and (count == len(parts) or parts[count - 1].endswith((".h5", ".nc", ".h5md", ".vtkhdf"))):
                return path, "/".join(parts[count:])
        raise KeyError(f"no file '{name}' in '{self.folder}'; it has: {', '.join(self.files)}")

    def __getitem__(self, name):
        path, inside = self._split(os.fspath(name))
        if inside or path.endswith((".h5", ".nc")):
            return _hdf5(path, inside)
        if path.endswith(".csv"):
            return Table(path)
        if path.endswith(".json"):
            with open(path, encoding="utf-8") as file:
                return json.load(file)
        return _content(path)

    def __repr__(self):
        sizes = ((name, os.path.join(self.folder, name)) for name in self.files)
        return "\n".join([f"<cambium run {self.folder}>"] + [f"  {name:<40} {os.path.getsize(path)} bytes" for name, path in sizes if os.path.exists(path)])
