"""What the plugin superres says about decks and data that cannot work."""
# needs: superres kinetic
from flow_fields import fields, solid
from table import Table, built_with

DECK = """
run: {name: flow, directory: out}
plugins: [superres]
stages:
  - simulate:
      physics: rayleigh_benard
      rayleigh: 1e5
      aspect_ratio: 2
      cells: [16, 8]
      initial: {noise: 0.1}
      end_time: 1
      sample_interval: 0.25
      output: [{type: fields, interval: 0.25}]
"""
VERIFY = """
run: {name: verify, directory: verify}
plugins: [superres]
stages:
  - verify: {data: fields.h5, equations: ["dt(b) = 0"]}
"""
RECONSTRUCT = """
run: {name: reconstruct, directory: reconstruct}
plugins: [superres]
stages:
  - reconstruct: {data: fields.h5, rayleigh: 1e6, ratio: [1, 2, 2]}
"""
TRAIN = """
run: {name: train, directory: train}
plugins: [superres]
stages:
  - train:
      network: {type: meshfree_flow_net, base_channels: 4, latent_dim: 4, decoder: [4]}
      dataset: {type: crops, data: [fields.h5], ratio: [1, 2, 2], crop: [4, 0, 0], points: 4, samples: 4}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
REFINE = TRAIN + """
  - reconstruct: {data: fields.h5, rayleigh: 1e6, ratio: [1, 2, 2], models: {net: "{run}/train/model.h5"}, refine: {models: [net]}, equations: ["dx(u) + dz(w) = 0"]}
"""
PLUMES = """
run: {name: plumes, directory: plumes}
plugins: [superres]
stages:
  - find_plumes: {training: {type: plumes, data: [fields.h5]}, test: {type: plumes, data: [fields.h5]}}
"""
MARK = """
run: {name: mark, directory: mark}
plugins: [superres]
stages:
  - train:
      network: {type: deepcam, base_channels: 2, levels: 1}
      dataset: {type: plumes, data: [fields.h5]}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
FORECAST = """
run: {name: forecast, directory: forecast}
plugins: [superres]
stages:
  - train:
      network: {type: fourier_operator, width: 2, layers: 1, modes: [2, 2]}
      dataset: {type: snapshots, data: [fields.h5]}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
COARSE = FORECAST.replace("forecast,", "coarse,").replace("directory: forecast", "directory: coarse").replace(
    "{type: snapshots, data: [fields.h5]}", "{type: crops, data: [fields.h5], ratio: [1, 2, 2], crop: [4, 0, 0], points: 4, samples: 4}").replace(
    "modes: [2, 2]", "modes: [2, 2], ratio: [1, 2, 2]")
CORRECT = FORECAST.replace("forecast,", "correct,").replace("directory: forecast", "directory: correct").replace(
    "{type: snapshots, data: [fields.h5]}", "{type: corrections, data: [fields.h5], rayleigh: 1e5}")
SCORE = """
run: {name: score, directory: score}
plugins: [superres]
stages:
  - score_forecasts: {data: [fields.h5], rayleigh: 1e5, history: 2, horizon: 4, windows: [[0, 2]]}
"""
WRITE_WELL = """
run: {name: write_well, directory: write_well}
plugins: [superres]
stages:
  - write_well: {train: [fields.h5], rayleigh: 1e5}
"""
SPIN_UP = """
run: {name: spin_up, directory: spin_up}
plugins: [superres]
stages:
  - spin_up: {runs: {cold: rest}, steady: {run: cold, start_time: 1}}
"""
KINETIC = """
run: {name: gas, directory: gas}
plugins: [kinetic, superres]
stages:
  - simulate:
      physics: boltzmann_bgk
      domain: {lower: [0], upper: [1], cells: [4]}
      species: [{name: gas, velocity: {lower: [-6], upper: [6], cells: [8]}, f0: maxwellian(v), collisions: {frequency: 0}}]
      end_time: 0.1
      output: [{type: fields, interval: 0.1}]
"""
S, V, R, T = "stages[0].simulate.", "stages[0].verify.", "stages[0].reconstruct.", "stages[0].train."

table = Table("superres", DECK)
says = table.says
for name, text in {"verify": VERIFY, "reconstruct": RECONSTRUCT, "train": TRAIN, "refine": REFINE, "spin_up": SPIN_UP, "gas": KINETIC, "plumes": PLUMES, "mark": MARK,
                   "forecast": FORECAST, "score": SCORE, "write_well": WRITE_WELL,
                   "coarse": COARSE, "correct": CORRECT}.items():
    table.file(name + ".yaml", text)
table.file("stated.yaml", COARSE.replace("coarse,", "stated,").replace("directory: coarse", "directory: stated").replace("[fields.h5]", "[stated.h5]"))
table.file("fields.h5", fields())

# Training
says("this network does not define parts that could be recomputed; take activations: {mode: compressed}",
     "stages[0].train.activations={keep: recomputed}", deck="train.yaml", command="check")

# Equations
for message, text in {
    "equation 1, column 11: ')' is not expected here\n  dt(b) = 0 )\n            ^": "dt(b) = 0 )",
    "equation 1, column 5: '+' is not expected here\n  b + + u\n      ^": "b + + u",
    "equation 1, column 1: the equation has no terms\n  0 = 0\n  ^": "0 = 0",
    "equation 1, column 3: a power must be a whole number from 1 to 8\n  b^0.5 = 0\n    ^": "b^0.5 = 0",
    "equation 1, column 4: a number, a name or '(' is expected at the end\n  b +\n     ^": "b +",
    "equation 1, column 1: a number is expected here\n  .b = 0\n  ^": ".b = 0",
    "equation 1, column 1: 'Q' is neither a field (p, b, u, w) nor a constant (none is given)\n  Q = 0\n  ^": "Q = 0",
}.items():
    says(message, V + f"equations=['{text}']", deck="verify.yaml")

# Files of fields
table.file("other.h5", {"temperature": [1.0]})
well = {"dimensions/time": [0.0, 1.0], "dimensions/x": [0.0, 1.0], "dimensions/y": [0.0, 0.5], "t0_fields/buoyancy": [[[[1.0, 2.0]] * 2] * 2]}
table.file("well.h5", well)
says("'well.h5#7' requests trajectory 7, but the file has 1, counted from 0",
     V + "data=well.h5#7", V + "fields=[b]", V + "equations=['b=0']", deck="verify.yaml", command="run")
says("'other.h5' has no groups /tasks and /scales: expected fields by (t, x, z) as Dedalus and the output 'fields' write them, or "
     "/t0_fields and /dimensions of The Well; it holds: temperature", V + "data=other.h5", deck="verify.yaml", command="run")
lacking = fields()
del lacking["scales/z"]
table.file("lacking.h5", lacking)
says("'lacking.h5' has no coordinate 'z' in /scales (it has: sim_time, x)", V + "data=lacking.h5", deck="verify.yaml", command="run")
table.file("twice.h5", fields(4, times=[0.0, 0.5, 0.5, 1.0]))
says("coordinate 'sim_time' of 'twice.h5' does not increase after its entry 1 (0.5)", V + "data=twice.h5", deck="verify.yaml", command="run")
table.file("two.h5", fields(2))
says("'dt(b) = 0' takes a derivative in time, but 'two.h5' has 2 frame(s); at least three are needed", V + "data=two.h5",
     deck="verify.yaml", command="run")
says(("equation 1: the data themselves have a residual of ", " of its largest term, allowed is 0.05; check its signs and constants, and "
      "whether the frames are close enough for derivatives in time"), V + "equations=['p + b = 0']", deck="verify.yaml", command="run")
says("'fields.h5' is 2 wide and this run 4: start from fields of the same domain", S + "width=4", S + "initial={file: fields.h5}", command="run")
says("this output needs the fields u, w, b and p on a grid, and 'x_faces' is missing; use it with the physics rayleigh_benard or cavity",
     deck="gas.yaml", command="run")

# Masks
block = fields()
table.file("wide_mask.h5", {**block, "tasks/mask": [[0] * 16] * 8})
says("mask '/tasks/mask' of 'wide_mask.h5' has shape (8, 16), coordinates and attributes require (16, 8)", V + "data=wide_mask.h5",
     deck="verify.yaml", command="run")
table.file("all_hidden.h5", {**block, "tasks/mask": [[1] * 8] * 16})
says("the mask of 'all_hidden.h5' hides every point at t = 0.5; leave that frame out", V + "data=all_hidden.h5", deck="verify.yaml",
     command="run")
rows = [[k % 3 == 0] * 8 for k in range(16)]
table.file("rows_hidden.h5", {**block, "tasks/mask": rows})
says("no point of 'rows_hidden.h5' is so far from its mask that 'dx(b) = 0' could be evaluated there: derivatives use seven points along "
     "each axis", V + "data=rows_hidden.h5", V + "equations=['dx(b) = 0']", deck="verify.yaml", command="run")
table.file("body.h5", {**block, "tasks/mask": [[k == 3] * 8 for k in range(16)]})
says("'body.h5' hides points under a mask, and this flow has no bodies: start from fields without a mask", S + "initial={file: body.h5}",
     command="run")
# The Well says in booleans which points lie in bodies.
table.file("hidden_well.h5", {**well, "boundary_conditions/xy_wall/mask": [[[True, True], [True, True]]], "boundary_conditions/xy_wall": (None, {
    "bc_type": "WALL", "associated_dims": ["x", "y"], "sample_varying": True, "time_varying": False})})
says("the mask of 'hidden_well.h5' hides every point at t = 0; leave that frame out", V + "data=hidden_well.h5", V + "fields=[b]",
     V + "equations=['b=0']", deck="verify.yaml", command="run")

# What x does at its ends
def along_x(name, periodic, x=None):
    table.file(name, {**block, "scales/x": (x or [2 * k / 16 for k in range(16)], {"periodic": periodic})})


along_x("walls.h5", 0)
along_x("around.h5", 1)
along_x("uneven.h5", 1, [(k / 8) ** 2 for k in range(16)])
says("x of 'walls.h5' is ending at walls in the file, and is requested as periodic: leave out 'periodic', or take fields of another domain",
     R + "data=walls.h5", R + "periodic=true", deck="reconstruct.yaml", command="run")
says("x of 'around.h5' is periodic in the file, and is requested as ending at walls: leave out 'periodic', or take fields of another domain",
     V + "data=around.h5", V + "periodic=false", deck="verify.yaml", command="run")
says("x of 'uneven.h5' is periodic, but its points are not equally spaced, so that its period is unknown; write the fields at equally spaced points",
     V + "data=uneven.h5", deck="verify.yaml", command="run")

# Reconstruction and crops
says("write.method 'quintic' is none of methods and models", R + "write={method: quintic, points: [4, 8, 8]}", deck="reconstruct.yaml")
says("refine.models 'net' is none of models", R + "refine={models: [net]}", deck="reconstruct.yaml")
says("'ratio' must be at least 1 along every axis", R + "ratio=[1, 0.5, 1]", deck="reconstruct.yaml")
says("'points' must be at least 1 along every axis", R + "write={method: cubic, points: [4, 0, 8]}", deck="reconstruct.yaml")
W = R + "write={method: cubic, points: [4, 8, 8], "
says("'write' requests z = 0 to 0.9375, the coarse samples of 'fields.h5' span z = 0.0625 to 0.9375, and 'cubic' does not extrapolate: choose values "
     "within, or choose a model with 'plates'", W + "heights: [0, 0.9375]}", deck="reconstruct.yaml", command="run")
says("'write' requests t = 0 to 4, the coarse samples of 'fields.h5' span t = 0 to 3.5, and 'cubic' does not extrapolate: choose values within",
     W + "times: [0, 4]}", deck="reconstruct.yaml", command="run")
says("'refine' descends along the equations of the data, which a model trained on other data need not have: give 'equations' and their 'constants' "
     "in this stage, too", R + "models={net: net.h5}", R + "refine={models: [net]}", deck="reconstruct.yaml")
N = R + "methods=[nudged]"
says("'nudged' computes on with the flows of rayleigh_benard and cavity, 0 < z < 1 and b = -1/2 to 1/2 without bodies, and 'fields.h5' has |b| up to "
     "0.8: leave it out of 'methods'", N, deck="reconstruct.yaml", command="run")
says("'nudged' computes on with the flows of rayleigh_benard and cavity, 0 < z < 1 and b = -1/2 to 1/2 without bodies, and 'body.h5' hides points "
     "under a mask: leave it out of 'methods'", N, R + "data=body.h5", deck="reconstruct.yaml", command="run")
low = {**block, "tasks/b": [[[0.1] * 8] * 16] * 8, "scales/z": [0.125 * k - 0.5 for k in range(8)]}
table.file("low.h5", low)
says("'nudged' computes on with the flows of rayleigh_benard and cavity, 0 < z < 1 and b = -1/2 to 1/2 without bodies, and 'low.h5' spans z = -0.5 "
     "to 0.375: leave it out of 'methods'", N, R + "data=low.h5", deck="reconstruct.yaml", command="run")
table.file("fast.h5", {**fields(), **{"tasks/" + f: [[[0.1 if f == "b" else 1e200] * 8] * 16] * 8 for f in "pbuw"}})
says("the flow of 'nudged' breaks down at t = 0: leave it out of 'methods', or correct 'rayleigh' and 'prandtl', which are to be those of "
     "the data", N, R + "data=fast.h5", deck="reconstruct.yaml", command="run", code=4)
says("'heights' must rise", R + "write={method: cubic, points: [4, 8, 8], heights: [1, 0]}", deck="reconstruct.yaml")
says("'ratio' must be at least 1 along every axis", T + "dataset.ratio=[0, 2, 2]", deck="train.yaml")
says("'scales': ratio times a scale must be at least 1", T + "dataset.scales=[0.2]", deck="train.yaml")
says("'scales' names no scale; 1 is that of 'ratio'", T + "dataset.scales=[]", deck="train.yaml")
says("'data' names no file", T + "dataset.data=[]", deck="train.yaml")
table.file("fine.h5", fields(8, 32, 8))
says("'fine.h5' gives crops of another size than 'fields.h5'; name 'crop' in samples instead of 0, or use files of one grid",
     T + "dataset.data=[fields.h5, fine.h5]", deck="train.yaml", command="run")

# Forecasts
go = {"deck": "forecast.yaml", "command": "run"}
says("'modes' must keep at least 1 along x and along z", T + "network.modes=[0, 2]", deck="forecast.yaml")
says("'kernel' must be odd, with as many points on either side", T + "network.kernel=2", deck="forecast.yaml")
VIT = T + "network={type: vision_transformer, width: 4, heads: 2, layers: 1, patch: [2, 2]}"
says("'patch' must have at least 1 point along x and along z", VIT, T + "network.patch=[0, 2]", deck="forecast.yaml")
says("patches of 3 points along z do not divide the 8 points there: give a 'patch' that does", VIT, T + "network.patch=[2, 3]", **go)
says("3 heads do not divide the 4 channels of 'width'", VIT, T + "network.heads=3", **go)
says("'noise' and 'push_forward' are for forecasts: give a data set of the type 'snapshots', or leave them out", T + "network.noise=0.1",
     T + "dataset={type: crops, data: [fields.h5], ratio: [1, 2, 2], crop: [4, 0, 0], points: 4, samples: 4}", **go)
says("'push_forward: 1' needs 2 frames after each window, and the data set gives 1: set 'ahead: 2' there", T + "network.push_forward=1", **go)
says("'fields.h5' gives 8 frames, fewer than one sample of 'history' 8 and 'ahead' 1", T + "dataset.history=8", **go)
says("'fine.h5' has 32 x 8 points and x periodic, 'fields.h5' 16 x 8 and periodic: give files of one grid",
     T + "dataset.data=[fields.h5, fine.h5]", **go)
table.file("jumps.h5", fields(4, times=[0.0, 0.5, 1.0, 2.0]))
says("frames of 'jumps.h5' are not equally far apart: 1 from t = 1 on, 0.5 elsewhere; give 'frames' that are", T + "dataset.data=[jumps.h5]", **go)
says("'body.h5' hides points under a mask, and forecasts are of flows without bodies: give fields without a mask", T + "dataset.data=[body.h5]", **go)


def of_the_well(name, kind="WALL", axes=("x", "y")):
    table.file(name, {**well, "dimensions": (None, {"spatial_dims": list(axes)}), "boundary_conditions/ends": (None, {
        "bc_type": kind, "associated_dims": ["y"], "sample_varying": False, "time_varying": False})})


of_the_well("open_well.h5", "OPEN")
says("'ends' of 'open_well.h5' is OPEN along y, expected WALL: a layer is periodic along x and lies between walls along y; give such a file",
     T + "dataset.data=[open_well.h5]", **go)
of_the_well("open_around.h5")
of_the_well("box_well.h5", axes=("x", "y", "z"))
says("'box_well.h5' has 3 dimensions on a cartesian grid, expected 2 on a cartesian one: take a set such as rayleigh_benard",
     T + "dataset.data=[box_well.h5]", **go)
says("/dimensions of 'well.h5' has no attribute spatial_dims, which The Well's layout requires; write it again with it",
     T + "dataset.data=[well.h5]", **go)
F = "stages[0].score_forecasts."
says("window [2, 6] does not lie within the 4 frames of 'horizon'", F + "windows=[[2, 6]]", deck="score.yaml")
says("the solver needs 'rayleigh', that of the data", F + "rayleigh=0", deck="score.yaml")
says("'fields.h5' gives 8 frames, fewer than 'history' 2 and 'horizon' 7 together: give longer runs, or a shorter horizon", F + "horizon=7",
     deck="score.yaml", command="run")
says("a solver 3 times as coarse needs grids that 3 divides, and 'fields.h5' has 16 x 8 points: choose another 'coarse'", F + "coarse=3",
     F + "methods=[coarse_solver]", deck="score.yaml", command="run")
table.begins(deck="forecast.yaml")
says("model 'forecast/train/model.h5' reads 1 frame(s) of 16 x 8 points, and the data have 32 x 8 and 'history' is 2: give data of its grid, and a "
     "'history' of 1 or more", F + "models={net: forecast/train/model.h5}", F + "methods=[]", F + "data=[fine.h5]", deck="score.yaml", command="run")
says("model 'forecast/train/model.h5' forecasts frames and does not rebuild them from coarse samples: score it by score_forecasts",
     R + "models={net: forecast/train/model.h5}", deck="reconstruct.yaml", command="run")
says("model 'forecast/train/model.h5' corrects no solver: train a network on a data set of the type 'corrections'",
     S + "correction=forecast/train/model.h5", command="run")
table.begins(deck="correct.yaml")
says("model 'correct/train/model.h5' corrects a solver on 16 x 8 cells, and this one has 32 x 8: give a model of these cells",
     S + "correction=correct/train/model.h5", S + "cells=[32, 8]", command="run")
says("model 'correct/train/model.h5' was trained on flows with the Rayleigh number 100000, and this run has the Rayleigh number 1000000: give a model "
     "of this flow, or set allow_other_parameters: true", S + "correction=correct/train/model.h5", S + "rayleigh=1e6", command="run")
says("model 'correct/train/model.h5' was trained on flows with the Prandtl number 1, and this run has the Prandtl number 7: give a model of this flow, "
     "or set allow_other_parameters: true", S + "correction=correct/train/model.h5", S + "prandtl=7", command="run")
says("model 'correct/train/model.h5' was trained on flows with no_slip plates, and this run has free_slip plates: give a model of this flow, or set "
     "allow_other_parameters: true", S + "correction=correct/train/model.h5", S + "plates=free_slip", command="run")
says("model 'correct/train/model.h5' was trained on flows with the Rayleigh number 100000, and 'fields.h5' has the Rayleigh number 1000000: give a "
     "model of this flow, or set allow_other_parameters: true", F + "corrections={net: correct/train/model.h5}", F + "rayleigh=1e6", deck="score.yaml",
     command="run")
table.file("slow.h5", fields(times=[1.0 * k for k in range(8)]))
says("'net' corrects every 0.5 free-fall times, and frames of 'slow.h5' are 1 apart: give data of that interval",
     F + "corrections={net: correct/train/model.h5}", F + "methods=[]", F + "data=[slow.h5]", deck="score.yaml", command="run")
says("names no file: give 'one_step', 'rollout' or both", F + "forecasts={own: {}}", deck="score.yaml")
says("forecast 'own' names 2 file(s), and 'data' 1: give one for each", F + "forecasts={own: {rollout: [fields.h5, fine.h5]}}", deck="score.yaml")
says("two rows of the table are named 'solver': give each of 'methods', 'models', 'corrections' and 'forecasts' a name of its own",
     F + "forecasts={solver: {rollout: [fields.h5]}}", deck="score.yaml")
says("'slow.h5' has 8 frames from t = 0 to 7 and none at t = 1.5, which is forecast: give a frame for each of the data that 'history', 'every' and "
     "'horizon' require, with the times of the data",
     F + "forecasts={own: {rollout: [slow.h5]}}", F + "methods=[]", deck="score.yaml", command="run")
table.file("wide.h5", {**fields(), "scales/x": [float(k) for k in range(16)]})
says("'wide.h5' has x from 0 to 15, and 'fields.h5' from 0 to 1.875: give forecasts of the same domain, in the same unit of length",
     F + "forecasts={own: {rollout: [wide.h5]}}", F + "methods=[]", deck="score.yaml", command="run")
of_the_well("wall_well.h5")
says("'wall_well.h5' is in the layout of The Well, whose frames are those of its own grid: give fields.h5 of a run, written with 'average'",
     T + "dataset.data=[wall_well.h5]", deck="correct.yaml", command="run")
says("'average: 3' does not divide 16 x 8 cells: give a number that divides both", S + "output=[{type: fields, interval: 0.25, average: 3}]",
     command="run")
table.begins(deck="coarse.yaml")
says("model 'coarse/train/model.h5' does not forecast: train a fourier_operator, a vision_transformer or a flow_unet on a data set of the type "
     "'snapshots'",
     F + "models={net: coarse/train/model.h5}", F + "methods=[]", deck="score.yaml", command="run")
E = "stages[0].write_well."
says("'train', 'valid' and 'test' name no run", E + "train=[]", deck="write_well.yaml")
says("'points' must be at least [4, 4]", E + "points=[2, 8]", deck="write_well.yaml")
says("'open_around.h5' is in the layout of The Well already; give fields.h5 of a run", E + "train=[open_around.h5]", deck="write_well.yaml", command="run")
says("'walls.h5' is no layer between two plates and periodic along x: write_well takes runs of rayleigh_benard", E + "train=[walls.h5]",
     deck="write_well.yaml", command="run")
says("'fine.h5' has other points or times than 'fields.h5': trajectories of one file share them; give runs of one grid, output interval and length",
     E + "train=[fields.h5, fine.h5]", deck="write_well.yaml", command="run")
table.file("stated.h5", {**fields(), "/": (None, {"Rayleigh": 1e5, "Prandtl": 2.0, "plates": "free_slip"})})
says("'stated.h5' has the Rayleigh number 100000 and 'rayleigh' is 1000000: give that of the data", F + "data=[stated.h5]", F + "rayleigh=1e6",
     deck="score.yaml", command="run")
says("'stated.h5' has the Prandtl number 2 and 'prandtl' is 0.7: give that of the data", F + "data=[stated.h5]", F + "prandtl=0.7",
     deck="score.yaml", command="run")
says("the plates of 'stated.h5' are free_slip and 'plates' is no_slip: give those of the data", F + "data=[stated.h5]", deck="score.yaml",
     command="run")
says("'stated.h5' has the Prandtl number 2 and 'prandtl' is 1: give that of the data", E + "train=[stated.h5]", E + "prandtl=1",
     deck="write_well.yaml", command="run")
table.file("stated_7.h5", {**fields(), "/": (None, {"Rayleigh": 1e5, "Prandtl": 7.0})})
says("'stated_7.h5' has the Prandtl number 7 and 'stated.h5' 2: the runs of one set share it", E + "train=[stated.h5]", E + "test=[stated_7.h5]",
     deck="write_well.yaml", command="run")
says("'stated_7.h5' has the Prandtl number 7 and 'prandtl' is 1: give that of the data", T + "dataset.data=[stated_7.h5]", T + "dataset.prandtl=1",
     deck="correct.yaml", command="run")
says("'stated_7.h5' has the Rayleigh number 100000 and 'rayleigh' is 1000000: give that of the data", T + "dataset.data=[stated_7.h5]",
     T + "dataset.rayleigh=1e6", deck="correct.yaml", command="run")
says("the plates of 'stated.h5' are free_slip and 'plates' is no_slip: give those of the data", T + "dataset.data=[stated.h5]", deck="correct.yaml",
     command="run")
says("'stated.h5' has the Rayleigh number 100000 and 'rayleigh' is 1000000: give that of the data", R + "data=stated.h5", deck="reconstruct.yaml",
     command="run")
says("'stated.h5' has the Prandtl number 2 and 'prandtl' is 1: give that of the data", R + "data=stated.h5", R + "rayleigh=1e5", R + "prandtl=1",
     deck="reconstruct.yaml", command="run")
table.file("frameless.h5", {k: [] if k == "scales/sim_time" else v for k, v in fields().items()})
says("'frameless.h5' holds no frame: give fields that a run has written", V + "data=frameless.h5", deck="verify.yaml", command="run")
table.file("backwards.h5", fields(times=[0.0, 0.5, 1.0, 1.5, 1.5, 2.5, 3.0, 3.5]))
says("coordinate 'sim_time' of 'backwards.h5' does not increase after its entry 3 (1.5)",
     F + "forecasts={own: {rollout: [backwards.h5]}}", F + "methods=[]", deck="score.yaml", command="run")
table.begins(deck="stated.yaml")
for stage in ("evaluate", "predict"):
    table.file(stage + ".yaml", f"""
run: {{name: {stage}, directory: {stage}}}
plugins: [superres]
stages:
  - {stage}:
      model: stated/train/model.h5
      dataset: {{type: crops, data: [stated_7.h5], ratio: [1, 2, 2], crop: [4, 0, 0], points: 4, samples: 4}}
""")
    for command in ("check", "run"):
        says("model 'stated/train/model.h5' was trained on samples with prandtl 2, and the data set has prandtl 7: give data of a system of its "
             "training, or set allow_other_parameters: true", deck=stage + ".yaml", command=command)
table.begins("stages[0].evaluate.dataset.data=[stated.h5]", deck="evaluate.yaml")
table.begins("stages[0].evaluate.allow_other_parameters=true", deck="evaluate.yaml")
says("model 'stated/train/model.h5' was trained on flows with the Rayleigh number 100000, and 'fields.h5' has the Rayleigh number 1000000: give a model "
     "of this flow, or set allow_other_parameters: true", R + "models={net: stated/train/model.h5}", deck="reconstruct.yaml", command="run")
says("'stated.h5' has the Rayleigh number 100000 and 'rayleigh' is 10000: give that of the data", E + "train=[stated.h5]", E + "prandtl=2",
     E + "rayleigh=1e4", deck="write_well.yaml", command="run")

# Plumes
P = "stages[0].find_plumes."
says("'fields' names none; a network needs at least b", P + "test.fields=[]", deck="plumes.yaml")
says("fields: there is no 'q'; name p, b, u or w", P + "test.fields=[b, q]", deck="plumes.yaml")
says("'fine.h5' has 32 x 8 points (x, z), 'fields.h5' 16 x 8; use files of one grid", P + "test.data=[fields.h5, fine.h5]", deck="plumes.yaml",
     command="run")
says("test is a data set crops; find_plumes evaluates images with classes, give a data set plumes",
     P + "test={type: crops, data: [fields.h5], ratio: [1, 2, 2], crop: [4, 0, 0], points: 4, samples: 4}", deck="plumes.yaml", command="run")
says("training: 'fields' lack b, by which thresholds and regressions go; add it", P + "training.fields=[u]", deck="plumes.yaml", command="run")
table.file("low_grid.h5", fields(8, 16, 4))
says("training has 4 points along z, test 8; use files of one grid", P + "training.data=[low_grid.h5]", deck="plumes.yaml", command="run")

# Spin-up
U = "stages[0].spin_up."
table.file("rest/thermo.h5", {"thermo/time": [0.0, 0.5, 1.0, 1.5], "thermo/kinetic_energy": [0.0, 1.0, 1.0, 1.0]})
says("steady.run 'warm' is none of runs", U + "steady.run=warm", deck="spin_up.yaml")
says("'rest/thermo.h5' has no column 'nusselt_bottom'; name among: kinetic_energy, time", U + "quantities=[nusselt_bottom]", U + "window=0.5",
     deck="spin_up.yaml", command="run")
says("run 'cold' ends at t = 1.5, too early for averages from 10 on; let it run longer, or take a smaller 'window'",
     U + "quantities=[kinetic_energy]", deck="spin_up.yaml", command="run")

# Networks
if built_with("torch"):
    mark = {"deck": "mark.yaml", "command": "run"}
    D = T + "network={type: deepcam, topology: deeplabv3plus, deeplab: "
    says("inputs: name at least one field", T + "network.inputs=[]", **mark)
    says("stem, entry and exit need an entry each", D + "{stem: []}}", **mark)
    says("0 is neither a number of channels nor a dilation rate; give 1 or more", D + "{atrous_rates: [6, 0]}}", **mark)
    says("deepcam reads images (nx, nz) and their classes; the data have no field 'u' of that form, use a data set plumes whose 'fields' name it",
         T + "network.inputs=[b, u]", **mark)
    says("4 levels halve images of 16 x 8 points to no whole number; take fewer levels", T + "network.levels=4", **mark)
    table.begins(deck="mark.yaml")
    says("models: 'mark/train/model.h5' holds a deepcam, which does not give classes of 32 x 8 points; train a deepcam on images of that size",
         P + "models=[mark/train/model.h5]", P + "test.data=[fine.h5]", deck="plumes.yaml", command="run")
    says("'decoder': a layer has at least one channel", T + "network.decoder=[0]", deck="train.yaml")
    says("'decoder': name at least one hidden layer", T + "network.decoder=[]", deck="train.yaml")
    kept = T + "network.plates="
    says("'upper' fixes 'b' and 'lower' does not; give both", kept + "{lower: {}, upper: {b: 0}}", deck="train.yaml")
    says("'lower' fixes 'b' and 'upper' does not; give both", kept + "{lower: {b: 0}, upper: {}}", deck="train.yaml")
    says("'q' is none of the fields p, b, u, w", kept + "{lower: {q: 0}, upper: {q: 0}}", deck="train.yaml")
    says("'z': the upper plate lies above the lower one", kept + "{z: [1, 0], lower: {b: 0}, upper: {b: 0}}", deck="train.yaml")
    says("'plates' fixes values of u and w, 'divergence_free' decodes a stream function: leave one out",
         kept + "{lower: {b: 0}, upper: {b: 0}}", T + "network.divergence_free=true", deck="train.yaml")
    says("samples from z = 0.0625 to 0.9375 reach the plates at 0.5 and 1 whose values are given; correct 'plates.z'",
         kept + "{z: [0.5, 1], lower: {b: 0}, upper: {b: 0}}", deck="train.yaml", command="run")
    says("'divergence_free' differentiates once more: choose blend: c3", T + "network.divergence_free=true", deck="train.yaml")
    says("'ratio' must be at least 1 along every axis", T + "network={type: flow_unet, ratio: [0, 2, 2]}", deck="train.yaml")
    says("factor_ranks: 1 values for 20 layers; give one for each, 0 for a full one",
         T + "network={type: flow_unet, base_channels: 4, levels: 1, ratio: [1, 1, 1], factor_ranks: [1]}", deck="train.yaml", command="run")
    says("the network decodes within its windows and does not forecast: give a data set of the type 'crops', or the network flow_unet or "
         "fourier_operator", T + "dataset={type: snapshots, data: [fields.h5]}", deck="train.yaml", command="run")
    says("model 'net' is a flow_unet, whose outputs cannot be refined: name a meshfree_flow_net, or leave it out of refine.models",
         T + "network={type: flow_unet, base_channels: 4, ratio: [1, 2, 2]}", deck="refine.yaml", command="run")
    wide = T + "validation={type: crops, data: [walls.h5], ratio: [1, 2, 2], crop: [4, 8, 0], points: 4, samples: 4}"
    says("the model was trained on windows that are as wide as a periodic x, and x of these ends: train it on windows that are narrower than the period",
         wide, T + "validate={every: 1}", deck="train.yaml", command="run")
    says("the model was trained on windows that end along x, and these are as wide as a periodic x: train it on such, or give data with more points "
         "along x", T + "dataset.crop=[4, 8, 0]", T + "dataset.data=[walls.h5]", T + "validate={every: 1}",
         T + "validation={type: crops, data: [fields.h5], ratio: [1, 2, 2], crop: [4, 8, 0], points: 4, samples: 4}", deck="train.yaml", command="run")
    says("'refine' imposes the equations everywhere in a window, also under the mask of 'body.h5': leave it out",
         "stages[1].reconstruct.data=body.h5", deck="refine.yaml", command="run")
    says("networks of convection read windows of coarse samples or snapshots: give a data set of the type 'crops' or 'snapshots'",
         T + "dataset={type: expression, samples: 10, box: {x: [0, 1]}, target: {y: x}}", deck="train.yaml", command="run")
    says("the model reads crops of 4 x 8 x 5 coarse samples (t, x, z), these have 4 x 16 x 5",
         T + "validation={type: crops, data: [fine.h5], ratio: [1, 2, 2], crop: [4, 0, 0], points: 4, samples: 4}", T + "validate={every: 1}",
         deck="train.yaml", command="run")

# Three dimensions
table.file("cavity.yaml", """
run: {name: cavity, directory: cavity}
plugins: [superres]
stages:
  - simulate: {physics: cavity, rayleigh: 1e5, cells: [16, 8, 8], end_time: 1}
""")
table.file("solid.h5", solid())
table.file("deep_uneven.h5", {**solid(), "scales/y": [0.0, 0.5, 1.0, 1.2]})
table.file("flat.h5", {k: v for k, v in solid().items() if k != "tasks/v"})
table.file("deep_other.h5", {**solid(), "tasks/v": [[[[0.0] * 4] * 8] * 16] * 2})
broken = solid()
broken["tasks/b"][1][1][2][2] = float("nan")
table.file("broken.h5", broken)
SOLID = S + "cells=[16, 12, 8]"
says("'cells' must be two values, along x and z, or three, along x, y and z", S + "cells=[16]")
says("'cells' must be two values, along x and z", deck="cavity.yaml")
says("'cells' must be at least [4, 4, 4]", S + "cells=[16, 2, 8]")
says("the second of three 'cells' must be even, for the transforms along y", S + "cells=[16, 7, 8]")
says("'aspect_ratio_y' is for three dimensions: give three 'cells', along x, y and z", S + "aspect_ratio_y=2")
says("'initial.wavelengths' (8) must be less than half of the 16 cells along x", S + "initial={amplitude: 0.1, wavelengths: 8}")  # zero everywhere
says("'initial.wavelengths' (17) must be less than half of the 16 cells along x", S + "initial={amplitude: 0.1, wavelengths: 17}")  # as of 1
says("'initial.wavelengths_y' (4) must be less than half of the 8 cells along y", S + "cells=[16, 8, 8]",
     S + "initial={amplitude: 0.1, wavelengths_y: 4}")
says("'initial.wavelengths_y' is for three dimensions: give three 'cells', along x, y and z", S + "initial={wavelengths_y: 1}")
says("'correction' is for two dimensions: give two 'cells', or leave it out", SOLID, S + "correction=model.h5")
says("'average: 3' does not divide 16 x 12 x 8 cells: give a number that divides all", SOLID, S + "output=[{type: fields, interval: 0.25, average: 3}]",
     command="run")
says("'solid.h5' has fields in three dimensions, and these are read in two: 'solid.h5#K' is the section at index K of 4 along y, from 0",
     V + "data=solid.h5", deck="verify.yaml", command="run")
says("'solid.h5#4' requests the section at index 4 along y, but the file has 4, counted from 0", V + "data=solid.h5#4", deck="verify.yaml", command="run")
says("'solid.h5' has fields in three dimensions, and these are read in two: 'solid.h5#K' is the section at index K of 4 along y, from 0",
     S + "initial={file: solid.h5}", command="run")
SCORED = ("{data: ['solid.h5#1'], rayleigh: 1e5, history: 1, horizon: 1, windows: [[0, 1]]}", "score.yaml")
in_three = "'solid.h5#1' is a section of a flow in three dimensions, which the equations in two do not continue: "
says(in_three + "leave out the methods of the solver and 'corrections'", "stages[0].score_forecasts=" + SCORED[0], deck=SCORED[1], command="run")
says(in_three + "leave out 'nudged'", R + "data=solid.h5#1", R + "methods=[nudged]", R + "frames=4", deck="reconstruct.yaml", command="run")
says(in_three + "give runs in two dimensions", T + "dataset.data=['solid.h5#1']", deck="correct.yaml", command="run")
says(in_three + "give runs in two dimensions", E + "train=['solid.h5#1']", deck="write_well.yaml", command="run")
DEEP = (SOLID, S + "aspect_ratio=2")
says("'solid.h5' is 2 deep and this run 3: start from fields of the same domain", *DEEP, S + "aspect_ratio_y=3", S + "initial={file: solid.h5}", command="run")
says("'solid.h5' is 2 wide and this run 4: start from fields of the same domain", SOLID, S + "aspect_ratio=4", S + "initial={file: solid.h5}", command="run")
says("'fields.h5' is 2 wide and this run 4: start from fields of the same domain", SOLID, S + "aspect_ratio=4", S + "initial={file: fields.h5}", command="run")
says("y of 'deep_uneven.h5' is periodic, but its points are not equally spaced, so that its period is unknown; write the fields at equally spaced points",
     *DEEP, S + "initial={file: deep_uneven.h5}", command="run")
table.file("no_deep_frame.h5", {k: (v[:0] if k.startswith("tasks/") or k == "scales/sim_time" else v) for k, v in solid().items()})
says("'no_deep_frame.h5' holds no frame: give fields that a run has written", *DEEP, S + "initial={file: no_deep_frame.h5}", command="run")
says("'flat.h5' has no field 'v' (it has: b, p, u, w)", *DEEP, S + "initial={file: flat.h5}", command="run")
says("field 'v' of 'deep_other.h5' has shape (2, 16, 8, 4), its coordinates require (2, 16, 4, 8)", *DEEP, S + "initial={file: deep_other.h5}", command="run")
says("field 'b' of 'broken.h5' is not finite at x = 0.125, y = 1, z = 0.3125 in its last frame", *DEEP, S + "initial={file: broken.h5}", command="run",
     ranks=2)

# A calculation that breaks
says("the flow is not finite any more after step 5 (t = 0.0367647): b is nan at x = 0.0625, z = 0.03519 on rank 0; take more cells or a "
     "smaller 'cfl' (it is 1)",
     S + "initial={noise: 1e308, amplitude: 1e308}", S + "courant=1", command="run", code=4)

table.run()
