#!/usr/bin/env bash
# ASE 3.22.1: columns of extended XYZ that say the same thing by two names, or by a name of another program.
# Most would expect a file whose columns species and Z contradict each other to be refused, and the column "velo", in which QUIP and
# libAtoms keep velocities, or GPUMD's "vel", to become velocities.
# Seen: Z wins without a word (argon becomes sodium). Velocities under both names are kept as arrays that nothing uses: the temperature is 0.
# Of the usual names only "momenta" moves the atoms.
# What it means: atoms.get_temperature() == 0 after reading a file of molecular dynamics is a renamed column, not a quench.
. "$(dirname "$0")/debian.sh"
packages python3-ase=3.22.1-3+deb12u1
cat >case.py <<'PY'
import io
import ase.io

def read(columns, row):
    comment = f'Lattice="9 0 0 0 9 0 0 0 9" Properties={columns}'
    return ase.io.read(io.StringIO(f"1\n{comment}\n{row}\n"), format="extxyz")

print("species Ar, Z 11:", read("species:S:1:pos:R:3:Z:I:1", "Ar 0 0 0 11").get_chemical_formula())
for name in ("velo", "vel", "velocities", "momenta"):
    atoms = read(f"species:S:1:pos:R:3:{name}:R:3", "Ar 0 0 0 1 0 0")
    print(f"{name}: moves {bool(atoms.get_temperature() > 0)}, arrays {sorted(atoms.arrays)}")
PY
seen "species Ar, Z 11: Na
velo: moves False, arrays ['numbers', 'positions', 'velo']
vel: moves False, arrays ['numbers', 'positions', 'vel']
velocities: moves False, arrays ['numbers', 'positions', 'velocities']
momenta: moves True, arrays ['momenta', 'numbers', 'positions']" "$(python case.py)"
