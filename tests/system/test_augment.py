"""Data augmentation of a training: the samples that it leads to are drawn from seed, step and sample, so that ranks and restarts change no bit; and
a network learns a symmetry that its data lack."""
# cost: 20
import csv
import os
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {{name: augment, seed: 4, directory: {folder}/run}}
stages:
  - train:
      network: {{type: mlp, layers: [16], input: image, target: heaviness}}
      dataset: {{type: hdf5, files: ["{folder}/samples.h5"], fields: [{{name: image}}, {{name: heaviness}}]}}
      hold_out: 0.2
      batch: 8
      steps: {steps}
      optimizer: {{type: adam}}
      learning_rate: {{type: constant, start: 2e-3}}
      log_every: 10
      validate: {{every: 20}}
      checkpoint: {{every: 15, keep: 9}}
      reduce: {{mode: ordered, micro_batches: 4}}
{more}
"""
ALL = """      augment:
        - {type: flip, fields: [image], axes: [0, 1]}
        - {type: roll, fields: [image], axes: [1]}
        - {type: rotate90, fields: [image], axes: [0, 1]}
        - {type: scale, fields: [image, heaviness], range: [0.8, 1.2]}
        - {type: noise, fields: [image], standard_deviation: 0.05}
"""


class Augment(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)

    def train(self, name, more, ranks=1, steps=60):
        folder = program.fresh("augment_" + name)
        images = np.random.default_rng(1).normal(size=(60, 6, 6))
        with h5py.File(os.path.join(folder, "samples.h5"), "w") as file:
            file["image"] = images
            file["heaviness"] = images.mean(axis=(1, 2))[:, None]
        deck = program.write(os.path.join(folder, "deck.yaml"), DECK.format(folder=folder, more=more, steps=steps))
        code, out, error = program.run("run", deck, ranks=ranks)
        self.assertEqual(code, 0, error)
        return os.path.join(folder, "run", "train")

    def model(self, folder):
        with h5py.File(os.path.join(folder, "model.h5")) as file:
            return {name: data[()].tobytes() for name, data in file["weights"].items()}

    def test_ranks_and_restarts_change_no_bit(self):
        whole = self.train("whole", ALL)
        self.assertEqual(self.model(self.train("ranks", ALL, ranks=2)), self.model(whole))
        self.assertNotEqual(self.model(self.train("plain", "")), self.model(whole))
        part = self.train("part", ALL, steps=30)
        code, _, error = program.run("restart", os.path.dirname(part), "stages[0].train.steps=60", ranks=2)
        self.assertEqual(code, 0, error)
        self.assertEqual(self.model(part), self.model(whole))

    def test_symmetry_is_learned(self):
        """The target is odd under a flip of the image: a linear network that has seen only one half of the images learns the other by flips."""
        errors = {}
        for name, more in (("half", ""), ("flipped", "      augment: [{type: flip, fields: [image, side], axes: [0], vectors: [[side]]}]\n")):
            folder = program.fresh("augment_symmetry_" + name)
            random = np.random.default_rng(3)
            images = np.abs(random.normal(size=(200, 8)))
            images[:, :4] = 0.0  # the left half is dark
            sides = images @ np.array([-4.0, -3, -2, -1, 1, 2, 3, 4])
            with h5py.File(os.path.join(folder, "samples.h5"), "w") as file:
                file["image"], file["side"] = images, sides[:, None]
            with h5py.File(os.path.join(folder, "mirrored.h5"), "w") as file:
                file["image"], file["side"] = images[:, ::-1], -sides[:, None]
            text = DECK.format(folder=folder, more=more, steps=400).replace("heaviness", "side")
            text = text.replace("      hold_out: 0.2\n", f"      validation: {{type: hdf5, files: [\"{folder}/mirrored.h5\"], fields: [{{name: image}}, {{name: side}}]}}\n").replace("2e-3", "1e-2")
            code, out, error = program.run("run", program.write(os.path.join(folder, "deck.yaml"), text))
            self.assertEqual(code, 0, error)
            with open(os.path.join(folder, "run", "train", "validation.csv"), encoding="utf-8") as file:
                rows = list(csv.reader(line for line in file if not line.startswith("#")))
            names = [column.split(" ")[0] for column in rows[0]]
            errors[name] = float(rows[-1][names.index("error")])
        self.assertLess(errors["flipped"], 0.1 * errors["half"])


if __name__ == "__main__":
    unittest.main()
