"""A trained model applied to data without labels: by a deck, on several ranks, with the coordinates of the data; and what is said of bad
input."""
import csv
import json
import os
import unittest

import h5py
import numpy as np

import program

TRAIN = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [8], input: input, target: target, precision: float64}
      dataset: {type: hdf5, files: [TRAINING], fields: [{name: input}, {name: target}]}
      batch: 20
      steps: 60
      optimizer: adamw
      learning_rate: {type: constant, start: 0.01}
"""
PREDICT = """
run: {name: predict, directory: DIR}
stages:
  - predict:
      model: MODEL
      dataset: {type: hdf5, files: [FILE], fields: [FIELDS]}
      batch: 7
"""
TIMES = "days since 2001-01-01 12:00:00"


def dimensions(array):
    return [os.path.basename(d[0].name) if len(d) else None for d in array.dims]


class Predict(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("predict")
        rng = np.random.default_rng(3)
        x = rng.uniform(-1, 1, (200, 2))
        cls.path("training.h5", input=x, target=np.stack([np.sin(2 * x[:, 0]), x.prod(1), x.sum(1)], 1))
        with h5py.File(os.path.join(cls.folder, "training.h5"), "a") as file:
            file["target"].attrs["unit"] = "K"
        cls.new = rng.uniform(-1, 1, (50, 2))
        cls.path("new.h5", input=cls.new, station=np.arange(50) + 2**60)
        with h5py.File(os.path.join(cls.folder, "new.h5"), "a") as file:
            file["time"] = np.arange(50) * 0.5 + 3
            file["time"].attrs.update(units=TIMES, calendar="noleap")
            file["time"].make_scale("time")
            file["input"].dims[0].attach_scale(file["time"])
        deck = program.write(os.path.join(cls.folder, "train.yaml"), TRAIN.replace("DIR", os.path.join(cls.folder, "net")).replace(
            "TRAINING", os.path.join(cls.folder, "training.h5")))
        code, out, error = program.run("run", deck)
        assert code == 0, out + error
        cls.model = os.path.join(cls.folder, "net", "train", "model.h5")

    @classmethod
    def path(cls, name, **arrays):
        path = os.path.join(cls.folder, name)
        with h5py.File(path, "w") as file:
            for key, values in arrays.items():
                file[key] = values
        return path

    def deck(self, name, file="new.h5", fields="{name: input}, {name: station}", model=None):
        text = PREDICT.replace("DIR", os.path.join(self.folder, name)).replace("MODEL", model or self.model)
        text = text.replace("FILE", os.path.join(self.folder, file)).replace("FIELDS", fields)
        return program.write(os.path.join(self.folder, name + ".yaml"), text)

    def predicted(self, name, ranks=1, **given):
        code, out, error = program.run("run", self.deck(name, **given), ranks=ranks)
        self.assertEqual(code, 0, out + error)
        return os.path.join(self.folder, name, "predict"), out

    def expected(self, x):
        """Weights of the model file, multiplied here."""
        with h5py.File(self.model) as file:
            state = json.loads(file["model/state"][()])
            first, second = [[file[f"weights/layers.{k}.{p}"][()] for p in ("w", "b")] for k in (0, 1)]
        hidden = np.tanh((x - state["input_mean"]) / state["input_scale"] @ first[0] + first[1])
        return (hidden @ second[0] + second[1]) * state["target_scale"] + state["target_mean"]

    def test_answers_units_and_coordinates(self):
        folder, out = self.predicted("one")
        with h5py.File(os.path.join(folder, "predicted.h5")) as file:
            answers = file["output"]
            np.testing.assert_allclose(answers[()], self.expected(self.new), rtol=0, atol=1e-12)
            self.assertEqual(answers.attrs["units"], "K")
            self.assertEqual(dimensions(answers), ["time", "output_component"])
            self.assertEqual(file["time"].attrs["units"], TIMES)
            self.assertEqual(file["time"].attrs["calendar"], "noleap")
            np.testing.assert_array_equal(file["time"][()], np.arange(50) * 0.5 + 3)
            np.testing.assert_array_equal(file["station"][()], np.arange(50) + 2**60)
            values = answers[()]
        with open(os.path.join(folder, "predicted.csv")) as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0], ["sample", f"time [{TIMES}]", "station", "output_0 [K]", "output_1 [K]", "output_2 [K]"])
        np.testing.assert_array_equal(np.array([row[3:] for row in rows[1:]], dtype=float), values)
        self.assertEqual([int(row[2]) for row in rows[1:]], [k + 2**60 for k in range(50)])
        with open(os.path.join(self.folder, "one", "predict", "results.json")) as file:
            results = {r["key"]: r for r in json.load(file)["results"]}
        self.assertEqual(results["samples"]["value"], 50)
        self.assertAlmostEqual(results["output_mean"]["value"], values.mean(), places=12)
        self.assertEqual(results["output_lowest"]["value"], values.min())
        self.assertEqual(results["output_highest"]["unit"], "K")
        self.assertIn("highest", out)
        self.assertNotIn("against the labels", out)

    def test_any_number_of_ranks(self):
        one, _ = self.predicted("ranks_1")
        for ranks in (2, 3):
            more, _ = self.predicted(f"ranks_{ranks}", ranks)
            with open(os.path.join(one, "predicted.csv"), "rb") as a, open(os.path.join(more, "predicted.csv"), "rb") as b:
                self.assertEqual(a.read(), b.read())
            with h5py.File(os.path.join(one, "predicted.h5")) as a, h5py.File(os.path.join(more, "predicted.h5")) as b:
                self.assertEqual(a["output"][()].tobytes(), b["output"][()].tobytes())

    def test_labels_give_errors(self):
        _, out = self.predicted("labelled", file="training.h5", fields="{name: input}, {name: target}")
        with open(os.path.join(self.folder, "labelled", "predict", "results.json")) as file:
            results = {r["key"]: r for r in json.load(file)["results"]}
        with h5py.File(os.path.join(self.folder, "training.h5")) as file:
            error = self.expected(file["input"][()]) - file["target"][()]
        self.assertAlmostEqual(results["error"]["value"], np.sqrt((error**2).mean()), places=12)
        self.assertIn("against the labels", out)

    def test_check_promises_the_files(self):
        code, out, error = program.run("check", self.deck("promised"))
        self.assertEqual(code, 0, error)
        self.assertIn("predicted.h5", out)
        self.assertIn("predicted.csv", out)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "promised")))

    def refused(self, words, name="refused", **given):
        code, out, error = program.run("run", self.deck(name, **given))
        self.assertEqual(code, 2, out + error)
        self.assertIn(words, out + error)
        self.assertFalse(os.path.exists(os.path.join(self.folder, name, "predict", "predicted.h5")))

    def test_bad_input(self):
        self.refused("reads a field 'input', which the data do not have; they have: station", name="no_field", fields="{name: station}")
        self.path("wide.h5", input=np.zeros((4, 3)))
        self.refused("reads 'input' of shape (2) for each sample, but the data have (3); give it samples like those it was trained on",
                     name="wide", file="wide.h5", fields="{name: input}")
        path = self.path("other_unit.h5", input=np.zeros((4, 2)))
        with h5py.File(path, "a") as file:
            file["input"].attrs["unit"] = "m"
        self.refused("reads 'input' in no unit, but the data have it in m; convert the data", name="unit", file="other_unit.h5",
                     fields="{name: input}")
        with open(self.model, "rb") as file:
            data = bytearray(file.read())
        data[len(data) // 2] ^= 1
        damaged = os.path.join(self.folder, "damaged.h5")
        with open(damaged, "wb") as file:
            file.write(data)
        self.refused("damaged.h5", name="damaged", model=damaged)
        bad = self.new.copy()
        bad[31, 1] = np.nan
        self.path("bad.h5", input=bad)
        for ranks in (1, 2):
            code, out, error = program.run("run", self.deck(f"bad_{ranks}", file="bad.h5", fields="{name: input}"), ranks=ranks)
            self.assertEqual(code, 2, out + error)
            self.assertIn("holds nan in array '/input', sample 31", (out + error).replace("array 'input'", "array '/input'"))

    def verb(self, *words, code=0, ranks=1):
        found, out, error = program.run("predict", *words, ranks=ranks, cwd=self.folder)
        self.assertEqual(found, code, out + error)
        return out + error

    def test_the_verb_gives_the_same_numbers(self):
        stage, _ = self.predicted("beside_verb")
        self.verb(self.model, "new.h5")
        self.verb(self.model, "new.h5", "--output", "two.nc", ranks=2)
        for name in ("new.predicted.h5", "two.nc"):
            with h5py.File(os.path.join(stage, "predicted.h5")) as a, h5py.File(os.path.join(self.folder, name)) as b:
                np.testing.assert_array_equal(a["output"][()], b["output"][()])
                self.assertEqual(dimensions(b["output"]), ["time", "output_component"])
        self.assertTrue(os.path.exists(os.path.join(self.folder, "new.predicted.csv")))
        self.assertIn("'new.predicted.h5' is there already; give another --output, or --overwrite", self.verb(self.model, "new.h5", code=2))
        self.verb(self.model, "new.h5", "--overwrite")
        self.assertIn("--output 'x.txt': expected a name that ends in .h5, .nc or .csv",
                      self.verb(self.model, "new.h5", "--output", "x.txt", code=2))
        self.assertIn("against the labels", self.verb(self.model, "training.h5", "--output", "labelled.csv"))


if __name__ == "__main__":
    unittest.main()
