#!/usr/bin/env bash
# HDF5 1.10.8 by h5py 3.7.0 (Debian 3.7.0-8), the scale-offset filter on floating-point data: create_dataset(..., scaleoffset=3).
# The manual: keeps the given number of digits after the decimal point; h5py's page adds that it is lossy for floating-point data.
# Most would expect a NaN to come back as one, or to be refused.
# Seen: a NaN comes back as a number from inside the range of the data, without a message; the other values keep three digits. An infinity or a
# fill value of 9.97e36 comes back as it was, since the range is then too large for the filter, which stores such a chunk as it is.
# What it means: gaps of a series become measurements. Store a mask beside such data, or fill the gaps with a number outside their range first.
. "$(dirname "$0")/debian.sh"
packages python3-h5py-serial=3.7.0-8
cat >gap.py <<'PYTHON'
import h5py
import numpy as np

for gap in (np.nan, np.inf, 9.969209968386869e36):
    values = np.linspace(20, 21, 20)
    values[3] = gap
    with h5py.File("series.h5", "w") as file:
        file.create_dataset("temperature", data=values, scaleoffset=3, chunks=(20,))
    with h5py.File("series.h5") as file:
        back = file["temperature"][:]
    others = np.delete(np.abs(back - values), 3).max()
    inside = "a number between 20 and 21" if 20 <= back[3] <= 21 else f"{back[3]:.3g}"
    print(f"{gap:.3g} comes back as {inside}; the others are {'within 0.0005' if 0 < others <= 5e-4 else 'as they were' if others == 0 else 'wrong'}")
PYTHON
seen "nan comes back as a number between 20 and 21; the others are within 0.0005
inf comes back as inf; the others are as they were
9.97e+36 comes back as 9.97e+36; the others are as they were" "$(python gap.py)"
