"""What the plugin cosmo says about decks that cannot work."""
# needs: cosmo md
import numpy

from table import Table, built_with

DECK = """
run: {name: web, directory: out}
plugins: [cosmo, md]
stages:
  - simulate:
      physics: particle_mesh
      box_size: 64
      particles: 8
      num_steps: 4
      output: [{type: matter, every: 2}]
"""
ATOMS = """
run: {name: atoms, directory: atoms}
plugins: [cosmo, md]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 3.61, cells: [4, 4, 4], species: [Cu]}}
      potential: {type: sutton_chen, element: Cu, cutoff: 5.5}
      steps: 2
      output: [{type: matter}]
"""
BOXES = """
run: {name: boxes, directory: boxes}
plugins: [cosmo]
stages:
  - structure_boxes: {boxes: 12, vary: {omega_m: [0.1, 0.5]}, box_size: 64, particles: 8, num_steps: 2}
"""
INFER = """
run: {name: infer, directory: infer}
plugins: [cosmo]
stages:
  - infer_cosmology: {boxes: boxes/structure_boxes/boxes.h5, training: [0, 8], test: [8, 12]}
"""
TRAIN = """
run: {name: train, directory: train}
plugins: [cosmo]
stages:
  - train:
      network: {type: cosmoflow, channels: [4], hidden: [4]}
      dataset: {type: hdf5, files: [boxes/structure_boxes/boxes.h5], fields: [{name: counts}, {name: target}]}
      batch: 4
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
S = "stages[0].simulate."
C = S + "cosmology."

table = Table("cosmo", DECK)
says = table.says
for name, text in {"atoms": ATOMS, "boxes": BOXES, "infer": INFER, "train": TRAIN}.items():
    table.file(name + ".yaml", text)
B, I, T = "stages[0].structure_boxes.", "stages[0].infer_cosmology.", "stages[0].train."

says("w0 (-0.8) and wa (0.4) add up to -0.4, and such dark energy matters before structure grows; take a sum of at most -0.5", C + "w0=-0.8", C + "wa=0.4")
says("omega_b (0.32) is a part of omega_m (0.3); take a smaller one", C + "omega_b=0.32", C + "omega_m=0.3")
says("the transfer function eisenstein_hu does not hold where baryons (omega_b 0.0495) are so much of matter (omega_m 0.05); "
     "take fewer, or 'transfer: bbks'", C + "omega_b=0.0495", C + "omega_m=0.05", C + "h=0.3")
says("the transfer function eisenstein_hu_wiggles is that of a universe with baryons; give omega_b, or take 'transfer: eisenstein_hu'",
     C + "omega_b=0", C + "transfer=eisenstein_hu_wiggles")
says("final_scale_factor (0.01) must be greater than initial_scale_factor (0.02)", S + "end=0.01")
says("particles (9) must be an even number; take 10", S + "particles=9")
says("mesh (11) must be an even number; take 12", S + "mesh=11")
says("a row of 134 values cannot be transformed: 134 has a prime factor above 61; take a number made of 2, 3 and 5", S + "particles=134")
says("mesh (12) must be a multiple or a divisor of particles (8): otherwise the cells pull a lattice at rest apart; take 8 or 16", S + "mesh=12")
says("mesh (6) must be a multiple or a divisor of particles (8): otherwise the cells pull a lattice at rest apart; take 8", S + "mesh=6")
says("output 'matter' is for the physics particle_mesh; leave it out", deck="atoms.yaml")

# Boxes of many cosmologies
boxes = {"deck": "boxes.yaml"}
says("give exactly one of 'vary' and 'cosmologies'", B + "vary={}", **boxes)
says("give exactly one of 'vary' and 'cosmologies'", B + "cosmologies=a.h5", **boxes)
says("final_scale_factor (0.05) must be greater than initial_scale_factor (0.1)", B + "end=0.05", **boxes)
says("particles (9) must be an even number; take 10", B + "particles=9", **boxes)
says("vary: a cosmology has no 'omega_k'; name omega_m, omega_b, h, n_s or sigma_8", B + "vary={omega_k: [0, 1]}", **boxes)
says("vary: the interval of h must begin below its end, but is [0.8, 0.6]", B + "vary={h: [0.8, 0.6]}", **boxes)
says(("box ", " would have omega_b ", ": omega_b is a part of omega_m, and has to be smaller; take narrower intervals"),
     B + "vary={omega_b: [0.32, 0.5]}", **boxes)
says(("box ", " would have omega_m ", ": the transfer function eisenstein_hu does not hold where baryons are so much of matter; take narrower intervals"),
     B + "vary={omega_m: [0.05, 0.06]}", B + "cosmology={h: 0.3, omega_b: 0.0495}", **boxes)
says(("box ", " would have h ", ", but has to be from 0.3 to 2; take narrower intervals"), B + "vary={h: [60, 80]}", **boxes)
says(("box ", " would have omega_b ", ": omega_b is -", ", but has to be from 0 to 0.5; take narrower intervals"), B + "vary={omega_b: [-0.1, -0.05]}",
     **boxes)
names = {"columns": "Omega_m sigma_8"}
table.file("none.h5", {"parameters": numpy.ones((3, 2))})
table.file("words.h5", {"parameters": (numpy.array([[b"a", b"b"]]), names)})
table.file("other.h5", {"parameters": (numpy.ones((3, 2)), {"columns": "Omega_m w"})})
table.file("short.h5", {"parameters": (0.3 * numpy.ones((3, 2)), names)})
file = [B + "vary={}"]
says("'none.h5' has no array 'parameters' with an attribute 'columns'; give one, or use 'vary'", *file, B + "cosmologies=none.h5", **boxes)
says("'words.h5' has text as 'parameters'; give numbers", *file, B + "cosmologies=words.h5", **boxes)
says("'other.h5' has a column 'w'; name omega_m, omega_b, h, n_s and sigma_8 in 'columns'", *file, B + "cosmologies=other.h5", **boxes)
table.file("same.h5", {"parameters": (0.3 * numpy.ones((12, 2)), names)})
says("'same.h5' has the same cosmology in every row; give rows that differ", *file, B + "cosmologies=same.h5", **boxes)
says("'short.h5' has fewer than 12 rows of 2 values; make fewer boxes", *file, B + "cosmologies=short.h5", **boxes)
spread = numpy.linspace(0.8, 0.95, 24).reshape(12, 2)
table.file("third.h5", {"parameters": (spread, {"columns": "omega_m n_s h"})})
says("'third.h5': 'columns' names 3 values of each row, but 'parameters' has the shape (12, 2)", *file, B + "cosmologies=third.h5", **boxes)
table.file("percent.h5", {"parameters": (100 * spread, {"columns": "n_s h"})})
says("box 0 would have n_s 80, h 80.65: h is 80.6522, but has to be from 0.3 to 2; correct 'percent.h5'", *file, B + "cosmologies=percent.h5", **boxes)
spread[10, 1] = numpy.nan
table.file("hole.h5", {"parameters": (spread, {"columns": "omega_m n_s"})})
says("'hole.h5': n_s in row 10 is not finite; correct it, or leave the row out", *file, B + "cosmologies=hole.h5", **boxes)

# What they tell
table.begins(deck="boxes.yaml")
infer = {"deck": "infer.yaml"}
says("training [3, 3] holds no boxes; give the first and one past the last", I + "training=[3, 3]", **infer)
says("training and test share boxes; evaluate on others than those of the fit", I + "training=[0, 9]", **infer)
says("training has fewer than 5 boxes; give more", I + "training=[0, 4]", **infer)
says("test requests boxes up to 19, but 'boxes/structure_boxes/boxes.h5' has 12; make more, or request fewer", I + "test=[8, 20]",
     command="run", **infer)
says("'none.h5' holds no boxes of many cosmologies; give the file of a stage structure_boxes", I + "boxes=none.h5", command="run", **infer)
if built_with("torch"):
    train = {"deck": "train.yaml", "command": "run"}
    says("channels: name at least one convolution, or statistics for a network of these alone", T + "network.channels=[]", **train)
    says("hidden: a width of 0 is none; give 1 or more", T + "network.hidden=[0]", **train)
    says("cosmoflow reads cubes of counts; field 'target' has the shape (1)", T + "network.input=target", **train)
    says("cosmoflow needs a row of values per box; field 'counts' has the shape (8, 8, 8)", T + "network.target=counts", **train)
    says("4 convolutions halve a box of 8 cells to no whole number; list fewer channels", T + "network.channels=[2, 2, 2, 2]", **train)
    table.begins(T + "network.target=power", T + "dataset.fields=[{name: counts}, {name: power}]", deck="train.yaml")
    says("models: 'train/train/model.h5' holds a cosmoflow, which does not give 1 values of a box; train a cosmoflow",
         I + "models=[train/train/model.h5]", command="run", **infer)

table.run()
