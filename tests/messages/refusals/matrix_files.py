"""What the plugin submatrix says about matrices of other programs that cannot be read."""
# needs: submatrix
import struct

from table import Table

table = Table("matrix_files")
says = table.says
table.file("deck.yaml", """
run: {name: matrices, directory: out}
plugins: [submatrix]
stages:
  - density_matrix:
      matrices: {file: m.h5}
      electrons: 2
""")
KEY = "stages[0].density_matrix.matrices="


def refused(name, content, message, more="molecule: [1]"):
    table.file(name, content)
    says(message, KEY + f"{{hamiltonian: '{name}', {more}}}")


# ELSI
def elsi(numbers, starts=(1, 2), rows=(1, 2)):
    return struct.pack("<16q2q2i2d", 170915, 0, *numbers, *[-910910] * 10, *starts, *rows, 1.0, 1.0)


whole = elsi((0, 2, 2, 2))
refused("cut.elsi", whole[:150], f"cut.elsi: 150 bytes, but a matrix of ELSI with this head has {len(whole)}; the file is truncated")
refused("short.elsi", whole[:16], "short.elsi: 16 bytes, but a matrix of ELSI with this head has 128; the file is truncated")
refused("kind.elsi", elsi((2, 2, 2, 2)), "kind.elsi: the header of ELSI specifies data of kind 2; expected 0 (real) or 1 (complex)")
refused("rows.elsi", elsi((0, 0, 2, 2)), "rows.elsi: the header of ELSI specifies 0 rows and 2 elements; was the file changed?")
refused("start.elsi", elsi((0, 2, 2, 2), starts=(1, 9)),
        "start.elsi: column 2 begins at element 9, which does not follow the one before; was the file changed?")
refused("row.elsi", elsi((0, 2, 2, 2), rows=(3, 2)), "row.elsi: row 3 in column 1 of a matrix of 2 rows")

# DBCSR
HEAD = [" dbcsr_io:dbcsr_print Contents of matrix named KS\n", " dbcsr_io:dbcsr_print Flags S F F type 3 serial 7\n",
        " dbcsr_io:dbcsr_print         1 blocks         3 nzes,         3 data els         3 used\n", " dbcsr_io:dbcsr_print Full size    2x    2\n"]
ELEMENTS = ["a(   1,   1)= 0.5000000000000000E+00;\n", "a(   1,   2)= 0.1000000000000000E+00;\n", "a(   2,   2)= 0.7000000000000000E+00;\n"]


def dbcsr(name, message, head=(), elements=None):
    lines = [*HEAD[:-1], *head] if head else HEAD
    refused(name, "".join([*lines, *(elements or ELEMENTS)]), message)


dbcsr("less.dbcsr", "less.dbcsr: 3 elements announced by the heads of DBCSR, 2 found; the file is truncated", elements=ELEMENTS[:2])
dbcsr("line.dbcsr", "line.dbcsr:7: expected an element as DBCSR writes it, 'a(1,2)=0.5;', found 'a(   2,'; was the file truncated?",
      elements=ELEMENTS[:2] + ["a(   2,"])
dbcsr("stars.dbcsr", "stars.dbcsr:5: 'a(****,   1)= 1.0;': DBCSR prints rows up to 9,999 (999 of complex matrices) in this form; write the matrix as CSR (in "
      "CP2K: KS_CSR_WRITE) or as Matrix Market", elements=["a(****,   1)= 1.0;\n"])
dbcsr("sum.dbcsr", "sum.dbcsr:5: the blocks are printed with four decimals; print the matrix with matlab_format=.TRUE., which has sixteen digits",
      elements=[" Checksum for (     1,     1) at       1 size      2     2=      4 checksum=   0.100E+00\n"])
dbcsr("size.dbcsr", "size.dbcsr:4: expected two sizes, found 'Full size *****x*****'; DBCSR prints up to 99,999 rows",
      head=[" dbcsr_io:dbcsr_print Full size *****x*****\n"])
dbcsr("oblong.dbcsr", "oblong.dbcsr:4: 2 rows and 3 columns; the matrix must be square", head=[" dbcsr_io:dbcsr_print Full size    2x    3\n"])
dbcsr("beyond.dbcsr", "beyond.dbcsr: an element in row or column 2 of a matrix of 1 rows", head=[" dbcsr_io:dbcsr_print Full size    1x    1\n"])
table.file("anti.dbcsr", "".join(HEAD + ELEMENTS).replace("Flags S", "Flags A"))
says("anti.dbcsr:2: the matrix is antisymmetric (DBCSR's flag A or K); the submatrix method needs a symmetric matrix",
     KEY + "{hamiltonian: anti.dbcsr, molecule: [1]}")

# SciPy in HDF5
CSR = {"data": [1.0, 1.0], "indices": [0, 1], "indptr": [0, 1, 2]}
refused("no.h5", {"data": [1.0]}, "no.h5 has no data set 'indices'; a CSR matrix of SciPy has data, indices and indptr, in the file or in a group that the "
        "name specifies (file.h5:/group)")
refused("lengths.h5", {**CSR, "indices": [0]}, "lengths.h5: indptr has 3 entries, indices 1, data 2; they are no CSR matrix")
refused("shape.h5", {**CSR, "shape": [2, 3]}, "shape.h5: shape has 2 values that begin with 2, but indptr has 2 rows; the matrix must be square")
refused("end.h5", {**CSR, "indptr": [0, 1, 1]}, "end.h5: indptr goes from 0 to 1, but there are 2 elements; was the file truncated?")
refused("falls.h5", {"data": [1.0] * 3, "indices": [0, 1, 2], "indptr": [0, 2, 1, 3]},
        "falls.h5: indptr goes from 2 to 1 in row 1; it must not decrease, nor exceed the data")
refused("columns.h5", {**CSR, "indices": [0, 7]}, "columns.h5: row 1 has column 7, expected 0 to 1")
table.file("real.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1.0\n2 2 1.0\n")
says("real.mtx is no HDF5 file and has no group '/K'; leave ':/K' out", KEY + "{hamiltonian: 'real.mtx:/K', molecule: [1]}")

# Complex matrices
COMPLEX = "%%MatrixMarket matrix coordinate complex general\n2 2 4\n1 1 1 0\n2 2 1 0\n1 2 0.1 0.2\n2 1 0.1 "
refused("broken.mtx", COMPLEX + "0.2\n", "broken.mtx: not Hermitian: an imaginary part of 0.2 at row 1, column 2, but 0.2 at the mirrored position, where it must "
        "be the negative")
refused("down.mtx", COMPLEX + "-0.2\n", "hamiltonian_down is for real matrices; give complex ones of two spins one after the other, in two stages",
        "hamiltonian_down: down.mtx, molecule: [1]")
says("prediction is for real matrices of one cell; leave it out, or take a supercell instead of k_points", KEY + "{hamiltonian: down.mtx, molecule: [1]}",
     "stages[0].density_matrix.prediction={model: none.h5}")

# Blocks
table.file("few.txt", "1\n")
says("real.mtx has 2 rows, but the 1 atoms of few.txt have 1 functions; give the functions of every atom, in the order of the rows",
     KEY + "{hamiltonian: real.mtx, atom_sizes: few.txt}")
table.file("none.txt", "1 0\n")
says("none.txt:1: an atom of 0 functions; give 1 or more for each", KEY + "{hamiltonian: real.mtx, atom_sizes: none.txt}")

# k-points
cell = {"/": (None, {"n_electrons": 2.0}), "block_sizes_atom": [1, 1], "molecule_of_atom": [0, 1], "R": [[0, 0, 0]]}
for name in "KS":
    for key, value in CSR.items():
        cell[f"R_00/{name}/{key}"] = value
table.file("cell.h5", cell)
says("k_points: the weight 0.75 of the point (0 0 0) does not go with 0.125 of others; all points of a grid must count the same: give a grid, or a list that has "
     "a point and its negative once with twice the weight of one that is its own negative",
     KEY + "{file: cell.h5, k_points: {list: [[0, 0, 0, 3], [0.3, 0, 0, 1]]}}")
table.file("down.h5", {**cell, **{f"R_00/K_down/{key}": value for key, value in CSR.items()}})
says("k_points are for matrices without spin; leave out K_down, or take a supercell", KEY + "{file: down.h5, k_points: {grid: [2, 1, 1]}}")
table.file("spectra.yaml", """
run: {name: spectra, directory: spectra}
plugins: [submatrix]
stages:
  - local_spectra:
      sets: [{name: train, matrices: {file: cell.h5, k_points: {grid: [2, 1, 1]}}}]
""")
says("local_spectra is for real matrices of one cell; leave out k_points, or take a supercell", deck="spectra.yaml", command="run")

table.run()
