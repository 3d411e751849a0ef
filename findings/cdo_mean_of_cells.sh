#!/usr/bin/env bash
# CDO 2.1.1, fldmean on a regular grid of latitudes and longitudes.
# The cells of such a grid lie between parallels, and their areas are proportional to sin(upper) - sin(lower). Most would expect these weights,
# or cosines of latitude.
# Seen: areas are those of polygons whose edges are great circles, as the same mean by such areas shows. On a grid of 15 degrees means of
# sin^2(latitude) by the two differ by 0.45 %.
# What it means: compare means of CDO with one's own to 1e-3 on coarse grids; -fldmean,weights=FALSE gives the plain mean.
. "$(dirname "$0")/debian.sh"
packages cdo=2.1.1-1+deb12u1 python3-netcdf4=1.6.2-1+b1
cat >case.py <<'PY'
import netCDF4
import numpy as np

lat = -82.5 + 15.0 * np.arange(12)
with netCDF4.Dataset("grid.nc", "w", format="NETCDF3_CLASSIC") as file:
    for name, unit, values in (("lat", "degrees_north", lat), ("lon", "degrees_east", 15.0 * np.arange(24))):
        file.createDimension(name, len(values))
        axis = file.createVariable(name, "f8", (name,))
        axis.units = unit
        axis[:] = values
    a = file.createVariable("a", "f8", ("lat", "lon"))
    a[:] = np.repeat(np.sin(np.radians(lat))[:, None] ** 2, 24, 1)
area = np.sin(np.radians(lat + 7.5)) - np.sin(np.radians(lat - 7.5))

def polygon(south, north):
    """Area of a cell of 15 degrees whose four edges are great circles, as two triangles (Van Oosterom and Strackee 1983)."""
    def place(latitude, longitude):
        a, b = np.radians([latitude, longitude])
        return np.array([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)])
    def triangle(a, b, c):
        return 2 * np.arctan2(abs(a @ np.cross(b, c)), 1 + a @ b + b @ c + c @ a)
    a, b, c, d = place(south, 0), place(south, 15), place(north, 15), place(north, 0)
    return triangle(a, b, c) + triangle(a, c, d)

for title, weights in (("parallels", area), ("great circles", [polygon(s - 7.5, s + 7.5) for s in lat])):
    print(f"areas between {title}: {np.average(np.sin(np.radians(lat)) ** 2, weights=weights):.5f}")
PY
own=$(python case.py)
seen "areas between parallels: 0.33527
areas between great circles: 0.33376
CDO: 0.33376" "$own
CDO: $(unpacked cdo -s -outputf,%.5g,1 -fldmean grid.nc 2>/dev/null | tr -d ' ')"
