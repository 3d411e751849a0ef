#!/usr/bin/env bash
# ASE 3.22.1: texts of Atoms.info through an extended XYZ file and back.
# Most would expect a string that was written to be read as the same string.
# Seen: the writer does not mark strings, and the reader guesses: the label "007" comes back as the number 7, "T" as True, "1 2 3" as an array,
# "1_000" as 1000 (Python's own digit grouping). No message.
# What it means: prefix identifiers of structures with a letter.
. "$(dirname "$0")/debian.sh"
packages python3-ase=3.22.1-3+deb12u1
cat >case.py <<'PY'
import io
import ase, ase.io

texts = {"label": "007", "class": "T", "route": "1 2 3", "id": "1_000", "name": "a=b"}
atoms = ase.Atoms("Ar", cell=[5, 5, 5], pbc=True)
atoms.info.update(texts)
file = io.StringIO()
ase.io.write(file, atoms, format="extxyz")
read = ase.io.read(io.StringIO(file.getvalue()), format="extxyz")
for key, text in texts.items():
    print(f"{text!r} comes back as {read.info[key]!r}")
PY
seen "'007' comes back as 7
'T' comes back as True
'1 2 3' comes back as array([1, 2, 3])
'1_000' comes back as 1000
'a=b' comes back as 'a=b'" "$(python case.py)"
