"""Mistakes that would only show when a stage runs, some of them after hours: `cambium check` refuses each, with its place and the fix.

Every case is also measured: less than 5 s of processor time, the start of the program included. What the first stage of a deck would
do wrong is refused by `cambium run` as it begins; what a later stage would, before the first one begins.
"""
# needs: md deepmd kinetic superres podlstm submatrix
import json
import math
import os
import resource
import subprocess
import sys

from deepmd_samples import TRAIN
from table import Table

MD = """
run: {name: argon, directory: out}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.3, cells: [4, 4, 4], species: [Ar]}}
      potential: {type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 8}
      steps: 4000
      checkpoint: {every: 1000}
      output:
        - {type: h5md, every: 100}
        - {type: extxyz, every: 100}
        - {type: rdf, every: 100, start_step: 2000}
  - simulate:
      physics: md
      structure: {file: "{run}/simulate/restart.4000.h5"}
      potential: {type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 8}
      steps: 10
"""
SURROGATE = TRAIN + """
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.3, cells: [2, 2, 2], species: [O]}}
      potential: {type: deep_potential, model: "{run}/train/model.dp"}
      steps: 10
      output:
        - {type: rdf, every: 10, r_max: 4}
"""
LABEL = """
run: {name: label, directory: out}
plugins: [md, deepmd]
stages:
  - label:
      structure: {lattice: {type: fcc, a: 5.3, cells: [2, 2, 2], species: [Ar]}}
      potential: {type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 5}
      perturbed: {frames: 10}
  - train:
      network: {type: deep_potential, rcut: 4, neuron: [4], axis_neuron: 2, fitting: [4]}
      dataset: {type: deepmd_npy, systems: ["{run}/label/train"]}
      batch: 1
      steps: 10
      learning_rate: {type: constant, start: 1e-3}
  - test: {model: "{run}/train/model.dp", systems: ["{run}/label/validation"]}
"""
FIT = """
run: {name: fit, directory: out}
stages:
  - train:
      network: {type: mlp, layers: [4], input: x, target: y}
      dataset: {type: hdf5, files: [d.h5], fields: [{name: x}, {name: y}]}
      batch: 4
      steps: 40
      learning_rate: {type: constant, start: 1e-3}
  - evaluate:
      model: "{run}/train/model.h5"
      dataset: {type: hdf5, files: [d.h5], fields: [{name: x}, {name: y}]}
"""
WAVES = """
run: {name: waves, directory: out}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_poisson
      parameters: {k: 0.5, a: 1e-4}
      domain: {lower: [0], upper: [2*pi/k], cells: [8]}
      species:
        - name: electron
          charge: -1
          velocity: {lower: [-6], upper: [6], cells: [16]}
          f0: (1 + a*cos(k*x)) * maxwellian(v)
      steps: 1000
      output:
        - {type: distribution, every: 200}
  - simulate:
      physics: vlasov_poisson
      parameters: {k: 0.5}
      domain: {lower: [0], upper: [2*pi/k], cells: [16]}
      species: [{name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [32]}}]
      start_from: "{run}/simulate/distribution.1000.h5"
      end_time: 10
"""
CLOSURE = """
run: {name: closure, directory: out}
plugins: [kinetic]
stages:
  - train:
      network: {type: mlp, layers: [4], input: x, target: y}
      dataset: {type: hdf5, files: [d.h5], fields: [{name: x}, {name: y}]}
      batch: 4
      steps: 40
      learning_rate: {type: constant, start: 1e-3}
  - simulate: {physics: moment_fluid, parameters: {k: 0.4}, length: 2*pi/k, end_time: 1,
               closure: {type: model, model: "{run}/train/model.h5"}}
"""
FLOW = """
run: {name: flow, directory: out}
plugins: [superres]
stages:
  - simulate:
      physics: rayleigh_benard
      rayleigh: 1e5
      aspect_ratio: 2
      cells: [16, 8]
      initial: {noise: 0.1}
      end_time: 100
      output: [{type: fields, interval: 1}, {type: spectrum}]
  - verify: {data: "{run}/simulate/fields.h5", equations: ["dx(u) + dz(w) = 0"]}
  - reconstruct: {data: "{run}/simulate/fields.h5", rayleigh: 1e5, ratio: [1, 2, 2]}
  - spin_up: {runs: {cold: "{run}/simulate"}, steady: {run: cold, start_time: 50}}
"""
SERIES = """
run: {name: sea, directory: out}
plugins: [podlstm]
stages:
  - synthetic_field: {weeks: 200}
  - pod: {field: {files: ["{run}/synthetic_field/field.h5"], array: sst, missing: land}, modes: 3}
  - search:
      data: {series: {file: "{run}/pod/pod.h5", training: 150}, window: 8, horizon: 8}
      network: {epochs: 1}
      strategy: random
      trials: 2
  - forecast: {data: {series: {file: "{run}/pod/pod.h5", training: 150}, window: 8, horizon: 8}, ensemble: "{run}/search/ensemble.h5"}
"""
MATRICES = """
run: {name: matrices, directory: out}
plugins: [submatrix]
stages:
  - density_matrix:
      matrices: {file: m.h5}
      eps_filter: 1e-5
"""
A, B, C, D = (f"stages[{k}]." for k in range(4))

table = Table("check", MD)
DECKS = {"md": MD, "surrogate": SURROGATE, "label": LABEL, "fit": FIT, "waves": WAVES, "closure": CLOSURE, "flow": FLOW, "series": SERIES,
         "matrices": MATRICES}
for name, text in DECKS.items():
    table.file(name + ".yaml", text)
N = 16
table.file("d.h5", {"x": [[0.1 * k, 1.0 - 0.05 * k] for k in range(N)], "y": [[0.3 * k % 1.0] for k in range(N)]})
table.file("x.h5", {"x": [[0.1 * k, 1.0 - 0.05 * k] for k in range(N)]})
HEAD = 'Lattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3:forces:R:3 energy=-1'
table.file("two.xyz", f"2\n{HEAD}\nO 1 1 1 0 0 0.1\nH 1 1 2 0 0 -0.1\n")
table.file("same.xyz", "2\n" + HEAD + "\nAr 1 1 1 0 0 0\nAr 1 1 1 0 0 0\n")


def cell(electrons=2.0):
    """Two atoms of one function in two molecules, without their positions."""
    import numpy

    out = {"/": (None, {"n_basis": numpy.int32(2), "n_electrons": electrons}),
           "block_sizes_atom": numpy.array([1, 1], "i4"), "molecule_of_atom": numpy.array([0, 1], "i4")}
    for name, data in (("K", [-0.5, 0.1, 0.1, 0.3]), ("S", [1.0, 0.1, 0.1, 1.0])):
        out[name + "/data"] = data
        out[name + "/indices"] = numpy.array([0, 1, 0, 1], "i4")
        out[name + "/indptr"] = numpy.array([0, 2, 4], "i4")
    return out


table.file("m.h5", cell())


def fields(nt=8, nx=16, nz=8):
    block = [[[(a + 2 * b + 3 * c) % 5 / 5 for c in range(nz)] for b in range(nx)] for a in range(nt)]
    out = {"tasks/" + name: block for name in "pbuw"}
    out["scales/sim_time"] = [0.5 * k for k in range(nt)]
    out["scales/x"], out["scales/z"] = [2 * k / nx for k in range(nx)], [(k + 0.5) / nz for k in range(nz)]
    return out


table.file("fields.h5", fields())
table.file("s.h5", {"coefficients": [[math.sin(0.7 * t)] for t in range(40)],
                    "time": ([7.0 * t for t in range(40)], {"units": "days since 2000-01-01"})})


def says(deck, place, message, *overrides):
    """`place` is the key that is at fault, as the message names it; with an override it lies on the command line."""
    table.says((place, *([message] if isinstance(message, str) else message)), *overrides, deck=deck + ".yaml")


def sound(deck, *overrides):
    """The deck is what the cases change, and works."""
    table.says(None, *overrides, deck=deck + ".yaml", code=0)


for deck in DECKS:
    if deck != "closure":  # which is wrong as it stands
        sound(deck)

# Molecular dynamics
says("md", A + "simulate.output[2].r_max", "rdf: r_max = 12 Å is more than half the smallest width of the cell (21.2 Å): choose at most 10.6 Å or a "
     "larger cell", A + "simulate.output[2].r_max=12")
says("md", B + "simulate.structure.file", "stage 1 (simulate) will not write 'restart.1500.h5', but one such file every 1000 steps, up to step 4000",
     B + "simulate.structure.file=\'{run}/simulate/restart.1500.h5\'")
says("md", B + "simulate.structure.file", "stage 1 (simulate) will not write 'restart.4000.h5'; it writes thermo.csv, thermo.h5, trajectory.h5md, "
     "trajectory.pdb, trajectory.extxyz, rdf.h5, rdf.csv", A + "simulate.checkpoint={at_end: false}")
says("md", B + "simulate.structure.file", "'out/simulate/trajectory.h5md' will be written by the output h5md; expected a file of: output extxyz, "
     "physics md", B + "simulate.structure.file=\'{run}/simulate/trajectory.h5md\'")
says("md", B + "simulate.structure.file", "no stage before this one writes in 'simulation'; did you mean 'simulate'?",
     B + "simulate.structure.file=\'{run}/simulation/restart.4000.h5\'")
says("md", A + "simulate.structure.file", "'out/simulate_2/restart.4000.h5' is written by stage 2, which comes later; change their order",
     A + "simulate.structure={file: \"{run}/simulate_2/restart.4000.h5\"}")
says("md", B + "simulate.structure.file", "'out/simulate_2/restart.10.h5' is in the folder that this stage itself writes; name a file of a stage before",
     B + "simulate.structure.file=\'{run}/simulate_2/restart.10.h5\'")
says("md", A + "simulate.structure", "neighbours per atom would lie within the cut-off and skin of 9 Å: the 256 atoms fill ",
     A + "simulate.structure.lattice.a=0.053")
says("md", A + "simulate", "atoms 1 (Ar) and 2 (Ar) are at the same position", A + "simulate.structure={file: same.xyz}")

says("md", A + "simulate.structure.file", "no stage before this one writes in 'nowhere', and this is the first",
     A + "simulate.structure={file: \"{run}/nowhere/a.extxyz\"}")

# Deep Potentials
says("surrogate", B + "simulate.potential.model", "stage 1 (train) will not write 'model.pd'; it writes model.dp, model.yaml, model.h5, "
     "training.csv, training.h5; did you mean 'model.dp'?", B + "simulate.potential.model=\'{run}/train/model.pd\'")
says("surrogate", B + "simulate.potential.model", "'train/train/model.h5' will be written by the network deep_potential; expected a file of: model of "
     "deep_potential", B + "simulate.potential.model=\'{run}/train/model.h5\'")
says("surrogate", B + "simulate.potential", "species 'Ar' will not be known to the model 'train/train/model.dp'; its training data have: O, H",
     B + "simulate.structure.lattice.species=[Ar]")
says("surrogate", B + "simulate.output[0].r_max", "rdf: r_max = 8 Å is more than half the smallest width of the cell (10.6 Å): choose at most 5.3 Å "
     "or a larger cell", B + "simulate.output[0].r_max=8")
says("surrogate", A + "train.dataset.files[0]", "none.xyz", A + "train.dataset.files=[none.xyz]")
says("surrogate", A + "train.network.sel", "sel has 1 value(s), but the species are O, H", A + "train.network.sel=[4]")
says("label", A + "label", "label: 'select' measures how much the models of a committee deviate; give explore_with.committee",
     A + "label.select={low: 0.1, high: 1}", A + "label.explore_with={type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 5}")
says("label", B + "train.dataset.systems[0]", "stage 1 (label) will not write 'training'; it writes train/, validation/",
     B + "train.dataset.systems=[\"{run}/label/training\"]")
says("label", C + "test", "none: not a deepmd/npy system: there is no type.raw", C + "test.systems=[none]")

# Training
says("fit", A + "train.batch", "batch is 40, but the training set has 16 samples; lower batch", A + "train.batch=40")
says("fit", A + "train.hold_out", "hold_out 0.001 of 16 samples is none; hold out more, or remove it", A + "train.hold_out=0.001")
says("fit", A + "train.validate.metric_weights", "validate.metric_weights has 9 weights, but mlp is evaluated by ", A + "train.hold_out=0.2",
     A + "train.validate.metric_weights=[1, 1, 1, 1, 1, 1, 1, 1, 1]")
says("fit", A + "train.dataset.files[0]", "none.h5", A + "train.dataset.files=[none.h5]")
says("fit", A + "train", "x.h5", A + "train.dataset.files=[x.h5]")
says("fit", B + "evaluate", "the data set has no field 'y', which 'out/train/model.h5' will be trained with; it has: x",
     B + "evaluate.dataset={type: hdf5, files: [x.h5], fields: [{name: x}]}")
says("fit", B + "evaluate.model", "'out/train/training.csv' will be written by the stage train; expected a file of: network *",
     B + "evaluate.model=\'{run}/train/training.csv\'")

# Kinetic
says("waves", A + "simulate.species[0]", "species 'electron': f0 has the density -", A + "simulate.species[0].f0=(0.5 + cos(k*x))*maxwellian(v)")
says("waves", A + "simulate.species[0]", "species 'electron': f0 has the density", A + "simulate.species[0].f0=sqrt(cos(k*x))*maxwellian(v)")
says("waves", A + "simulate.species[0]", ("species 'electron': f0 is ", " at ", "; it must be finite everywhere"), A + "simulate.domain.cells=[4096]",
     A + "simulate.species[0].velocity.cells=[512]", A + "simulate.species[0].f0=sqrt(cos(k*x))*maxwellian(v)")
says("waves", B + "simulate.start_from", "stage 1 (simulate) will not write 'distribution.900.h5', but one such file every 200 steps, up to step 1000",
     B + "simulate.start_from=\'{run}/simulate/distribution.900.h5\'")
says("closure", B + "simulate.closure.model", "'out/train/model.h5' will be written by the network mlp; expected a file of: network heat_flux_kernel")

# Flows
says("flow", B + "verify.data", "stage 1 (simulate) will not write 'fields.h5'; it writes thermo.csv, thermo.h5, restart.*.h5, spectrum.csv",
     A + "simulate.output=[{type: spectrum}]")
says("flow", B + "verify.data", "'out/simulate/spectrum.csv' will be written by the output spectrum; expected a file of: output fields, fields of "
     "reconstruct", B + "verify.data=\'{run}/simulate/spectrum.csv\'")
says("flow", B + "verify", "q", B + "verify.data=fields.h5", B + "verify.fields=[q]", B + "verify.equations=['q = 0']")
says("flow", A + "simulate.initial.file", "'fields.h5' is 2 wide and this run 4: start from fields of the same domain", A + "simulate.width=4",
     A + "simulate.initial={file: fields.h5}")
says("flow", C + "reconstruct", "'write' requests t = 0 to 40, the coarse samples of 'fields.h5' span t = 0 to 3.5, and 'linear' does not extrapolate: "
     "choose values within", C + "reconstruct.data=fields.h5", C + "reconstruct.write={method: linear, points: [4, 16, 8], times: [0, 40]}")
says("flow", D + "spin_up", "'out/simulate/thermo.h5' has no column 'nusselt'; name among: step, time, nusselt_bottom",
     D + "spin_up.quantities=[nusselt]")

# Series
says("series", B + "pod.field", "'out/synthetic_field/field.h5' will have no array 'temperature'; known: time, lat, lon, sst",
     B + "pod.field.array=temperature")
says("series", C + "search.network.head", "network.head: a recurrent head gives as many times as it reads, but window and horizon differ; use head: dense",
     C + "search.network.head=recurrent", C + "search.data.horizon=4")
says("series", D + "forecast.ensemble", "'out/search/journal.h5' will be written by the stage search; expected a file of: ensemble of search",
     D + "forecast.ensemble=\'{run}/search/journal.h5\'")
says("series", D + "forecast.data", "", D + "forecast={data: {series: {file: s.h5, training: 30}, window: 8, horizon: 8}}")

# Matrices
M = A + "density_matrix."
says("matrices", M + "solver", "newton_schulz and pade give the sign function at one mu: add mu, leave out temperature, or choose solver lanczos or "
     "diagonalise", M + "solver=pade")
says("matrices", M + "electrons", "electrons is 2.5: without temperature it must be a whole number; correct it, or add a temperature (temperature: 1000 "
     "K)", M + "electrons=2.5")
says("matrices", M + "groups", "groups by space need the positions of the atoms", M + "groups={by: space}")
says("matrices", M + "prediction.model", "none.h5", M + "prediction={model: none.h5}")


def measured():
    """Processor time of each case alone; the names of those that take longer than 5 s."""
    late = []
    for _, words, _, _ in table.cases:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([os.environ["CAMBIUM_MANY_COMMANDS"], json.dumps(words)], cwd=table.folder, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if "-v" in sys.argv:
            print(f"{seconds:6.2f} s  {' '.join(words)}")
        if seconds >= 5.0:
            late.append(f"{seconds:.1f} s: {' '.join(words)}")
    return late


late = measured()
print("\n".join(late))
if late:
    sys.exit(1)
table.run()
