#!/usr/bin/env bash
# ASE 3.22.1 and MDAnalysis 2.4.2: a PDB file of a protein whose lines end before the element (columns 77 and 78), as many programs of molecular
# dynamics write them.
# The format puts the element's symbol into columns 13 and 14, to the right: " CA " is an alpha carbon, "CA  " calcium.
# Most would expect the alpha carbon to be carbon by that rule.
# Seen: ASE takes the first two letters of the name wherever they stand, if they are a symbol: alpha carbons become calcium, delta
# carbons cadmium, epsilon nitrogens neon, gamma hydrogens mercury. No message. MDAnalysis reads C, C, N and H.
# What it means: masses, charges and energies of another substance, and atomic numbers that a learned potential of everything will take.
. "$(dirname "$0")/debian.sh"
packages python3-mdanalysis=2.4.2+dfsg1-1+b1 python3-ase=3.22.1-3+deb12u1
cat >names.py <<'PYTHON'
import ase.io
import MDAnalysis

rows = ((" CA ", "ALA", "C"), (" CD ", "GLU", "C"), (" NE ", "ARG", "N"), (" HG ", "CYS", "H"))
for element in (False, True):
    with open("protein.pdb", "w") as file:
        for k, (name, residue, symbol) in enumerate(rows):
            line = f"ATOM  {k + 1:5d} {name} {residue} A{k + 1:4d}    {4.0 * k:8.3f}{0:8.3f}{0:8.3f}  1.00  0.00"
            file.write((f"{line}          {symbol:>2}" if element else line) + "\n")
        file.write("END\n")
    atoms = ase.io.read("protein.pdb")
    print("with the element:" if element else "without:", "ASE", " ".join(atoms.symbols), f"({atoms.get_masses().sum():.0f} g/mol),",
          "MDAnalysis", " ".join(MDAnalysis.Universe("protein.pdb").atoms.types))
PYTHON
seen "without: ASE Ca Cd Ne Hg (373 g/mol), MDAnalysis C C N H
with the element: ASE C C N H (39 g/mol), MDAnalysis C C N H" "$(python names.py 2>/dev/null)"
