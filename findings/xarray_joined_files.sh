#!/usr/bin/env bash
# xarray 2023.1.0 (with netCDF4-python 1.6.2): files of two periods, joined by xarray.concat and written again.
# Packed files have their own scale_factor and add_offset each, as reanalyses are delivered; times are whole numbers in a unit of their own.
# Most would expect the numbers of the joined set, which are right in memory, to be those of the file that it is written to, or a message.
# Seen: the file gets the packing of the first part. Numbers of the second part that do not fit into its 16 bits wrap into the first part's
# range: 250, 500, 750 and 1000 become 9.7, 8.48, 7.26 and 6.04. Times keep the first part's unit: after days as whole numbers, 06:00 and 12:00
# become 00:00 of their day, three times the same. No message in either case.
# What it means: a year joined from months may hold smooth, plausible, wrong fields. Set `.encoding = {}` of each variable before writing.
. "$(dirname "$0")/debian.sh"
packages python3-xarray=2023.01.0-1.1 python3-netcdf4=1.6.2-1+b1
cat >join.py <<'PYTHON'
import numpy as np
import xarray

parts = []
for name, top, hours in (("first", 10, (0, 24)), ("second", 1000, (48, 54, 60, 72))):
    packing = {"dtype": "i2", "scale_factor": top / 60000, "add_offset": top / 2, "_FillValue": -32768}
    times = np.datetime64("2000-01-01", "ns") + np.array(hours, "m8[h]")
    values = np.linspace(0, top, 5)[-len(hours):]
    xarray.Dataset({"t": ("time", values)}, {"time": times}).to_netcdf(name + ".nc", encoding={"t": packing})
    parts.append(xarray.open_dataset(name + ".nc"))
joined = xarray.concat(parts, "time")
joined.to_netcdf("joined.nc")
for name, data in (("in memory", joined), ("in the file", xarray.open_dataset("joined.nc"))):
    print(name + ":", " ".join(f"{value:.2f}" for value in data.t.values))
    print(" ", " ".join(str(time)[8:13] for time in data.time.values))
for variable in joined.variables.values():
    variable.encoding = {}
joined.to_netcdf("plain.nc")
plain = xarray.open_dataset("plain.nc")
print("without encodings the same:", bool((plain.t.values == joined.t.values).all() and (plain.time.values == joined.time.values).all()))
PYTHON
seen "in memory: 7.50 10.00 250.00 500.00 750.00 1000.00
  01T00 02T00 03T00 03T06 03T12 04T00
in the file: 7.50 10.00 9.70 8.48 7.26 6.04
  01T00 02T00 03T00 03T00 03T00 04T00
without encodings the same: True" "$(python join.py)"
