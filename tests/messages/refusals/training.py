"""What training says about decks, data and models that cannot work."""
import os

import h5py
import numpy as np
from table import Table

DECK = """
run: {name: fit, directory: out}
stages:
  - train:
      network: {type: mlp, layers: [4], input: x, target: y}
      dataset: {type: hdf5, files: [d.h5], fields: [{name: x}, {name: y}]}
      batch: 4
      steps: 4
      optimizer: {type: sgd}
      learning_rate: {type: constant, start: 1e-3}
"""
T = "stages[0].train."
N = 16
X, Y = [[0.1 * k, 1.0 - 0.05 * k] for k in range(N)], [[0.3 * k % 1.0] for k in range(N)]

table = Table("training", DECK)
says = table.says
table.file("d.h5", {"x": X, "y": Y})


def fails(message, *overrides, code=2):
    elsewhere = [] if any(o.startswith("run.directory=") for o in overrides) else ["run.directory=refused"]  # the run in out is read below
    says(message, *overrides, *elsewhere, command="run", code=code)


# Keys
says("layers: a width of 0 is none; widths are 1 or more", T + "network.layers=[0]")
says("files: name at least one HDF5 file or pattern", T + "dataset.files=[]")
says("fields: name at least one array", T + "dataset.fields=[]")
says("fields: 'x' is given twice", T + "dataset.fields=[{name: x}, {name: x}]")
says("needs a variable in box and a formula in target", T + "dataset={type: expression, samples: 4, box: {}, target: {y: 1}}")
says("box.x must be [low, high]", T + "dataset={type: expression, samples: 4, box: {x: [1, 0]}, target: {y: x}}")
says("submission is written to the lines of mllog; set mllog: true, or remove submission", T + "submission={organisation: a, platform: b}")
says("validate.target needs validations; give validation (a data set) or hold_out", T + "validate.target=0.1")
says("start_from: 'net.pt' is a file of PyTorch; write its weights as safetensors (safetensors.torch.save_file(module.state_dict(), "
     "\"weights.safetensors\")), or train its module by the network torch_script", T + "start_from=net.pt")
says("validate.patience counts validations; give validation (a data set) or hold_out", T + "validate.patience=3")
says("all metric_weights are 0, so that no model is better than another; give one that is not", T + "validate.metric_weights=[0, 0]", T + "hold_out=0.2")
says("nesterov looks ahead along the momentum, which is 0; give momentum", T + "optimizer={type: sgd, nesterov: true}")
for optimizer, key in (("adam", "beta1"), ("adamw", "beta2"), ("split_adamw", "beta1"), ("schedule_free_adamw", "beta1"), ("sgd", "momentum"),
                       ("split_sgd", "momentum"), ("muon", "momentum"), ("rmsprop", "momentum"), ("rmsprop", "alpha"), ("soap", "shampoo_beta")):
    says(f"stages[0].train.optimizer.{key}: found 1, expected a number >= 0 and < 1", T + f"optimizer={{type: {optimizer}, {key}: 1}}")
says("stages[0].train.ema.decay: found 1, expected a number >= 0 and < 1", T + "ema={decay: 1}")
says("names no bound: give norm, value or both, for example clip: {norm: 1}", T + "clip={}")
says("codec rounds the sums of each number of ranks in another way, and mode 'ordered' guarantees the same bits on all; remove one of them",
     T + "reduce={codec: int8, mode: ordered}")
says("give one of: validation (a data set), hold_out (a fraction of the training set)", T + "hold_out=0.1",
     T + "validation={type: hdf5, files: [d.h5], fields: [{name: x}, {name: y}]}")
RATE = T + "learning_rate="
says("give one of: at (a list of steps), every (a number of steps)", RATE + "{type: step, start: 1, factor: 0.5}")
says("a sequence needs schedules: [{steps: 100, rate: {...}}, ...]", RATE + "{type: sequence, schedules: []}")
says("schedules[0] has no steps; only the last schedule may take the rest",
     RATE + "{type: sequence, schedules: [{rate: {type: constant, start: 1}}, {rate: {type: constant, start: 1}}]}")

says("factor_ranks: a rank of -1 is invalid; give 0 for a full layer, or 1 and more", T + "network.factor_ranks=[-1, 0]")
says("factor_ranks: 1 values for 2 layers; give one for each, 0 for a full one", T + "network.factor_ranks=[1]")
says("factor_ranks: 2 values for 9 layers; give one for each, 0 for a full one", T + "network={type: transformer, width: 4, heads: 1, factor_ranks: [1, 0]}")

# Tables in text
says("files: name at least one table or pattern", T + "dataset={type: csv, files: [], fields: [{name: x}]}")
says("fields: name at least one column", T + "dataset={type: csv, files: [t.csv], fields: []}")
says("fields: 'x' is given twice", T + "dataset={type: csv, files: [t.csv], fields: [{name: x}, {name: x}]}")
says("categories: 'bird' is given twice", T + "dataset={type: csv, files: [t.csv], fields: [{name: x, categories: [bird, cat, bird]}]}")
for message, content, more in (
        ("'t.csv' has no column 'x'; it has: 'a', 'y [K]'", "a,y [K]\n1,2\n", ""),
        ("'t.csv' has no column 'x'; it has: 'x y z'; cells are separated by commas, semicolons or tabs, not by blanks", "x y z\n1 2 3\n", ""),
        ("'t.csv': 2 columns are called 'x'; rename them", "x,x,y\n1,2,3\n", ""),
        ("t.csv:1: the first line holds numbers, expected names of the columns; write such a line before it", "1,2\n3,4\n", ""),
        ("'t.csv' holds no table: it has no line of names", "\n# x,y\n", ""),
        ("'t.csv' holds no samples: no line follows the line of names", "x,y\n\n", ""),
        ("t.csv:3: column 'y' has no number ('NaN'); give one, remove the line, or set missing: leave_out", "x,y\n1,2\n1,NaN\n", ""),
        ("t.csv:3: '2020-01-31' in column 'x' is not a number; give the texts of classes as categories: [FIRST, SECOND] of the field; number dates first, as pandas.to_datetime does",
         "x,y\n1,2\n2020-01-31,2\n", ""),
        ("t.csv:2: 'inf' in column 'y' is not a number; give the texts of classes as categories: [FIRST, SECOND] of the field; number dates first, as pandas.to_datetime does", "x,y\n1,inf\n", ""),
        ("t.csv:3: 'x' in column 'x' is not a number; the line of names occurs twice: remove it", "x,y\n1,2\nx,y\n3,4\n", ""),
        ("t.csv:3: 2 cells were expected, but the line has 3; is the file cut short?", "x,y\n1,2\n1,2,3\n", ""),
        ("t.csv:2: '99999999999999999999' in column 'x' needs more than 64 bits", "x,y\n99999999999999999999,2\n", ""),
        ("'t.csv': some values of 'y' have a comma before three digits, as 12,000, others have none: it may be a decimal or a thousands separator; "
         "set decimal: ',' if it is the decimal point, else remove it", "x;y\n1;12,000\n2;950\n", ""),
        ("'t.csv': every value of 'x' has a comma before three digits, as 12,000: it may be a decimal or a thousands separator; "
         "set decimal: ',' if it is the decimal point, else remove it", "x;y\n12,000;2\n13,500;4\n", ""),
        ("t.csv:3: '1.234' in column 'x' has a point, but other numbers of the table have commas: one of the two may be a thousands separator; "
         "write decimal points as points, and no thousands separators", "x;y;z\n1;12;0,5\n1.234;950;text\n", ""),
        ("t.csv:2: '1.5' in column 'x' has a point, but other numbers of the table have commas: one of the two may be a thousands separator; "
         "write decimal points as points, and no thousands separators", "x;y\n1.5;2\n1;2,5\n", ""),
        ("t.csv:3: column 'y' has no number ('#N/A'); give one, remove the line, or set missing: leave_out", "x,y\n1,2\n1,#N/A\n", ""),
        ("the line of names gives 'y' in K, the deck expects m; correct the deck's key 'unit' or convert the column", "x,y [K]\n1,2\n", "unit: m"),
        ("'y' has cells that are not whole numbers, expected int64; set numbers: float64", "x,y\n1,2\n1,2.5\n", "numbers: int64"),
        ("t.csv:3: 'Bird' in column 'y' is none of the categories bird, cat; add it to them, or correct it", "x,y\n1,bird\n2,Bird\n",
         "categories: [bird, cat]"),
        ("t.csv:2: column 'y' has no number (''); give one, remove the line, or set missing: leave_out", "x,y\n1,\n", "categories: [bird, cat]"),
        ("t.csv: the text is in UTF-16; save it as UTF-8 or ASCII", "x,y\n1,2\n".encode("utf-16"), "")):
    name = f"t{len(table.cases)}.csv"
    table.file(name, content)
    fails(message.replace("t.csv", name), T + f"dataset={{type: csv, files: [{name}], fields: [{{name: x}}, {{name: y, {more}}}]}}")
for message, content, more in (
        ("t.csv:2: '1,5' in column 'y' has a comma; set decimal: ',' if it is the decimal point, or remove it if it separates thousands",
         'x,y\n1,"1,5"\n', ""),
        ("t.csv:2: '1,5' in column 'y' has a comma; set decimal: ',' if it is the decimal point, or remove it if it separates thousands",
         "x;y\n1;1,5\n", "decimal: '.'"),
        ("t.csv:2: '1.5' in column 'y' has a point, but decimal is ','; remove the point if it separates thousands, or set decimal: '.'",
         "x;y\n1;1.5\n", "decimal: ','"),
        ("t.csv:2: '1.234,56' in column 'y' separates thousands; remove these separators", "x;y\n1;1.234,56\n", ""),
        ("t.csv:2: '1,234,567' in column 'y' separates thousands; remove these separators", 'x,y\n1,"1,234,567"\n', ""),
        ("t.csv:2: '31.01.2020' in column 'y' is not a number; give the texts of classes as categories: [FIRST, SECOND] of the field; number dates first, as pandas.to_datetime does",
         "x,y\n1,31.01.2020\n", ""),
        ("t.csv:1: 'sep=;;' declares no separator of one character; correct or remove this line", "sep=;;\nx;y\n1;2\n", ""),
        ("t.csv:1: 'sep=' declares no separator of one character; correct or remove this line", "sep=\nx;y\n1;2\n", ""),
        ("t.csv:1: 'sep=;' declares another separator than the key 'delimiter'; remove one of the two", "sep=;\nx;y\n1;2\n", "delimiter: tab"),
        ("'t.csv' has no column 'x'; it has: 'x,y'", "x,y\n1,2\n", "delimiter: '|'")):
    name = f"t{len(table.cases)}.csv"
    table.file(name, content)
    fails(message.replace("t.csv", name), T + f"dataset={{type: csv, files: [{name}], fields: [{{name: x}}, {{name: y}}], {more}}}")
for text in ("", ";;", "a", ".", "semicolon"):
    says(f"delimiter: '{text}' is not one separating character; give one, tab or auto",
         T + f"dataset={{type: csv, files: [t.csv], fields: [{{name: x}}], delimiter: '{text}'}}")
table.file("two.csv", "x,y\n1,2\n3,4\n")
fails("range [0, 9]: the files hold 2 samples; give 0 <= first < last <= 2",
      T + "dataset={type: csv, files: [two.csv], fields: [{name: x}, {name: y}], range: [0, 9]}")
table.file("kelvin.csv", "x,y [K]\n1,2\n3,4\n")
fails("'kelvin.csv' has 'y' in K, but 'two.csv' has it in no unit; convert one of them",
      T + "dataset={type: csv, files: [two.csv, kelvin.csv], fields: [{name: x}, {name: y}]}")

# Data
table.file("float.h5", {"x": X, "y": ([[1] for _ in Y])})
fails("array '/y' is float64 in 'd.h5' but int64 in 'float.h5'; all shards of a data set need the same type", T + "dataset.files=[d.h5, float.h5]")
table.file("nine.h5", {"x": np.zeros((N, 1, 1, 2, 1, 1, 1, 1, 2)), "y": Y})
fails("array '/x' in 'nine.h5' has 9 axes, at most 6 are read; join some of them: values.reshape(16, -1)", T + "dataset.files=[nine.h5]")
table.file("packed.h5", {"x": X, "y": (np.ones((N, 1), "i2"), {"scale_factor": 0.0})})
fails("the attribute scale_factor of 'y' of 'packed.h5' is 0, which makes all of its values equal; correct it (ncatted)", T + "dataset.files=[packed.h5]")
with h5py.File(table.path("begun.h5"), "w") as file:  # of a program that ended early
    file["x"] = X
    file.create_dataset("y", (N, 1), fillvalue=-999.0)[:N - 2] = Y[:N - 2]
fails(f"'begun.h5' holds -999 in array 'y', sample {N - 2} (row {N - 2} of the file), which is missing there by _FillValue, missing_value, a valid range "
      "or the fill of its type; leave the sample out, or correct the attributes (ncatted)", T + "dataset.files=[begun.h5]")
table.file("class.h5", {"x": X, "y": [[0.0]] * N})
fails("field 'y' names 1 class; classification needs two or more", T + "dataset.files=[class.h5]", T + "network.objective=classification")
fails("parallel.update_codec and parallel.weight_codec encode unsplit weights, but this optimizer splits them; use adam, adamw or sgd, or remove both",
      T + "optimizer=split_adamw", T + "network.precision=float32", T + "parallel={preset: zero1, update: difference}")
fails("codecs round the sums of each number of ranks in another way, and reduce.mode 'ordered' guarantees bitwise identical sums; use mode: fast",
      T + "reduce={mode: ordered}", T + "parallel={preset: zero1, levels: [{name: world, codec: int8}]}")
says("give one of: codec (a fixed number of bits), lossy (an error bound)", T + "reduce={codec: int8, lossy: {relative: 1e-3}}")
says("give one of 'relative' and 'absolute', for example lossy: {relative: 1e-3}", T + "reduce={lossy: {}}")
says("lossy changes the sums of each number of ranks in another way, and mode 'ordered' guarantees the same bits on all; remove one of them",
     T + "reduce={mode: ordered, lossy: {relative: 1e-3}}")
says("parallel cuts messages where ranks' parts end and needs their lengths before, which are not fixed with reduce.lossy; take reduce.codec bf16, int8 or "
     "int4", T + "parallel={preset: zero1}", T + "reduce={lossy: {relative: 1e-3}}")
says("width 6 is not a multiple of heads 4; every head takes an equal part", T + "network={type: transformer, width: 6}")
ATTENTION = T + "network={type: transformer, width: 4, heads: 1, attention: "
says("favor needs features, how many it draws for each layer; give features: 64, for example", ATTENTION + "{type: favor}}")
for kind in ("softmax", "two_pass", "linear"):
    says(f"features are those of type favor, and {kind} has none to choose; remove features", ATTENTION + f"{{type: {kind}, features: 8}}}}")
says("stages[0].train.network.attention.features: found 0, expected a whole number >= 1", ATTENTION + "{type: favor, features: 0}}")
says("stages[0].train.network.attention.type: found 'reformer', expected one of: softmax, two_pass, linear, favor", ATTENTION + "{type: reformer}}")
says("favor needs features, how many it draws for each layer; give features: 64, for example", ATTENTION + "favor}")
says("stages[0].train.network.attention.type: found 'liner', expected one of: softmax, two_pass, linear, favor; did you mean 'linear'?",
     ATTENTION + "liner}")
says("stages[0].train.network.attention: found 2, expected a map with keys of type, features", ATTENTION + "2}")
says("stages[0].train.learning_rate.start: found -1, expected a number >= 0", T + "learning_rate=-1")
RECALL = T + "dataset={type: associative_recall, samples: 20, "
says("9 queries are more than the 8 pairs; lower queries or raise pairs", RECALL + "queries: 9}")
says("8 pairs need as many different keys, but keys is 7; lower pairs or raise keys", RECALL + "keys: 7}")
says("16 keys and 15 values make 272 different bytes, more than 256; lower keys or values", RECALL + "values: 15}")
says("8 pairs and 8 queries take 24 bytes, but length is 23; raise length", RECALL + "length: 23}")
says("bench attention: least 256, most 128, width 64, features 128, repeats 3 and draws 12 must be 1 or more, and most no less than least",
     command=["bench", "attention", "most=128"])
fails("weights of quantized_training are sent at the bit width at which they are stored; remove parallel.update_codec and parallel.weight_codec", T + "network.precision=float32",
      T + "parallel={preset: zero1, update: difference}", T + "direct={weights: int8}")
says("ema keeps a second copy of the weights in full, which quantized_training does without; remove one of them", T + "average={decay: 0.9}",
     T + "direct={weights: int8}")
fails("quantized_training rounds weights of float32, but the model trains in float64; set the model's precision to float32", T + "direct={weights: int8}",
      T + "network.precision=float64")
fails("quantized_training changes weights tensor by tensor and has no second copy of them; take sgd, adam or adamw instead of split forms, lars, lamb and schedule_free_adamw",
      T + "direct={weights: ternary}", T + "network.precision=float32", T + "optimizer=lamb")
table.file("one_byte.h5", {"text": [[1.0]] * N})
TEXT = [T + "network={type: transformer, width: 4}", T + "dataset.fields=[{name: text}]"]
fails("field 'text' has 1 bytes per sample; a transformer predicts all but the first and needs two or more", *TEXT, T + "dataset.files=[one_byte.h5]")
table.file("half_bytes.h5", {"text": [[1.0, 0.5]] * N})
fails("sample 1: 'text' must hold bytes, whole numbers from 0 to 255, but holds 0.5", *TEXT, T + "dataset.files=[half_bytes.h5]", T + "batch=16")
table.file("bytes.h5", {"text": [[1.0, 2.0]] * N})
table.file("more_bytes.h5", {"text": [[1.0, 2.0, 3.0]] * N})
fails("sample 0: field 'text' has 3 bytes, the model reads 2", *TEXT, T + "dataset.files=[bytes.h5]",
      T + "validation={type: hdf5, files: [more_bytes.h5], fields: [{name: text}]}", T + "validate={every: 1}")
ANSWERS = T + "network={type: transformer, width: 4, heads: 1, loss_on: answers}"
fails("loss_on: answers needs a field 'answer' that marks them, which the data set lacks; take data that have one (type recall), name theirs with "
      "answers, or remove loss_on", *TEXT, ANSWERS, T + "dataset.files=[bytes.h5]")
fails(("attention between 2e+06 positions of a text would take at least 128 TB of memory on this node, which has ",
       "; take attention: {type: two_pass}, which gives the same values and does not store them"), T + "network={type: transformer, width: 4}",
      RECALL + "length: 2000001}")
FAVOR = "{type: transformer, width: 4, heads: 1, attention: {type: favor, features: %d}}"
table.begins(T + "network=" + FAVOR % 8, T + "dataset={type: associative_recall, samples: 20}", "run.directory=favor")
fails("the model holds 64 values of random features, but attention: {type: favor, features: 9} needs 72; give the attention that the model was "
      "trained with", T + "network=" + FAVOR % 9, T + "dataset={type: associative_recall, samples: 20}", T + "start_from=favor/train/model.h5")
MARKED = [ANSWERS, T + "dataset.fields=[{name: text}, {name: answer}]", T + "batch=16"]
table.file("long_marks.h5", {"text": [[1.0, 2.0, 3.0]] * N, "answer": [[0.0, 1.0, 0.0]] * N})
fails(("sample ", ": field 'answer' marks 3 bytes, but the model predicts 2, all but the first"), *MARKED, T + "dataset.files=[long_marks.h5]")
table.file("half_marks.h5", {"text": [[1.0, 2.0, 3.0]] * N, "answer": [[0.5, 1.0]] * N})
fails(("sample ", ": 'answer' must be 1 for an answer and 0 elsewhere, but holds 0.5"), *MARKED, T + "dataset.files=[half_marks.h5]")
table.file("no_marks.h5", {"text": [[1.0, 2.0, 3.0]] * N, "answer": [[0.0, 0.0]] * N})
fails(("sample ", ": 'answer' marks no byte; every text needs an answer"), *MARKED, T + "dataset.files=[no_marks.h5]")
table.file("half.h5", {"x": X, "y": [[0.5]] * N})
CLASSES = T + "network.objective=classification"
fails("sample 0: 'y' is 0.5, but classes are whole numbers that count from 0; number them so", T + "dataset.files=[half.h5]", CLASSES)
table.file("signs.h5", {"x": X, "y": [[1.0 - 2.0 * (k % 2)] for k in range(N)]})
fails("sample 1: 'y' is -1, but classes are whole numbers that count from 0; number them so", T + "dataset.files=[signs.h5]", CLASSES)
table.file("one_hot.h5", {"x": X, "y": [[1.0, 0.0]] * N})
fails("sample 0: 'y' has 2 values, but a class is one index, counted from 0; of probabilities or one-hot vectors store the index of the largest",
      T + "dataset.files=[one_hot.h5]", CLASSES)
table.file("three.h5", {"x": X, "y": [[k % 3] for k in range(N)]})
table.file("two.h5", {"x": X, "y": [[k % 2] for k in range(N)]})
fails("sample 2: 'y' is the class 2, but the model was trained on classes 0 to 1; leave the sample out, or train with such samples",
      T + "dataset.files=[two.h5]", CLASSES, T + "validation={type: hdf5, files: [three.h5], fields: [{name: x}, {name: y}]}", T + "validate={every: 1}")
table.file("words.h5", {"x": X, "y": [b"a"] * N})
fails("'/y' in 'words.h5' is text, expected numbers; store it as float64, float32 or whole numbers", T + "dataset.files=[words.h5]")
HALVES, SHARES = [[0.125 * k, 1.0 - 0.5 * k] for k in range(N)], [[k % 2] for k in range(N)]
table.file("as_float64.h5", {"x": HALVES, "y": np.array(SHARES, "f8")})
learnt = set()
for name, kinds in {"as_float64.h5": None, "narrow.h5": ("f2", "i2"), "flags.h5": (">f4", "?"), "unsigned.h5": ("f4", "u8"),
                    "wide_ones.h5": ("g", "u2")}.items():
    if kinds:
        table.file(name, {"x": np.array(HALVES, kinds[0]), "y": np.array(SHARES, kinds[1])})
    table.begins(T + f"dataset.files=[{name}]", T + "log=1", "run.directory=types")
    learnt.add(open(table.path("types/train/training.csv")).read())
assert len(learnt) == 1, f"numbers of other types are read as other numbers: {learnt}"
table.file("none.h5", {"x": X[:0], "y": Y[:0]})
fails("'none.h5' holds no samples: the first axis of 'x' has the length 0; name files with samples", T + "dataset.files=[none.h5]")
table.file("single.h5", {"x": X[:1], "y": Y[:1]})
fails("hold_out 0.6 of 1 samples leaves none to train on; hold out fewer, or give more samples", T + "dataset.files=[single.h5]", T + "hold_out=0.6")
table.file("tall.h5", {"x": X, "y": [[1.0, 2.0, 3.0]] * N})
fails("sample 0: field 'y' has 3 values, but the model was made for 1; give it samples like those it was trained on",
      T + "validation={type: hdf5, files: [tall.h5], fields: [{name: x}, {name: y}]}",
      T + "validate={every: 1}")
table.file("wide.h5", {"x": [[*row, 0.0] for row in X], "y": Y})
fails("sample 0: field 'x' has 3 values, but the model was made for 2; give it samples like those it was trained on",
      T + "validation={type: hdf5, files: [wide.h5], fields: [{name: x}, {name: y}]}",
      T + "validate={every: 1}")
table.file("kelvin.h5", {"x": X, "y": (Y, {"unit": "K"})})
fails("the field 'y' is in no unit in the training set, but in K in the validation set; convert one of them",
      T + "validation={type: hdf5, files: [kelvin.h5], fields: [{name: x}, {name: y}]}")
table.begins()

# Models
# Data sets of plugins to come
fails("the data set is empty: there is nothing to train on", T + "dataset={type: odd}", "run.directory=none")
fails("field 'x' has 1 values in sample 1, but 2 in sample 0; mlp needs equal sizes", T + "dataset={type: odd, samples: 8, uneven: true}",
      "run.directory=none")
table.begins()
table.file("evaluate.yaml", "run: {name: evaluate, directory: evaluated}\nstages:\n  - evaluate: {model: out/train/model.h5, dataset: {type: odd}}\n")
says("the data set is empty: there is nothing to evaluate", deck="evaluate.yaml", command="run")
table.file("predict.yaml", "run: {name: predict, directory: predicted}\nstages:\n  - predict: {model: out/train/model.h5, dataset: {type: odd}}\n")
says("the data set is empty: there is nothing to predict", deck="predict.yaml", command="run")
CODED = "  - evaluate: {model: '%s/train/model.h5', dataset: {type: hdf5, files: [d.h5], fields: [{name: x}, {name: y}]}, quantize: {bits: 2}}\n"
table.file("coded.yaml", "run: {name: coded, directory: coded}\nstages:\n" + CODED % "out")
says("quantize found no linear layer of at least 32 inputs and 16 outputs in this model; remove quantize (it is for larger models of type mlp, "
     "transformer and deep_potential)", deck="coded.yaml", command="run")
says("the data set of calibrate is empty; name samples of the kind that the model was trained on",
     "stages[0].evaluate.quantize.calibrate={dataset: {type: odd}}", deck="coded.yaml", command="run")
table.file("double.yaml", DECK.replace("directory: out", "directory: double") + CODED % "double")
says("quantize works with tables of float32, and this model is float64; train it in precision float32", T + "network.precision=float64",
     deck="double.yaml", command="run")
fails("'d.h5' is no model file of Cambium: it has no /model; give a model.h5 that a train stage wrote", T + "start_from=d.h5", "run.directory=a")
fails("start_from: 'out/train/model.h5' holds a mlp with 17 parameters, but the deck's mlp has 25; use the same network and precision",
      T + "start_from=out/train/model.h5", T + "network.layers=[6]", "run.directory=a")
table.file("pairs.h5", {"x": [[0.1 * k] for k in range(N)], "y": Y})
PAIRS = T + "dataset.files=[pairs.h5]"
table.begins(PAIRS, T + "network.layers=[2, 3]", "run.directory=pairs")
fails("start_from: 'pairs/train/model.h5' holds another network than the deck: layers.0.w (1, 2) there, layers.0.w (1, 3) here; use the same network",
      PAIRS, T + "network.layers=[3, 2]", T + "start_from=pairs/train/model.h5", "run.directory=a")
for name in ("future", "short"):
    with open(table.path("out/train/model.h5"), "rb") as file:
        table.file(name + ".h5", file.read())
    with h5py.File(table.path(name + ".h5"), "r+") as file:
        if name == "future":
            file["model"].attrs.modify("format", 99)
        else:
            first = sorted(file["weights"])[0]
            shape = ", ".join(map(str, file["weights"][first].shape))
            del file["weights"][first]
fails("'future.h5' has model format 99, but this program reads up to 2; use the Cambium that wrote it", T + "start_from=future.h5", "run.directory=a")
fails(f"'short.h5': the model needs /weights/{first} of shape [{shape}], but the file has no such array; it was written by another version or "
      "changed afterwards", T + "start_from=short.h5", "run.directory=a")

TERNARY = (T + "network.precision=float32", T + "direct={weights: ternary}")
table.begins(*TERNARY, "run.directory=packed")
for name in ("cut", "double"):
    with open(table.path("packed/train/model.h5"), "rb") as file:
        table.file(name + ".h5", file.read())
    with h5py.File(table.path(name + ".h5"), "r+") as file:
        packed = next(data for data in file["weights"].values() if "shape" in data.attrs)
        if name == "cut":
            codes, marks, place = packed[()], dict(packed.attrs), packed.name
            del file[place]
            file[place] = codes[:-1]
            file[place].attrs.update(marks)
        else:
            text = file["model/config"][()].decode().replace("precision: float32", "precision: float64")
            del file["model/config"]
            file["model/config"] = text
fails(f"'cut.h5': {place} holds {codes.size - 1} bytes, but ternary weights of its shape take {codes.size}", *TERNARY, T + "start_from=cut.h5",
      "run.directory=a")
fails(f"'double.h5': {place} is packed, as quantised weights of float32 are, but the model computes in float64; its configuration was changed afterwards",
      T + "network.precision=float64", T + "start_from=double.h5", "run.directory=a")

# Checkpoints
CHECK = T + "checkpoint={every: 2}"
for name in ("again", "tensors", "states", "numbers"):
    table.interrupts(f"run.directory={name}", CHECK)
    last = sorted(f for f in os.listdir(table.path(name + "/train")) if f.startswith("restart"))[-1]
    with h5py.File(table.path(f"{name}/train/{last}"), "r+") as file:
        if name == "numbers":
            del file["weights"]
            file["weights"] = [0.0] * 5
        elif name == "tensors":
            del file["tensors"]
            file.create_dataset("tensors", data=["other"], dtype=h5py.string_dtype())
PLACE = f"train/{last}"
says(f"'again/{PLACE}' was written with batch 4, but the deck has 8; resume with the same, or begin a new run with start_from",
     command=["restart", "again", T + "batch=8"])
says(f"'tensors/{PLACE}' holds tensors of another model; resume with the model that wrote it", command=["restart", "tensors"])
says(f"'numbers/{PLACE}' holds 5 values in /weights, but the deck's model has 17 parameters; resume with the model that wrote it",
     command=["restart", "numbers"])
says(f"'states/{PLACE}' has no optimizer state momentum: the deck's optimizer has other settings than the one that wrote it (momentum switched "
     "on?); resume with the same", command=["restart", "states", T + "optimizer.momentum=0.9"])
says("this network stores its activations by itself; remove activations, or take a network written with Torch (conv_net)",
     T + "activations={keep: compressed}")
says("bounds of compressed activations follow from what each rank computes, but ordered mode guarantees equal bits for any number of ranks; give "
     "activations one bound, or remove it", T + "activations={keep: compressed}", T + "reduce={mode: ordered}")

# Plans for other machines
MACHINE = "{name: m, peak: 1e12, memory: 1 GB, memory_bandwidth: 10 GB/s, levels: [%s]}"
LEVEL = "{name: %s, size: %d, bandwidth: 1 GB/s, latency: 1 us}"


def plans(message, levels, ranks="4"):
    name = f"machine_{len(table.cases)}.yaml"
    table.file(name, MACHINE % ", ".join(levels))
    says(message, command=["plan", "deck.yaml", "--machine", name, "--ranks", ranks])


says("cannot read the machine file 'none.yaml'; give the path of one, or the name of one that came with the program "
     "(`cambium list machines` names them)",
     command=["plan", "deck.yaml", "--machine", "none.yaml", "--ranks", "4"])
plans("levels is empty; name at least one, for example levels: [{name: system, bandwidth: 25 GB/s, latency: 2 us}]", [])
plans("levels: 'node' has no size; give how many devices it joins (only the last level takes the rest)",
      ["{name: node, bandwidth: 1 GB/s, latency: 1 us}", LEVEL % ("system", 4)])
plans("levels: 'rack' has no size; give how many units of 'node' it joins (only the last level takes the rest)",
      [LEVEL % ("node", 2), "{name: rack, bandwidth: 1 GB/s, latency: 1 us}", LEVEL % ("system", 4)])
plans("levels: the name 'node' is given twice; give each level its own", [LEVEL % ("node", 2), LEVEL % ("node", 2)])
plans("6 ranks do not fill the level 'node' of m, which joins 4; plan for a multiple of 4 ranks", [LEVEL % ("node", 4), LEVEL % ("system", 8)], "6")
plans("m has 8 devices, but 16 ranks are planned; plan for fewer, or remove the size of 'system'",
      [LEVEL % ("node", 4), LEVEL % ("system", 2)], "16")
table.file("whole.yaml", MACHINE % (LEVEL % ("node", 4)))
says("the length of messages of reduce.lossy depends on the values in them; plan with reduce.codec, or with neither",
     command=["plan", "deck.yaml", T + "reduce={lossy: {relative: 1e-3}}", "--machine", "whole.yaml", "--ranks", "4"])
says("the deck leaves batch out, which takes all samples, and plan opens no data; give --samples-per-rank",
     command=["plan", "deck.yaml", T + "batch=null", "--machine", "whole.yaml", "--ranks", "4"])
says("plan does not support quantized_training; remove it to plan the same training with float32 weights",
     command=["plan", "deck.yaml", T + "direct={weights: int8}", "--machine", "whole.yaml", "--ranks", "4"])
says("parallel.update_codec and parallel.weight_codec encode unsplit weights, but this optimizer splits them; use adam, adamw or sgd, or remove both",
     command=["plan", "deck.yaml", T + "optimizer=split_adamw", T + "network.precision=float32", T + "parallel={preset: zero1, update: int8}",
              "--machine", "whole.yaml", "--ranks", "4"])
table.file("untrained.yaml", "run: {name: none}\nstages:\n  - evaluate: {model: m.h5, dataset: {type: hdf5, files: [d.h5], fields: [{name: x}]}}\n")
table.file("machine.yaml", MACHINE % (LEVEL % ("node", 2)))
says("'untrained.yaml' has no stage 'train' or 'simulate' to plan; give the deck of a training or of a simulation",
     command=["plan", "untrained.yaml", "--machine", "machine.yaml", "--ranks", "2"])
says("--rate and --weak are for simulations, and a stage 'train' is planned; give --operations-per-sample and --samples-per-rank, or --stage with the "
     "number of a stage 'simulate'", command=["plan", "deck.yaml", "--machine", "machine.yaml", "--ranks", "2", "--rate", "1e6"])

# Networks of low rank
SMALLER = """run: {name: smaller, directory: smaller}
stages:
  - compress:
      model: %s/train/model.h5
      dataset: {type: %s}
      budget: 2
      samples: 8
"""
XY = "hdf5, files: [d.h5], fields: [{name: x}, {name: y}]"
table.file("smaller.yaml", SMALLER % ("out", XY))
table.file("smaller_odd.yaml", SMALLER % ("out", "odd"))
says("give one of: budget, latency, multiplications", "stages[0].compress.latency=1 ms", deck="smaller.yaml")
says("stages[0].compress.latency: found '2min', expected a number > 0 s: there is no unit 'min'; did you mean 'minute'?",
     "stages[0].compress.latency=2min", deck="smaller.yaml")
says("the data set is empty: there is nothing to choose ranks by", deck="smaller_odd.yaml", command="run")
C = "stages[0].compress."
says("baselines: 'equal' is none; take of equal_shares, equal_energy, table, search, smaller and whole", C + "against=[equal]", C + "fine_tune={steps: 1}",
     deck="smaller.yaml")
says("baselines are trained on as the products are; add fine_tune, or leave baselines out", C + "against=[table]", deck="smaller.yaml")
says(("no ranks bring a pass to 1e-09 ms: the least possible is ", " ms; '", "model.h5' has the best that was found: allow more, or train it on for "
      "longer"), C + "budget=null", C + "latency=1e-9 ms", "run.directory=least", deck="smaller.yaml", command="run", code=4)
says(("the loss is ", " times that of the full network, more than accept (1e-09); '", "model.h5' has the best that was found: allow more, or "
      "train it on for longer"), "stages[0].compress.accept=1e-9", "run.directory=accepted", deck="smaller.yaml", command="run", code=4)

# Training that breaks
fails("training diverged at step 2: the term 'scaled_error' of the loss is infinite; the learning rate was 1e+300, try a tenth of it or a "
      "warm_up; no model was stored", T + "learning_rate.start=1e300", T + "network.precision=float64", T + "steps=20", code=4)
fails(("training diverged at step 11: the loss is ", ", more than divergence_factor = 1.5 times its first values (", "), most of it in the term 'scaled_error'; "
       "the learning rate was 3, try a tenth of it or a warm_up; no model was stored"), T + "learning_rate={type: linear, start: 0, stop: 60}",
      T + "explode=1.5", T + "steps=200", code=4)

table.run()
