"""What the plugin graph says about molecules that cannot be used."""
# needs: torch graph
from table import Table

DECK = """
run: {name: molecules, directory: out}
plugins: [graph]
stages:
  - train:
      network: {type: message_passing, layers: 1, width: 4, num_radial: 2, cutoff: 3}
      dataset: {type: molecules, file: two.h5, group: small}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
JUDGE = """
run: {name: judge, directory: judge}
plugins: [graph]
stages:
  - molecule_energies:
      training: {type: molecules, synthetic: {molecules: 10}, fold: 0}
      test: {type: molecules, synthetic: {molecules: 10}, fold: 0, split: test}
"""
FORMULA = """
run: {name: formula, directory: formula}
plugins: [graph]
stages:
  - train:
      network: {type: mlp, layers: [2]}
      dataset: {type: expression, samples: 4, box: {x: [0, 1]}, target: {y: x}}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
T = "stages[0].train."
D = T + "dataset."
J = "stages[0].molecule_energies."
WATER = {"offset": [0, 3, 5], "species": [8, 1, 1, 8, 1], "energy": [-232.0, -110.0],
         "position": [[0.0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0], [0, 0, 0], [0, 0, 0.97]]}
table = Table("graph_molecules", DECK)


def says(message, *overrides, **how):
    table.says(message, *overrides, command=how.pop("command", "run"), **how)


def file(name, **changed):
    """Water and a radical in one group, with other arrays in place of some, or without them (None)."""
    arrays = {**WATER, **changed}
    table.file(name, {"small": None, **{"small/" + key: value for key, value in arrays.items() if value is not None}})


def wrong(name, message, **changed):
    file(name, **changed)
    says(message, D + "file=" + name)


# Keys
file("two.h5")
table.file("judge.yaml", JUDGE), table.file("formula.yaml", FORMULA)
says("give one of: file, synthetic", D + "made_up={molecules: 10}", command="check")
says("give one of: file, synthetic", D + 'file=""', command="check")
says("split: test takes the molecules of a fold; give one (fold: 0), or leave split out for all molecules", D + "fold=null", D + "part=test",
     command="check")
says("fold is 5, but they are counted from 0 to 4", D + "fold=5", command="check")
says("energy_unit: nm is no unit of an energy; give one such as kcal/mol or eV", D + "energy_unit=nm", command="check")
says("'atoms' needs 1 <= fewest <= most <= 200", T + "dataset={type: molecules, synthetic: {atoms: [9, 4]}}", command="check")

# HDF5
wrong("none.h5", "'none.h5', group 'small': there is no array 'energy'; molecules need offset, species, position and energy", energy=None)
says("'two.h5' has no group 'large'; it has: small", D + "group=large")
says("'two.h5': there is no array 'offset'; molecules need offset, species, position and energy; or name a group: small", D + 'group=""')
wrong("begin.h5", "'begin.h5', group 'small': 'offset' must begin with 0 and have one entry more than there are molecules", offset=[1, 3, 5])
wrong("fall.h5", "'fall.h5', group 'small': offset[2] is 3 after 3; it must rise by 1 at least", offset=[0, 3, 3])
wrong("shape.h5", "'shape.h5', group 'small': 'energy' has the shape (3), expected (2)", energy=[1.0, 2.0, 3.0])
wrong("atoms.h5", "'atoms.h5', group 'small': 'species' has the shape (4), expected (5)", species=[8, 1, 1, 8])
wrong("offsets.h5", "'offsets.h5', group 'small': 'bond_offset' has 2 entries, 'offset' 3; both have one more than there are molecules",
      bond=[[0, 1, 1]], bond_offset=[0, 1])
wrong("element.h5", "'element.h5', group 'small', molecule 0: atom 1 has the atomic number 0, which no element has", species=[8, 0, 1, 8, 1])
wrong("nan.h5", "'nan.h5', group 'small', molecule 1: the position of atom 0 is not finite; leave the molecule out",
      position=WATER["position"][:3] + [[0, 0, float("nan")], [0, 0, 1]])
wrong("inf.h5", "'inf.h5', group 'small', molecule 1: its energy is not finite; leave the molecule out", energy=[1.0, float("inf")])
wrong("push.h5", "'push.h5', group 'small', molecule 0: the force on atom 2 is not finite; leave the molecule out",
      force=[[0.0, 0, 0], [0, 0, 0], [0, float("nan"), 0], [0, 0, 0], [0, 0, 0]])
wrong("near.h5", "'near.h5', group 'small', molecule 1: atoms 0 and 1 are 0.097 Å apart, nearer than any two nuclei; positions are in Å: convert "
      "them, or leave the molecule out", position=WATER["position"][:3] + [[0, 0, 0], [0, 0, 0.097]])
wrong("bond.h5", "'bond.h5', group 'small', molecule 1: bond 0 joins the atoms 0 and 2; it has atoms 0 to 1", bond=[[0, 1, 1], [0, 2, 1]],
      bond_offset=[0, 1, 2])
table.file("unit.h5", {"small": None, **{"small/" + key: value for key, value in WATER.items()}, "small/energy": (WATER["energy"], {"unit": "eV"})})
says("'unit.h5' states energies in eV, energy_unit in kcal/mol; remove energy_unit", D + "file=unit.h5", D + "energy_unit=kcal/mol")
says("'folds.h5': fold 1 holds 2 of 2 molecules, so that one part is empty; choose another fold", D + "file=folds.h5", D + "fold=1")
file("folds.h5", fold=[1, 1])

# Extended XYZ
def frames(name, text, message, *overrides):
    table.file(name, text)
    says(message, D + "file=" + name, *overrides)


FRAME = "1\nenergy=1 Properties=species:S:1:pos:R:3\nH 0 0 0\n"
frames("empty.xyz", "", "'empty.xyz' holds no frame")
frames("count.xyz", "H 0 0 0\n", "count.xyz:1: expected the number of atoms, found 'H 0 0 0'")
frames("short.xyz", "2\nenergy=1\nH 0 0 0\n", "short.xyz:3: the file ends after 1 of the frame's 2 atoms")
frames("cut.xyz", "2\n", "cut.xyz:1: the file ends where a frame's comment line should be")
frames("cell.xyz", '1\nLattice="9 0 0 9 0 0 0 0 9" energy=1\nH 0 0 0\n',
       "'cell.xyz', frame 0 (line 1): its periodic cell is 0 Å high, smaller than any atom; correct the lattice")
frames("image.xyz", '1\nLattice="9 0 0 0 9 0 0 0 0.2" energy=1\nH 0 0 0\n',
       "'image.xyz', frame 0 (line 1): its periodic cell is 0.2 Å high, smaller than any atom; correct the lattice")
frames("crystal.xyz", '1\nLattice="9 0 0 0 9 0 0 0 9" energy=1\nH 0 0 0\n',
       "a kernel compares molecules in vacuum, but some of these have a periodic cell; leave coulomb and bag_of_bonds out of 'baselines', and take "
       "another 'reference'", T + "model.reference=coulomb", T + "batch=1")
frames("label.xyz", "1\nE=1\nH 0 0 0\n", "label.xyz:2: the comment has no energy=...; set energy: NAME to the name of the energy")
frames("energies.xyz", '1\nenergy="1 2"\nH 0 0 0\n', "energies.xyz:2: energy holds 2 values, not 1")
frames("quote.xyz", '1\nenergy="1\nH 0 0 0\n', 'quote.xyz:2: the value of energy has no closing "')
frames("columns.xyz", "1\nenergy=1 Properties=species:S:1\nH\n", "columns.xyz:2: Properties=species:S:1 lacks pos:R:3")
frames("width.xyz", "1\nenergy=1 Properties=species:S:0:pos:R:3\nH 0 0 0\n", "width.xyz:2: Properties=species:S:0:pos:R:3: species has 0 columns, expected 1 to 100000")
frames("words.xyz", "1\nenergy=1\nH 0 0\n", "words.xyz:3: expected 4 columns (species:S:1:pos:R:3), found 3")
frames("symbol.xyz", "1\nenergy=1\nQq 0 0 0\n", "symbol.xyz:3: 'Qq' is no element")
frames("forces.xyz", FRAME + "1\nenergy=1 Properties=species:S:1:pos:R:3:forces:R:3\nH 0 0 0 0 0 0\n",
       "forces.xyz:6: this frame has a column 'forces', those before it have none")
frames("forces2.xyz", "1\nenergy=1 Properties=species:S:1:pos:R:3:forces:R:3\nH 0 0 0 0 0 0\n" + FRAME,
       "forces2.xyz:6: this frame has no column 'forces', those before it have it")

# What the network and the table need
says("'force_weight' is not 0, but the molecules have no forces; give a file that has them, or remove it", T + "model.force_weight=1")
says("the molecules have no bonds to count; take atoms, or give a file with the array 'bond'", T + "model.reference=bonds")
table.file("forces.h5", {"small": None, **{"small/" + key: value for key, value in WATER.items()}, "small/force": [[0.0, 0, 0]] * 5})
says("'force_weight' is not 0, but energies by 'reference: coulomb' have no forces; take atoms or bonds, or remove it", D + "file=forces.h5",
     T + "model.force_weight=1", T + "model.reference=coulomb")
says("this network reads molecules: give a data set of the type molecules, deepmd_npy or extxyz, with energies", T + "dataset={type: expression, samples: 4, box: {x: [0, 1]}, target: {energy: x}}")
table.begins(deck="formula.yaml")
says("'formula/train/model.h5' is a 'mlp', which gives no energies of molecules; name a model of the type message_passing",
     J + "models=[formula/train/model.h5]", deck="judge.yaml")
file("gold.h5", species=[8, 1, 1, 79, 1])
says("a molecule has the element Au, which none of the training set has", J + "test={type: molecules, file: gold.h5, group: small}", deck="judge.yaml")
file("moved.h5", position=[[1.0, 0, 0], [1.96, 0, 0], [0.76, 0.93, 0], [1, 0, 0], [1, 0, 0.97]])
says("the molecules have no bonds to count; take atoms, or give a file with the array 'bond'",
     J + "training={type: molecules, file: two.h5, group: small}", J + "test={type: molecules, file: moved.h5, group: small}",
     J + "baselines=[atoms, bonds]", deck="judge.yaml", command="check")
says("there is nothing to evaluate: name models, baselines or both", J + "rivals=[]", deck="judge.yaml", command="check")
says("the energies for training are in kcal/mol, those for the test in eV; convert one of them", J + "test={type: molecules, file: unit.h5, group: small}",
     deck="judge.yaml")
says("all molecules of 'test' are also in 'training', so that their errors are too small; give other molecules: split: test of the same fold",
     J + "test.part=training", deck="judge.yaml")

table.run()
