#!/usr/bin/env bash
# zfp 1.0.0 (Debian python3-zfpy 1.0.0-7), fixed accuracy: compress_numpy(field, tolerance=1e-3), a field of 8 x 8 numbers from 0 to 63.
# The manual: the absolute error of every value is at most the tolerance, but for values whose precision does not allow it.
# Most would expect a missing value to cost its own precision, or an error.
# Seen: one fill value of netCDF (9.97e36) in a block of 4 x 4 makes its 15 neighbours 0, without a message: the largest error there is 27 where
# 0.001 was asked for. One of 1e20 does the same. A NaN comes back as -64, a number that looks like a value; its neighbours are kept.
# Blocks without a missing value keep the bound.
# What it means: fields with land, holes or sentinels lose the cells beside them. Fill holes with a neighbour and store a mask, or use the
# reversible mode, which keeps all of it.
. "$(dirname "$0")/debian.sh"
packages python3-zfpy=1.0.0-7
cat >holes.py <<'PYTHON'
import numpy as np
import zfpy

for hole in (9.969209968386869e36, 1e20, np.nan):
    field = np.arange(64.0).reshape(8, 8)
    field[1, 1] = hole
    for name, options in (("tolerance 0.001", {"tolerance": 1e-3}), ("reversible", {})):
        back = zfpy.decompress_numpy(zfpy.compress_numpy(field, **options))
        error = np.abs(back - field)
        error[1, 1] = 0
        print(f"hole {hole:.3g}, {name}: comes back as {back[1, 1]:.3g}; largest error in its block {error[:4, :4].max():.3g}, "
              f"elsewhere {'at most 0.001' if max(error[4:].max(), error[:4, 4:].max()) <= 1e-3 else 'more'}")
PYTHON
seen "hole 9.97e+36, tolerance 0.001: comes back as 9.97e+36; largest error in its block 27, elsewhere at most 0.001
hole 9.97e+36, reversible: comes back as 9.97e+36; largest error in its block 0, elsewhere at most 0.001
hole 1e+20, tolerance 0.001: comes back as 1e+20; largest error in its block 27, elsewhere at most 0.001
hole 1e+20, reversible: comes back as 1e+20; largest error in its block 0, elsewhere at most 0.001
hole nan, tolerance 0.001: comes back as -64; largest error in its block 0, elsewhere at most 0.001
hole nan, reversible: comes back as nan; largest error in its block 0, elsewhere at most 0.001" "$(python holes.py)"
