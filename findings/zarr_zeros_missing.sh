#!/usr/bin/env bash
# Zarr 2.13.6 and xarray 2023.1.0: a store written by zarr-python, opened by xarray.
# Zarr: fill_value (0 unless given) is what chunks that were never written read as. netCDF: _FillValue marks numbers that are missing.
# Most would expect the numbers that were written, zeros among them, to come back.
# Seen: xarray takes the one for the other: every 0 that was stored becomes NaN, integers become floating point, and False of a Boolean array is
# NaN. The mean of 0, 1, 0, 3 is 2 instead of 1. No message. With fill_value=None the zeros stay.
# What it means: dry days leave the mean of rain, and a mask has no False. Make such arrays with fill_value=None. Opened with mask_and_scale=False
# the zeros stay in memory, but _FillValue = 0 remains as an attribute: take it off before writing netCDF, or they are missing there.
. "$(dirname "$0")/debian.sh"
packages python3-zarr=2.13.6+ds-1 python3-xarray=2023.01.0-1.1
cat >zeros.py <<'PYTHON'
import numpy as np
import xarray
import zarr

group = zarr.open_group("store.zarr", mode="w")
for name, values, how in (("rain", np.array([0, 1, 0, 3]), {}), ("mask", np.array([False, True, False, True]), {}),
                          ("kept", np.array([0, 1, 0, 3]), {"fill_value": None})):
    group.create_dataset(name, data=values, **how).attrs["_ARRAY_DIMENSIONS"] = ["time"]
zarr.consolidate_metadata("store.zarr")
opened = xarray.open_zarr("store.zarr")
for name in ("rain", "mask", "kept"):
    print(f"{name}: zarr {group[name][:].tolist()}, xarray {opened[name].values.tolist()}")
unmasked = xarray.open_zarr("store.zarr", mask_and_scale=False)["rain"]
print(f"mean of rain: zarr {group['rain'][:].mean()}, xarray {float(opened['rain'].mean())}, without masks {float(unmasked.mean())}")
print("which a file written from it would take along: _FillValue", unmasked.attrs["_FillValue"])
PYTHON
seen "rain: zarr [0, 1, 0, 3], xarray [nan, 1.0, nan, 3.0]
mask: zarr [False, True, False, True], xarray [nan, True, nan, True]
kept: zarr [0, 1, 0, 3], xarray [0, 1, 0, 3]
mean of rain: zarr 1.0, xarray 2.0, without masks 1.0
which a file written from it would take along: _FillValue 0" "$(python zeros.py)"
