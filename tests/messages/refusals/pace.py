"""What the potential `pace` says about files that it cannot use."""
# needs: md
import json

from table import Table

DECK = """
run: {name: copper, directory: out}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 3.61, cells: [5, 5, 5], species: [Cu]}}
      potential: {type: pace, file: NAME}
      steps: 2
"""


def model():
    """A potential of one species with a pair and a triple."""
    return {"elements": ["Cu"], "E0": [0.0], "deltaSplineBins": 0.001,
            "embeddings": {0: {"ndensity": 1, "FS_parameters": [1.0, 1.0], "npoti": "FinnisSinclair", "rho_core_cutoff": 100.0, "drho_core_cutoff": 10.0}},
            "bonds": {(0, 0): {"nradmax": 1, "lmax": 1, "nradbasemax": 2, "radbasename": "ChebExpCos", "radparameters": [5.0],
                               "radcoefficients": [[[1.0, 0.5], [0.5, 1.0]]], "prehc": 0.0, "lambdahc": 1.0, "rcut": 5.0, "dcut": 0.01,
                               "rcut_in": 0.0, "dcut_in": 0.0, "inner_cutoff_type": "density"}},
            "functions": {0: [{"mu0": 0, "rank": 1, "ndensity": 1, "num_ms_combs": 1, "mus": [0], "ns": [1], "ls": [0], "ms_combs": [0], "ctildes": [1.0]},
                              {"mu0": 0, "rank": 2, "ndensity": 1, "num_ms_combs": 3, "mus": [0, 0], "ns": [1, 1], "ls": [1, 1],
                               "ms_combs": [-1, 1, 0, 0, 1, -1], "ctildes": [1.0, -1.0, 1.0]}]}}


def text_of(value):
    """In one line; keys of bonds are lists, as pacemaker writes them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{list(k) if isinstance(k, tuple) else k}: {text_of(v)}" for k, v in value.items()) + "}"
    return "[" + ", ".join(map(text_of, value)) + "]" if isinstance(value, list) else json.dumps(value)


table = Table("pace", DECK)
count = 0


def file_of(change=None, text=None):
    global count
    count += 1
    whole = model()
    if change:
        change(whole)
    name = f"m{count}.yace"
    table.file(name, text if text is not None else "".join(f"{key}: {text_of(value)}\n" for key, value in whole.items()))
    return name


def says(words, change=None, text=None):
    table.says(words, f"stages[0].simulate.potential.file={file_of(change, text)}")


def bond(key, value):
    return lambda m: m["bonds"][(0, 0)].__setitem__(key, value)


def embedding(key, value):
    return lambda m: m["embeddings"][0].__setitem__(key, value)


def function(k, key, value):
    return lambda m: m["functions"][0][k].__setitem__(key, value)


says("m1.yace:4: `ndensity` of the embedding of Cu is 0, expected an integer from 1 to 16", embedding("ndensity", 0))
says("m2.yace:5: `radparameters` of the bond Cu-Cu is no list of numbers", bond("radparameters", "five"))
says("m3.yace:1: `elements` is no list of symbols", lambda m: m.__setitem__("elements", "Cu"))
says("m4.yace:4: `drho_core_cutoff` of the embedding of Cu is negative", embedding("drho_core_cutoff", -1.0))
says("m5.yace:4: `embeddings` has '3', expected 0 to 0", lambda m: m["embeddings"].__setitem__(3, m["embeddings"][0]))
says("m6.yace:4: `embeddings` has no entry 0 for Cu", lambda m: m.__setitem__("embeddings", {}))
says("m7.yace:5: `rcut_in` or `dcut_in` of a bond is negative", bond("rcut_in", -1.0))
says("m8.yace:5: `inner_cutoff_type` is 'shell', expected density, distance or zbl", bond("inner_cutoff_type", "shell"))
says("m9.yace:5: the inner cut-off zbl needs a positive `dcut_in` and `dcut`", bond("inner_cutoff_type", "zbl"))
says("m10.yace:5: `radparameters` of the bond Cu-Cu has 0 values, expected 1", bond("radparameters", []))
says("m11.yace:5: `radparameters` of the bond Cu-Cu is 0: ChebExpCos has no meaning", bond("radparameters", [0.0]))
says("m12.yace:5: `rcut` and `dcut` of the bond Cu-Cu are 0 and 0.01 Å; expected above 0 and below 100, and not negative", bond("rcut", 0.0))
says("m13.yace:5: the nuclear charge of 'Xx' is not known, which the inner cut-off zbl needs", lambda m: (m.__setitem__("elements", ["Xx"]), bond("inner_cutoff_type", "zbl")(m), bond("dcut_in", 0.1)(m), bond("rcut_in", 1.0)(m)))
says("m14.yace:6: `ls` of a function of rank 2 has 7, expected 0 to 1", function(1, "ls", [1, 7]))
says("m15.yace:6: `mu0` of a function is 1, expected an integer from 0 to 0", function(0, "mu0", 1))
says("m16.yace:6: `num_ms_combs` of a function of rank 1 must be 1", function(0, "num_ms_combs", 2))
says("m17.yace:6: `ctildes` has 1 values, expected 3: one for each of 3 products and 1 densities", function(1, "ctildes", [1.0]))
says("m18.yace: this is a potential before its conversion; write the other form with pacemaker's `pace_yaml2yace m18.yace`", text="global: {}\nspecies: []\n")
says("m19.yace:2: aliases of YAML are not supported in a potential", text="elements: &a [Cu]\nE0: *a\n")
says("m20.yace:1: lists and maps are nested too deeply", text="elements: " + "[" * 40 + "]" * 40 + "\n")


def of_another(m):
    """Two species, of which the functions of the first name the second."""
    m.update(elements=["Cu", "Ag"], E0=[0.0, 0.0])
    m["embeddings"][1] = dict(m["embeddings"][0])
    m["bonds"].update({pair: dict(m["bonds"][0, 0]) for pair in ((0, 1), (1, 0), (1, 1))})
    m["functions"][1] = [{**f, "mu0": 1} for f in m["functions"][0]]
    m["functions"][0] = [{**f, "mu0": 1} for f in m["functions"][0]]


says("`mu0` of a function is 1, but it is listed among those of 0", of_another)
table.run()
