#!/usr/bin/env bash
# Gmsh 4.8.4 and meshio 5.0.0 (Debian's python3-meshio 7.0.0-3): a curve that belongs to two physical groups.
# Most would expect the number of line elements not to depend on the version of the file format, and a conversion of a mesh to keep groups.
# Seen: a square with a = {bottom, right} and b = {right, top} has three distinct boundary segments with a name. MSH 2.2 has four line
# elements: it repeats the shared one once for each group. MSH 4.1 has three. Read from 4.1, meshio's cell data name one group for the shared
# curve (the other stands in its cell sets), and a 2.2 file written from it has lost the curve from group b.
# What it means: lengths and boundary integrals over "all named lines" of a 2.2 file count a shared curve twice; convert with Gmsh itself.
. "$(dirname "$0")/debian.sh"
packages gmsh=4.8.4+ds2-3 python3-meshio=7.0.0-3
cat >square.geo <<'GEO'
Point(1) = {0, 0, 0, 1}; Point(2) = {1, 0, 0, 1}; Point(3) = {1, 1, 0, 1}; Point(4) = {0, 1, 0, 1};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};
Physical Curve("a") = {1, 2}; Physical Curve("b") = {2, 3}; Physical Surface("s") = {1};
GEO
for version in 22 41; do unpacked gmsh -v 0 -2 -format msh$version square.geo -o square$version.msh; done
cat >case.py <<'PY'
import contextlib, io, sys
import meshio

def lines(name):
    mesh = meshio.read(name)
    groups = {number[0]: group for group, number in mesh.field_data.items()}
    found = []
    for block, physical in zip(mesh.cells, mesh.cell_data["gmsh:physical"]):
        if block.type == "line":
            found += [groups[p] for p in physical]
    return sorted(found)

print("MSH 2.2:", lines("square22.msh"))
print("MSH 4.1:", lines("square41.msh"))
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    meshio.write("converted.msh", meshio.read("square41.msh"), file_format="gmsh22")
print("MSH 4.1 to 2.2:", lines("converted.msh"))
PY
seen "MSH 2.2: ['a', 'a', 'b', 'b']
MSH 4.1: ['a', 'a', 'b']
MSH 4.1 to 2.2: ['a', 'a', 'b']" "$(python case.py | sed '/^$/d')"
