"""What is said about a model file in which one key or one array is wrong, and about training one further."""
# needs: deepmd
import json

import h5py
from table import Table

from deepmd_samples import PAIR, TRAIN

RUN = """
run: {name: pair, directory: out}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {file: two.xyz}
      potential: {type: deep_potential, model: m.dp}
      steps: 1
"""
table = Table("deepmd_models", RUN)
table.file("two.xyz", PAIR)
table.file("train.yaml", TRAIN)
table.begins(deck="train.yaml")
with open(table.path("train/train/model.dp"), "rb") as file:
    GOOD = file.read()
number = 0


def changed(message, change, how="potential.model", arrays=None):
    """A copy of the good model with its JSON tree changed is refused: message after 'FILE: '."""
    global number
    number += 1
    name = table.file(f"m{number}.dp", GOOD)
    with h5py.File(table.path(name), "r+") as file:
        tree = json.loads(file.attrs["json"])
        change(tree["model"])
        file.attrs["json"] = json.dumps(tree)
        for key, value in (arrays(tree["model"]) if callable(arrays) else arrays or {}).items():
            if key in file:
                del file[key]
            file[key] = value
    if how == "init":
        table.says(f"{name}: {message}", f"stages[0].train.network.init={name}", deck="train.yaml", command="run")
    else:
        table.says(f"{name}: {message}", f"stages[0].simulate.potential.model={name}", command="run")


def first_layer(model):
    return model["descriptor"]["embeddings"]["networks"][0]["layers"][0]


D = "model.descriptor"
LAYER = D + ".embeddings.networks[0].layers[0]"
changed(D + ".rcut: expected a number, found \"six\"", lambda m: m["descriptor"].update(rcut="six"))
changed(D + ": expected 0 <= rcut_smth < rcut, found 5 and 4", lambda m: m["descriptor"].update(rcut_smth=5.0))
changed(D + ".sel[0]: expected an integer, found 4.5", lambda m: m["descriptor"].update(sel=[4.5, 4]))
changed(D + ".sel: -4 neighbours of one type, expected 0 to 1000000", lambda m: m["descriptor"].update(sel=[-4, 12]))
changed(D + ".sel[0]: 99999999999 does not fit 32 bits", lambda m: m["descriptor"].update(sel=[99999999999, 4]))
changed("model.fitting: numb_fparam is -2147483648, expected 0 to 1000000", lambda m: m["fitting"].update(numb_fparam=-2147483648))
changed("model.fitting.numb_fparam: -99999999999 does not fit 32 bits", lambda m: m["fitting"].update(numb_fparam=-99999999999))
changed("model.type: expected a text, found 3", lambda m: m.update(type=3))
changed(D + ".type_one_side: expected true or false, found \"yes\"", lambda m: m["descriptor"].update(type_one_side="yes"))
changed(D + ".env_mat: use_exp_switch is not supported; supported: the polynomial switch of se_e2_a",
        lambda m: m["descriptor"]["env_mat"].update(use_exp_switch=True))
changed(D + ".embeddings: embedding networks must take one value and all give the same number of values",
        lambda m: None, arrays={"variable_0002": [[1.0] * 8] * 4, "variable_0003": [1.0] * 8})
changed(D + ".embeddings.networks[0]: a network without layers", lambda m: m["descriptor"]["embeddings"]["networks"][0].update(layers=[]))
changed("model.fitting: dim_case_embd > 0 is not supported (a multi-task model)", lambda m: m["fitting"].update(dim_case_embd=2))
changed("model.fitting: use_aparam_as_mask is not supported", lambda m: m["fitting"].update(numb_aparam=1, use_aparam_as_mask=True))
changed("model.pair_exclude_types[0]: expected two types in 0..1", lambda m: m.update(pair_exclude_types=[[0, 5]]))
changed("model.atom_exclude_types: type 7 is not in 0..1", lambda m: m.update(atom_exclude_types=[7]))
changed(LAYER + ".@variables.w: expected a matrix, found shape [4]", lambda m: None, arrays={"variable_0000": [1.0] * 4})
changed(LAYER + ".@variables.b: expected 4 values, found 3", lambda m: None, arrays={"variable_0001": [1.0] * 3})
changed(D + ".embeddings.networks[0].layers[1]: takes 3 values, but the layer before it gives 4", lambda m: None,
        arrays={"variable_0002": [[1.0] * 4] * 3})
changed(D + ".@variables.davg: expected shape [2, 8, 4] (types, sum of sel, components), found [2, 4]", lambda m: None,
        arrays={"variable_0008": [[0.0] * 4] * 2})
changed(D + ".@variables.davg: differs between the neighbour slots of type 0: no meaning without slots", lambda m: None,
        arrays={"variable_0008": [[[0.1 * slot] + [0.0] * 3 for slot in range(8)]] * 2})
changed(LAYER + ".@variables.w: expected an array, found 5", lambda m: first_layer(m)["@variables"].update(w=5))

# Training further
changed("cannot be trained further: it excludes types or subtracts the vacuum's energy", lambda m: m.update(atom_exclude_types=[0]), how="init")
changed("cannot be trained further: a hidden layer is not tanh", lambda m: first_layer(m).update(activation_function="relu"), how="init")
changed("cannot be trained further: a layer has no bias", lambda m: first_layer(m)["@variables"].update(b=None), how="init")
changed("cannot be trained further: its embedding networks have resnet_dt", lambda m: first_layer(m)["@variables"].update(idt="/variable_0001"),
        how="init")

# Weights of few bits
POTENTIAL = "stages[0].simulate.potential."
table.says("quantize found no hidden layer of at least 32 inputs and 16 outputs in the energy networks of train/train/model.dp; remove quantize (it is for "
           "larger networks)", POTENTIAL + "model=train/train/model.dp", POTENTIAL + "quantize={bits: 4}", command="run")
table.says("quantize.products: tables multiply float32 values on CPUs; set precision: mixed (and run a build for CPUs), or take "
           "products: decoded", POTENTIAL + "model=train/train/model.dp", POTENTIAL + "quantize={bits: 3, products: tables}", command="run")
table.says("products: tables of 4 bits take longer than full products, for any number of atoms; take bits: 1 to 3, or products: decoded",
           POTENTIAL + "model=train/train/model.dp", POTENTIAL + "quantize={bits: 4, products: tables}")
table.says("quantize.calibrate has no frame; name folders of deepmd/npy data with configurations like those of the simulation",
           POTENTIAL + "model=train/train/model.dp", POTENTIAL + "quantize={calibrate: {systems: []}}", command="run")
for bits in (0, 5):
    table.says(f"found {bits}, expected a whole number from 1 to 4", POTENTIAL + "model=train/train/model.dp", POTENTIAL + f"quantize={{bits: {bits}}}")

# Tables of a compressed model
table.begins(command=["deepmd", "compress", "train/train/model.dp", "small.dp"])
with open(table.path("small.dp"), "rb") as file:
    GOOD = file.read()
with h5py.File(table.path("small.dp")) as file:
    TABLES = json.loads(file.attrs["json"])["model"]["descriptor"]["compress"]["@variables"]
INFO, DATA = TABLES["compress_info"][0], TABLES["compress_data"][0]
changed(D + ".compress: expected 2 tables, found 1", lambda m: m["descriptor"]["compress"]["@variables"]["compress_data"].pop())
changed(D + ".compress.@variables.compress_data[0]: not a table with its five or more values", lambda m: None, arrays={INFO: [1.0, 2.0]})
changed(D + ".compress.@variables.compress_data[0]: expected at least 20 x 24 values, found [1, 24]", lambda m: None,
        arrays={DATA: [[0.0] * 24], INFO: [0.0, 1.0, 2.0, 0.1, 0.1]})

# Files of YAML
for name, text, message in (
    ("cut.yaml", "model: {type: [", ("cut.yaml:1: not readable as YAML: ", "; is the file complete?")),
    ("keys.yaml", "? [1, 2]\n: 3\n", "keys.yaml:1: a key of a map must be a text"),
    ("array.yaml", "x: {'@class': np.ndarray, dtype: float64, value: [[1, 2], [3]]}\n",
     "array.yaml:1: the value of this np.ndarray is not a rectangular list of numbers"),
):
    table.file(name, text)
    table.says(message, f"stages[0].simulate.potential.model={name}", command="run")
name = table.file("damaged.dp", GOOD)
with h5py.File(table.path(name), "r+") as file:
    file.attrs["json"] = "{"
table.says(("damaged.dp: the root attribute 'json' is damaged: ",), "stages[0].simulate.potential.model=damaged.dp", command="run")

table.run()
