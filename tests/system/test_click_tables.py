"""Clicks in text: a network trained on a CSV file predicts the records of other files, in any order and without labels, and those of HDF5 with the
same text; ranks make no difference."""
# needs: relate
import csv
import os
import random
import unittest

import h5py
import numpy as np

import program

TRAIN = """
run: {name: ctr, directory: DIR, seed: 5}
plugins: [relate]
stages:
  - train:
      network: {type: dlrm, embedding_dim: 4, bottom: [4], top: [8], precision: float64}
      dataset: DATA
      hold_out: 0.2
      batch: 32
      epochs: 20
      learning_rate: {type: constant, start: 0.01}
      reduce: {mode: ordered, micro_batches: 4}
      tables: {optimizer: adagrad, learning_rate_scale: 10}
"""
STAGE = """
run: {name: new, directory: DIR}
plugins: [relate]
stages:
  - STAGE: KEYS
"""
COLUMNS = "label: 0, dense: [1-2], categorical: [3-5]"


class ClickTables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("click_tables")
        draw = random.Random(3)
        cls.lines = []
        for number in range(400):
            site, user, city = draw.randrange(15), f"{draw.randrange(60):08x}", draw.choice(["Köln", "New York", "a,b", ""])
            label = int(draw.random() < (.8 if site % 3 == 0 else .2))
            cls.lines.append([str(label), draw.choice(["", str(draw.randrange(-2, 90))]), str(number % 24), f"site {site}", user, city])
        cls.learned, cls.later = cls.lines[:300], cls.lines[300:]
        cls.later[7][3] = "a site never seen"
        cls.write("learned.tsv", cls.learned)
        cls.write("later.tsv", cls.later)
        cls.weights = {}
        for ranks in (1, 2):
            cls.log = cls.runs(f"learned_{ranks}", TRAIN.replace("DATA", cls.data("learned.tsv")), ranks)
            with h5py.File(cls.path(f"learned_{ranks}", "train", "model.h5")) as file:
                cls.weights[ranks] = [file["rows"][name]["weights"][()] for name in sorted(file["rows"])]

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def write(cls, name, lines, labels=True):
        with open(cls.path(name), "w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter="\t" if name.endswith("tsv") else ",", lineterminator="\n").writerows(
                line if labels else line[1:] for line in lines)

    @classmethod
    def data(cls, name, columns=COLUMNS):
        return f"{{type: clicks, file: '{cls.path(name)}', {columns}}}"

    @classmethod
    def runs(cls, name, deck, ranks=1):
        code, out, error = program.run("run", program.write(cls.path(name + ".yaml"), deck.replace("DIR", cls.path(name))), "--overwrite", ranks=ranks)
        assert code == 0, out + error
        return out + error

    def predicted(self, name, data, ranks=1):
        keys = f"{{model: '{self.path('learned_1', 'train', 'model.h5')}', dataset: {data}}}"
        self.said = self.runs(name, STAGE.replace("STAGE", "predict").replace("KEYS", keys), ranks)
        with h5py.File(self.path(name, "predict", "predicted.h5")) as file:
            return file["output"][()]

    def test_ranks_make_no_difference(self):
        self.assertEqual(len(self.weights[1]), 3)
        for one, two in zip(self.weights[1], self.weights[2]):
            np.testing.assert_array_equal(one, two)

    def test_the_log_counts(self):
        self.assertIn("vocabulary of the training part: ", self.log)
        self.assertIn("are rare or unseen in training and have row 0, most of them in ", self.log)

    def same(self, found, expected):
        """Up to rounding: products of matrices depend on the number of rows."""
        np.testing.assert_allclose(found, expected, rtol=1e-12)

    def test_other_files(self):
        straight = self.predicted("straight", self.data("later.tsv"))
        self.assertIn("are rare or unseen in training and have row 0, most of them in ", self.said)
        order = np.random.RandomState(1).permutation(len(self.later))
        self.write("turned.csv", [self.later[k] for k in order])
        self.same(self.predicted("turned", self.data("turned.csv"), ranks=2), straight[order])
        self.write("bare.csv", self.later, labels=False)
        self.same(self.predicted("bare", self.data("bare.csv", "label: none, dense: [0-1], categorical: [2-4]")), straight)
        self.same(self.predicted("range", self.data("later.tsv", COLUMNS + ", range: [5, 20]")), straight[5:20])
        with h5py.File(self.path("later.h5"), "w") as file:
            file["label"] = [int(line[0]) for line in self.later]
            file["dense"] = [[float(x or "nan") for x in line[1:3]] for line in self.later]
            file.create_dataset("categorical", data=[line[3:] for line in self.later], dtype=h5py.string_dtype())
        self.same(self.predicted("h5", f"{{type: clicks, file: '{self.path('later.h5')}'}}"), straight)
        with h5py.File(self.path("fixed.h5"), "w") as file:
            file["label"] = [int(line[0]) for line in self.later]
            file["dense"] = [[float(x or "nan") for x in line[1:3]] for line in self.later]
            file["categorical"] = np.array([[text.encode() for text in line[3:]] for line in self.later])
        self.same(self.predicted("fixed", f"{{type: clicks, file: '{self.path('fixed.h5')}'}}"), straight)

    def test_evaluations(self):
        model = self.path("learned_1", "train", "model.h5")
        order = np.random.RandomState(2).permutation(len(self.later))
        self.write("shuffled.tsv", [self.later[k] for k in order])
        found = []
        for name in ("later.tsv", "shuffled.tsv"):
            keys = f"{{models: ['{model}'], training: {self.data('learned.tsv')}, dataset: {self.data(name)}}}"
            self.runs("judged", STAGE.replace("STAGE", "evaluate_clicks").replace("KEYS", keys))
            with open(self.path("judged", "evaluate_clicks", "scores.csv")) as file:
                found.append([(row["method"], float(row["auc"])) for row in csv.DictReader(file)])
            out = self.runs("evaluated", STAGE.replace("STAGE", "evaluate").replace("KEYS", f"{{model: '{model}', dataset: {self.data(name)}}}"))
            self.assertIn("cross_entropy", out)
        self.assertEqual(len(found[0]), 3)
        for (method, one), (_, other) in zip(*found):
            self.assertAlmostEqual(one, other, places=9, msg=method)
        self.assertGreater(found[0][2][1], .6)

    def test_one_class(self):
        self.write("one.tsv", [["0", *line[1:]] for line in self.later])
        self.predicted("one", self.data("one.tsv"))
        self.assertIn("all labels are 0: nothing is learned from one class, and its AUC is undefined", self.said)


if __name__ == "__main__":
    unittest.main()
