"""The stage `compress`: its model is a model file as any other, faster and nearly as good; what cannot be is said, and the best is kept."""
import os
import re
import unittest

import h5py
import numpy as np

import program

DATA = "{type: expression, samples: 1000, seed: SEED, box: {x: [-1, 1], y: [0, 2]}, target: {z: sin(3*x)*exp(-y)}}"
DENSE = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [384, 384], activation: relu}
      dataset: %s
      batch: 50
      steps: 150
      learning_rate: {type: cosine, start: 3e-3, stop: 1e-4}
  - compress:
      model: "{run}/train/model.h5"
      dataset: %s
      validation: %s
      budget: 0.5
      samples: 100
      batch: 100
      fine_tune: {steps: 150, batch: 50}
  - evaluate: {model: "{run}/compress/model.h5", dataset: %s}
""" % tuple(DATA.replace("SEED", str(seed)) for seed in (1, 1, 2, 3))
IMAGES = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: conv_net, channels: [48, 64]}
      dataset: {type: hdf5, files: [images.h5], fields: [{name: image}, {name: label}]}
      batch: 20
      steps: 40
      learning_rate: {type: constant, start: 1e-3}
  - compress:
      model: "{run}/train/model.h5"
      dataset: {type: hdf5, files: [images.h5], fields: [{name: image}, {name: label}]}
      budget: 0.9
      samples: 100
      fine_tune: {steps: 40, batch: 20}
  - evaluate: {model: "{run}/compress/model.h5", dataset: {type: hdf5, files: [images.h5], fields: [{name: image}, {name: label}]}}
"""
ROW = re.compile(r"^ *(whole|equal shares|chosen ranks|chosen ranks, trained on) {2,}(\S+) +(\S+) +(\S+)(?: +(\S+))? *$", re.M)


def rows(out):
    return {name: [float(x) for x in numbers if x] for name, *numbers in ROW.findall(out)}


class LowRank(unittest.TestCase):
    def run_deck(self, name, deck, *options):
        folder = program.fresh(name)
        path = program.write(os.path.join(folder, "net.yaml"), deck.replace("DIR", os.path.join(folder, "run")))
        return folder, program.run("run", path, *options, cwd=folder)

    def test_dense(self):
        folder, (code, out, error) = self.run_deck("low_rank_dense", DENSE)
        self.assertEqual(code, 0, error)
        found = rows(out)
        self.assertGreater(found["whole"][1], 1.5 * found["chosen ranks"][1])
        self.assertLess(found["chosen ranks, trained on"][0], found["chosen ranks"][0])
        self.assertLess(found["chosen ranks, trained on"][0], 2.0 * found["whole"][0])
        with h5py.File(os.path.join(folder, "run", "compress", "model.h5")) as file:
            config = file["model/config"][()].decode()
            self.assertIn("ranks:", config)
            numbers = sum(data.size for data in file["weights"].values())
        with h5py.File(os.path.join(folder, "run", "train", "model.h5")) as file:
            self.assertLess(1.5 * numbers, sum(data.size for data in file["weights"].values()))
        # It cannot be made smaller once more, and what no rank can do is said with the least possible.
        again = DENSE[:DENSE.index("  - train")] + DENSE[DENSE.index("  - compress"):DENSE.index("  - evaluate")]
        again = again.replace("{run}/train", os.path.join(folder, "run", "compress")).replace("DIR", os.path.join(folder, "again"))
        code, _, error = program.run("run", program.write(os.path.join(folder, "again.yaml"), again), cwd=folder)
        self.assertEqual(code, 2)
        self.assertRegex(error, r"model: layer \S+ of '.*model.h5' is a product already; give the model that it was made from, whose layers are "
                         "whole")

    def test_a_budget_that_no_rank_meets(self):
        deck = DENSE[:DENSE.index("  - evaluate")]
        folder, (code, out, error) = self.run_deck("low_rank_budget", deck, "stages[1].compress.budget=0.001",
                                                   "stages[1].compress.fine_tune.steps=5", "stages[0].train.steps=20")
        self.assertEqual(code, 4, out)
        self.assertRegex(error, r"no ranks bring a pass to \S+ ms: the least possible is \S+ of \S+ ms; '.*model.h5' has the best that was "
                         "found: allow more, or train it on for longer")
        self.assertTrue(os.path.exists(os.path.join(folder, "run", "compress", "model.h5")))
        model = os.path.join(folder, "run", "train")
        accept = (deck[:deck.index("  - train")] + deck[deck.index("  - compress"):]).replace("{run}/train", model)
        accept = accept.replace("DIR", os.path.join(folder, "accept"))
        path = program.write(os.path.join(folder, "accept.yaml"), accept)
        code, out, error = program.run("run", path, "stages[0].compress.accept=1e-3", "stages[0].compress.budget=0.9",
                                       "stages[0].compress.fine_tune.steps=5", cwd=folder)
        self.assertEqual(code, 4, out)
        self.assertRegex(error, r"the loss is \S+ times that of the whole network, more than accept \(0.001\); '.*model.h5' has the best")

    @unittest.skipUnless(os.environ.get("CAMBIUM_HAS_TORCH") == "1", "built without Torch")
    def test_convolutions(self):
        """Stripes of two directions, with noise."""
        folder = program.fresh("low_rank_images")
        random, i = np.random.default_rng(1), np.arange(16)
        label = np.arange(200) % 2
        phase = random.uniform(0, 6, 200)[:, None, None]
        stripes = np.where(label[:, None, None], np.sin(i[:, None] + phase), np.sin(i[None, :] + phase))
        with h5py.File(os.path.join(folder, "images.h5"), "w") as file:
            file["image"] = (stripes + 0.3 * random.normal(size=stripes.shape)).astype("f4")
            file["label"] = label[:, None]
        path = program.write(os.path.join(folder, "net.yaml"), IMAGES.replace("DIR", os.path.join(folder, "run")))
        code, out, error = program.run("run", path, cwd=folder)
        self.assertEqual(code, 0, error)
        found = rows(out)
        self.assertGreater(found["whole"][1], found["chosen ranks"][1])
        self.assertLess(found["chosen ranks, trained on"][0], found["chosen ranks"][0])
        with h5py.File(os.path.join(folder, "run", "compress", "model.h5")) as file:
            self.assertTrue([name for name in file["weights"] if ".core." in name or ".enter." in name], list(file["weights"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
