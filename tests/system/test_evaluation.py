"""What `evaluate` says of a trained model beside its error: by component and range of numbers, by class of classifiers; numpy computes the
same from the tables of predictions."""
import csv
import json
import os
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [8], input: input, target: TARGET, objective: OBJECTIVE, precision: float64}
      dataset: {type: hdf5, files: [DATA], fields: [{name: input}, {name: TARGET}]}
      batch: 20
      steps: 60
      optimizer: adamw
      learning_rate: {type: constant, start: 0.01}
  - evaluate:
      model: DIR/train/model.h5
      dataset: {type: hdf5, files: [TEST], fields: [{name: input}, {name: TARGET}]}
"""


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def numbers(rows, name):
    return np.array([float(row[name]) for row in rows])


def area(labels, scores):
    """Area under the receiver operating characteristic by all pairs."""
    ahead = scores[labels][:, None] - scores[~labels][None]
    return np.mean((ahead > 0) + 0.5 * (ahead == 0))


class Evaluation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("evaluation")
        rng = np.random.default_rng(3)
        for name, count in (("data", 300), ("test", 103)):
            x = rng.uniform(-1, 1, (count, 2))
            wave = np.sin(2 * x[:, 0])
            classes = (wave > 0.3).astype(np.int32) + (x[:, 1] > 0.5)  # 2 is rare
            with h5py.File(os.path.join(cls.folder, name + ".h5"), "w") as file:
                file["input"] = x
                file["flow"] = np.stack([wave, 250 + 5 * x.sum(1)], 1)
                file["flow"].attrs["unit"] = "W"
                file["kind"] = classes

    def evaluated(self, name, target, objective, ranks=1):
        text = DECK.replace("DIR", os.path.join(self.folder, name)).replace("TARGET", target).replace("OBJECTIVE", objective)
        text = text.replace("DATA", os.path.join(self.folder, "data.h5")).replace("TEST", os.path.join(self.folder, "test.h5"))
        code, out, error = program.run("run", program.write(os.path.join(self.folder, name + ".yaml"), text), ranks=ranks)
        self.assertEqual(code, 0, out + error)
        stage = os.path.join(self.folder, name, "evaluate")
        with open(os.path.join(stage, "results.json"), encoding="utf-8") as file:
            results = {r["key"]: r["value"] for r in json.load(file)["results"]}
        return stage, results, out

    def test_numbers_by_component_and_range(self):
        stage, results, out = self.evaluated("numbers", "flow", "regression")
        rows = table(os.path.join(stage, "errors.csv"))
        self.assertEqual([row["component"] for row in rows], ["0"] * 6 + ["1"] * 6 + ["all"])
        parity = table(os.path.join(stage, "parity_flow.csv"))
        for component in ("0", "1"):
            wanted = numbers(parity, f"reference_{component} [W]")
            error = numbers(parity, f"predicted_{component} [W]") - wanted
            order = np.argsort(wanted, kind="stable")
            parts = [order] + [order[103 * r // 5:103 * (r + 1) // 5] for r in range(5)]
            for row, part in zip([row for row in rows if row["component"] == component], parts):
                e, w = error[part], wanted[part]
                expected = {"from": w[0], "to": w[-1], "count": len(part), "rmse": np.sqrt(np.mean(e**2)), "mae": np.mean(np.abs(e)),
                            "bias": e.mean(), "largest": np.abs(e).max(), "r2": 1 - np.sum(e**2) / np.sum((w - w.mean())**2)}
                for key, value in expected.items():
                    self.assertAlmostEqual(float(row[key]), value, 9, (component, key))
        wanted = np.stack([numbers(parity, f"reference_{c} [W]") for c in (0, 1)], 1)
        error = np.stack([numbers(parity, f"predicted_{c} [W]") for c in (0, 1)], 1) - wanted
        # about the mean of each component: about one mean for both, 250 apart, it would be above .999 for any model
        self.assertAlmostEqual(float(rows[-1]["r2"]), 1 - np.sum(error**2) / np.sum((wanted - wanted.mean(0))**2), 9)
        self.assertAlmostEqual(results["r2_flow"], float(rows[-1]["r2"]), 12)
        self.assertAlmostEqual(results["r2_flow_1"], float(rows[6]["r2"]), 12)
        self.assertAlmostEqual(results["mae_flow"], float(rows[-1]["mae"]), 12)
        self.assertRegex(out, r"RMSE +MAE +bias +R2\n +flow 0 .* W\n +flow 1 .* W\n +flow, all ")

    def test_other_axes(self):
        rng = np.random.default_rng(5)
        folder = os.path.join(self.folder, "axes")
        for name, shape in (("data", (60, 3, 4, 4)), ("test", (20, 4, 4, 3))):  # channels first, then last
            with h5py.File(os.path.join(self.folder, f"axes_{name}.h5"), "w") as file:
                file["input"], file["flow"] = rng.uniform(-1, 1, shape), rng.uniform(-1, 1, shape[0])
        text = DECK.replace("DIR", folder).replace("TARGET", "flow").replace("OBJECTIVE", "regression")
        text = text.replace("DATA", os.path.join(self.folder, "axes_data.h5")).replace("TEST", os.path.join(self.folder, "axes_test.h5"))
        code, out, error = program.run("run", program.write(os.path.join(self.folder, "axes.yaml"), text))
        self.assertEqual(code, 2, out + error)
        self.assertIn("was trained on 'input' of shape (3, 4, 4) for each sample, but the data set has (4, 4, 3): equally many values in "
                      "another order; transpose the data", out + error)

    def test_classes(self):
        stage, results, out = self.evaluated("classes", "kind", "classification")
        rows = table(os.path.join(stage, "predictions.csv"))
        self.assertEqual([int(row["sample"]) for row in rows], list(range(103)))
        wanted, chosen = numbers(rows, "reference").astype(int), numbers(rows, "predicted").astype(int)
        p = np.stack([numbers(rows, f"probability_{c}") for c in range(3)], 1)
        np.testing.assert_allclose(p.sum(1), 1, atol=1e-12)
        np.testing.assert_array_equal(p.argmax(1), chosen)
        counts = {(int(r["reference"]), int(r["predicted"])): int(r["samples"]) for r in table(os.path.join(stage, "confusion.csv"))}
        for a in range(3):
            for b in range(3):
                self.assertEqual(counts.get((a, b), 0), np.sum((wanted == a) & (chosen == b)))
        recalls = []
        for c, row in enumerate(table(os.path.join(stage, "classes.csv"))):
            right, true, taken = np.sum((wanted == c) & (chosen == c)), np.sum(wanted == c), np.sum(chosen == c)
            recalls.append(right / true)
            self.assertEqual((int(row["samples"]), int(row["predicted"])), (true, taken))
            self.assertAlmostEqual(float(row["precision"]), right / taken if taken else 0.0, 12)
            self.assertAlmostEqual(float(row["recall"]), right / true, 12)
            self.assertAlmostEqual(float(row["f1"]), 2 * right / (true + taken), 12)
            self.assertAlmostEqual(float(row["auc"]), area(wanted == c, p[:, c]), 12)
        self.assertAlmostEqual(results["accuracy"], np.mean(wanted == chosen), 12)
        self.assertAlmostEqual(results["accuracy"], 1 - results["wrong"], 12)
        self.assertAlmostEqual(results["balanced_accuracy"], np.mean(recalls), 12)
        self.assertIn("the most frequent class always: %.4f" % (np.bincount(wanted).max() / 103), out)

    def test_tables_do_not_depend_on_the_ranks(self):
        one, _, _ = self.evaluated("one", "kind", "classification")
        alone = DECK.split("  - train")[0].replace("DIR", os.path.join(self.folder, "again"))
        alone += "  - evaluate:" + DECK.split("  - evaluate:")[1].replace("DIR", os.path.join(self.folder, "one"))
        alone = alone.replace("TEST", os.path.join(self.folder, "test.h5")).replace("TARGET", "kind")
        model = program.write(os.path.join(self.folder, "again.yaml"), alone)
        code, out, error = program.run("run", model, ranks=2)
        self.assertEqual(code, 0, out + error)
        for name in ("predictions.csv", "classes.csv", "confusion.csv"):
            with open(os.path.join(one, name), encoding="utf-8") as a, \
                    open(os.path.join(self.folder, "again", "evaluate", name), encoding="utf-8") as b:
                self.assertEqual(a.read(), b.read(), name)


if __name__ == "__main__":
    unittest.main()
