#!/usr/bin/env bash
# ASE 3.22.1 and pymatgen 2022.11.7: the scaling line of POSCAR.
# VASP's manual: a negative number is the volume of the cell, from which the factor of lattice and Cartesian positions follows; three numbers
# scale x, y and z. Most would expect two readers of the most used format of the field to agree on an atom at (0.5, 0.5, 0.5) of a unit cube
# with scaling -64: a cube of 64 A^3 and the atom at (2, 2, 2) A.
# Seen: ASE takes the number as a plain factor (volume 64^3, atom at -32 A). pymatgen has the right volume and the atom at -32 A.
# Of three numbers ASE takes the first for all axes (volume 8 in place of 24), without a word.
# What it means: convert POSCAR files with such a line only after writing a scaling of 1.
. "$(dirname "$0")/debian.sh"
packages python3-ase=3.22.1-3+deb12u1 python3-pymatgen=2022.11.7+dfsg1-11+deb12u2
cat >case.py <<'PY'
import io
import ase, ase.io
from pymatgen.core import Structure

def poscar(scaling):
    return f"title\n{scaling}\n1 0 0\n0 1 0\n0 0 1\nNa Cl\n1 1\nCartesian\n0 0 0\n0.5 0.5 0.5\n"

def by_ase(scaling):
    atoms = ase.io.read(io.StringIO(poscar(scaling)), format="vasp")
    return f"volume {atoms.get_volume():.0f}, atom at {atoms.positions[1].round(3).tolist()}"

def by_pymatgen(scaling):
    crystal = Structure.from_str(poscar(scaling), "poscar")
    return f"volume {crystal.volume:.0f}, atom at {crystal.cart_coords[1].round(3).tolist()}"

print("scaling -64, ASE:", by_ase("-64"))
print("scaling -64, pymatgen:", by_pymatgen("-64"))
print("scaling 2 3 4, ASE:", by_ase("2 3 4"))
PY
seen "scaling -64, ASE: volume 262144, atom at [-32.0, -32.0, -32.0]
scaling -64, pymatgen: volume 64, atom at [-32.0, -32.0, -32.0]
scaling 2 3 4, ASE: volume 8, atom at [1.0, 1.0, 1.0]" "$(python case.py)"
