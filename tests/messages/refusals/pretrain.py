"""What the plugin pretrain and the losses over all ranks say about decks and files that cannot work."""
# needs: torch pretrain
import numpy as np

from table import Table

DECK = """
run: {name: pretrain, directory: out}
plugins: [pretrain]
stages:
  - train:
      network: {type: field_encoder, channels: [2], width: 2, positive: field}
      dataset: {type: field_archive, files: [a.h5, b.h5], fields: [b, w], parameters: {rayleigh: [1e4, 1e5]}, pair_offset: 1}
      batch: 4
      steps: 1
      optimizer: adam
      learning_rate: {type: constant, start: 1e-3}
"""
JUDGE = """
run: {name: judge, directory: judge}
plugins: [pretrain]
stages:
  - neighbours:
      archive: {type: field_archive, synthetic: {simulations: 4, snapshots: 3, cells: [8, 8]}}
      queries: {type: field_archive, synthetic: {simulations: 4, snapshots: 3, cells: [8, 8], seed: 2}}
"""
PROBE = """
run: {name: probe, directory: probe}
plugins: [pretrain]
stages:
  - probe:
      training: {type: images, synthetic: {samples: 40, size: 8}}
      test: {type: images, synthetic: {samples: 20, size: 8, seed: 2}}
"""
NEXT = """
run: {name: next, directory: next}
plugins: [pretrain]
stages:
  - select_runs:
      archive: {type: field_archive, synthetic: {simulations: 4, snapshots: 3, cells: [8, 8]}}
      candidates: {drift: [0, 1], slope: [1, 2]}
      choose: 2
"""
EMBED = """
run: {name: embed, directory: embed}
plugins: [pretrain]
stages:
  - embed:
      model: views/train/model.h5
      dataset: {type: field_archive, synthetic: {simulations: 4, snapshots: 3, cells: [8, 8]}}
"""
FORMULA = """
run: {name: formula, directory: formula}
plugins: [pretrain]
stages:
  - train:
      network: {type: mlp, layers: [2]}
      dataset: &plain {type: expression, samples: 4, box: {x: [0, 1]}, target: {y: x}}
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
RETRIEVE = """
run: {name: retrieve, directory: retrieve}
plugins: [pretrain]
stages:
  - retrieve:
      model: views/train/model.h5
      archive: {type: field_archive, files: [a.h5, b.h5], fields: [b, w]}
      queries: {type: field_archive, files: [b.h5], fields: [b, w]}
"""
T, J, P, X, E = "stages[0].train.", "stages[0].neighbours.", "stages[0].probe.", "stages[0].select_runs.", "stages[0].embed."
R = "stages[0].retrieve."
D, N = T + "dataset.", T + "network."
PLAIN = "{type: expression, samples: 4, box: {x: [0, 1]}, target: {y: x}}"
table = Table("pretrain", DECK)
for name, text in {"judge": JUDGE, "probe": PROBE, "next": NEXT, "embed": EMBED, "formula": FORMULA, "retrieve": RETRIEVE}.items():
    table.file(name + ".yaml", text)


def says(message, *overrides, **how):
    table.says(message, *overrides, command=how.pop("command", "run"), **how)


def run_file(name, moments=4, cells=(6, 4), periodic=1, **changed):
    values = np.arange(moments * cells[0] * cells[1], dtype="f4").reshape(moments, *cells)
    arrays = {"/scales/sim_time": np.arange(float(moments)), "/scales/x": (np.zeros(cells[0]), {"periodic": periodic}),
              "/scales/z": np.zeros(cells[1]), "/tasks/b": values, "/tasks/w": np.sin(values), **changed}
    table.file(name, {key: value for key, value in arrays.items() if value is not None})


run_file("a.h5"), run_file("b.h5")

# Keys of the loss
says("temperature.min (0.5) must not be greater than temperature.max (0.1)", N + "loss={temperature: {min: 0.5, max: 0.1}}", command="check")
says("temperature.start (2) must be between min (0.01) and max (1)", N + "loss={temperature: {start: 2}}", command="check")
says("scheme v1 has a constant temperature, but temperature.rate is not 0; take v3, or remove rate", N + "loss={scheme: v1, temperature: {rate: 0.1}}",
     command="check")

# How samples are shared among ranks
says("reduce.mode is ordered, but field_encoder compares all samples of a step with each other; remove reduce.mode", T + "reduce={mode: ordered, micro_batches: 2}")
says("gradient_accumulation_steps is 2, but field_encoder compares all samples of a step with each other, which parts of it cannot; remove gradient_accumulation_steps", T + "accumulate=2")
says("a step of 1 samples leaves some of 2 ranks without one, but field_encoder needs them all; take a batch that leaves none or at least 2 of the 6 "
     "samples over, or fewer ranks", T + "batch=5", ranks=2)

# The encoder
says("'channels' names no stage", N + "channels=[]", command="check")
says("a field and an unchanged copy of it teach nothing; give 'augment', or another 'positive'", N + "positive=view", command="check")
says("pool: cells reads full fields, but 'augment.crop' crops them; take pool: mean, or remove the crop", N + "pool=cells", N + "augment={crop: [6, 2]}",
     command="check")
says("positive is field, but the samples have none; give the data set 'pair_offset' (field_archive) or 'split_halves' (images)", D + "apart=0")
says("positive is parameters, but the data set has none; give it 'parameters', one value for each run", N + "positive=parameters", D + "parameters={}")
says("field_encoder reads fields over two or three axes: give a dataset of type field_archive or images", T + "dataset=" + PLAIN)
says("sample 0 has no 'partner': an encoder of pairs needs it; give the data set 'pair_offset' (field_archive) or 'split_halves' (images)",
     T + "validation={type: field_archive, files: [a.h5], fields: [b, w]}", T + "validate={every: 1}")
says("augment.crop is 6 x 9, but fields have 6 x 4 cells; take at most those", N + "augment={crop: [6, 9]}")
says("augment.warp bends pictures, fields over two axes that are not periodic; remove it, and set shift and reflect as these fields allow",
     N + "augment={warp: {rotate: 10}}")
says("augment.shift names axis 1, which is not periodic: a shifted field would not be one of this system; remove it, or crop along it",
     N + "augment={shift: [1]}")

PATCH = N + "transformer={patch: %s, width: 8, heads: 2}"
says("patch names an extent below 1; give cells along each axis", PATCH % "[0, 2]", command="check")
says("10 channels in 2 heads: each head needs an even number of them; take a width that is a multiple of 4", N + "transformer={patch: [2, 2], width: 10, heads: 2}",
     command="check")
says("transformer.patch has 3 extents, but fields have 2 axes; give one for each", PATCH % "[2, 2, 2]")
says("transformer.patch has 4 cells along axis 0, which 6 cells are not a multiple of; take a divisor", PATCH % "[4, 2]")
says("a head of the transformer has 2 channels, and positions along 2 axes need 4; take a larger width, or fewer heads",
     N + "transformer={patch: [2, 2], width: 8, heads: 4}")

# Mugs
M = T + "network={type: mugs_encoder, channels: [2], augment: {noise: 0.1}, queue: 4%s}"
says("two unchanged copies of a field teach nothing; give 'augment'", T + "network={type: mugs_encoder, channels: [2]}", command="check")
says("pool: cells reads full fields, but 'augment.crop' and small views crop them; take pool: mean, or remove both",
     M % ", pool: cells, small: {views: 2, crop: [4, 4]}", command="check")
says("small views have no extents; give 'small.crop'", M % ", small: {views: 2}", command="check")
says("all weights are 0; leave one term at least", M % ", weights: {instance: 0, local: 0, group: 0}", command="check")

# Fields
says("runs adds to files of fields; remove 'runs', or take files and fields", T + "dataset={type: field_archive, synthetic: {simulations: 4}, runs: a.csv}",
     command="check")
RUNS = T + "dataset={type: field_archive, files: [a.h5], fields: [b, w], parameters: {rayleigh: [1e4]}, pair_offset: 1, runs: %s}"
for name, text in {"no.csv": "rayleigh\n", "other.csv": "file,prandtl\nb.h5,1\n", "short.csv": "file,rayleigh\nb.h5\n", "word.csv": "file,rayleigh\nb.h5,x\n"}.items():
    table.file(name, text)
says("'no.csv' is no table of runs: its first line begins with 'file,'; give the made.csv of a stage select_runs with 'run'", RUNS % "no.csv")
says("'other.csv' has no column 'rayleigh'; give 'parameters' those that select_runs chose among", RUNS % "other.csv")
says("'short.csv': line 2 has 1 values, the first has 2; make the table again", RUNS % "short.csv")
says("'word.csv': line 2: 'x' is not a number; make the table again", RUNS % "word.csv")
says("give one of: files, synthetic", D + "made_up={simulations: 4}", command="check")
says("give one of: fields, array", D + "fields=[]", command="check")
says("times goes from 3 to 1; give an earlier and a later one", D + "times=[3, 1]", command="check")
says("give one of: snapshots, exclude_snapshots", D + "moments=[1]", D + "without_moments=[2]", command="check")
says("snapshots count from 0, but -1 is named; give indices of snapshots", D + "moments=[-1, 2]", command="check")
says("'a.h5' has 4 snapshots, none of which is taken; change 'snapshots' or 'exclude_snapshots'", D + "moments=[4]")
says("parameters.rayleigh has 1 values for 2 files; give one for each", D + "parameters={rayleigh: [1]}", command="check")
says("'cells' must be at least 4 along both axes", T + "dataset={type: field_archive, synthetic: {cells: [2, 8]}}", command="check")
says("'a.h5' has no field 'q'; it has: b, w", D + "fields=[q]")
run_file("other.h5", cells=(5, 4))
says("'other.h5' has fields of 5 x 4 cells, 'a.h5' of 6 x 4; an archive has one shape: resample one of them", D + "files=[a.h5, other.h5]")
run_file("open.h5", periodic=0)
says("'open.h5' and 'a.h5' differ in which axes are periodic; leave one of them out", D + "files=[a.h5, open.h5]")
bad = np.zeros((4, 6, 4), "f4")
bad[2, 1, 1] = np.nan
run_file("nan.h5", **{"/tasks/w": bad})
says("'nan.h5': w is not finite in snapshot 2; leave the file out, or end before it with 'times'", D + "files=[a.h5, nan.h5]")
run_file("axes.h5", **{"/tasks/b": np.zeros((4, 6), "f4")})
says("'axes.h5': /tasks/b has 2 axes; a time and two or three axes of space are read", D + "files=[axes.h5, b.h5]")
run_file("two.h5", **{"/tasks/w": np.zeros((4, 3, 4), "f4")})
says("'two.h5': w has 3 x 4 cells, b has 6 x 4", D + "files=[two.h5, b.h5]")
run_file("late.h5", **{"/scales/sim_time": np.arange(6.0)})
says("'late.h5': /tasks/b has 4 snapshots, but /scales/sim_time has 6; the file is cut short, or still being written: leave it out",
     D + "files=[a.h5, late.h5]")
run_file("huge.h5", **{"/tasks/w": np.full((4, 6, 4), 1e40)})
says("'huge.h5': w is 1e+40 in snapshot 0, beyond what single precision holds (3.4e38); write it in a larger unit", D + "files=[a.h5, huge.h5]")
says("periodic names 1 axes, but the fields of 'a.h5' have 2", D + "periodic=[1]")
says("'a.h5' has no snapshot between 8 and 9, its times go from 0 to 3; change 'times'", D + "times=[8, 9]")
says("'a.h5' has 4 snapshots, so that none has a positive 4 later; take a smaller 'pair_offset', or leave the run out", D + "apart=4")
MADE = "{type: field_archive, synthetic: {simulations: 4, snapshots: 3}, times: [8, 9]}"
says("synthetic run 0 has no snapshot between 8 and 9; change 'times'", T + "dataset=" + MADE)
table.file("array.h5", {"frames": np.zeros((2, 3, 4, 5), "f4"), "flat": np.zeros((2, 3, 4), "f4")})
ARRAY = "{type: field_archive, files: [array.h5], array: %s, periodic: %s, parameters: %s}"
says("'array.h5': flat has 3 axes; simulations, snapshots and two or three axes of space are read", T + "dataset=" + ARRAY % ("flat", "[]", "{}"))
says("periodic names 1 axes, but the fields of 'array.h5' have 2", T + "dataset=" + ARRAY % ("frames", "[1]", "{}"))
says("parameters.a has 3 values, but 'array.h5' holds 2 simulations; give one for each", T + "dataset=" + ARRAY % ("frames", "[]", "{a: [1, 2, 3]}"))

says("fields names b twice; name each once", D + "fields=[b, w, b]", command="check")
says("periodic is 1 for an axis that closes on itself and 0 for others, not 2; fix it", D + "periodic=[2, 0]")
says("snapshots names 7, but no run has more than 4 snapshots, counted from 0; change it", D + "moments=[1, 2, 7]")
says("exclude_snapshots names 4, but no run has more than 4 snapshots, counted from 0; change it", D + "without_moments=[4]")
run_file("turned.h5", **{"/scales/sim_time": np.array([0.0, 2.0, 1.0, 3.0])})
says("'turned.h5': /scales/sim_time falls from 2 to 1 at snapshot 2; snapshots are read in the order of their times: sort the file, or remove what was "
     "written twice", D + "files=[a.h5, turned.h5]")
run_file("untimed.h5", **{"/scales/sim_time": np.array([0.0, np.nan, 1.0, 3.0])})
says("'untimed.h5': /scales/sim_time is not finite in snapshot 1; fix the file", D + "files=[a.h5, untimed.h5]")
table.file("none.h5", {"frames": np.zeros((0, 3, 4, 5), "f4")})
says("'none.h5': frames is empty, its shape is 0 x 3 x 4 x 5; leave the file out", T + "dataset={type: field_archive, files: [none.h5], array: frames}")

# Images
I = "{type: images, file: images.h5, %s}"
table.file("images.h5", {"images": np.zeros((4, 8, 8), "u1"), "labels": np.arange(4), "few": np.arange(3), "flat": np.zeros((4, 8), "u1"),
                         "bad": np.where(np.arange(4)[:, None, None] == 1, np.nan, np.zeros((4, 8, 8)))})
says("give one of: file, synthetic", T + "dataset={type: images}", command="check")
says("'images.h5': flat has 2 axes; samples, rows and columns are read", T + "dataset=" + I % "images: flat")
table.file("last.h5", {"images": np.zeros((10, 10, 3), "u1"), "labels": np.arange(10)})
says("'last.h5': images has the shape (10, 10, 3): images of 3 columns look like one image with its channels last; store (samples, rows, columns), "
     "one channel of each image", T + "dataset={type: images, file: last.h5}")
says("'images.h5': bad is not finite in sample 1; leave it out with 'range'", T + "dataset=" + I % "images: bad")
says("'images.h5' has 3 labels for 4 images", T + "dataset=" + I % "labels: few")
says("range is [2, 9], but there are 4 images", T + "dataset=" + I % "range: [2, 9]")

# Neighbours
says("an index searches all entries; remove 'compare', or 'index'", J + "index={recall: 0.9}", J + "compare=other_moments", deck="judge.yaml", command="check")
says("by: partner compares with the positives of all queries; remove 'compare'", J + "by=partner", J + "compare=other_moments", deck="judge.yaml", command="check")
says("by is label, but the samples of archive or queries have none; set 'by' to what both have", J + "by=label", deck="judge.yaml")
says("by: partner needs positive pairs, and the samples have none; give the data sets 'pair_offset', 'split_halves' or 'parameters', or another 'by'", J + "by=partner",
     J + "archive={type: images, synthetic: {samples: 40, size: 8}}", J + "queries={type: images, synthetic: {samples: 20, size: 8}}", deck="judge.yaml")
says("archive and queries hold fields of other shapes; give both the same channels and cells", J + "queries.synthetic.cells=[8, 10]", deck="judge.yaml")
FILES = "={type: field_archive, files: [a.h5, b.h5], fields: %s, periodic: %s}"
says("archive and queries differ in which axes are periodic; give both the same 'periodic'", J + "archive" + FILES % ("[b, w]", "[1, 0]"),
     J + "queries" + FILES % ("[b, w]", "[0, 0]"), deck="judge.yaml")
says("the archive holds the fields b, w, queries w, b; give both the same in the same order", J + "archive" + FILES % ("[b, w]", "[1, 0]"),
     J + "queries" + FILES % ("[w, b]", "[1, 0]"), deck="judge.yaml")
says("the samples hold no fields; give a dataset of type field_archive or images", J + "archive=" + PLAIN, deck="judge.yaml")

# Models
table.begins(deck="formula.yaml")
table.begins(N + "augment={noise: 0.1}", N + "positive=view", "run.directory=views")
says("model: 'formula/train/model.h5' holds a mlp, which gives no vectors; train a field_encoder", E + "model=formula/train/model.h5", deck="embed.yaml")
says("the encoder reads fields of 2 x 6 x 4 values, sample 0 has 3 x 8 x 8 of field", deck="embed.yaml")
ALIKE = "{type: field_archive, files: [a.h5, b.h5], fields: [b, w], parameters: {rayleigh: [1e4, 1e5]}, pair_offset: 1}"
says("by: partner needs an encoder of positive pairs, but 'views/train/model.h5' was trained with views of the same field; train it with positive: field or parameters, or set "
     "another 'by'", J + "model=views/train/model.h5", J + "by=partner", J + "archive=" + ALIKE, J + "queries=" + ALIKE, deck="judge.yaml")

# Retrieve
says("give one of: archive, index_file", R + "from=index.h5", deck="retrieve.yaml", command="check")
says("give one of: queries, parameters", R + "parameters={rayleigh: [1e4]}", deck="retrieve.yaml", command="check")
FROM = R + "archive=null", R + "from="
says("'formula/train/model.h5' holds no index; name the index.h5 that a stage retrieve wrote", FROM[0], FROM[1] + "formula/train/model.h5", deck="retrieve.yaml")
table.begins(deck="retrieve.yaml")
table.begins(N + "augment={noise: 0.1}", N + "positive=view", N + "width=3", "run.directory=wider")
says("index_file: 'retrieve/retrieve/index.h5' holds vectors of 2 components, the model gives 3; take the model that it was made with, or make it again",
     FROM[0], FROM[1] + "retrieve/retrieve/index.h5", R + "model=wider/train/model.h5", "run.directory=other", deck="retrieve.yaml")
table.begins(N + "augment={noise: 0.2}", N + "positive=view", "run.directory=louder")
says("index_file: 'retrieve/retrieve/index.h5' holds vectors of another model than 'louder/train/model.h5', which mean nothing to it; take the model that it was "
     "made with, or make it again", FROM[0], FROM[1] + "retrieve/retrieve/index.h5", R + "model=louder/train/model.h5", "run.directory=other",
     deck="retrieve.yaml")
PARTS = {"rows": np.eye(2, dtype="f4"), "centres": np.eye(2, dtype="f4")[:1], "start": np.array([0, 16]), "number": np.array([0, 1] + [-1] * 14),
         "unit": np.ones(1, "f4"), "bytes": np.zeros(64, "u1")}
STATED = {"probes": 1, "kept": 2, "wanted": 0.9, "recall": 1.0, "compared": 1.0, "count": 2, "queries": 2}
for name, change in {"torn": {"number": np.array([0, 0] + [-1] * 14)}, "flat": {"rows": np.zeros(4, "f4")}, "timed": {"time": np.zeros(5)}}.items():
    table.file(name + "_index.h5", {"/": ("", STATED), **PARTS, **change})
for message in ("'torn_index.h5': the arrays of this index do not belong together; make it again",
                "'flat_index.h5': rows is no table of rows; make the index again",
                "'timed_index.h5': time has 5 values for 2 rows; make the index again"):
    says(message, FROM[0], FROM[1] + message.split("'")[1], deck="retrieve.yaml")

table.begins(N + "positive=parameters", "run.directory=known")
KNOWN = R + "queries=null", R + "model=known/train/model.h5"
says("parameters names rayleigh, but the parameters of the archive's runs are prandtl; give both the same names", *KNOWN, R + "parameters={rayleigh: [1]}",
     R + "archive.parameters={prandtl: [1, 2]}", deck="retrieve.yaml")
says("model: 'known/train/model.h5' reads the parameters rayleigh, but prandtl are given; give the same names", *KNOWN, R + "parameters={prandtl: [1]}",
     R + "archive.parameters={prandtl: [1, 2]}", deck="retrieve.yaml")
TURNED = E + "model=known/train/model.h5", E + "dataset={type: field_archive, files: [a.h5, b.h5], fields: %s, parameters: {rayleigh: [1e4, 1e5]%s}}"
says("model: 'known/train/model.h5' reads the fields b, w in this order, but the data set has w, b; give it the same 'fields'", TURNED[0],
     TURNED[1] % ("[w, b]", ""), deck="embed.yaml")
says("model: 'known/train/model.h5' has 1 parameters, but 2 are given", TURNED[0], TURNED[1] % ("[b, w]", ", prandtl: [1, 2]"), deck="embed.yaml")

# Probe
says("by is simulation, but the samples have no simulation; set 'by' to what both data sets have", P + "by=simulation", deck="probe.yaml")
table.file("negative.h5", {"images": np.zeros((4, 8, 8), "u1"), "labels": np.array([0, 1, -1, 1])})
says("classes count from 0, but a training sample has a negative one; leave it out with 'range'", P + "training={type: images, file: negative.h5}",
     deck="probe.yaml")
says("a test sample has the class -1, which is none: no prediction is correct; leave it out with 'range'",
     P + "test={type: images, file: negative.h5}", deck="probe.yaml")
table.file("gaps.h5", {"images": np.zeros((4, 8, 8), "u1"), "labels": np.array([0, 1, 2**40, 1])})
says("classes count from 0, but a training sample has the class 1099511627776; number them without gaps", P + "training={type: images, file: gaps.h5}",
     deck="probe.yaml")
says("labels_per_class is 30, but class 0 has 10 samples; take fewer", P + "few=30", deck="probe.yaml")

# Novelty
MADE_UP = "{type: field_archive, synthetic: {simulations: 4, snapshots: 3, cells: [8, 8]}}"
says("'candidates' names no parameter", X + "candidates={}", deck="next.yaml", command="check")
says("choose is 9, but there are 4 candidates; give more values, or choose fewer", X + "choose=9", deck="next.yaml", command="check")
says("candidates.slope has a value twice; the same run would be chosen twice: give each once", X + "candidates={drift: [0, 1], slope: [1, 2, 1]}",
     deck="next.yaml", command="check")
says("candidates name 1 parameters, but the archive's runs have 2; give both the same 'parameters'", X + "candidates={drift: [0, 1, 2]}", deck="next.yaml")
says("model: 'views/train/model.h5' was not trained with parameters, so that runs that are not there yet have no vector; train it with positive: parameters",
     X + "model=views/train/model.h5", deck="next.yaml")
says("candidates names dirft, slope, but the parameters of the archive's runs are drift, slope; give both the same names",
     X + "candidates={dirft: [0, 1], slope: [1, 2]}", deck="next.yaml")
says("by is encoder, but there is no 'model'; give one, or by: gaps", X + "run={type: neighbours, archive: %s, queries: %s}" % (MADE_UP, MADE_UP),
     deck="next.yaml", command="check")
says("run 1 wrote no fields.h5; give 'run' an output of type fields", X + "run={type: neighbours, archive: %s, queries: %s}" % (MADE_UP, MADE_UP),
     X + "candidates={batch: [8, 9], neighbours: [2, 3]}", X + "by=gaps",
     X + "archive={type: field_archive, files: [a.h5, b.h5], fields: [b, w], parameters: {batch: [1, 2], neighbours: [1, 4]}}", deck="next.yaml")
table.begins(N + "positive=parameters", "run.directory=one")
says("model: 'one/train/model.h5' has 1 parameters, but 2 are given", X + "model=one/train/model.h5", deck="next.yaml")

# Surrogate
S = "stages[0]={surrogate: {archive: %s, test: %s}}"
says("test: the runs have no parameters; give the data set 'parameters'", S % (MADE_UP, "{type: field_archive, files: [a.h5], fields: [b, w]}"), deck="next.yaml")
says("archive and test differ in parameters or shape; give both the same", S % (MADE_UP, "{type: field_archive, synthetic: {simulations: 4, snapshots: 3, cells: [8, 12]}}"),
     deck="next.yaml")
says("archive and test differ in parameters or shape; give both the same",
     S % ("{type: field_archive, files: [a.h5, b.h5], fields: [b, w], parameters: {prandtl: [1, 2]}}",
          "{type: field_archive, files: [a.h5, b.h5], fields: [b, w], parameters: {rayleigh: [1, 2]}}"), deck="next.yaml")

table.run()

# Bench
says("bench pretrain: parts names 'speed'; there are search, loss, step", command=["bench", "pretrain", "parts=speed"])
says("bench pretrain: rows is 10; give at least 1000", command=["bench", "pretrain", "rows=10"])
says("bench pretrain: recall is 2; give a share above 0, at most 1", command=["bench", "pretrain", "recall=2"])
