"""The data set `mixture`: what is trained on is what a file has in which the samples of the sets stand as often as their weights say."""
import os
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [8], input: x, target: y, precision: float64}
      dataset: DATASET
      batch: 6
      steps: 20
      reduce: {mode: ordered, micro_batches: 4}
      learning_rate: {type: constant, start: 0.01}
"""
FIELDS = "fields: [{name: x}, {name: y}]"


class Mixture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("mixture")
        random = np.random.default_rng(1)
        sets = {"many": 24, "few": 5}
        data = {name: (random.normal(size=(n, 2)), random.normal(size=n)) for name, n in sets.items()}
        rows = {"many": np.arange(24), "few": np.arange(8) % 5}  # weights 3 and 1
        data["by_hand"] = tuple(np.concatenate([data[name][k][rows[name]] for name in sets]) for k in (0, 1))
        for name, (x, y) in data.items():
            cls.file(name, x=x, y=y)
        cls.file("other_name", x=data["few"][0], z=data["few"][1])
        cls.file("other_type", x=data["few"][0], y=data["few"][1].astype("i8"))
        cls.file("unit", x=data["few"][0], y=data["few"][1])
        with h5py.File(os.path.join(cls.folder, "unit.h5"), "a") as file:
            file["y"].attrs["units"] = "eV"

    @classmethod
    def file(cls, name, **arrays):
        with h5py.File(os.path.join(cls.folder, name + ".h5"), "w") as file:
            for key, values in arrays.items():
                file[key] = values

    def set(self, name, fields=FIELDS):
        return f"{{type: hdf5, files: [{self.folder}/{name}.h5], {fields}}}"

    def mixture(self, second="few", more="", fields=FIELDS):
        return f"{{type: mixture, {more}sets: [{{dataset: {self.set('many')}, weight: 3}}, {{dataset: {self.set(second, fields)}}}]}}"

    def run_deck(self, dataset, *overrides, ranks=1):
        run = os.path.join(self.folder, "run")
        text = DECK.replace("DIR", run).replace("DATASET", dataset)
        return program.run("run", program.write(run + ".yaml", text), "--overwrite", *overrides, ranks=ranks)

    def trained(self, dataset, *overrides, ranks=1):
        code, out, error = self.run_deck(dataset, *overrides, ranks=ranks)
        self.assertEqual(code, 0, out + error)
        with h5py.File(os.path.join(self.folder, "run", "train", "model.h5")) as file:
            return out, {key: data[()] for key, data in file["weights"].items()}

    def test_equals_the_file_made_by_hand(self):
        _, by_hand = self.trained(self.set("by_hand"))
        for overrides, ranks in (((), 1), ((), 2), ((), 4), (("stages[0].train.loader=buffered",), 2),
                                 (("stages[0].train.loader={type: buffered, shared_memory: true}",), 4)):
            out, mixed = self.trained(self.mixture(), *overrides, ranks=ranks)
            self.assertIn("mixture of 32 samples: 24 of hdf5 (1 passes), 8 of hdf5 (1.6 passes)", out)
            for key, values in by_hand.items():
                np.testing.assert_array_equal(mixed[key], values, err_msg=f"{overrides} {ranks} {key}")

    def test_refusals(self):
        units = "fields: [{name: x}, {name: y, unit: eV}]"
        for dataset, overrides, message in (
                (self.mixture("other_name", fields="fields: [{name: x}, {name: z}]"), [],
                 "the field 'y' of set 1 is missing in set 2 of the mixture; give sets that agree"),
                (self.mixture("unit", fields=units), [], "the field 'y' is in '' in set 1, but in 'eV' in set 2 of the mixture; give sets that agree"),
                (self.mixture("other_type"), [],
                 "the field 'y' has another type or number of axes than in set 1 in set 2 of the mixture; give sets that agree"),
                (self.mixture(), ["stages[0].train.hold_out=0.2"],
                 "the mixture has samples several times, which would be trained on and held out; give validation (a data set), or equal weights"),
                ("{type: mixture, sets: []}", [], "a mixture needs sets: [{dataset: {...}, weight: 1}, ...]")):
            code, out, error = self.run_deck(dataset, *overrides)
            self.assertEqual(code, 2, out + error)
            self.assertIn(message, error)


if __name__ == "__main__":
    unittest.main()
