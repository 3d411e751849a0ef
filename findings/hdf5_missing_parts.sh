#!/usr/bin/env bash
# HDF5 1.10.8 through h5py 3.7.0: three ways to keep a data set's values in another file, after that file is gone.
# Most would expect all three to fail alike when the values are read.
# Seen: an external link and external raw storage raise an error. A virtual data set gives its fill value, zeros, as if they were the data, and
# h5py's is_virtual and virtual_sources() still describe the file that is not there.
# What it means: whoever copies a joined simulation output without its parts trains on zeros; ask virtual_sources() and look for each file.
. "$(dirname "$0")/debian.sh"
packages python3-h5py=3.7.0-8
cat >case.py <<'PY'
import os
import h5py
import numpy as np

with h5py.File("part.h5", "w") as file:
    file["x"] = np.arange(1.0, 5.0)
with h5py.File("joined.h5", "w") as file:
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource("part.h5", "x", (4,))
    file.create_virtual_dataset("virtual", layout)
    file["link"] = h5py.ExternalLink("part.h5", "/x")
    file.create_dataset("storage", (4,), "f8", external=[("values.raw", 0, 32)])[:] = np.arange(1.0, 5.0)
os.remove("part.h5")
os.remove("values.raw")
with h5py.File("joined.h5") as file:
    for name in ("virtual", "link", "storage"):
        try:
            print(name, file[name][:].tolist())
        except (OSError, KeyError) as error:
            print(name, type(error).__name__)
    print("sources", [(source.file_name, source.dset_name) for source in file["virtual"].virtual_sources()])
PY
seen "virtual [0.0, 0.0, 0.0, 0.0]
link KeyError
storage OSError
sources [('part.h5', 'x')]" "$(python case.py)"
