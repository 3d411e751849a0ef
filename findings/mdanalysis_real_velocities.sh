#!/usr/bin/env bash
# MDAnalysis 2.4.2: velocities of a LAMMPS data file in units real (A/fs), its default for LAMMPS.
# MDAnalysis holds velocities in A/ps. Most would expect 0.001 A/fs to be 1 A/ps.
# Seen: 0.000001. The table of speeds has the factor of A/fs upside down, so converted velocities are a million times too small and kinetic
# energies 1e12 times.
# What it means: take velocities of LAMMPS files with convert_units=False and convert them by hand.
. "$(dirname "$0")/debian.sh"
packages python3-mdanalysis=2.4.2+dfsg1-1+b1
cat >case.py <<'PY'
import MDAnalysis
from MDAnalysis import units

open("argon.data", "w").write("""LAMMPS data file

1 atoms
1 atom types

0 10 xlo xhi
0 10 ylo yhi
0 10 zlo zhi

Masses

1 39.948

Atoms # atomic

1 1 1 1 1

Velocities

1 0.001 0 0
""")
box = MDAnalysis.Universe("argon.data", atom_style="id type x y z")
print(f"velocity {box.trajectory.ts.velocities[0, 0]:.6f} A/ps")
print(f"1 A/fs is {units.convert(1.0, 'Angstrom/femtosecond', 'Angstrom/picosecond'):g} A/ps")
PY
seen "velocity 0.000001 A/ps
1 A/fs is 0.001 A/ps" "$(python case.py)"
