"""Every optimizer with every layout of weights and after a restart: the same bits as the plain run."""
# thorough
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
      reduce: {mode: ordered, micro_batches: 4}
      checkpoint: {every: 10, keep: 10}
"""
GROUPS = "groups: [{match: \"*b\", rate: 0.5, weight_decay: 0.1}]"
#: Of numbers alone, and of whole tensors, which divided states are put together for.
OPTIMIZERS = ["{type: lion, weight_decay: 0.1}", "{type: rmsprop, momentum: 0.5, centered: true}", "nadam",
              "{type: schedule_free_adamw, weight_decay: 0.1}", "muon", "{type: soap, precondition_frequency: 4, max_aspect_ratio: 2}", "lamb", "lars"]
LBFGS = ["stages[0].train.batch=200", "stages[0].train.optimizer={type: lbfgs, history_size: 4}", "stages[0].train.learning_rate={type: constant, start: 0.5}"]
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

    def test_groups_of_unequal_size(self):
        """Sharded weights come group by group: optimizers of whole tensors see groups that shrink and grow."""
        for layers in ("[256, 128, 64]", "[24, 200, 8]", "[8, 64, 200]"):
            shape = ["stages[0].train.network.layers=" + layers, "stages[0].train.steps=6"]
            for optimizer in ("lamb", "lars", "muon", "{type: soap, precondition_frequency: 4}"):
                plain = self.trained("plain", *shape, optimizer=optimizer)
                for preset, ranks, threshold in (("zero1", 1, 1000), ("zero2", 2, 0), ("zero3", 2, 1000)):
                    sharded = self.trained("sharded", *shape, f"stages[0].train.parallel={{preset: {preset}, persistence_threshold: {threshold}}}",
                                           optimizer=optimizer, ranks=ranks)
                    self.same(plain, sharded, f"{optimizer} {preset} {layers}")

    def test_layouts_and_ranks(self):
        for optimizer in OPTIMIZERS:
            plain = self.trained("plain", optimizer=optimizer)
            self.assertTrue(all(np.isfinite(v).all() for v in plain.values()))
            for ranks in (2, 4):
                self.same(plain, self.trained("ranks", optimizer=optimizer, ranks=ranks), f"{optimizer} {ranks}")
            for preset, ranks in zip(PRESETS, (2, 4, 2, 4)):
                divided = self.trained("divided", f"stages[0].train.parallel.preset={preset}", optimizer=optimizer, ranks=ranks)
                self.same(plain, divided, f"{optimizer} {preset}")

    def test_restarts(self):
        for optimizer, preset in zip(OPTIMIZERS, itertools.cycle(PRESETS)):
            whole = self.trained("whole", optimizer=optimizer, rate="{type: constant, start: 0.01}")
            self.trained("parts", "stages[0].train.steps=20", f"stages[0].train.parallel.preset={preset}", optimizer=optimizer,
                         rate="{type: constant, start: 0.01}", ranks=2)
            self.goes_on("parts")
            self.same(whole, self.weights("parts"), f"{optimizer} {preset}")

    def goes_on(self, name):
        code, out, error = program.run("restart", os.path.join(self.folder, name), "stages[0].train.steps=30")
        self.assertEqual(code, 0, out + error)
        self.assertIn("resumed at step 20", out)
        return out

    def test_lbfgs(self):
        whole = self.trained("whole", *LBFGS)
        for ranks in (2, 4):
            self.same(whole, self.trained("ranks", *LBFGS, ranks=ranks), f"lbfgs {ranks}")
        self.trained("parts", *LBFGS, "stages[0].train.steps=20")
        self.goes_on("parts")
        self.same(whole, self.weights("parts"), "lbfgs")

    def arrays(self, name, step):
        """The weights under training and their mean in a checkpoint, all tensors in one row."""
        with h5py.File(os.path.join(self.folder, name, "train", f"restart.{step}.h5")) as file:
            names = [tensor.decode() for tensor in file["tensors"][()]]
            return names, file["weights"][()], file["states/averaged"][()]

    def test_schedule_free_serves_the_mean(self):
        """Validated, kept as the best, exported: the averaged weights, not those at which gradients are taken."""
        keys = ["stages[0].train.hold_out=0.2", "stages[0].train.validate.every=10"]
        optimizer, rate = "schedule_free_adamw", "{type: constant, start: 0.03}"
        for preset, ranks in (("null", 1), ("zero3", 2)):
            divided = [] if preset == "null" else [f"stages[0].train.parallel.preset={preset}"]
            last = self.trained("mean", *keys, *divided, "stages[0].train.validate.keep_best=false", optimizer=optimizer, rate=rate, ranks=ranks)
            names, weights, averaged = self.arrays("mean", 30)
            served = np.concatenate([last[name].ravel() for name in names])
            np.testing.assert_array_equal(served, averaged)
            self.assertGreater(np.abs(served - weights).max(), 1e-4)
            best = self.trained("best", *keys, *divided, optimizer=optimizer, rate=rate, ranks=ranks)
            with h5py.File(os.path.join(self.folder, "best", "train", "validation.h5")) as file:
                step = file["step"][()][np.argmin(file["error"][()])]
            names, _, averaged = self.arrays("best", step)
            np.testing.assert_array_equal(np.concatenate([best[name].ravel() for name in names]), averaged)

    def test_reduce_on_plateau(self):
        """The rate falls when validation no longer improves, and a restart in the middle changes nothing."""
        keys = ["stages[0].train.hold_out=0.2", "stages[0].train.validate.every=2"]
        rate = "{type: reduce_on_plateau, start: 0.3, factor: 0.5, patience: 1, cooldown: 1, min: 0.01}"
        whole = self.trained("whole", *keys, rate=rate)
        with h5py.File(os.path.join(self.folder, "whole", "train", "validation.h5")) as file:
            errors = file["error"][()]
        rates, now, best, bad, cooling = [], 0.3, np.inf, 0, 0
        for error in errors:
            rates += [now, now]
            better = error < best * (1 - 1e-4)
            best, bad = (error, 0) if better else (best, bad + 1)
            if cooling > 0:
                cooling, bad = cooling - 1, 0
            if bad > 1:
                now, cooling, bad = max(0.5 * now, 0.01), 1, 0
        self.trained("logged", *keys, "stages[0].train.log_every=1", rate=rate)
        with h5py.File(os.path.join(self.folder, "logged", "train", "training.h5")) as file:
            np.testing.assert_allclose(file["learning_rate"][()], rates, rtol=1e-12)
        self.assertLess(rates[-1], 0.1)
        self.same(whole, self.trained("ranks", *keys, rate=rate, ranks=4), "ranks")
        self.trained("parts", *keys, "stages[0].train.steps=20", rate=rate)
        self.goes_on("parts")
        self.same(whole, self.weights("parts"), "restart")

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

    def refused(self, message, *overrides, ranks=1):
        text = DECK.replace("DIR", os.path.join(self.folder, "refused")).replace("OPTIMIZER", "adam").replace("RATE", "{type: constant, start: 0.01}")
        code, out, error = program.run("run", program.write(os.path.join(self.folder, "refused.yaml"), text), "--overwrite", *overrides, ranks=ranks)
        self.assertEqual(code, 2, out + error)
        self.assertIn(message, out + error)

    def test_what_cannot_be(self):
        self.refused("this optimizer needs scalar products over all weights, which parallel partitions into groups; remove parallel, or take "
                     "another optimizer", *LBFGS, "stages[0].train.parallel.preset=zero1", ranks=2)
        self.refused("lbfgs compares the gradients of successive steps, which must be of the same samples, but a step takes 24 of 200; remove "
                     "batch, so that each takes all", *LBFGS[1:])
        self.refused("the optimizer schedule_free_adamw averages the weights itself, and these means are validated and exported; remove ema",
                     "stages[0].train.optimizer=schedule_free_adamw", "stages[0].train.ema={decay: 0.9}")
        self.refused("learning_rate reduce_on_plateau needs validations; give validation (a data set) or hold_out",
                     "stages[0].train.learning_rate={type: reduce_on_plateau, start: 0.1}")


if __name__ == "__main__":
    unittest.main()
