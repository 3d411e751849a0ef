#!/usr/bin/env bash
# HDF5 1.10.8 through h5py 3.7.0: a virtual data set while one of its parts is open, with locking=False (as file systems of clusters ask for).
# Most would expect to read the joined file and a part at the same time, both read-only.
# Seen: the values of the open part are zeros in the joined data set; no error, no warning. HDF5 opens the part a second time with the default
# flags of locking, finds it open with others, and takes a part that cannot be opened for one that is missing. Closed, the same data set is right;
# with the environment variable HDF5_USE_FILE_LOCKING=FALSE in place of the argument, too.
# What it means: set locking by the environment, not by file, wherever virtual data sets are read.
. "$(dirname "$0")/debian.sh"
packages python3-h5py=3.7.0-8
cat >case.py <<'PY'
import h5py
import numpy as np

for part in range(2):
    with h5py.File(f"part{part}.h5", "w") as file:
        file["x"] = np.arange(1.0, 4.0) + 3 * part
with h5py.File("joined.h5", "w") as file:
    layout = h5py.VirtualLayout((6,), "f8")
    for part in range(2):
        layout[3 * part:3 * part + 3] = h5py.VirtualSource(f"part{part}.h5", "x", (3,))
    file.create_virtual_dataset("x", layout)

def joined(**how):
    with h5py.File("joined.h5", "r", **how) as file:
        return file["x"][:].tolist()

print("parts closed, locking=False:", joined(locking=False))
with h5py.File("part0.h5", "r"):
    print("part 0 open:", joined())
with h5py.File("part0.h5", "r", locking=False):
    print("part 0 open, locking=False:", joined(locking=False))
PY
seen "parts closed, locking=False: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
part 0 open: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
part 0 open, locking=False: [0.0, 0.0, 0.0, 4.0, 5.0, 6.0]" "$(python case.py)"
