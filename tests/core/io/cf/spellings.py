"""One small field in 500 random, valid spellings of the conventions CF: all must read as the plain one.

Files are NetCDF-3 (three kinds), NetCDF-4 and HDF5 with and without dimension scales, written by netCDF4 and h5py. Drawn at random for
each: names and order of dimensions, dimensions of length 1, how axes are told (units, standard_name, axis, name), radians, stored type,
packing, unsigned numbers, what is missing and how that is said, order of bytes, chunks, groups, unit, reference date and calendar of the
times. Expected values come from the generator; xarray (decode_cf) reads the same files where it knows the feature, and cftime makes the times.
"""

import json
import os
import random
import subprocess
import sys
import warnings

import numpy as np

try:
    import cftime
    import h5py
    import netCDF4
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)
try:
    import xarray
except ImportError:
    xarray = None

COUNT = 500
NT, NY, NX = 5, 4, 6
CALENDARS = {"standard": ["standard", "gregorian", "Gregorian", None], "proleptic_gregorian": ["proleptic_gregorian"], "julian": ["julian"],
             "noleap": ["noleap", "365_day", "NOLEAP"], "all_leap": ["all_leap", "366_day"], "360_day": ["360_day", "360"]}
STEPS = {"days": (["days", "day", "d", "Days", "DAYS"], 86400), "hours": (["hours", "hour", "h", "hr"], 3600),
         "minutes": (["minutes", "minute", "min"], 60), "seconds": (["seconds", "second", "s", "sec"], 1), "weeks": (["weeks", "week"], 604800)}
REAL, PACKED = ["f4", "f8"], ["i1", "i2", "i4", "u1", "u2", "u4", "i8"]


def truth():
    """Numbers of two decimals, of which bytes hold the hundredths; land is always missing, ice now and then."""
    rng = np.random.default_rng(7)
    hundredths = rng.integers(-90, 91, (NT, NY, NX))
    land, ice = np.zeros((NY, NX), bool), np.zeros((NT, NY, NX), bool)
    land[1, 2:4] = land[3, 0] = True
    ice[::2, 0, 5] = ice[1, 2, 2] = True
    return hundredths, ice | land


HUNDREDTHS, MISSING = truth()
LATITUDE, LONGITUDE = np.array([-60.0, -20.0, 20.0, 60.0]), np.arange(NX) * 60.0


def pick(r, *items):
    return r.choice(items)


def times(r):
    """Numbers, unit and attribute calendar; dates, in days since 2000-01-01 of the calendar."""
    calendar = r.choice(list(CALENDARS))
    spelt = r.choice(CALENDARS[calendar])
    year = r.choice([1601, 1850, 1999, 2000])
    dates = [cftime.datetime(year, month, 15, hour, calendar=calendar) for month, hour in zip((1, 2, 3, 11, 12), (0, 12, 6, 18, 0))]
    expected = cftime.date2num(dates, "days since 2000-01-01", calendar)
    if r.random() < 0.15:
        packed = [d.year * 10000 + d.month * 100 + d.day + d.hour / 24 for d in dates]
        return np.array(packed), "day as %Y%m%d.%f", spelt, expected
    day = r.choice([1, 15, 30 if calendar != "standard" else 28])
    ref_year, ref_month = r.choice([1600, 1850, 1990, 2000]), r.choice([1, 12])
    hour, zone = r.choice([0, 0, 0, 6, 13]), r.choice([0, 0, 0, -6, 1.5])
    step, (words, seconds) = r.choice(list(STEPS.items()))
    reference = cftime.datetime(ref_year, ref_month, day, hour, calendar=calendar)
    offset = cftime.date2num(reference, "days since 2000-01-01", calendar) - zone / 24
    numbers = (np.asarray(expected) - offset) * 86400 / seconds
    date = pick(r, f"{ref_year}-{ref_month}-{day}", f"{ref_year:04}-{ref_month:02}-{day:02}", f"{ref_year:04}{ref_month:02}{day:02}")
    if day == 1 and ref_month == 1 and hour == 0 and zone == 0:
        date = pick(r, date, f"{ref_year}", f"{ref_year}-1")
    clock = ""
    if hour or zone or r.random() < 0.5:
        clock = pick(r, " ", "T") + pick(r, f"{hour:02}:00:00", f"{hour}:00", f"{hour:02}:00:0.0", f"{hour:02}0000", f"{hour:02}00", f"{hour}:0:0")
        ahead = ("-" if zone < 0 else "+") + pick(r, f"{int(abs(zone))}:{30 if zone % 1 else 0:02}", f"{int(abs(zone)):02}{30 if zone % 1 else 0:02}")
        clock += pick(r, " ", "") + ahead if zone else pick(r, "", "", "Z", " UTC", " +0:00")
    unit = r.choice(words) + pick(r, " since ", " since ", " Since ", " after ", " from ", " ref ", "@") + date + clock
    return numbers, unit, spelt, expected


def coordinates(r, y, x):
    """Attributes and values of latitude and longitude; one of the ways to tell them at least."""
    out = {}
    flip = r.random() < 0.3
    for name, values, good, standard, axis, plain in ((y, LATITUDE, ["degrees_north", "degree_north", "degree_N", "degreesN", "degrees_N"], "latitude", "Y", "lat"),
                                                      (x, LONGITUDE, ["degrees_east", "degree_east", "degree_E", "degreesE"], "longitude", "X", "lon")):
        if flip and plain == "lat":
            values = values[::-1]
        attributes, kind = {}, r.choice(REAL)
        how = r.choice(["units", "units", "standard_name", "axis", "radians", "all"])
        if how in ("units", "all"):
            attributes["units"] = r.choice(good)
        if how in ("standard_name", "radians", "all"):
            attributes["standard_name"] = standard
        if how in ("axis", "all"):
            attributes["axis"] = axis
        if how == "axis":
            attributes["units"] = pick(r, "degrees", "degree")
        if how == "radians":
            attributes["units"], values, kind = pick(r, "radian", "radians", "rad"), np.radians(values), "f8"
        out[name] = values.astype(kind), attributes
    return out, flip


def packed(r, fmt):
    """Type, numbers as they are stored, attributes of the packing, and stored numbers that are outside of all."""
    classic = fmt in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF4_CLASSIC")
    kind = r.choice(REAL + REAL + [k for k in PACKED if not classic or k in ("i1", "i2", "i4")])
    as_unsigned = kind in ("i1", "i2") and r.random() < 0.3
    scale, offset, attributes = 1.0, 0.0, {}
    if kind not in REAL:
        scale, offset = 0.01, -1.0 if kind.startswith("u") or as_unsigned else 0.0
    elif r.random() < 0.3:
        scale, offset = 0.5, -3.0
    stored = (HUNDREDTHS / 100 - offset) / scale
    if scale != 1.0 or offset != 0.0:
        real = r.choice(["f4", "f8"]) if scale == 0.5 else "f8"
        attributes["scale_factor"] = np.array(scale, real)
        if offset or r.random() < 0.5:
            attributes["add_offset"] = np.array(offset, real)
    outside = {"i1": [-127, 127, -100], "u1": [255, 254], "u2": [65535, 60000], "u4": [4294967295, 4000000000]}.get(kind, [-32767, 30000, -999])
    if kind in REAL:
        outside = [1e20, -999.0, 9.96921e36, -99.99]
    else:
        stored = np.rint(stored)
    if as_unsigned:
        outside = [255, 254] if kind == "i1" else [65535, 60000]
    return kind, as_unsigned, stored, attributes, outside


def ways_to_miss(r, fmt, kind, as_unsigned):
    how = r.choice(["_FillValue", "missing_value", "both", "vector", "other type", "range", "minmax", "default", "nan", "text"])
    if how == "nan" and kind not in REAL:
        how = "_FillValue"
    if how == "default" and (kind in ("i1", "u1", "i8") or as_unsigned or fmt.startswith("h5")):
        how = "missing_value"
    return how


def numbers_that_miss(how, fill, outside, kind):
    """One for each cell, were it missing."""
    where = np.full(HUNDREDTHS.shape, fill, float)
    if how in ("both", "vector"):
        where[1::2] = outside[1]
    if how in ("range", "minmax"):
        where[1::2] = outside[-1]
    if how in ("default", "nan"):
        where[...] = float(netCDF4.default_fillvals[kind]) if how == "default" else np.nan
    return where


def storage(r, fmt):
    """Numbers as they are stored, their attributes, the fill to create the variable with, and whether xarray masks the same."""
    kind, as_unsigned, stored, attributes, outside = packed(r, fmt)
    fill, how = r.choice(outside), ways_to_miss(r, fmt, kind, as_unsigned)
    number = np.dtype(kind)
    unsigned = np.dtype("u" + kind[1:]) if as_unsigned else number
    values = np.where(MISSING, numbers_that_miss(how, fill, outside, kind), stored).astype(unsigned).view(number)

    def as_stored(v):
        return np.array(v, unsigned).view(number)

    created = as_stored(fill) if how in ("_FillValue", "both") else None
    if how == "both":
        attributes["missing_value"] = as_stored(outside[1])
    if how == "missing_value":
        attributes["missing_value"] = as_stored(fill)
    if how == "vector":
        attributes["missing_value"] = np.array([as_stored(fill), as_stored(outside[1])])
    if how == "other type":
        attributes["missing_value"] = np.array(fill, r.choice(["f8", "i4"]) if kind not in REAL and abs(fill) < 2**31 else "f8")
    if how in ("range", "minmax"):
        low, high = (as_stored(v if kind in REAL else np.floor(v)) for v in (stored.min() - 1, stored.max() + 1))
        attributes |= {"valid_range": np.array([low, high])} if how == "range" else {"valid_min": low, "valid_max": high}
    if how == "text":
        attributes["missing_value"] = repr(float(fill)) if kind in REAL else str(fill)
    known = how in ("_FillValue", "missing_value", "both", "other type", "nan")
    if as_unsigned:  # xarray knows one spelling, and makes the numbers unsigned but not the missing_value
        attributes["_Unsigned"] = pick(r, "true", "True")
        known = how == "_FillValue" and attributes["_Unsigned"] == "true"
    return values, attributes, created, known, {"kind": kind, "how": how, "unsigned": as_unsigned}


def recipe(seed):
    """Form of the file, names of time, latitude and longitude, and all dimensions in their order."""
    r = random.Random(seed)
    fmt = r.choice(["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4", "NETCDF4", "NETCDF4_CLASSIC", "h5", "h5 plain"])
    t, y, x = r.choice([("time", "lat", "lon"), ("T", "Y", "X"), ("TIME", "LAT", "LON"), ("time", "nlat", "nlon"), ("t", "y", "x"),
                        ("Time", "Latitude", "Longitude"), ("record", "j", "i"), ("time", "rows", "columns")])
    dimensions = [t, y, x]
    if fmt != "h5 plain":
        if r.random() < 0.3:
            r.shuffle(dimensions)
        if fmt.startswith("NETCDF4_C") or fmt.startswith("NETCDF3"):
            dimensions.remove(t)
            dimensions.insert(0 if r.random() < 0.8 else r.randrange(3), t)
    if r.random() < 0.35:
        dimensions.insert(r.randrange(1, 4), r.choice(["height", "lev", "member"]))
    return r, fmt, (t, y, x), dimensions


def write_h5(path, r, dimensions, values, fill, attributes, known_axes, scales):
    """With h5py; known_axes: {name: (numbers, attributes)} of times and coordinates."""
    with h5py.File(path, "w") as file:
        stored = values.astype(values.dtype.newbyteorder(r.choice("<>")))
        data = file.create_dataset("sst", data=stored, chunks=values.shape if r.random() < 0.5 else None)
        if fill is not None:
            attributes["_FillValue"] = fill
        for name, (numbers, more) in ({"sst": (None, attributes)} | known_axes).items():
            array = data if name == "sst" else file.create_dataset(name, data=numbers)
            for key, value in more.items():
                array.attrs[key] = value
        for name in dimensions:
            if name not in known_axes:
                file.create_dataset(name, data=[2.0]).attrs["units"] = "m"
        for k, name in enumerate(dimensions if scales else []):
            file[name].make_scale(name)
            data.dims[k].attach_scale(file[name])


def write_netcdf(path, r, fmt, group, dimensions, values, fill, attributes, known_axes, t):
    with netCDF4.Dataset(path, "w", format=fmt) as root:
        file = root.createGroup(group) if group else root
        may_grow = dimensions[0] == t or fmt == "NETCDF4"
        for name, length in zip(dimensions, values.shape):
            root.createDimension(name, None if name == t and may_grow and r.random() < 0.7 else length)
        more = {"fill_value": fill}
        if fmt.startswith("NETCDF4"):
            more |= {"zlib": r.random() < 0.5, "shuffle": r.random() < 0.5, "endian": pick(r, "native", "big", "little")}
        data = file.createVariable("sst", values.dtype, dimensions, **more)
        data.set_auto_maskandscale(False)
        data.setncatts(attributes)
        if not group and r.random() < 0.2:
            data.setncattr("coordinates", " ".join(known_axes))
        data[:] = values
        for name, (numbers, more) in known_axes.items():
            place = file if name == t and group and r.random() < 0.5 else root
            array = place.createVariable(name, numbers.dtype, (name,))
            array.setncatts(more)
            array[:] = numbers
        for name in dimensions:
            if name not in known_axes and r.random() < 0.7:
                array = root.createVariable(name, "f4", (name,))
                array.setncatts({"units": "m", "positive": pick(r, "up", "down")})
                array[:] = 2.0


def write(path, seed):
    """Writes a file; how it is to be read, and what it holds."""
    r, fmt, (t, y, x), dimensions = recipe(seed)
    numbers, unit, calendar, expected = times(r)
    coordinate, flip = coordinates(r, y, x)
    values, attributes, fill, known, said = storage(r, fmt)
    values = (values[:, ::-1] if flip else values).transpose([(t, y, x).index(d) for d in dimensions if d in (t, y, x)])
    for k, d in enumerate(dimensions):
        if d not in (t, y, x):
            values = np.expand_dims(values, k)
    group = "model" if fmt == "NETCDF4" and r.random() < 0.2 else ""
    of_time = {"units": unit} | ({"calendar": calendar} if calendar else {})
    of_time |= {"standard_name": "time"} if r.random() < 0.5 else {}
    of_time |= {"axis": "T"} if r.random() < 0.3 else {}
    attributes["units"] = "degC"
    known_axes = {t: (np.asarray(numbers, "f8"), of_time)} | coordinate
    if fmt.startswith("h5"):
        write_h5(path, r, dimensions, values, fill, attributes, known_axes, fmt == "h5")
    else:
        write_netcdf(path, r, fmt, group, dimensions, values, fill, attributes, known_axes, t)
    spelling = {"fmt": fmt, "dimensions": dimensions, "time": of_time, "axes": {k: v[1] for k, v in coordinate.items()}, **said}
    told = {"time": t, "axes": [d for d in dimensions if d != t]} if fmt == "h5 plain" else {}
    return {"array": f"{group}/sst" if group else "sst", "flip": flip, "expected": np.asarray(expected, float), "spelling": spelling,
            "known": known and not group and fmt != "h5 plain", "names": (t, y, x), **told}


def read(files, recipes, program):
    lines = "".join(f"{f}\t{q['array']}\t{q.get('time', '')}\t{','.join(q.get('axes', []))}\n" for f, q in zip(files, recipes))
    out = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def plain_values(flip):
    values = np.where(MISSING, np.nan, HUNDREDTHS / 100)
    return values[:, ::-1] if flip else values


def problem(found, q):
    """What is wrong with what the program read; empty where nothing is."""
    if "error" in found:
        return "refused: " + found["error"]
    roles = [a["role"] for a in found["axes"]]
    if sorted(roles) != ["latitude", "longitude"]:
        return f"axes {[(a['name'], a['role']) for a in found['axes']]}"
    values = np.array([np.nan if v is None else v for v in found["values"]]).reshape(found["shape"])
    if roles[0] == "longitude":
        values = values.transpose(0, 2, 1)
    want = plain_values(q["flip"])
    if values.shape != want.shape or not np.array_equal(np.isnan(values), np.isnan(want)):
        return f"{np.isnan(values).sum()} missing, expected {np.isnan(want).sum()}"
    if not np.allclose(values, want, rtol=0, atol=2e-6, equal_nan=True):
        return f"values differ by {np.nanmax(np.abs(values - want))}"
    for axis in found["axes"]:
        want = (LATITUDE[::-1] if q["flip"] else LATITUDE) if axis["role"] == "latitude" else LONGITUDE
        if not np.allclose(axis["values"], want, atol=1e-4):
            return f"{axis['name']} {axis['values']}"
    if not np.allclose(found["times"], q["expected"], rtol=0, atol=1e-6):
        return f"times {found['times']}, expected {q['expected'].tolist()}"
    return ""


def xarray_differs(path, q):
    """Whether xarray masks or unpacks the same file otherwise than expected; None where it cannot open it."""
    try:
        with xarray.open_dataset(path, decode_times=False) as data:
            t, y, x = q["names"]
            values = data["sst"].squeeze([d for d in data["sst"].dims if d not in (t, y, x)]).transpose(t, y, x).values.astype(float)
    except Exception:
        return None
    want = plain_values(q["flip"])
    return not (np.array_equal(np.isnan(values), np.isnan(want)) and np.allclose(values, want, atol=1e-4, equal_nan=True))


def main():
    warnings.simplefilter("ignore")
    program, folder = sys.argv[1], sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    files, recipes, wrong = [], [], []
    for seed in range(COUNT):
        files.append(os.path.join(folder, f"{seed:03}.nc"))
        if os.path.exists(files[-1]):
            os.remove(files[-1])
        recipes.append(write(files[-1], seed))
    skipped = 0
    for path, q, found in zip(files, recipes, read(files, recipes, program)):
        if "libnetcdf-dev" in found.get("error", ""):
            skipped += 1
        elif words := problem(found, q):
            wrong.append(f"{path}: {words}; {q['spelling']}")
    agreed = other = 0
    for path, q in list(zip(files, recipes))[:: 2 if xarray else COUNT + 1] if xarray else []:
        if not q["known"]:
            continue
        differs = xarray_differs(path, q)
        if differs:
            wrong.append(f"{path}: xarray reads another field; {q['spelling']}")
        agreed, other = agreed + (differs is False), other + (differs is None)
    print(f"{COUNT - len(wrong) - skipped} of {COUNT} spellings read as the plain field; xarray agreed on {agreed}, could not open {other}")
    if skipped:
        print(f"SKIPPED: {skipped} files of NetCDF-3: the build has no libnetcdf")
    if xarray is None:
        print("SKIPPED: xarray is not installed: its reading was not compared")
    print("\n".join(wrong[:20]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
