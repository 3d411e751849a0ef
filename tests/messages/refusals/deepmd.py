"""What the plugin deepmd says about decks and files that cannot work; damaged model files stand in deepmd_models.py."""
# needs: md deepmd
import io
import os

import h5py
import numpy
from table import Table

from deepmd_samples import TRAIN

DECK = """
run: {name: argon, directory: out}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.3, cells: [4, 4, 4], species: [Ar]}}
      potential: {type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 8}
      steps: 2
"""
LABEL = """
run: {name: label, directory: label}
plugins: [md, deepmd]
stages:
  - label:
      structure: {lattice: {type: fcc, a: 5.3, cells: [4, 4, 4], species: [Ar]}}
      potential: {type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 8}
      perturbed: {frames: 1}
"""
S, L, T, M = "stages[0].simulate.", "stages[0].label.", "stages[0].train.", "stages[0].train.network."
HEAD = 'Lattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3:forces:R:3 energy=-1'


def pair(distance, head=HEAD):
    return f"2\n{head}\nO 1 1 1 0 0 0.1\nH 1 1 {1 + distance} 0 0 -0.1\n"


def npy(array):
    out = io.BytesIO()
    numpy.save(out, array)
    return out.getvalue()


table = Table("deepmd", DECK)
says = table.says
for name, text in {"label.yaml": LABEL, "train.yaml": TRAIN, "two.xyz": pair(1.0), "far.xyz": pair(9.0), "near.xyz": pair(0.1)}.items():
    table.file(name, text)

# Groups and structures
G = S + "groups="
says("group 'a' has both a slab and a block: put the slab's limits into the block",
     G + "{a: {slab: {axis: x, lower: 0, upper: 1}, block: {lower: [0, 0, 0], upper: [1, 1, 1]}}}", command="run")
says("a slab needs lower < upper", G + "{a: {slab: {axis: x, lower: 1, upper: 0}}}")
says("a block needs lower < upper in all three directions", G + "{a: {block: {lower: [0, 0, 0], upper: [1, 0, 1]}}}")
says("40 groups are given, at most 31 are possible", G + "{" + ", ".join(f"g{k}: {{tags: [[1, 2]]}}" for k in range(40)) + "}")
says("give either 'lattice' or 'file'", S + "structure.file=a.xyz")
says("masses: the structure has no species 'Cu'; known: Ar", S + "masses={Cu: 63.5}")
says("masses: that of 'Ar' is -1 g/mol; give one above 0", S + "masses={Ar: -1}")
# Species, without a run
LATTICE = S + "structure.lattice."
NO_ELEMENT = "species 'Xx' is not an element, so its mass must be given: masses: {Xx: ...} in g/mol"
says(NO_ELEMENT, LATTICE + "species=[Xx]")
says(NO_ELEMENT, L + "structure.lattice.species=[Xx]", deck="label.yaml")
says("species 'ar' is not an element, so its mass must be given: masses: {ar: ...} in g/mol; if the element is meant, write 'Ar'",
     LATTICE + "species=[ar]")
says("the lattice has 4 atoms per cell but 2 species are given: give one for all, or one per atom of the cell", LATTICE + "species=[Ar, Kr]")
says("sutton_chen describes one species, Cu, but the deck has Ar", S + "potential={type: sutton_chen, element: Cu, cutoff: 5.5}")
says("stillinger_weber describes one species, but the deck has 2: H, O", S + "potential=stillinger_weber", S + "structure={file: two.xyz, species: [H, O]}")
says("stillinger_weber: its default parameters are those of silicon, but the atoms are Ar: give `epsilon` and `sigma` (and what else "
     "differs) of Ar, or species Si", S + "potential=stillinger_weber")
says("the thermostat temperature '100 - 60*step' is -20 K at step 2 (t = 0.002 ps), but has to be 0 or more; let it end in time, as in "
     "'max(100 - 60*step, 10)', or give fewer steps", S + "integrator={type: csvr, temperature: \"100 - 60*step\"}", command="run")
says("output[0] (extxyz) and output[1] (extxyz) both write trajectory.extxyz: leave one of them out, or, where the type has the key 'file', "
     "give it another name", S + "output=[{type: extxyz}, {type: extxyz, every: 2}]")
says("zbl: Xx is no element; give its nuclear charge: `charges: {Xx: ...}`", LATTICE + "species=[Xx]", S + "masses={Xx: 1}",
     S + "potential={type: sum, terms: [{type: zbl, inner: 1, outer: 2}]}")
says("table: `inner` is 3 Å and the cut-off 2 Å; within `inner` the formula is computed, so it must be smaller",
     S + "potential={type: zbl, inner: 1, outer: 2, table: {inner: 3}}")
says("table: 13200 intervals from 0.666667 to 2 Å are too few for an error of 1.0e-18; give a larger `error`",
     S + "potential={type: zbl, inner: 1, outer: 2, table: {error: 1e-18}}")
says("stillinger_weber describes one species, but the deck has 2: O, H", L + "structure={file: two.xyz}", L + "potential=stillinger_weber", deck="label.yaml")
table.file("numbers.h5", {"x": [1.0]})
says("'numbers.h5' is no checkpoint of md: it has no /fields/position; give a restart.STEP.h5, an extended XYZ or a LAMMPS data file",
     S + "structure={file: numbers.h5}", command="run")

# Potentials
P = S + "potential="
says("lennard_jones: an entry of `pairs` names 1 species; it needs two, like [Ar, Kr]",
     P + "{type: lennard_jones, cutoff: 8, pairs: [{species: [Ar], epsilon: 0.01, sigma: 3.4}]}")
says("lennard_jones: give `epsilon` and `sigma` together", P + "{type: lennard_jones, cutoff: 8, epsilon: 0.01}")
says("sutton_chen: n = 6 and m = 9; it needs n > m > 3", P + "{type: sutton_chen, element: Cu, n: 6, m: 9}")
says("sutton_chen: `switch_width` is 9 Å; it must be below the cut-off, 7 Å", P + "{type: sutton_chen, element: Cu, cutoff: 7, switch_width: 9}")

# Forces that break
table.file("twins.xyz", '3\nLattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3\nAr 1 1 1\nAr 1 1 1\nAr 9 9 9\n')
says("step 1: an atom moved by more than 1e150 Å on rank 0", S + "initial_temperature=1e303", S + "timestep=1e10", S + "integrator=nve",
     command="run", code=4)

# Restarts with other samplings
RDF, VACF = "{type: rdf, every: 1, r_max: 5, bins: %d}", "{type: vacf, every: 1, max_lag: %d, origins: 1}"
table.interrupts("run.directory=sampled", S + "checkpoint={every: 1}", S + f"output=[{RDF % 10}]")
says("rdf: the checkpoint has 10 bins but this deck has 20: resume with the deck that wrote it",
     command=["restart", "sampled", S + f"output=[{RDF % 20}]"])

table.interrupts("run.directory=correlated", S + "checkpoint={every: 1}", S + f"output=[{VACF % 10}]")
says(("' in 'correlated/simulate/restart.2.h5' was sampled with length 10 and origins every 10 samples, but this deck has 20 and 20: resume "
      "with the deck that wrote it",), command=["restart", "correlated", S + f"output=[{VACF % 20}]"])

# Labels
says("f_trust_lo must be less than f_trust_hi", L + "select={low: 2, high: 1}", L + "explore_with={type: deep_potential, model: a.dp}", deck="label.yaml")
says("nothing is sampled; give 'perturbed' or 'dynamics'", L + "perturbed.frames=0", deck="label.yaml")
says("'select' needs 'explore_with', a deep_potential with a committee", L + "select={low: 0.1, high: 1}", deck="label.yaml")
says("label: 'select' measures how much the models of a committee deviate; give explore_with.committee", L + "select={low: 0.1, high: 1}",
     L + "explore_with={type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 8}", deck="label.yaml", command="run")
says(("label: trajectory 1 at 300 K breaks at step ", ": the energy is not finite; try a shorter timestep"),
     L + "dynamics=[{temperature: [300], frames: 2, every: 5, timestep: 1e160}]", deck="label.yaml", command="run", code=4)

# Calibration of a committee
C = "stages[0].calibrate."
table.file("calibrate.yaml", """
run: {name: calibrate, directory: calibrated}
plugins: [md, deepmd]
stages:
  - calibrate: {model: a.dp, committee: [b.dp], systems: [frames.xyz]}
""")
says("committee names no model; a deviation takes two models or more", C + "committee=[]", deck="calibrate.yaml")
says("systems names no labelled frames to calibrate on", C + "systems=[]", deck="calibrate.yaml")
says("calibration is that of a committee; give 'committee', or leave it out",
     S + "potential={type: deep_potential, model: a.dp, calibration: a.yaml}")
says("the potential does not bound its force error; give deep_potential a 'committee' and its 'calibration', or leave out max_force_error",
     S + "max_force_error=1")

# Data sets: extended XYZ
for name, text, message in (
    ("short", f"2\n{HEAD}\nO 1 1 1 0 0 0\n", "short.xyz:3: the file ends after 1 of the frame's 2 atoms"),
    ("comment", "2\n", "comment.xyz:1: the file ends where a frame's comment line should be"),
    ("columns", "1\nProperties=species:S:1\nO\n", "columns.xyz:2: Properties=species:S:1 lacks pos:R:3"),
    ("negative", "1\nProperties=species:S:1:pos:R:3:foo:R:-3\nO 1 1 1\n", "negative.xyz:2: Properties=species:S:1:pos:R:3:foo:R:-3: foo has -3 columns, expected 1 to 100000"),
    ("flat", "1\nProperties=species:S:1:pos:R:2\nO 1 1\n", "flat.xyz:2: Properties=species:S:1:pos:R:2: pos has 2 columns, expected 3"),
    ("wide", "1\nProperties=species:S:1:pos:R:3:a:R:99999:b:R:99999\nO 1 1 1\n", "wide.xyz:2: Properties=species:S:1:pos:R:3:a:R:99999:b:R:99999 has more than 100000 columns"),
    ("slab", "1\nLattice=\"4 0 0 8 0 0 0 0 9\" Properties=species:S:1:pos:R:3 pbc=\"T T F\"\nO 1 1 1\n", "slab.xyz:2: the periodic cell vectors are parallel or zero"),
    ("thin", "1\nLattice=\"4 0 0 0 4 0 0 0 0\" stress=\"1 1 1 0 0 0\" energy=1 pbc=\"T T F\"\nO 1 1 1\n",
     "thin.xyz:2: stress: the cell has no volume, by which a stress is a virial; give the virial"),
    ("energies", "1\nenergy=\"1 2\"\nO 1 1 1\n", "energies.xyz:2: energy holds 2 values, not 1"),
    ("plane", "1\nLattice=\"4 0 0 0 4 0 4 4 0\" Properties=species:S:1:pos:R:3\nO 1 1 1\n",
     "plane.xyz:2: the cell vectors (4 0 0), (0 4 0), (4 4 0) are flat or left-handed (volume 0): give three independent vectors in right-handed order"),
    ("virial", f"1\n{HEAD} virial=\"1 2 3\"\nO 1 1 1 0 0 0\n", "virial.xyz:2: virial holds 3 values, not 9 or 6"),
    ("row", f"1\n{HEAD}\nO 1 1 1\n", "row.xyz:3: expected 7 columns (species:S:1:pos:R:3:forces:R:3), found 4"),
):
    table.file(name + ".xyz", text)
    says(message, T + f"dataset.files=[{name}.xyz]", deck="train.yaml", command="run")
says("files names no file", T + "dataset.files=[]", deck="train.yaml")
says("'kg' is not a unit like eV", T + "dataset.energy_unit=kg", deck="train.yaml")

# Data sets: deepmd/npy
says("systems names no folder", T + "dataset={type: deepmd_npy, systems: []}", deck="train.yaml")
HEADER = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 6), }"


def raw(header, length=None):
    return b"\x93NUMPY\x01\x00" + (length or len(header)).to_bytes(2, "little") + header


for name, coord, message in (
    ("key", raw(b"{'descr': '<f8'}"), "key/set.000/coord.npy: the header has no 'fortran_order'; is this a .npy file?"),
    ("cut", raw(b"{'descr'", 118), "cut/set.000/coord.npy: the file ends inside its header"),
    ("long", b"\x93NUMPY\x02\x00" + (1 << 24).to_bytes(4, "little"), "long/set.000/coord.npy: the header is damaged"),
    ("digits", raw(HEADER.replace(b"6", b"9" * 30)), "digits/set.000/coord.npy: the shape in the header is damaged"),
    ("shape", raw(b"{'descr': '<f8', 'fortran_order': False, 'shape': (9000000000, 9000000000), }"),
     "shape/set.000/coord.npy: the file ends early: its header specifies 9000000000 x 9000000000 values"),
    ("typeless", npy(numpy.ones((1, 6))), "typeless/type.raw: type 2 has no name; type_map.raw lists O, H"),
    ("mapless", npy(numpy.ones((1, 6))), "mapless/type_map.raw: does not exist; write the species' symbols into it, in the order of the numbers in "
     "type.raw"),
    ("mixed", npy(numpy.ones((1, 6))), "mixed/set.000/real_atom_types.npy: frame 0, atom 0 has type 9; expected those of type_map.raw, 0 to 1, or -1 for an "
     "atom that the frame does not have"),
):
    table.file(name + "/type.raw", "0 2\n" if name == "typeless" else "0 1\n")
    if name != "mapless":
        table.file(name + "/type_map.raw", "O H\n")
    table.file(name + "/set.000/coord.npy", coord)
    table.file(name + "/set.000/box.npy", npy(20.0 * numpy.eye(3).reshape(1, 9)))
    if name == "mixed":
        table.file(name + "/set.000/real_atom_types.npy", npy(numpy.full((1, 2), 9)))
    says(message, T + f"dataset={{type: deepmd_npy, systems: [{name}]}}", deck="train.yaml", command="run")

# Networks
says("rcut_smth must be less than rcut", M + "rcut_smth=5", deck="train.yaml")
says("fitting needs at least one layer", M + "fitting=[]", deck="train.yaml")
says("neuron needs at least one layer", M + "neuron=[]", deck="train.yaml")
says("with hybrid the keys of a descriptor (descriptor, rcut, neuron ...) belong in its entries", M + "hybrid=[{descriptor: se_e3, rcut: 4}]",
     deck="train.yaml")
says("the widths of neuron must be between 3 and 1000", M + "neuron=[2]", deck="train.yaml")
says("the widths of fitting must be positive", M + "fitting=[0]", deck="train.yaml")
says("axis_neuron is more than the last width of neuron", M + "axis_neuron=9", deck="train.yaml")
says("interpolation must be 0 or between 1e-13 and 1e-3", M + "interpolation=0.1", deck="train.yaml")
says("sel has 1 value(s), type_map 2 species", M + "sel=[4]", M + "type_map=[O, H]", deck="train.yaml")
says("sel has 1 value(s), but the species are O, H", M + "sel=[4]", deck="train.yaml", command="run")
says("no atom of the training data has a neighbour within rcut = 4 Å; check the unit of the data's lengths, which are taken to be in Å",
     T + "dataset.files=[far.xyz]", deck="train.yaml", command="run")
says("the closest pair of atoms of the training data is 0.1 Å apart; check the unit of the data's lengths, which are taken to be in Å",
     T + "dataset.files=[near.xyz]", deck="train.yaml", command="run")
says("sample 0 has no field 'species'; a deep_potential is trained on atomic configurations with the fields species, type and coord, such as the "
     "data sets deepmd_npy and extxyz give", T + "dataset={type: expression, samples: 2, box: {x: [0, 1]}, target: {y: x}}", deck="train.yaml",
     command="run")

# Tools
table.begins(deck="train.yaml")
MODEL = "train/train/model.dp"
os.makedirs(table.path("mixed/set.000"), exist_ok=True)
says("--output writes forces of an extended XYZ file; the structure is a system of DeePMD-kit",
     command=["deepmd", "eval", MODEL, "typeless", "--output", "out.xyz"])
says("the model tools run on one rank; start them without mpirun", command=["deepmd", "eval", MODEL, "two.xyz"], ranks=2)

table.file("aparam.npy", npy(numpy.ones((1, 2))))
says("train/train/model.dp: the table's smallest distance must be between 0 and rcut = 4 Å, found 9",
     command=["deepmd", "compress", MODEL, "out.dp", "--r-min", "9"])
says(("train/train/model.dp: with ", " intervals the compressed embedding is still ", " off, more than the tolerance 1.0e-300; give a larger "
      "tolerance, or leave the key compress out"), command=["deepmd", "compress", MODEL, "out.dp", "--tolerance", "1e-300"])
table.begins(command=["deepmd", "compress", MODEL, "small.dp"])
says("small.dp: cannot be trained further: it is compressed; start from the model that it was made of", M + "init=small.dp", deck="train.yaml",
     command="run")

# A checkpoint of a training, damaged
table.interrupts("run.directory=damaged", T + "checkpoint={every: 1}", deck="train.yaml")
last = sorted(f for f in os.listdir(table.path("damaged/train")) if f.endswith(".h5") and "checkpoint" in f or f.startswith("restart"))[-1]
with h5py.File(table.path(f"damaged/train/{last}"), "r+") as file:
    del file["train/network_state"]
    file["train/network_state"] = '{"sel": [1]}'
says("the stored state of the deep_potential is damaged: [json.exception.out_of_range.403] key 'type_map' not found",
     command=["restart", "damaged", T + "steps=2"])

# A test of a model without data
table.file("test.yaml", "run: {name: test, directory: test}\nplugins: [md, deepmd]\nstages:\n  - test: {model: model.dp, systems: []}\n")
says("no system to test the model on; name folders of deepmd/npy data or extended XYZ files", deck="test.yaml")
table.file("positions.xyz", 'Lattice'.join(("1\n", '="9 0 0 0 9 0 0 0 9" DFT_energy=-3 step=7\nO 1 1 1\n')))
NO_LABEL = ("positions.xyz: no frame has a label: there is no key energy, virial or stress, and no column forces; the file has DFT_energy, step: "
            "name its labels, as in labels: {energy: DFT_energy}")
says(NO_LABEL, f"stages[0].test={{model: {MODEL}, systems: [positions.xyz]}}", deck="test.yaml", command="run")
says(NO_LABEL, command=["deepmd", "test", MODEL, "positions.xyz"])
table.file("none.xyz", "")
says("none.xyz: the file holds no frame", command=["deepmd", "test", MODEL, "none.xyz"])
table.file("xenon.xyz", "1\nProperties=species:S:1:pos:R:3 energy=1\nXe 1 1 1\n")
says("species 'Xe' of xenon.xyz, frame 0, is unknown to the model train/train/model.dp; its species: O, H",
     command=["deepmd", "test", MODEL, "xenon.xyz"])

table.run()
