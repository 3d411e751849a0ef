"""Arrays with names, units and coordinates (CF conventions), as Cambium's HDF5 files hold them, with h5py alone.

    file = cambium_cf.open("runs/rb/simulate/fields.h5")
    b = file["b"]                    # b.dims, b.shape, b.units, b.text ("buoyancy"), b[-1] reads the last frame
    x = file.coordinate("x")         # numbers, texts or dates; None for a dimension without coordinates

Only arrays at the top of a file whose dimensions are named count. xarray.open_dataset(path) shows the same ones.
"""

import re
from pathlib import Path

import h5py
import numpy as np

from cambium_curves import unit_of

UNIT_OF_TIME = {"second": "s", "minute": "m", "hour": "h", "day": "D", "week": "W"}


class Variable:
    """An array by its name; indexing reads from the file."""

    def __init__(self, file, name, dims, shape, units, text):
        self.file, self.name, self.dims, self.shape, self.text = file, name, dims, shape, text or name
        self.units = "" if units == "1" else units

    def __getitem__(self, index):
        with h5py.File(self.file.path, "r") as file:
            return file[self.name][index]

    @property
    def label(self):
        """For an axis or a bar of colours."""
        return with_unit(self.text, self.units)


def with_unit(text, unit):
    text = text.replace("^2", "²").replace("^3", "³")
    if unit and not (" since " in unit):
        return f"{text} ({unit_of(unit).replace('degrees_north', '°N').replace('degrees_east', '°E').replace('degC', '°C')})"
    return text


def attribute(item, name, otherwise=""):
    value = item.attrs.get(name, otherwise)
    return value.decode() if isinstance(value, bytes) else str(value)


def dimensions(item):
    """Names of an array's dimensions; None where one has no name."""
    names = []
    for dim in item.dims:
        if len(dim) == 0:
            return None
        names.append(dim[0].name.split("/")[-1])
    return tuple(names)


class File:
    """The arrays at the top of a file that have named dimensions: file[name], file.names; coordinates apart."""

    def __init__(self, path):
        self.path = Path(path)
        self.variables, self.axes = {}, {}
        with h5py.File(self.path, "r") as file:
            self.title = attribute(file, "description")
            for name, item in file.items():
                if not isinstance(item, h5py.Dataset):
                    continue
                scale = item.attrs.get("CLASS", b"") == b"DIMENSION_SCALE"
                if scale:
                    if b"not a netCDF variable" not in item.attrs.get("NAME", b""):
                        self.axes[name] = (attribute(item, "units"), attribute(item, "long_name", name))
                    continue
                dims = dimensions(item)
                if dims is None or item.ndim == 0 or item.dtype.kind not in "fiu":
                    continue
                self.variables[name] = Variable(self, name, dims, item.shape, attribute(item, "units"), attribute(item, "long_name", name))
            self.beside = {word for item in file.values() if isinstance(item, h5py.Dataset) for word in attribute(item, "coordinates").split()}
            self.moment = float(file["time"][()]) if "time" in file and file["time"].shape == () else None

    def __getitem__(self, name):
        return self.variables[name]

    @property
    def names(self):
        """Of the arrays that are no coordinates."""
        return [name for name in self.variables if name not in self.beside]

    def coordinate(self, name):
        """Values along a dimension: numbers, texts, or dates where the unit counts from one; None where it has none."""
        if name not in self.axes:
            return None
        with h5py.File(self.path, "r") as file:
            item = file[name]
            values = item.asstr()[:] if item.dtype.kind == "O" else item[:]
        counted = re.match(r"(\w+?)s? since (\d+-\d+-\d+)", self.axes[name][0])
        if counted and counted.group(1) in UNIT_OF_TIME:
            step = np.timedelta64(1, UNIT_OF_TIME[counted.group(1)]).astype("timedelta64[s]").astype(float)
            return np.datetime64(counted.group(2), "s") + (values * step).astype("timedelta64[s]")
        return values

    def label(self, name):
        unit, text = self.axes.get(name, ("", name))
        return with_unit(text.split(",")[0], "" if unit == "1" else unit)


def open(path):  # noqa: A001: as xarray and h5py name it
    return File(path)
