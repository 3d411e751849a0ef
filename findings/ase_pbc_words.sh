#!/usr/bin/env bash
# ASE 3.22.1: periodicity in the comment line of extended XYZ.
# Most would expect "t t f" or "true true false" to mean what "T T F" means, or to be refused.
# Seen: any other word than T, F, True, False, 1, 0 (in JSON lists, too) is a non-empty string, which is true: a slab becomes periodic in all
# directions, "f f f" makes a molecule a crystal, and nothing is printed. "True True False" in quotation marks is true three times, too.
# What it means: write T and F, and look at atoms.pbc after reading files of other programs.
. "$(dirname "$0")/debian.sh"
packages python3-ase=3.22.1-3+deb12u1
cat >case.py <<'PY'
import io
import ase.io

for words in ('"T T F"', '"1 1 0"', '"t t f"', '"true true false"', '"True True False"', "[true, true, false]", '"f f f"'):
    comment = f'Lattice="5 0 0 0 5 0 0 0 20" Properties=species:S:1:pos:R:3 pbc={words}'
    atoms = ase.io.read(io.StringIO(f"1\n{comment}\nAr 0 0 0\n"), format="extxyz")
    print(f"pbc={words}:", *("T" if p else "F" for p in atoms.pbc))
PY
seen 'pbc="T T F": T T F
pbc="1 1 0": T T F
pbc="t t f": T T T
pbc="true true false": T T T
pbc="True True False": T T T
pbc=[true, true, false]: T T T
pbc="f f f": T T T' "$(python case.py)"
