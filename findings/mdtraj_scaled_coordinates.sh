#!/usr/bin/env bash
# MDTraj 1.9.7 (Debian 1.9.7-6), load_lammpstrj: dumps of LAMMPS with scaled coordinates (columns xs ys zs, the default of `dump atom`).
# Most would expect positions, as from columns x y z, or a refusal.
# Seen: the fractions of the box are taken for angstrom: an atom at x = 5 angstrom in a box of 10 stands at 0.05 nm instead of 0.5, with the right
# box beside it and without a message.
# What it means: distances are too small by the length of the box. Write `dump custom ... id type x y z`, or multiply by the box.
. "$(dirname "$0")/debian.sh"
packages python3-mdtraj=1.9.7-6
cat >read.py <<'PYTHON'
import mdtraj

topology = mdtraj.Topology()
residue = topology.add_residue("A", topology.add_chain())
for _ in range(2):
    topology.add_atom("A", mdtraj.element.carbon, residue)
for columns, scale in (("x y z", 1), ("xs ys zs", 10)):
    rows = "".join(f"{atom} 1 {x / scale} {x / scale} {x / scale}\n" for atom, x in ((1, 1.0), (2, 5.0)))
    with open("dump.lammpstrj", "w") as file:
        file.write(f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 10\n0 10\n0 10\nITEM: ATOMS id type {columns}\n{rows}")
    read = mdtraj.load("dump.lammpstrj", top=topology)
    print(f"{columns}: atoms at x = {read.xyz[0, 0, 0]:.2f} and {read.xyz[0, 1, 0]:.2f} nm in a box of {read.unitcell_lengths[0, 0]:.2f} nm")
PYTHON
seen "x y z: atoms at x = 0.10 and 0.50 nm in a box of 1.00 nm
xs ys zs: atoms at x = 0.01 and 0.05 nm in a box of 1.00 nm" "$(python read.py)"
