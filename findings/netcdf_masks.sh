#!/usr/bin/env bash
# netCDF4-python 1.6.2 and xarray 2023.1.0: which numbers of the same file are missing.
# Both read CF files, and xarray reads netCDF files through netCDF4-python. Most would expect them to mask the same numbers.
# Seen: (a) cells that were never written hold the library's default fill. netCDF4-python masks it, xarray gives 9.97e36. (b) A float array with
# a missing_value of type double: xarray masks it, netCDF4-python warns that the attribute "cannot be safely cast" and gives -99.99. (c) A byte array
# with _Unsigned = "true": xarray makes numbers and _FillValue unsigned but not missing_value, and gives 255 where netCDF4-python masks.
# (d) _Unsigned = "True" is unsigned for netCDF4-python; xarray knows "true" in small letters alone and gives -56 for 200.
# What it means: a mean over "the same file" may differ by orders of magnitude between two notebooks.
. "$(dirname "$0")/debian.sh"
packages python3-xarray=2023.01.0-1.1 python3-netcdf4=1.6.2-1+b1
cat >case.py <<'PY'
import netCDF4
import numpy as np
import xarray

def compare(title, kind, stored, **attributes):
    with netCDF4.Dataset("case.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 3)
        array = file.createVariable("a", kind, ("x",))
        for name, value in attributes.items():
            array.setncattr(name, value)
        array.set_auto_maskandscale(False)
        array[:] = stored
    with netCDF4.Dataset("case.nc") as file:
        one = [None if m else float(v) for v, m in zip(np.ma.getdata(file["a"][:]), np.ma.getmaskarray(file["a"][:]))]
    with xarray.open_dataset("case.nc", engine="netcdf4") as file:
        other = [None if np.isnan(v) else float(v) for v in file["a"].values.astype(float)]
    show = lambda values: " ".join("-" if v is None else f"{v:.4g}" for v in values)
    print(f"{title}: netCDF4-python {show(one)}; xarray {show(other)}")

compare("(a) default fill", "f4", [1, 2, netCDF4.default_fillvals["f4"]])
compare("(b) missing_value of another type", "f4", [1, 2, -99.99], missing_value=np.float64(-99.99))
compare("(c) _Unsigned, missing_value", "i1", [1, 2, -1], _Unsigned="true", missing_value=np.int8(-1))
compare("(d) _Unsigned in capitals", "i1", [1, 2, -56], _Unsigned="True")
PY
seen "(a) default fill: netCDF4-python 1 2 -; xarray 1 2 9.969e+36
(b) missing_value of another type: netCDF4-python 1 2 -99.99; xarray 1 2 -
(c) _Unsigned, missing_value: netCDF4-python 1 2 -; xarray 1 2 255
(d) _Unsigned in capitals: netCDF4-python 1 2 200; xarray 1 2 -56" "$(python case.py 2>/dev/null)"
