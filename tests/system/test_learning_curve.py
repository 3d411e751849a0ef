"""Training and validation loss on one scale: learning_curve.csv, its picture, and what the summary says of the weights that are kept."""
import os
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: net, directory: DIR, seed: 5}
PLUGINS
stages:
  - train:
      network: NETWORK
      dataset: DATASET
      validation: DATASET
      steps: 20
      reduce: {mode: ordered, micro_batches: 4}
      optimizer: sgd
      learning_rate: {type: constant, start: RATE}
      validate: {every: 5, batch: 7}
      checkpoint: {every: 5, keep: 10}
"""
NUMBERS = "{type: expression, samples: 60, box: {x: [-1, 1], y: [0, 2]}, target: {z: sin(3*x)*exp(-y)}}"
NETWORKS = {  # of each the network, its data and plugins; those of one rank and batch see all samples in a step
    "numbers": ("{type: mlp, layers: [12, 9], precision: float64}", NUMBERS, ""),
    "classes": ("{type: mlp, layers: [9], input: x, target: c, goal: classification, label_smoothing: 0.1, precision: float64}",
                "{type: hdf5, files: [FOLDER/classes.h5], fields: [{name: x}, {name: c}]}", ""),
    "bytes": ("{type: transformer, width: 8, heads: 2, layers: 1, precision: float64}",
              "{type: associative_recall, samples: 24, length: 32}", "plugins: [sequence]"),
}


class LearningCurve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("learning_curve")
        random = np.random.default_rng(3)
        x = random.normal(size=(60, 3))
        with h5py.File(os.path.join(cls.folder, "classes.h5"), "w") as file:
            file["x"], file["c"] = x, (x[:, 0] > 0).astype("i4") + (x[:, 1] > 0.5)

    def trained(self, name, kind, *overrides, rate="0", ranks=1):
        network, data, plugins = NETWORKS[kind]
        run = os.path.join(self.folder, name)
        deck = DECK.replace("DIR", run).replace("NETWORK", network).replace("DATASET", data).replace("PLUGINS", plugins).replace("RATE", rate)
        code, out, error = program.run("run", program.write(run + ".yaml", deck.replace("FOLDER", self.folder)), "--overwrite", *overrides, ranks=ranks)
        self.assertEqual(code, 0, out + error)
        return out

    def curve(self, name):
        with h5py.File(os.path.join(self.folder, name, "train", "learning_curve.h5")) as file:
            return {key: file[key][()] for key in ("step", "epoch", "training_loss", "validation_loss")}

    def text(self, name):
        with open(os.path.join(self.folder, name, "train", "learning_curve.csv"), encoding="utf-8") as file:
            return file.read()

    def test_equal_samples_and_weights_have_equal_losses(self):
        """At a rate of zero, with the training samples as the validation set, both columns are one number."""
        for kind in NETWORKS:
            self.trained("equal", kind)
            curve = self.curve("equal")
            np.testing.assert_array_equal(curve["step"], [5, 10, 15, 20])
            self.assertTrue((curve["training_loss"] > 0.01).all())
            np.testing.assert_allclose(curve["validation_loss"], curve["training_loss"], rtol=1e-12, err_msg=kind)

    def test_the_training_loss_is_the_mean_since_the_last_validation(self):
        self.trained("mean", "numbers", "stages[0].train.log_every=1", rate="0.1")
        with h5py.File(os.path.join(self.folder, "mean", "train", "training.h5")) as file:
            losses = file["loss"][()]
        np.testing.assert_allclose(self.curve("mean")["training_loss"], losses.reshape(4, 5).mean(axis=1), rtol=1e-13)

    def test_ranks_and_restarts(self):
        self.trained("whole", "numbers", "stages[0].train.validate.every=4", rate="0.1")
        self.trained("ranks", "numbers", "stages[0].train.validate.every=4", rate="0.1", ranks=4)
        self.assertEqual(self.text("whole"), self.text("ranks"))
        # From a checkpoint between two validations: what the steps before it add to their mean is in it.
        self.trained("parts", "numbers", "stages[0].train.validate.every=4", "stages[0].train.steps=12", rate="0.1")
        code, out, error = program.run("restart", os.path.join(self.folder, "parts"), "stages[0].train.steps=20")
        self.assertEqual(code, 0, out + error)
        self.assertIn("resumed at step 10", out)
        self.assertEqual(self.text("whole"), self.text("parts"))

    def test_the_summary_says_which_weights_are_kept(self):
        out = self.trained("best", "numbers", rate="0.1")
        with h5py.File(os.path.join(self.folder, "best", "train", "validation.h5")) as file:
            step = file["step"][()][np.argmin(file["error"][()])]
        self.assertRegex(out, rf"best validation: error \S+ +\(at step {step}, epoch {step}\)")
        self.assertIn(f"model.h5: the weights of step {step}, epoch {step}: the best validation", out)
        self.assertRegex(out, r"validation at step 5: loss \S+ \(training \S+\), error ")
        out = self.trained("last", "numbers", "stages[0].train.validate.keep_best=false", "stages[0].train.ema={decay: 0.5}", rate="0.1")
        self.assertIn("model.h5: the moving average of the weights (ema) of step 20, epoch 20: the last (validate.keep_best is false)", out)
        out = self.trained("free", "numbers", "stages[0].train.optimizer=schedule_free_adamw", rate="0.01")
        self.assertRegex(out, r"model.h5: the averaged weights of schedule_free_adamw of step \d+, epoch \d+: the best validation")


if __name__ == "__main__":
    unittest.main()
