"""Every optimizer with every layout of weights and after a restart: the same bits as the plain run."""
import itertools
import os
import random
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [12, 9], precision: float64}
      dataset: {type: expression, samples: 200, box: {x: [-1, 1], y: [0, 2]}, target: {z: sin(3*x)*exp(-y)}}
      batch: 24
      steps: 30
      optimizer: OPTIMIZER
      learning_rate: RATE
      reduce: {mode: ordered, slices: 4}
      checkpoint: {every: 10, keep: 10}
"""
GROUPS = "groups: [{match: \"*b\", rate: 0.5, weight_decay: 0.1}]"
#: Of one rank; muon needs whole matrices.
ELEMENTWISE = ["{type: lion, weight_decay: 0.1}", "{type: rmsprop, momentum: 0.5, centered: true}", "nadam"]
PRESETS = ["ddp", "zero1", "zero2", "zero3"]


class Optimizers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("optimizers")

    def trained(self, name, *overrides, optimizer="adam", ranks=1, rate="{type: wsd, start: 0.01, decay: 10}"):
        directory = os.path.join(self.folder, name)
        text = DECK.replace("DIR", directory).replace("OPTIMIZER", optimizer).replace("RATE", rate)
        code, out, error = program.run("run", program.write(directory + ".yaml", text), "--overwrite", *overrides, ranks=ranks)
        self.assertEqual(code, 0, out + error)
        return self.weights(name)

    def weights(self, name):
        with h5py.File(os.path.join(self.folder, name, "train", "model.h5")) as file:
            return {key: data[()] for key, data in file["weights"].items()}

    def same(self, one, other, what):
        for key, values in one.items():
            np.testing.assert_array_equal(values, other[key], err_msg=f"{what} {key}")

    def test_layouts_and_ranks(self):
        for optimizer in [*ELEMENTWISE, "muon"]:
            plain = self.trained("plain", optimizer=optimizer)
            self.assertTrue(all(np.isfinite(v).all() for v in plain.values()))
            for ranks in (2, 4):
                self.same(plain, self.trained("ranks", optimizer=optimizer, ranks=ranks), f"{optimizer} {ranks}")
            for preset in PRESETS if optimizer != "muon" else ["ddp"]:
                divided = self.trained("divided", f"stages[0].train.parallel.preset={preset}", optimizer=optimizer, ranks=2)
                self.same(plain, divided, f"{optimizer} {preset}")

    def test_restarts(self):
        for optimizer in [*ELEMENTWISE, "muon"]:
            whole = self.trained("whole", optimizer=optimizer, rate="{type: constant, start: 0.01}")
            self.trained("parts", "stages[0].train.steps=20", optimizer=optimizer, rate="{type: constant, start: 0.01}")
            code, out, error = program.run("restart", os.path.join(self.folder, "parts"), "stages[0].train.steps=30")
            self.assertEqual(code, 0, out + error)
            self.assertIn("resumed at step 20", out)
            self.same(whole, self.weights("parts"), optimizer)

    def test_options_crossed_at_random(self):
        draw = random.Random(4)
        options = {"optimizer": ["{type: lion, GROUPS}", "{type: rmsprop, GROUPS}", "{type: nadam, GROUPS}", "{type: adamw, GROUPS}",
                                 "{type: sgd, momentum: 0.9, GROUPS}"],
                   "clip": ["null", "{norm: 0.1}"], "accumulate": ["1", "2"], "average": ["null", "{decay: 0.8}"]}
        crossed = draw.sample(list(itertools.product(*options.values())), 6)
        for optimizer, clip, accumulate, average in crossed:
            keys = [f"stages[0].train.{k}={v}" for k, v in (("clip", clip), ("average", average)) if v != "null"]
            optimizer = optimizer.replace("GROUPS", GROUPS)
            plain = self.trained("plain", *keys, optimizer=optimizer)
            preset = draw.choice(PRESETS)
            more = self.trained("crossed", *keys, f"stages[0].train.parallel.preset={preset}", optimizer=optimizer, ranks=2)
            for key, values in plain.items():
                np.testing.assert_allclose(more[key], values, rtol=0, atol=1e-12, err_msg=f"{optimizer} {keys} {preset} {key}")

    def test_frozen_parameters_stay(self):
        first = self.trained("first", "stages[0].train.steps=1", optimizer="{type: sgd, groups: [{match: \"*\", freeze: true}]}")
        last = self.trained("last", optimizer="{type: adamw, groups: [{match: \"*\", freeze: true}]}")
        self.same(first, last, "frozen")

    def test_muon_is_not_divided(self):
        text = DECK.replace("DIR", os.path.join(self.folder, "refused")).replace("OPTIMIZER", "muon").replace("RATE", "{type: constant, start: 0.01}")
        code, out, error = program.run("run", program.write(os.path.join(self.folder, "refused.yaml"), text), "--overwrite",
                                       "stages[0].train.parallel.preset=zero1", ranks=2)
        self.assertEqual(code, 2, out + error)
        self.assertIn("this optimizer needs the norms of whole tensors, so that its states cannot be divided", out + error)


if __name__ == "__main__":
    unittest.main()
