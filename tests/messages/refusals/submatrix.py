"""What the plugin submatrix says about decks and matrices that cannot work."""
from table import Table

DECK = """
run: {name: matrices, directory: out}
plugins: [submatrix]
stages:
  - density_matrix:
      matrices: {file: m.h5}
      eps: 1e-5
"""
SILICON = """
run: {name: silicon, directory: silicon}
plugins: [submatrix, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: diamond, a: 5.431, cells: [1, 1, 1], species: [Si]}}
      potential: {type: tight_binding, parameters: bowler}
      steps: 1
"""
S, M = "stages[0].density_matrix.", "stages[0].density_matrix.matrices."
K = {"data": [-0.5, 0.1, 0.1, 0.3], "indices": [0, 1, 0, 1], "indptr": [0, 2, 4]}


def cell(electrons=2.0, columns=(0, 1, 0, 1)):
    """Two atoms of one function in two molecules, in Cambium's HDF5 layout."""
    import numpy

    out = {"/": (None, {"n_basis": numpy.int32(2), **({"n_electrons": electrons} if electrons else {})}),
           "block_sizes_atom": numpy.array([1, 1], "i4"), "molecule_of_atom": numpy.array([0, 1], "i4")}
    for name, data in (("K", K["data"]), ("S", [1.0, 0.1, 0.1, 1.0])):
        out[name + "/data"] = data
        out[name + "/indices"] = numpy.array(columns, "i4")
        out[name + "/indptr"] = numpy.array(K["indptr"], "i4")
    return out


table = Table("submatrix", DECK)
says = table.says
table.file("silicon.yaml", SILICON)
table.file("m.h5", cell())
table.file("neutral.h5", cell(electrons=None))
table.file("columns.h5", cell(columns=(0, 2, 0, 1)))

# Keys
says("output has 'forces'; known: density, energy_density, charges, sizes", S + "output=[forces]")
says("solver diagonalise works in float64; leave 'precision' out", S + "solver=diagonalise", S + "precision=float32")
says("form local solves generalised eigenproblems; add solver: diagonalise", S + "form=local")
says("form local has no S^-1/2; leave 'eps_overlap' out", S + "form=local", S + "solver=diagonalise", S + "eps_overlap=1e-4")
says("precision bfloat16 is for the solvers newton_schulz and pade", S + "precision=bfloat16")
says("newton_schulz and pade give the sign function at one mu: add mu, leave out temperature, or choose solver lanczos or diagonalise",
     S + "solver=pade", command="run")
says("neither mu nor electrons is given, and the matrix file does not know the number of electrons; add one of the two",
     M + "file=neutral.h5")
says("give either file (HDF5) or hamiltonian (and overlap)", M + "hamiltonian=h.mtx")
says("hamiltonian needs molecule: the functions of each atom of one molecule, for example [4, 1, 1]", S + "matrices={hamiltonian: h.mtx}")
says("supercells need lattice-resolved matrices (file); the files of hamiltonian and overlap are of one cell",
     S + "matrices={hamiltonian: h.mtx, molecule: [1], supercell: [2, 1, 1]}")
says("supercell needs three whole numbers, for example [2, 2, 2]", M + "supercell=[2, 2]")
says("supercell has 0; copies are counted from 1", M + "supercell=[2, 2, 0]")

# Groups
says("groups.size is for by: space and by: graph; add one of them, or leave 'size' out", S + "groups={by: auto, size: 4}")
says("groups by space need the positions of the atoms (coordinates_angstrom and cell_angstrom in the HDF5 file), and there are none; choose by: graph, "
     "which needs the matrices only", S + "groups={by: space}", command="run")
table.file("places.h5", {**cell(), "coordinates_angstrom": [0.0, 0.0, 0.0], "cell_angstrom": [9.0, 0, 0, 0, 9.0, 0, 0, 0, 9.0]})
says("places.h5: coordinates_angstrom has 3 numbers and cell_angstrom 9; 2 atoms need 6 and 9", M + "file=places.h5")

# Spin
says("hamiltonian_down goes with hamiltonian; in an HDF5 file the groups K_down hold spin down", M + "hamiltonian_down=h.mtx")
says("mu says how many electrons each spin has; leave 'magnetisation' out", S + "mu=0.1", S + "magnetisation=1")
says("magnetisation is for two spin channels: a file with K_down, or hamiltonian_down; leave it out, or add one of them", S + "magnetisation=1")
table.file("spin.h5", {**cell(), **{"K_down/" + name: value for name, value in (("data", K["data"]), ("indices", [0, 1, 0, 1]), ("indptr", K["indptr"]))}})
says("magnetisation is 3, but there are 2 electrons; it is the number of electrons of spin up less that of spin down", M + "file=spin.h5",
     S + "magnetisation=3", command="run")

# Files
says("columns.h5: /K has column 2, expected 0 to 1", M + "file=columns.h5")
HEAD = "%%MatrixMarket matrix coordinate real symmetric\n"
for name, text, message in (
    ("array.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n",
     "array.mtx:1: expected '%%MatrixMarket matrix coordinate real symmetric' (or general)"),
    ("sizes.mtx", HEAD + "2 2\n", "sizes.mtx:2: expected the numbers of rows, columns and elements"),
    ("oblong.mtx", HEAD + "2 3 1\n1 1 1.0\n", "oblong.mtx:2: 2 rows and 3 columns; the matrix must be square"),
    ("outside.mtx", HEAD + "2 2 2\n1 1 1.0\n3 3 1.0\n", "outside.mtx: row or column 3 of a matrix of 2 rows"),
):
    table.file(name, text)
    says(message, S + f"matrices={{hamiltonian: {name}, molecule: [1]}}")
table.file("two.mtx", HEAD + "2 2 2\n1 1 1.0\n2 2 1.0\n")
table.file("one.mtx", HEAD + "1 1 1\n1 1 1.0\n")
says("two.mtx has 2 rows, one.mtx has 1; they must be of the same basis", S + "matrices={hamiltonian: two.mtx, overlap: one.mtx, molecule: [1]}")
says("two.mtx has 2 rows, one.mtx has 1; they must be of the same basis", S + "matrices={hamiltonian: two.mtx, hamiltonian_down: one.mtx, molecule: [1]}")

# Tight binding
table.file("two.xyz", '2\nLattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3\nSi 0 0 0\nC 2 0 0\n')
P = "stages[0].simulate."
says("tight_binding is for one element, C or Si; the structure has 2 species", P + "structure={file: two.xyz}",
     deck="silicon.yaml", command="run")
says("eps and reach are two ways to choose submatrices; leave one of them out", P + "potential.eps=1e-5", P + "potential.reach=8 angstrom",
     deck="silicon.yaml")
says("one dense problem of 18432 functions is too large; give a reach (for example 8 angstrom), so that submatrices are taken",
     P + "structure.lattice.cells=[8, 8, 9]", deck="silicon.yaml", command="run")

table.run()
