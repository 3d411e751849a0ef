"""Damaged files and sizes that no machine holds: what ended in a crash or in "internal error", took all memory, or was accepted."""
# needs: md deepmd kinetic podlstm submatrix superres
import os
import shutil

import h5py
import numpy
from table import Table

MD = """
run: {name: copper, directory: out}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 3.61, cells: [4, 4, 4], species: [Cu]}}
      potential: {type: sutton_chen, element: Cu, cutoff: 5.5}
      steps: 4
      thermo: {every: 1}
      checkpoint: {every: 2}
      output:
        - {type: rdf, every: 2}
        - {type: msd, every: 1, max_lag: 3, origins: 1}
"""
TRAIN = """
run: {name: t, directory: out}
stages:
  - train:
      network: {type: mlp, layers: [4, 3]}
      dataset: {type: expression, samples: 40, box: {x: [-1, 1]}, target: {z: sin(3*x)}}
      batch: 8
      steps: 4
      learning_rate: {type: constant, start: 1e-3}
      checkpoint: {every: 2}
      log_every: 1
"""
KINETIC = """
run: {name: landau, directory: out}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_poisson
      domain: {lower: [0], upper: [1], cells: [8]}
      species:
        - {name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [8]}, f0: maxwellian(v)}
      end_time: 1
"""
WATER = """
run: {name: water, directory: out}
plugins: [submatrix]
stages:
  - density_matrix:
      matrices: {file: FILE}
      eps_filter: 1e-4
"""
WEEKS = """
run: {name: pod, directory: out}
plugins: [podlstm]
stages:
  - synthetic_field: {weeks: 1e9}
"""
CONVECTION = """
run: {name: flow, directory: out}
plugins: [superres]
stages:
  - simulate: {physics: rayleigh_benard, rayleigh: 1e5, cells: [16, 8], initial: {noise: 0.1}, end_time: 1}
"""
FLUID = """
run: {name: fluid, directory: out}
plugins: [kinetic]
stages:
  - simulate: {physics: moment_fluid, parameters: {k: 0.4, a: 1e-4}, length: 2*pi/k, density: 1 + a*cos(k*x), end_time: 1}
"""
S, T = "stages[0].simulate.", "stages[0].train."
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
table = Table("damaged", MD)
for name, deck in {"train.yaml": TRAIN, "kinetic.yaml": KINETIC, "weeks.yaml": WEEKS, "convection.yaml": CONVECTION, "fluid.yaml": FLUID,
                   "water.yaml": WATER.replace("FILE", os.path.join(SOURCE, "inputs/submatrix/h2o32.h5"))}.items():
    table.file(name, deck)
says = table.says
LEFT = " left; "

# Sizes: estimated before anything is taken. `check` warns, since it may be another machine than the run's.
says(("4000000000 atoms would take at least ", " TB of memory on this node, which has ", LEFT, "give fewer 'cells', or use more nodes"),
     S + "structure.lattice.cells=[1000, 1000, 1000]", command="run")
says("the lattice of [2000000000, 2000000000, 2000000000] cells has more atoms than can be counted; give fewer cells",
     S + "structure.lattice.cells=[2000000000, 2000000000, 2000000000]")
says(("training 1e+10 parameters would take at least 160 GB of memory on this node, which has ", LEFT,
      "make the model smaller, or divide it among ranks of more nodes (parallel)"), T + "network.layers=[100000, 100000]", deck="train.yaml", command="run")
says(("the order of 1000000000000000000 samples would take at least 8 EB of memory on this node, which has ", LEFT, "train on fewer samples"),
     T + "dataset.samples=1000000000000000000", deck="train.yaml", command="run")
says("epochs is 1e+18, with 5 steps in each: more steps than can be counted; give fewer epochs, or 'steps'", T + "epochs=1e18", T + "steps=null",
     deck="train.yaml", command="run")
says(("species 'electron' on 8e+09 cells of phase space would take at least 1.02 TB of memory on this node, which has ", LEFT,
      "give fewer 'cells', or use more nodes"), S + "domain.cells=[1000000000]", deck="kinetic.yaml")
says("species 'electron': [3000000, 3000000, 8, 8] cells are more than can be counted; give fewer in configuration or in velocity space",
     S + "domain={lower: [0, 0], upper: [1, 1], cells: [3000000, 3000000]}", S + "species[0].velocity={lower: [-6, -6], upper: [6, 6], cells: [8, 8]}",
     deck="kinetic.yaml")
says(("the matrices of a supercell of 40 x 40 x 40 cells would take at least ", " GB of memory on this node, which has ", LEFT,
      "give fewer copies in 'supercell', or use more nodes"), "stages[0].density_matrix.matrices.supercell=[40, 40, 40]", deck="water.yaml")
says("a supercell of 2000 x 2000 x 2000 cells has more blocks than can be counted; give fewer copies",
     "stages[0].density_matrix.matrices.supercell=[2000, 2000, 2000]", deck="water.yaml")
says(("1000000000 weeks on 30 x 60 cells would take at least 7.22 TB of memory on this node, which has ", LEFT, "give fewer 'weeks' or cells"),
     deck="weeks.yaml", command="run")

# No machine has a node of a petabyte: then `check` refuses, too.
NODE = " of memory on this node, which has "
says(("the order of 1000000000000000000 samples would take at least 8 EB" + NODE, LEFT, "train on fewer samples"),
     T + "dataset.samples=1000000000000000000", deck="train.yaml")
says("epochs is 1e+18, with 5 steps in each: more steps than can be counted; give fewer epochs, or 'steps'", T + "epochs=1e18", T + "steps=null",
     deck="train.yaml")
says("batch is 1000000000000000000, but the training set has 40 samples; lower batch", T + "batch=1000000000000000000", deck="train.yaml")
says(("a network with layers of 2e+15 weights would take at least 16 PB" + NODE, LEFT, "make 'layers' narrower, or use more nodes"),
     T + "network.layers=[1000000000000000]", deck="train.yaml")
says(("a transformer with blocks of 1.2e+17 weights would take at least 960 PB" + NODE, LEFT, "lower 'width' or 'layers', or use more nodes"),
     T + "network={type: transformer, width: 100000000, heads: 4, layers: 1, mlp_ratio: 4}", deck="train.yaml")
says(("a text of 1000000000000000 bytes would take at least 5 PB" + NODE, LEFT, "give a smaller 'length'"),
     T + "dataset={type: synthetic_grammar, samples: 20, length: 1000000000000000}", deck="train.yaml")
says(("1000000000000000 weeks on 30 x 60 cells would take at least 7.22 EB" + NODE, LEFT, "give fewer 'weeks' or cells"),
     "stages[0].synthetic_field.weeks=1000000000000000", deck="weeks.yaml")
says(("convection in 1000000000 x 1000000000 cells would take at least 64 EB" + NODE, LEFT, "give fewer 'cells', or use more nodes"),
     "stages[0].simulate.cells=[1000000000, 1000000000]", deck="convection.yaml")
says(("a fluid at 2000000000 points would take at least 480 GB" + NODE, LEFT, "give fewer 'points'"),
     "stages[0].simulate.points=2000000000", deck="fluid.yaml")
says(("sums over 2000000000 lags would take at least 64 GB" + NODE, LEFT, "give a smaller 'max_lag'"),
     S + "output=[{type: msd, max_lag: 2000000000}]", command="run")
says(("sums over 2000000000 lags would take at least 64 GB" + NODE, LEFT, "give a smaller 'max_lag'"),
     S + "output=[{type: vacf, max_lag: 2000000000}]", command="run")
# Whole numbers beyond what doubles count
says("found 1e18, expected a whole number >= 1 (up to 9e15 with a point or an exponent; beyond, give all digits)", T + "dataset.samples=1e18",
     deck="train.yaml")
says("found 3e9, expected a whole number >= 1 (from -2147483648 to 2147483647)", S + "structure.lattice.cells=[3e9, 1, 1]")

# Decks
table.file("alias.yaml", "a: &a " + 100000 * "x" + "\nb: [" + ", ".join(2000 * ["*a"]) + "]\n")
says("alias.yaml:2:4: more than 20000000 bytes of text, aliases unfolded", deck="alias.yaml")
table.file("deep.yaml", "a: " + 300 * "[" + 300 * "]" + "\n")
says("deep.yaml:1:103: lists and maps inside of each other, 101 deep; a deck may be 100 deep", deck="deep.yaml")
table.file("twice.yaml", "run:\n  name: a\nstages: []\nrun:\n  name: b\n")
says("run: the key appears twice, first on line 1", deck="twice.yaml")
says("run: name '../l2/up' is a path: give a word, and the location with 'directory'", "run.name=../l2/up")
says("run: directory '/' is the root of the file system; give a folder of this run, for example runs/NAME", "run.directory=/")

# Structures
XYZ = '1\nLattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3{}\nCu 0 0 0\n'
FILE = S + "structure={file: %s}"
table.file("width.xyz", XYZ.format(":foo:R:-3"))
says("width.xyz:2: Properties=species:S:1:pos:R:3:foo:R:-3: foo has -3 columns, expected 1 to 100000", FILE % "width.xyz", command="run")
table.file("wide.xyz", XYZ.format(2 * ":foo:R:99999"))
says("wide.xyz:2: Properties=species:S:1:pos:R:3:foo:R:99999:foo:R:99999 has more than 100000 columns", FILE % "wide.xyz", command="run")
for types in (-1, 99999999999):
    table.file(f"types{types}.data", f"title\n\n1 atoms\n{types} atom types\n\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\nAtom Type Labels\n\n1 Cu\n\nAtoms\n\n1 1 0 0 0\n")
    says(f"types{types}.data:4: {types} atom types: expected 1 to 1000000", FILE % f"types{types}.data", command="run")

# Matrices
def cell(indptr):
    return {"block_sizes_atom": [1, 1, 1], "molecule_of_atom": [0, 0, 0], "K/indptr": indptr, "K/indices": [0, 1, 2], "K/data": [1.0, 1.0, 1.0],
            "S/indptr": [0, 1, 2, 3], "S/indices": [0, 1, 2], "S/data": [1.0, 1.0, 1.0]}


MATRIX = "stages[0].density_matrix.matrices="
table.file("falls.h5", cell([0, 1000000, 2, 3]))
says("falls.h5: /K is no CSR matrix: indptr goes from 1000000 to 2 in row 1, but must begin at 0 and never fall", MATRIX + "{file: falls.h5}", deck="water.yaml")
table.file("late.h5", cell([1, 1, 2, 3]))
says("late.h5: /K is no CSR matrix: indptr goes from 1 to 1 in row 0, but must begin at 0 and never fall", MATRIX + "{file: late.h5}", deck="water.yaml")
table.file("none.h5", {**cell([0, 1, 2, 3]), "block_sizes_atom": [1, -1, 3]})
says("none.h5: block_sizes_atom has an atom of -1 functions, expected 1 or more", MATRIX + "{file: none.h5}", deck="water.yaml")
table.file("many.h5", {**cell([0, 1, 2, 3]), "block_sizes_atom": [2147483647, 2147483647, 3]})
says("many.h5: block_sizes_atom adds up to 4294967297 functions, expected 1 to 2147483646", MATRIX + "{file: many.h5}", deck="water.yaml")
table.file("numbers.h5", {**cell([0, 1, 2, 3]), "atomic_numbers": [1]})
says("numbers.h5: atomic_numbers has 1 entries, block_sizes_atom 3; they must agree", MATRIX + "{file: numbers.h5}", deck="water.yaml")
table.file("r.h5", {**cell([0, 1, 2, 3]), "R": [0, 0]})
says("r.h5: R holds 2 values, expected three for each cell", MATRIX + "{file: r.h5}", deck="water.yaml")
table.file("reference.h5", {**cell([0, 1, 2, 3]), "reference_nrep": [1.0, 2.0]})
says("reference.h5: reference_nrep has the shape (2), expected rows of 6 or more values", MATRIX + "{file: reference.h5}", deck="water.yaml")
table.file("large.csr", "1 1 0.5\n2147483648 1 0.5\n")
CSR = MATRIX + "{hamiltonian: %s, molecule: [1]}"
says("large.csr:2: a row 2147483648 is more than can be counted; at most 2147483647", CSR % "large.csr", deck="water.yaml")
table.file("sparse.csr", "1 1 0.5\n2147483647 2147483647 0.5\n")
says("sparse.csr: 2147483647 rows, but only 2 elements; was the file changed?", CSR % "sparse.csr", deck="water.yaml")
table.file("rows.mtx", "%%MatrixMarket matrix coordinate real general\n9999999999 9999999999 0\n")
says("rows.mtx:2: 9999999999 rows; expected 1 to 2147483647", CSR % "rows.mtx", deck="water.yaml")
table.file("empty.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 0\n")
says("empty.mtx holds no elements; was the file truncated?", CSR % "empty.mtx", deck="water.yaml")

# Checkpoints. What is changed through HDF5 loses its seal and must be noticed by what it holds.
def damaged(name, run, file, change):
    """A copy of a run in which one file was changed by `change`."""
    shutil.copytree(table.path(run), table.path(name))
    change(os.path.join(table.path(name), file))
    return name


def through_hdf5(action):
    def change(path):
        with h5py.File(path, "r+") as file:
            action(file)

    return change


def replaced(file, name, values):
    del file[name]
    file[name] = values


def killed(*overrides, deck="deck.yaml"):
    """A run that looks as if it was killed after its last checkpoint, whose files are as they were written: with their checksums."""
    table.begins(*overrides, deck=deck)
    folder = next(o.split("=")[1] for o in overrides if o.startswith("run.directory="))
    os.remove(table.path(os.path.join(folder, "stages_done.txt")))


def flipped(path):
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))


def both_damaged(newest):
    """The newest checkpoint and the one before: where one is whole, the run continues from it (system.faults)."""
    flipped(newest)
    os.truncate(os.path.join(os.path.dirname(newest), "restart.2.h5"), 1000)


def resumes(message, run, file, change, *overrides):
    name = damaged(f"damaged{len(table.cases)}", run, file, change)
    says(message, command=["restart", name, *overrides])


def two_species(file):
    for name, values in {"species": ["Cu", "Ni"], "members": [1.0, 1.0], "pairs": 1200 * [0.0], "weighted": 1200 * [0.0]}.items():
        replaced(file, "writers/0/" + name, values)


def half_the_rows(file):
    rows = file["writers/1/origin_rows"]
    for name in list(rows):
        values = rows[name][:384]
        replaced(file, "writers/1/origin_rows/" + name, values)


MD_FILE, TRAIN_FILE = "simulate/restart.4.h5", "train/restart.4.h5"
killed("run.directory=md")
resumes(("no checkpoint in 'damaged%d/simulate' is intact:\n  restart.4.h5: what it holds is not what was written\n  restart.2.h5: it was truncated or overwritten, and HDF5 "
         "cannot open it\nput back a copy of one, or remove them, and the stage begins at step 0 when the run is resumed" % len(table.cases),), "md", MD_FILE, both_damaged)
BESIDE = "; the folder also holds restart.2.h5"
RESUME = "; the file is damaged or was changed, resume from another one"
resumes((MD_FILE + "': atom ", " is of type 0, but there are 0 species", RESUME), "md", MD_FILE, through_hdf5(lambda file: file.__delitem__("species")))
resumes((MD_FILE + "': /ranks/particle does not hold the rows of 1 ranks; the file is damaged or was changed" + BESIDE,), "md", MD_FILE,
        through_hdf5(lambda file: replaced(file, "ranks/particle", numpy.zeros(0, "i8"))))
resumes(("'/writers/1' in '", MD_FILE, "' does not hold together: 1 species, 0 sums, 4 lags and 1 origins after 5 samples; the file is damaged or was changed, "
         "resume from another one"), "md", MD_FILE, through_hdf5(lambda file: replaced(file, "writers/1/sum", [])))
resumes(("'/writers/0' in '", MD_FILE, "' does not hold together: 1 species, 1 averages and 0 counts of pairs in 400 bins; the file is damaged or was changed, "
         "resume from another one"), "md", MD_FILE, through_hdf5(lambda file: replaced(file, "writers/0/pairs", [])))
resumes((MD_FILE + "': an atom has the ID -1, expected 1 to 256", RESUME), "md", MD_FILE, through_hdf5(lambda file: file["fields/tag"].__setitem__(0, -1)))
resumes((MD_FILE + "' has step -1, time ", " and 1 ranks; the file is damaged or was changed" + BESIDE), "md", MD_FILE,
        through_hdf5(lambda file: file["checkpoint"].attrs.modify("step", -1)))
resumes((MD_FILE + "' holds a cell of 3 and 3 values, 1 species and 1 masses; the file is damaged or was changed" + BESIDE,), "md", MD_FILE,
        through_hdf5(lambda file: replaced(file, "box/vectors", [1.0, 2.0, 3.0])))
resumes((MD_FILE + "': the cell has the volume 0", RESUME), "md", MD_FILE, through_hdf5(lambda file: file["box/vectors"].__setitem__((0, 0), 0.0)))
resumes((MD_FILE + "': species 'Cu' has the mass -1", RESUME), "md", MD_FILE, through_hdf5(lambda file: file["species/mass"].__setitem__(0, -1.0)))
resumes((MD_FILE + "': atom ", " is at nan with the velocity ", RESUME), "md", MD_FILE,
        through_hdf5(lambda file: file["fields/position"].__setitem__((0, 0), float("nan"))))
resumes((MD_FILE + "': there are no atoms", RESUME), "md", MD_FILE, through_hdf5(lambda file: replaced(file, "ranks/particle", [0])))
resumes(("rdf: 2 species were counted before, but there are 1 now: resume with the deck that wrote it",), "md", MD_FILE, through_hdf5(two_species),
        S + "steps=6")
resumes(("the correlation was sampled with 1 species and 128 atoms, but there are 1 and 256 now: resume with the deck that wrote it",), "md", MD_FILE,
        through_hdf5(half_the_rows), S + "steps=6")
resumes(("field 'velocity' of the checkpoint '", MD_FILE + "' has rows of another shape or type than this deck needs; resume with the deck that wrote it or start "
         "afresh"), "md", MD_FILE, through_hdf5(lambda file: replaced(file, "fields/velocity", file["fields/velocity"][:128])))
for number, (name, values, message) in enumerate([
        ("fields/velocity", [1.0], "fields/velocity holds 1 values, expected 768; the file is damaged or was changed, give another one"),
        ("fields/tag", numpy.zeros(0, "i8"), "it holds no atoms"), ("fields/tag", 256 * [7], "atom id 7 is given twice"),
        ("species/symbol", ["Cu", "Ni"], "species/mass holds 1 values, expected 2; the file is damaged or was changed, give another one")]):
    path = f"start{number}.h5"
    shutil.copy(table.path("md/" + MD_FILE), table.path(path))
    through_hdf5(lambda file: replaced(file, name, values))(table.path(path))
    says(f"'{path}': {message}", FILE % path, command="run")

# Tables: what was there when the checkpoint was written must be there.
CSV = "simulate/thermo.csv"
HELD = ": it was truncated or changed; put back a copy of it, or move it away and a new table begins"
resumes((CSV + "' holds 0 rows up to step 4, but 5 when the checkpoint was written" + HELD,), "md", CSV, lambda path: os.truncate(path, 0))
resumes((CSV + "' holds ", " rows up to step 4, but 5 when the checkpoint was written" + HELD), "md", CSV, lambda path: os.truncate(path, os.path.getsize(path) // 2))


def digit(path):
    text = open(path, encoding="utf-8").read()
    open(path, "w", encoding="utf-8").write(text[:-2] + ("1" if text[-2] != "1" else "2") + "\n")


resumes((CSV + "' holds 5 rows up to step 4, but 5 when the checkpoint was written, with other values" + HELD,), "md", CSV, digit)
resumes((CSV + "' has the columns '(not a text)' but this deck writes 'step,time [ps],temperature [K],",), "md", CSV,
        lambda path: open(path, "wb").write(4000 * b"\0" + b"\n"))

killed("run.directory=train", deck="train.yaml")
resumes(("no checkpoint in 'damaged%d/train' is intact:\n  restart.4.h5: what it holds is not what was written\n  restart.2.h5: it was truncated or overwritten, and HDF5 "
         "cannot open it\nput back a copy of one, or remove them, and the stage begins at step 0 when the run is resumed" % len(table.cases),), "train", TRAIN_FILE, both_damaged)
resumes((TRAIN_FILE + "' is damaged or was changed: what it holds does not fit together (", "); copy it again from its source, or use another one"),
        "train", TRAIN_FILE, through_hdf5(lambda file: replaced(file, "train/network_state", "[]")))
STATE = '{"input_mean": [0.0], "input_scale": [], "target_mean": [0.0], "target_scale": [1.0], "classes": 0, "target_unit": ""}'
resumes("the state of this mlp holds 1 means and 0 scales of inputs, 1 and 1 of targets, 0 classes, which do not fit together; its file is damaged or was "
        "changed", "train", TRAIN_FILE, through_hdf5(lambda file: replaced(file, "train/network_state", STATE)))
resumes((TRAIN_FILE + "' holds 14 values in /weights, but the deck's model has 27 parameters; resume with the model that wrote it",), "train", TRAIN_FILE,
        through_hdf5(lambda file: replaced(file, "weights", file["weights"][:14])))
resumes((TRAIN_FILE + "' has step -5" + RESUME,), "train", TRAIN_FILE,
        through_hdf5(lambda file: file["train"].attrs.modify("step", -5)))
resumes(("train/training.csv:3: this is not a row of 5 values: the file is damaged; put back a copy of it, or move it away and a new table begins",), "train",
        "train/training.csv", lambda path: open(path, "r+b").write(open(path, "rb").read().replace(b"\n2,", b"\n2;")))
killed("run.directory=direct", "--test-size", deck=os.path.join(SOURCE, "inputs/train/quantized_training.yaml"))
resumes(("train/restart.20.h5' holds 1 grids of quantised weights, but the deck's model has ", "; resume with the model that wrote it"), "direct",
        "train/restart.20.h5", through_hdf5(lambda file: replaced(file, "train/grids", [1.0])))
killed("run.directory=kinetic", S + "steps=4", S + "checkpoint.every=2", S + "physics=vlasov_maxwell", S + "observables={growth_rate: {start_time: 0, end_time: 1}}",
                 deck="kinetic.yaml")
resumes((MD_FILE + "': the field Ex holds 1 values, expected 24", RESUME), "kinetic", MD_FILE, through_hdf5(lambda file: replaced(file, "physics/field/Ex", [1.0])))
resumes((MD_FILE + "': 1 times and ", " energies of the fit of a growth rate; the file is damaged or was changed, resume from another one"), "kinetic", MD_FILE,
        through_hdf5(lambda file: replaced(file, "physics/growth/time", [1.0])))
resumes((MD_FILE + "': species 'electron' has 1 moments, expected 72", RESUME), "kinetic", MD_FILE,
        through_hdf5(lambda file: replaced(file, "physics/electron/moments", [1.0])))

table.run()
