"""Arrays with names, units and coordinates (CF conventions), as Cambium's HDF5 files and netCDF files hold them, with h5py alone.

    file = cambium_cf.open("runs/rb/simulate/fields.h5")
    b = file["b"]                    # b.dims, b.shape, b.units, b.text ("buoyancy"), b[-1] reads the last frame
    x = file.coordinate("x")         # numbers, texts or dates; None for a dimension without coordinates

Files of netCDF of the time before HDF5 (classic) open as well. Only arrays at the top of a file whose dimensions are named count. xarray.open_dataset(path) shows the same ones. Numbers come as the
conventions say: unpacked, and NaN where there is no value.
"""

import io
import re
from pathlib import Path

import h5py
import numpy as np

import cambium_classic
from cambium_curves import unit_of

UNIT_OF_TIME = {"second": "s", "minute": "m", "hour": "h", "day": "D", "week": "W"}


def unpacked(item, index):
    """What an array holds at an index: numbers times `scale_factor` plus `add_offset`, NaN where there is none (`_FillValue`,
    `missing_value`, outside of `valid_min`, `valid_max`, `valid_range`). Arrays without such attributes as they are."""
    raw, attrs = item[index], item.attrs
    special = [n for n in ("_FillValue", "missing_value", "valid_min", "valid_max", "valid_range", "scale_factor", "add_offset", "_Unsigned") if n in attrs]
    if not special or np.asarray(raw).dtype.kind not in "fiu":
        return raw
    raw = np.asarray(raw)
    if attribute(item, "_Unsigned").lower() == "true" and raw.dtype.kind == "i":
        raw = raw.view(raw.dtype.str.replace("i", "u"))

    def numbers(name):
        found = np.ravel(attrs[name])
        if found.dtype.kind not in "fiu":
            return np.array([])
        return found.astype(raw.dtype) if raw.dtype.kind == "u" and found.dtype.kind == "i" and found.dtype.itemsize == raw.dtype.itemsize else found

    values = raw.astype(float)
    gaps = np.zeros(raw.shape, dtype=bool)
    for name in special:
        if name in ("_FillValue", "missing_value"):
            for mark in numbers(name):
                gaps |= raw == mark
        elif name.startswith("valid_"):
            ends = numbers(name)
            if len(ends) and name != "valid_max":
                gaps |= raw < ends[0]
            if len(ends) and name != "valid_min":
                gaps |= raw > ends[-1]
    for name, apply in (("scale_factor", np.multiply), ("add_offset", np.add)):
        if name in special and len(numbers(name)):
            values = apply(values, float(numbers(name)[0]))
    return np.where(gaps, np.nan, values)


class Variable:
    """An array by its name; indexing reads from the file."""

    def __init__(self, file, name, dims, shape, units, text):
        self.file, self.name, self.dims, self.shape, self.text = file, name, dims, shape, text or name
        self.units = "" if units == "1" else units

    def __getitem__(self, index):
        with self.file.opened() as file:
            return unpacked(file[self.name], index)

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
    if isinstance(item, cambium_classic.Array):
        return item.dimensions
    for dim in item.dims:
        if len(dim) == 0:
            return None
        names.append(dim[0].name.split("/")[-1])
    return tuple(names)


def around_the_earth(longitudes):
    """Without jumps by 360, with a middle from -180 to 180 where there was such a jump."""
    whole = np.unwrap(longitudes, period=360.0)
    if np.array_equal(whole, longitudes):
        return longitudes
    return whole - 360.0 * np.round(0.5 * (whole[0] + whole[-1]) / 360.0)


class File:
    """The arrays at the top of a file that have named dimensions: file[name], file.names; coordinates apart."""

    def __init__(self, path):
        self.path = Path(path)
        self.variables, self.axes = {}, {}
        with self.opened() as file:
            self.title = attribute(file, "description")
            self.groups = [name for name, item in file.items() if isinstance(item, h5py.Group) and name != "cambium"]
            for name, item in file.items():
                if not isinstance(item, (h5py.Dataset, cambium_classic.Array)):
                    continue
                scale = item.attrs.get("CLASS", b"") == b"DIMENSION_SCALE" or getattr(item, "dimensions", None) == (name,)
                if scale:
                    if b"not a netCDF variable" not in item.attrs.get("NAME", b""):
                        self.axes[name] = (attribute(item, "units"), attribute(item, "long_name", name))
                    continue
                dims = dimensions(item)
                if dims is None or item.ndim == 0 or item.dtype.kind not in "fiu":
                    continue
                self.variables[name] = Variable(self, name, dims, item.shape, attribute(item, "units"), attribute(item, "long_name", name))
            self.beside = {word for item in file.values() if isinstance(item, (h5py.Dataset, cambium_classic.Array))
                           for name in ("coordinates", "bounds", "climatology") for word in attribute(item, name).split()}
            self.moment = float(file["time"][()]) if "time" in file and file["time"].shape == () else None

    def opened(self):
        return cambium_classic.File(self.path) if is_classic(self.path) else h5py.File(self.path, "r")

    def __getitem__(self, name):
        return self.variables[name]

    @property
    def names(self):
        """Of the arrays that are no coordinates."""
        return [name for name in self.variables if name not in self.beside]

    def why_nothing(self):
        """Why there are no names, and what helps; in words that follow the name of the file."""
        if self.groups:
            return (f"holds no array but in groups ({', '.join(self.groups)}), which are not drawn; in Python: "
                    f"xarray.open_dataset('{self.path.name}', group='{self.groups[0]}')")
        return "holds no array with named dimensions; give its dimensions scales (h5py: make_scale, attach_scale), or name a file that a run wrote"

    def coordinate(self, name):
        """Values along a dimension: numbers, texts, or dates where the unit counts from one; None where it has none. Days of a calendar
        that numpy has not (noleap, 360_day, ...) stay numbers. Longitudes that cross 360 or 180 go on, so that neighbours stay beside
        each other."""
        if name not in self.axes:
            return None
        with self.opened() as file:
            item = file[name]
            values = item.asstr()[:] if item.dtype.kind == "O" else unpacked(item, slice(None))
            calendar = attribute(item, "calendar", "standard").lower()
            east = re.fullmatch("(?i)degrees?_?(east|E)", self.axes[name][0]) or attribute(item, "standard_name") == "longitude"
            north = re.fullmatch("(?i)degrees?_?(north|N)", self.axes[name][0]) or attribute(item, "standard_name") == "latitude"
        counted = re.match(r"(\w+?)s? since (\d+)-(\d+)-(\d+)(?:[T ]+(\d+):(\d+)(?::(\d+))?)?", self.axes[name][0])
        if counted and counted.group(1) in UNIT_OF_TIME and calendar in ("standard", "gregorian", "proleptic_gregorian"):
            step = np.timedelta64(1, UNIT_OF_TIME[counted.group(1)]).astype("timedelta64[s]").astype(float)
            year, month, day, *clock = (int(part or 0) for part in counted.groups()[1:])
            first = np.datetime64(f"{year:04d}-{month:02d}-{day:02d}", "s") + np.timedelta64((clock[0] * 60 + clock[1]) * 60 + clock[2], "s")
            return first + (values * step).astype("timedelta64[s]")
        if east or north:  # whole numbers, too, are places
            values = np.asarray(values, dtype=float)
        return around_the_earth(values) if east and len(values) > 1 else values

    def label(self, name):
        unit, text = self.axes.get(name, ("", name))
        if " since " in unit and self.coordinate(name).dtype.kind != "M":
            return f"{text.split(',')[0]} ({unit})"  # of a calendar whose dates are not shown
        return with_unit(text.split(",")[0], "" if unit == "1" else unit)


def is_classic(path):
    """True for netCDF of the time before HDF5."""
    with io.open(path, "rb") as file:
        return file.read(3) == b"CDF"


def open(path):  # noqa: A001: as xarray and h5py name it
    return File(path)
