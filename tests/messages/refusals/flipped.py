"""A bit flipped at random places of every kind of model file that stages write: each one is refused, by name and with a way on."""
# needs: deepmd podlstm submatrix
import math
import os
import random
import shutil

from table import Table

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
TRAIN = """
run: {name: t, directory: net}
stages:
  - train:
      network: {type: mlp, layers: [4, 3]}
      dataset: {type: expression, samples: 40, box: {x: [-1, 1]}, target: {z: sin(3*x)}}
      batch: 8
      steps: 4
      learning_rate: {type: constant, start: 1e-3}
"""
EVALUATE = """
run: {name: e, directory: judged}
stages:
  - evaluate: {model: net/train/model.h5, dataset: {type: expression, samples: 40, box: {x: [-1, 1]}, target: {z: sin(3*x)}}}
"""
POD = """
run: {name: p, directory: basis}
plugins: [podlstm]
stages:
  - synthetic_field: {weeks: 120, latitudes: 4, longitudes: 8}
  - pod: {field: {files: ["{run}/synthetic_field/field.h5"], array: sst, missing: land}, modes: 2, training: 80, weights: cos_latitude}
"""
SEARCH = """
run: {name: s, directory: search}
plugins: [podlstm]
stages:
  - search:
      data: {series: {file: s.h5, training: 60}, window: 4, horizon: 4}
      network: {head: dense, epochs: 1}
      strategy: random
      trials: 2
      ensemble: {members: 1, seeds: 1, plain_epochs: 1}
"""
FORECAST = """
run: {name: f, directory: forecast}
plugins: [podlstm]
stages:
  - forecast: {data: {series: {file: s.h5, training: 60}, window: 4, horizon: 4}}
"""
LATTICE = "{type: diamond, a: 3.556, cells: [2, 2, 2], species: [C]}"
SPECTRA = f"""
run: {{name: levels, directory: levels}}
plugins: [submatrix]
stages:
  - local_spectra:
      sets: [{{name: train, matrices: {{tight_binding: {{lattice: {LATTICE}}}}}}}]
"""
LEARNED = f"""
run: {{name: learned, directory: learned}}
plugins: [submatrix]
stages:
  - train:
      network: {{type: local_levels, layers: [4]}}
      dataset: {{type: local_spectra, files: [levels/local_spectra/train.h5]}}
      batch: 1
      steps: 1
      learning_rate: {{type: constant, start: 1e-3}}
"""
table = Table("flipped")
for name, deck in {"train.yaml": TRAIN, "evaluate.yaml": EVALUATE, "pod.yaml": POD, "search.yaml": SEARCH, "forecast.yaml": FORECAST,
                   "spectra.yaml": SPECTRA, "learned.yaml": LEARNED}.items():
    table.file(name, deck)
table.file("s.h5", {"coefficients": [[math.sin(0.7 * t + k) + 0.3 * math.cos(1.9 * t * (k + 1)) for k in range(2)] for t in range(80)],
                    "time": ([7.0 * t for t in range(80)], {"units": "days since 2000-01-01"})})
SAYS = "' is damaged: what it holds is not what was written; put back a copy of it, or have the stage that wrote it write it again"
draw = random.Random(18)


def flips(path, words, places=12, ending=""):
    """`words` of a model give the command that reads it. Places: its first and last byte, one in its checksum, random others."""
    size = os.path.getsize(table.path(path))
    stem, suffix = os.path.splitext(path.replace("/", "_"))
    for k, place in enumerate([0, size - 1, size - 30, *draw.sample(range(size), places)]):
        name = f"flipped_{stem}_{k}{suffix}"
        shutil.copy(table.path(path), table.path(name))
        with open(table.path(name), "r+b") as file:
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 1 << draw.randrange(8)]))
        table.says(f"'{name}{SAYS}{ending}", command=words(name))


table.begins(deck="train.yaml")
flips("net/train/model.h5", lambda name: ["run", "evaluate.yaml", f"stages[0].evaluate.model={name}", "--overwrite"])
copper = os.path.join(SOURCE, "inputs/deepmd/models/copper.dp")
for name in ("copper.dp", "copper.yaml"):
    table.begins(command=["deepmd", "compress", copper, name])
    flips(name, lambda name: ["deepmd", "show", name], ending="; if you changed it yourself, remove its last line, the checksum" * name.endswith("yaml"))
table.begins(deck="pod.yaml")
flips("basis/pod/pod.h5", lambda name: ["run", "forecast.yaml", f"stages[0].forecast.data.series={{file: {name}}}", "--overwrite"])
table.begins(deck="search.yaml")
flips("search/search/ensemble.h5", lambda name: ["run", "forecast.yaml", f"stages[0].forecast.ensemble={name}", "--overwrite"])
table.begins(deck="spectra.yaml")
flips("levels/local_spectra/train.h5", lambda name: ["run", "learned.yaml", f"stages[0].train.dataset.files=[{name}]", "--overwrite"])

table.run()
