"""What the plugin submatrix says about decks and matrices that cannot work."""
# needs: submatrix md deepmd
import os

from table import Table

DECK = """
run: {name: matrices, directory: out}
plugins: [submatrix]
stages:
  - density_matrix:
      matrices: {file: m.h5}
      eps_filter: 1e-5
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
table.file("s.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 -0.5\n2 1 0.1\n2 2 0.3\n")
table.file("m.h5", cell())
table.file("neutral.h5", cell(electrons=None))
table.file("columns.h5", cell(columns=(0, 2, 0, 1)))

# Keys
says("output has 'forces'; known: density, energy_density, charges, sizes", S + "output=[forces]")
says("solver diagonalise works in float64; leave 'precision' out", S + "solver=diagonalise", S + "precision=float32")
says("form local solves generalised eigenproblems; add solver: diagonalise", S + "form=local")
says("form local has no S^-1/2; leave 'eps_filter_overlap' out", S + "form=local", S + "solver=diagonalise", S + "eps_filter_overlap=1e-4")
says("precision bfloat16 is for the solvers newton_schulz and pade", S + "precision=bfloat16")
says("newton_schulz and pade give the sign function at one mu: add mu, leave out temperature, or choose solver lanczos or diagonalise",
     S + "solver=pade", command="run")
PURIFICATION = S + "method=purification"
says("polynomial and threshold go with method: purification; add it, or leave them out", S + "polynomial=trs4")
says("purification is for zero temperature; leave 'temperature' out, or write method: submatrix", PURIFICATION, S + "temperature=300")
says("purification finds mu by the number of electrons; leave 'mu' out, or write method: submatrix", PURIFICATION, S + "mu=0.1")
says("purification multiplies the full matrix; leave form, groups, prediction, krylov_tolerance and the solvers newton_schulz and pade out, "
     "or write method: submatrix", PURIFICATION, S + "solver=pade")
says("electrons is 3: purification fills states with two electrons each; give an even number, or write method: submatrix with a temperature",
     PURIFICATION, S + "electrons=3")
says("ring makes its own matrices; leave the other keys of matrices out", M + "ring={atoms: 40}")
says("ring.atoms is 42; the gap lies at the edge of the zone: give a multiple of four", M + "file=\"\"", M + "ring={atoms: 42}")
says("ring.gap is 2 hartree, too wide for bands of hopping 0.3 hartree; give a smaller gap or a larger hopping", M + "file=\"\"", M + "ring={gap: 2}")
says("ring.atoms is 40, but couplings of range 1 reach 27 atoms to either side; give more atoms or a smaller range", M + "file=\"\"", M + "ring={atoms: 40}")
says("neither mu nor electrons is given, and the matrix file does not contain the number of electrons; add one of the two",
     M + "file=neutral.h5")
says("give either file (HDF5) or hamiltonian (and overlap), or tight_binding or ring", M + "hamiltonian=h.mtx")
says("hamiltonian needs molecule, the functions of each atom of one molecule, for example [4, 1, 1], or atom_sizes, a file with those of every atom",
     S + "matrices={hamiltonian: h.mtx}")
says("atom_sizes goes with hamiltonian; a file in Cambium's HDF5 layout has block_sizes_atom", M + "atom_sizes=sizes.txt")
says("blocks: metis is for matrices by hamiltonian and overlap; a file in Cambium's HDF5 layout has atoms and molecules", M + "blocks=metis")
says("k_points need lattice-resolved matrices (file); a complex hamiltonian is already at one k-point",
     S + "matrices={hamiltonian: h.mtx, molecule: [1], k_points: {grid: [2, 2, 2]}}")
says("give k_points of the cell or a supercell, which is a grid of as many points; leave one of them out",
     M + "k_points={grid: [2, 2, 2]}", M + "supercell=[2, 1, 1]")
says("supercells need lattice-resolved matrices (file); the files of hamiltonian and overlap are of one cell",
     S + "matrices={hamiltonian: h.mtx, molecule: [1], supercell: [2, 1, 1]}")
says("supercell needs three whole numbers, for example [2, 2, 2]", M + "supercell=[2, 2]")
says("supercell has 0; copies are counted from 1", M + "supercell=[2, 2, 0]")

# Groups
says("groups.size is for by: space and by: graph; add one of them, or leave 'size' out", S + "groups={by: auto, size: 4}")
says("groups by space need the positions of the atoms (coordinates_angstrom and cell_angstrom in the HDF5 file), and there are none; choose by: graph, "
     "which needs the matrices only", S + "groups={by: space}", command="run")
table.file("places.h5", {**cell(), "coordinates_angstrom": [0.0, 0.0, 0.0], "cell_angstrom": [9.0, 0, 0, 0, 9.0, 0, 0, 0, 9.0]})
says("places.h5: coordinates_angstrom has 3 values and cell_angstrom 9; 2 atoms need 6 and 9", M + "file=places.h5")

# Spin
says("hamiltonian_down goes with hamiltonian; in an HDF5 file the groups K_down hold spin down", M + "hamiltonian_down=h.mtx")
says("mu determines the electrons of each spin; leave 'magnetisation' out", S + "mu=0.1", S + "magnetisation=1")
says("magnetisation is for two spin channels: a file with K_down, or hamiltonian_down; leave it out, or add one of them", S + "magnetisation=1")
table.file("spin.h5", {**cell(), **{"K_down/" + name: value for name, value in (("data", K["data"]), ("indices", [0, 1, 0, 1]), ("indptr", K["indptr"]))}})
says("magnetisation is 3, but there are 2 electrons; it is the number of electrons of spin up less that of spin down", M + "file=spin.h5",
     S + "magnetisation=3", command="run")
says("magnetisation is 1 with 2 electrons: 1.5 of spin up and 0.5 of spin down; without temperature both must be whole numbers", M + "file=spin.h5",
     S + "magnetisation=1", command="run")
says("magnetisation is 2 with 3 electrons: 2.5 of one spin, but 2 functions hold one each; choose a smaller magnetisation", M + "file=spin.h5",
     S + "electrons=3", S + "magnetisation=2", command="run")

# Electrons
says("electrons is 2.5: without temperature it must be a whole number; correct it, or add a temperature (temperature: 1000 K)", S + "electrons=2.5", command="run")
says("electrons is 5, but 2 functions hold at most 4; give the number of electrons of these matrices, without those of the cores", S + "electrons=5", command="run")

# Files
says("columns.h5: /K has column 2, expected 0 to 1", M + "file=columns.h5")
HEAD = "%%MatrixMarket matrix coordinate real symmetric\n"
for name, text, message in (
    ("array.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n",  # read: what is missing is another key
     "stages[0].density_matrix: neither mu nor electrons is given, and the matrix file does not contain the number of electrons; add one of the two"),
    ("sizes.mtx", HEAD + "2 2\n", "sizes.mtx:2: expected the numbers of rows, columns and elements"),
    ("oblong.mtx", HEAD + "2 3 1\n1 1 1.0\n", "oblong.mtx:2: 2 rows and 3 columns; the matrix must be square"),
    ("outside.mtx", HEAD + "2 2 2\n1 1 1.0\n3 3 1.0\n", "outside.mtx:4: row 3, column 3 of a matrix of 2 rows"),
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
says("eps and localisation_radius are two ways to choose submatrices; leave one of them out", P + "potential.eps=1e-5", P + "potential.reach=8 angstrom",
     deck="silicon.yaml")
says("one dense problem of 18432 functions is too large; give a reach (for example 8 angstrom), so that submatrices are taken",
     P + "structure.lattice.cells=[8, 8, 9]", deck="silicon.yaml", command="run")

# The built-in Hamiltonian as matrices
LATTICE = "{type: diamond, a: 3.556, cells: [2, 2, 2], species: [C], displacement: 0.05}"
LEVELS = f"""
run: {{name: levels, directory: out_levels}}
plugins: [submatrix]
stages:
  - local_spectra:
      sets:
        - {{name: train, frames: 2, matrices: {{tight_binding: {{lattice: {LATTICE}}}}}}}
        - {{name: held_out, matrices: {{tight_binding: {{lattice: {LATTICE}}}}}}}
  - train:
      network: {{type: local_levels, layers: [4]}}
      dataset: {{type: local_spectra, files: ["{{run}}/local_spectra/train.h5"]}}
      validation: {{type: local_spectra, files: ["{{run}}/local_spectra/held_out.h5"]}}
      batch: 1
      steps: 2
      learning_rate: {{type: constant, start: 1e-3}}
      validate: {{every: 1}}
"""
CARBON = f"""
run: {{name: carbon, directory: carbon}}
plugins: [submatrix]
stages:
  - density_matrix:
      matrices: {{tight_binding: {{lattice: {LATTICE}, localisation_radius: 3 angstrom}}}}
"""
table.file("levels.yaml", LEVELS)
table.file("carbon.yaml", CARBON)
L, G = "stages[0].local_spectra.", M + "tight_binding."
ONE = L + "sets=[{name: train, matrices: {file: %s}}]"
carbon, levels = {"deck": "carbon.yaml"}, {"deck": "levels.yaml"}
says("tight_binding makes its own matrices; leave the other keys of matrices out (lattice.cells is the supercell)", M + "supercell=[2, 2, 2]", **carbon)
says("tight_binding has no overlap and takes its submatrices by matrices.tight_binding.localisation_radius; leave eps_filter, eps_filter_overlap, overlap_threshold, form, groups and precision out", S + "eps=1e-4", **carbon)
says("tight_binding is for the solvers lanczos and diagonalise, which saturate the bonds that a submatrix cuts", S + "solver=pade", **carbon)
says("tight_binding is for one element, C or Si; the structure has 2 species", G + "lattice.species=[C, C, C, C, Si, Si, Si, Si]", **carbon)
says("the crystal's cell is 3.56 Å between two of its faces; tight_binding needs twice its cut-off of 2.6 Å: more lattice.cells", G + "lattice.cells=[1, 2, 2]", **carbon)

# Learning of mu
table.begins("run.directory=trained", deck="levels.yaml")
PREDICTION = S + "prediction={model: trained/train/model.h5}"
says("mu is given, so there is nothing to predict; leave out mu or prediction", PREDICTION, S + "mu=0.1", **carbon)
says("prediction evaluates single block columns of an orthogonal Hamiltonian; leave form and groups out", PREDICTION, S + "groups={by: graph}")
says("prediction is for matrices without spin; leave it out, or leave out K_down and hamiltonian_down", PREDICTION, M + "file=spin.h5")
says("prediction: 'trained/train/model.h5' was trained on blocks of 4 functions, these have 1", PREDICTION, command="run")
table.begins("run.directory=unheld", "stages[1].train.validation=", deck="levels.yaml")
says("prediction: 'unheld/train/model.h5' was trained without held-out samples, so its error is unknown; give the train stage 'validation' or 'hold_out'",
     PREDICTION.replace("trained", "unheld"), deck="carbon.yaml", command="run")
table.file("mlp.yaml", """
run: {name: mlp, directory: mlp}
stages:
  - train:
      network: {type: mlp, layers: [2]}
      dataset: {type: expression, samples: 4, box: {x: [0, 1]}, target: {y: x}}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
""")
table.begins(deck="mlp.yaml")
says("prediction: 'mlp/train/model.h5' holds a network of type 'mlp', not local_levels", PREDICTION.replace("trained", "mlp"), deck="carbon.yaml", command="run")

ONLY = "stages[1].train.validation="  # a set alone holds none out
says("sets is empty; it needs one for training and one to hold out", L + "sets=[]", **levels)
says("name is 'a/b'; it is the name of a file without folder", L + "sets[0].name=a/b", **levels)
says("matrices of a file are one Hamiltonian; leave 'frames' out", L + "sets[0].matrices={file: m.h5}", **levels)
says("window needs two energies, the lower one first", L + "window=[1, -1]", **levels)
says("layers: a width of 0 is none; widths are 1 or more", "stages[1].train.network.layers=[0]", **levels)
says("local_spectra is for matrices without spin; leave out K_down and hamiltonian_down", ONE % "spin.h5", ONLY, deck="levels.yaml", command="run")
says("one dense problem of 17408 functions is too large; give a reach (for example 8 angstrom), so that submatrices are taken",
     M + "tight_binding={lattice: {type: diamond, a: 3.556, cells: [2, 2, 136], species: [C]}}", **carbon)
WATER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "inputs", "submatrix", "h2o32.h5")
says("local_spectra diagonalises all 17280 functions at once, which is for up to 16384; train on a smaller supercell",
     ONE % f'"{WATER}", supercell: [1, 1, 90]', ONLY, deck="levels.yaml", command="run")
uneven = cell()
uneven["block_sizes_atom"] = uneven["block_sizes_atom"][:1] * 2
uneven["molecule_of_atom"] = uneven["molecule_of_atom"][:1]
table.file("one_block.h5", uneven)
says("local_spectra needs an even number of electrons, and empty states; found 0 electrons in 2 functions", ONE % "neutral.h5", ONLY, deck="levels.yaml", command="run")
says("set train has blocks of 1 and of 2 functions; one model is for blocks of one size",
     L + "sets=[{name: train, matrices: {file: m.h5}}, {name: train, matrices: {file: one_block.h5}}]", ONLY, deck="levels.yaml", command="run")
table.file("flat.h5", {**cell(), "S/data": [1.0, 1.0, 1.0, 1.0]})
says(("the overlap is not positive definite: its smallest eigenvalue is", ""), ONE % "flat.h5", ONLY, deck="levels.yaml", command="run")
import numpy

three = {"/": (None, {"n_basis": numpy.int32(3), "n_electrons": 2.0}), "block_sizes_atom": numpy.array([1, 2], "i4"), "molecule_of_atom": numpy.array([0, 1], "i4")}
for name in ("K", "S"):
    three.update({name + "/data": [-1.0 if name == "K" else 1.0, 1.0, 1.0], name + "/indices": numpy.arange(3, dtype="i4"), name + "/indptr": numpy.arange(4)})
table.file("three.h5", three)
says("block 1 has 2 functions, block 0 has 1; local_spectra needs blocks of one size", ONE % "three.h5", ONLY, deck="levels.yaml", command="run")

DATA = """
run: {name: data, directory: data}
plugins: [submatrix]
stages:
  - evaluate: {model: trained/train/model.h5, dataset: {type: local_spectra, files: [trained/local_spectra/train.h5]}}
"""
table.file("data.yaml", DATA)
F = "stages[0].evaluate.dataset.files="
says("file 'none.h5' does not exist; a stage local_spectra writes it", F + "[none.h5]", deck="data.yaml", command="run")
says("'m.h5' was not written by a stage local_spectra: it has no moments of local spectra", F + "[m.h5]", deck="data.yaml", command="run")
table.begins("run.directory=other", L + "window=[-2 hartree, 2 hartree]", deck="levels.yaml")
says("'trained/local_spectra/train.h5' and 'other/local_spectra/train.h5' have other windows, block sizes or numbers of moments; let one stage local_spectra write both",
     F + "[trained/local_spectra/train.h5, other/local_spectra/train.h5]", deck="data.yaml", command="run")
says(("sample 0 has 7 moments in the window -2 to 2 hartree, the model was trained on 7 in", "; let one stage local_spectra write both sets, or give it the window"),
     F + "[other/local_spectra/train.h5]", deck="data.yaml", command="run")
short = {"/": (None, {"window": [-1.0, 1.0], "functions": numpy.int32(4)}), "columns": numpy.array([2], "i4"), "homo": [-0.1], "lumo": [0.1], "band_energy": [1.0], "moments": [[0.1, 0.2]]}
table.file("short.h5", short)
says("short.h5: 2 block columns, but 1 band energies and 2 moments; was the file truncated?", F + "[short.h5]", deck="data.yaml", command="run")
table.file("flat_moments.h5", {**short, "moments": [0.1, 0.2]})
says("flat_moments.h5: a window of 2 values and moments along 1 dimensions, expected 2 and 2; was the file changed?", F + "[flat_moments.h5]", deck="data.yaml", command="run")
table.file("negative.h5", {**short, "columns": numpy.array([-2, 3], "i4"), "homo": [-0.1, -0.1], "lumo": [0.1, 0.1]})
says("negative.h5: a Hamiltonian of -2 block columns; was the file changed?", F + "[negative.h5]", deck="data.yaml", command="run")

# DFTB: what of a set and of a structure cannot be used
DFTB = """
run: {name: dftb, directory: dftb}
plugins: [submatrix, md]
stages:
  - dftb:
      structure: {lattice: {type: diamond, a: 3.6, cells: [1, 1, 1], species: [C]}}
      slater_koster: {directory: set}
"""
table.file("dftb.yaml", DFTB)
B = "stages[0].dftb."
says(("there is no file set/C-C.skf for the pair C and C; name the folder of a set that has it, and its separator and suffix", ""), deck="dftb.yaml")
SET = B + "slater_koster.directory=" + os.path.join(os.path.abspath(__file__).split("/tests/")[0], "inputs", "submatrix", "hc")
says("shells names H, which the structure does not have; leave it out", SET, B + "shells={H: s}", deck="dftb.yaml")
says("shells gives C an f shell; dftb has s, p and d shells. Name a set without f, or s, p or d", SET, B + "shells={C: f}", deck="dftb.yaml")
says("k_points has a grid and a list; leave one of them out", SET, B + "k_points={grid: [2, 2, 2], list: [[0, 0, 0, 1]]}", deck="dftb.yaml")
says("k_points.list has a weight of -1; weights are positive", SET, B + "k_points={list: [[0, 0, 0, -1]]}", deck="dftb.yaml")
says("k_points.list has no point with a weight; give [kx, ky, kz, weight] for at least one", SET, B + "k_points={list: []}", deck="dftb.yaml")
says("k_points are for periodic cells; leave them out, or write periodic: true", SET, B + "k_points={grid: [2, 2, 2]}", B + "periodic=false", deck="dftb.yaml")
says(("periodic is false, but the atoms leave only 0.9 angstrom of the cell empty along cell vector a; a molecule needs 3 angstrom: enlarge the cell, or write "
      "periodic: true", ""), SET, B + "periodic=false", deck="dftb.yaml", command="run")
SPIN = B + "spin={unpaired_electrons: 2, constants: {C: [[-0.03]]}}"
says("spin has initial_spins and initial_atom_spins; leave one of them out", SET,
     B + "spin={constants: {C: [[-0.03]]}, initial_spins: {C: 1}, initial_atom_spins: [1, 1]}", deck="dftb.yaml")
says("spin.relax begins without a spin and would stay there; give unpaired_electrons, initial_spins or initial_atom_spins for the first cycle", SET,
     B + "spin={constants: {C: [[-0.03]]}, relax: true}", deck="dftb.yaml")
says("spin.constants has none for C; give those of every species of the structure", SET, B + "spin={unpaired_electrons: 2, constants: {}}", deck="dftb.yaml")
says("spin is for self-consistent charges; leave it out, or write self_consistent: true", SET, SPIN, B + "self_consistent=false", deck="dftb.yaml")
says("dispersion has lennard_jones and slater_kirkwood; leave one out", SET,
     B + "dispersion={lennard_jones: {C: {distance: 3.8 angstrom, energy: 0.1 kcal/mol}}, slater_kirkwood: {C: {polarisability: 9, radius: 6, electrons: 2}}}",
     deck="dftb.yaml")
says("dispersion has no parameters; give lennard_jones or slater_kirkwood", SET, B + "dispersion={}", deck="dftb.yaml")
says("dispersion.lennard_jones has no parameters of C; give those of every species of the structure", SET, B + "dispersion={lennard_jones: {}}", deck="dftb.yaml")
says("solver purification is for zero temperature; leave filling out, or write solver: submatrix", SET, B + "solver=purification",
     B + "filling={temperature: 300}", deck="dftb.yaml")
says("solver purification is for the Gamma point; leave k_points out, or write solver: dense", SET, B + "solver=purification",
     B + "k_points={grid: [2, 2, 2]}", deck="dftb.yaml")
says(("charge 100 leaves -68 electrons, but the functions hold 0 to 64", ""), SET, B + "charge=100", deck="dftb.yaml", command="run")

table.run()
