#!/usr/bin/env bash
# SciPy 1.10.1, MDAnalysis 2.4.2 and ASE 3.22.1: pairs of atoms within a cutoff in a periodic cell shorter than twice the cutoff.
# Most would expect 24 pairs within 3 A in copper's cube of four atoms and 3.61 A, since each atom has 12 neighbours, or a refusal.
# Seen: ASE counts every image: 24 pairs, and 36 within 4 A. cKDTree(boxsize=3.61) returns 6 for both, MDAnalysis' self_capped_distance 6 by
# its brute force, and 6 and 10 by its periodic tree: two methods of one function disagree. No message. Only MDAnalysis' grid refuses.
# What it means: 3 neighbours an atom in place of 12 in coordination numbers, pair distributions and graphs of small cells, as data sets of
# density-functional theory have them. Repeat the cell until every length exceeds twice the cutoff, or use a list that counts images.
. "$(dirname "$0")/debian.sh"
packages python3-mdanalysis=2.4.2+dfsg1-1+b1 python3-ase=3.22.1-3+deb12u1 python3-scipy=1.10.1-2
cat >pairs.py <<'PYTHON'
import numpy as np
from ase.build import bulk
from ase.neighborlist import neighbor_list
from MDAnalysis.lib.distances import self_capped_distance
from scipy.spatial import cKDTree

length = 3.61
for repeats in (1, 3):
    copper = bulk("Cu", a=length, cubic=True) * repeats
    places = copper.positions.astype(np.float32)
    box = np.array([repeats * length] * 3 + [90] * 3, np.float32)
    for cutoff in (3.0, 4.0):
        counts = {"ASE": len(neighbor_list("i", copper, cutoff)) // 2,
                  "cKDTree": len(cKDTree(copper.positions % box[0], boxsize=box[0]).query_pairs(cutoff))}
        for method in ("bruteforce", "pkdtree", "nsgrid"):
            try:
                counts["MDAnalysis " + method] = len(self_capped_distance(places, cutoff, box=box, method=method)[0])
            except ValueError:
                counts["MDAnalysis " + method] = "refused"
        print(f"{repeats}^3 cells, {cutoff} A:", ", ".join(f"{name} {count}" for name, count in counts.items()))
PYTHON
seen "1^3 cells, 3.0 A: ASE 24, cKDTree 6, MDAnalysis bruteforce 6, MDAnalysis pkdtree 6, MDAnalysis nsgrid refused
1^3 cells, 4.0 A: ASE 36, cKDTree 6, MDAnalysis bruteforce 6, MDAnalysis pkdtree 10, MDAnalysis nsgrid refused
3^3 cells, 3.0 A: ASE 648, cKDTree 648, MDAnalysis bruteforce 648, MDAnalysis pkdtree 648, MDAnalysis nsgrid 648
3^3 cells, 4.0 A: ASE 972, cKDTree 972, MDAnalysis bruteforce 972, MDAnalysis pkdtree 972, MDAnalysis nsgrid 972" "$(python pairs.py 2>/dev/null)"
