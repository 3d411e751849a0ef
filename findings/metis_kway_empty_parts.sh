#!/usr/bin/env bash
# METIS 5.1.0 (Debian 5.1.0.dfsg-7), METIS_PartGraphKway with default options, few nodes for each part.
# The manual: partitions a graph into k parts; the default allows a load imbalance of 1.03. METIS_OK: the function returned normally.
# Most would expect parts of about equal size, or a status that says that they are not.
# Seen: with METIS_OK and without a message a complete graph of two nodes for each part comes back whole in one part, at a cut of 0, and the
# others are empty; a 10 x 10 grid in 33 parts leaves one empty, in 50 parts thirteen, in 100 parts more than half. METIS_PartGraphRecursive
# divides the complete graph, and the grid but for 100 parts.
# What it means: count the nodes of each part after a call; a rank of an MPI program may have got none, or one rank everything. gpmetis calls
# this function unless told otherwise.
. "$(dirname "$0")/debian.sh"
packages libmetis5=5.1.0.dfsg-7 python3-numpy=1:1.24.2-1+deb12u1
cat >parts.py <<'PY'
import ctypes
import glob
import sys

import numpy as np

metis = ctypes.CDLL(glob.glob(sys.argv[1] + "/usr/lib/*/libmetis.so.5")[0])


def sizes(function, neighbours, parts):
    start = np.cumsum([0] + [len(near) for near in neighbours]).astype(np.int32)
    node = np.concatenate(neighbours).astype(np.int32)
    part, cut = np.zeros(len(neighbours), np.int32), ctypes.c_int32()
    nodes, one, wanted = (ctypes.c_int32(n) for n in (len(neighbours), 1, parts))
    array = [a.ctypes.data_as(ctypes.c_void_p) for a in (start, node, part)]
    status = getattr(metis, function)(ctypes.byref(nodes), ctypes.byref(one), array[0], array[1], None, None, None, ctypes.byref(wanted), None,
                                      None, None, ctypes.byref(cut), array[2])
    count = np.bincount(part, minlength=parts)
    return f"status {status}, cut {cut.value}, largest part {count.max()}, empty parts {np.sum(count == 0)}"


complete = [[j for j in range(32) if j != i] for i in range(32)]
grid = [[10 * b + a for a, b in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)) if 0 <= a < 10 and 0 <= b < 10] for y in range(10) for x in range(10)]
for name, graph, parts in (("complete, 32 nodes", complete, 16), ("grid, 100 nodes", grid, 33), ("grid, 100 nodes", grid, 50), ("grid, 100 nodes", grid, 100)):
    for function in ("METIS_PartGraphKway", "METIS_PartGraphRecursive"):
        print(f"{name}, {parts} parts, {function[15:]}: {sizes(function, graph, parts)}")
PY
seen "complete, 32 nodes, 16 parts, Kway: status 1, cut 0, largest part 32, empty parts 15
complete, 32 nodes, 16 parts, Recursive: status 1, cut 479, largest part 3, empty parts 0
grid, 100 nodes, 33 parts, Kway: status 1, cut 120, largest part 4, empty parts 1
grid, 100 nodes, 33 parts, Recursive: status 1, cut 112, largest part 4, empty parts 0
grid, 100 nodes, 50 parts, Kway: status 1, cut 120, largest part 3, empty parts 13
grid, 100 nodes, 50 parts, Recursive: status 1, cut 130, largest part 3, empty parts 0
grid, 100 nodes, 100 parts, Kway: status 1, cut 124, largest part 3, empty parts 58
grid, 100 nodes, 100 parts, Recursive: status 1, cut 171, largest part 2, empty parts 9" "$(python parts.py "$root")"
