"""`cambium predict` on tables and on arrays of numpy: the same files as the stage `predict` writes, columns found by their names, and what is said
of tables that do not fit the model."""
import csv
import os
import shutil
import unittest

import h5py
import numpy as np

import program

TRAIN = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [6], input: state, target: heat, precision: float64}
      dataset: DATA
      batch: 16
      steps: 40
      optimizer: adam
      learning_rate: {type: constant, start: 0.01}
"""
PREDICT = """
run: {name: p, directory: DIR}
stages:
  - predict: {model: MODEL, dataset: {type: csv, files: ['FILE'], fields: FIELDS}}
"""
LINES = 150
SITES = ["north, old", "south", "größer"]


class PredictTables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("predict_tables")
        rng = np.random.default_rng(6)
        cls.x = rng.uniform(-1, 1, (LINES, 2))
        cls.heat = np.sin(2 * cls.x[:, 0]) + cls.x[:, 1]
        rows = [f"{k},{t!r},{f!r},{h!r}" for k, (t, f, h) in enumerate(zip(*cls.x.T.tolist(), cls.heat.tolist()))]
        cls.write("train.csv", "\n".join(["run,T [K],flow,heat [kW]", *rows]) + "\n")
        cls.model = cls.trained("net", f"{{type: csv, files: ['{cls.path('train.csv')}'], fields: [{{name: state, columns: [T, flow]}}, "
                                       "{name: heat}]}")
        with h5py.File(cls.path("train.h5"), "w") as file:
            file["state"], file["heat"] = cls.x, cls.heat
        cls.of_arrays = cls.trained("arrays", f"{{type: hdf5, files: ['{cls.path('train.h5')}'], fields: [{{name: state}}, {{name: heat}}]}}")
        cls.write("new.csv", cls.table(["site", "flow", "run", "T [K]"]))

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    @classmethod
    def write(cls, name, text):
        with open(cls.path(name), "wb") as file:
            file.write(text.encode())

    @classmethod
    def trained(cls, name, data):
        deck = program.write(cls.path(name + ".yaml"), TRAIN.replace("DIR", cls.path(name)).replace("DATA", data))
        code, out, error = program.run("run", deck)
        assert code == 0, out + error
        return cls.path(name, "train", "model.h5")

    @classmethod
    def table(cls, columns, separator=",", change=lambda cell: cell):
        """A new table of these columns; each in its own words."""
        values = {"T": cls.x[::-1, 0].tolist(), "flow": cls.x[::-1, 1].tolist(), "heat": cls.heat[::-1].tolist(),
                  "run": [2**60 + k for k in range(LINES)], "site": [SITES[k * k % 7 % 3] for k in range(LINES)], "remark": ["", "NaN", "1.5"] * 50}

        def cell(value):
            text = value if isinstance(value, str) else change(repr(value))
            return f'"{text}"' if separator in text else text

        rows = [separator.join(columns)]
        rows += [separator.join(cell(values[name.split(" [")[0]][k]) for name in columns) for k in range(LINES)]
        return "\n".join(rows) + "\n"

    def verb(self, *words, code=0, ranks=1):
        found, out, error = program.run("predict", *words, ranks=ranks, cwd=self.folder)
        self.assertEqual(found, code, out + error)
        return out + error

    def predicted(self, name, text, *words, model=None):
        """Values that the command gives for a table, and what it prints."""
        self.write(name + ".csv", text)
        out = self.verb(model or self.model, name + ".csv", "--output", name + "_out.h5", "--overwrite", *words)
        with h5py.File(self.path(name + "_out.h5")) as file:
            return file["output"][()], out

    def read(self, *names):
        with open(self.path(*names), "rb") as file:
            return file.read()

    def test_the_tables_of_the_stage(self):
        """Bytes of the table that the stage writes, on one and two ranks; copied columns are named there."""
        fields = ("[{name: state, columns: [T, flow]}, {name: site, categories: ['north, old', south, größer]}, {name: run}]")
        deck = program.write(self.path("stage.yaml"), PREDICT.replace("DIR", self.path("stage")).replace("MODEL", self.model).replace(
            "FILE", self.path("new.csv")).replace("FIELDS", fields))
        code, out, error = program.run("run", deck)
        self.assertEqual(code, 0, out + error)
        expected = self.read("stage", "predict", "predicted.csv")
        for ranks in (1, 2):
            self.verb(self.model, "new.csv", "--overwrite", ranks=ranks)
            self.assertEqual(self.read("new.predicted.csv"), expected)
            with h5py.File(self.path("stage", "predict", "predicted.h5")) as a, h5py.File(self.path("new.predicted.h5")) as b:
                self.assertEqual(a["output"][()].tobytes(), b["output"][()].tobytes())
                self.assertEqual(b["output"].attrs["units"], "kW")
                for name in ("run", "site"):
                    np.testing.assert_array_equal(a[name][()], b[name][()])
                self.assertEqual([text.decode() for text in b["site"][:3]], [SITES[0], SITES[1], SITES[1]])
                self.assertEqual(b["run"][1], 2**60 + 1)
        with open(self.path("new.predicted.csv")) as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0], ["sample", "site", "run", "output [kW]"])
        self.assertEqual([row[1] for row in rows[1:]], [SITES[k * k % 7 % 3] for k in range(LINES)])

    def test_columns_are_found_by_name(self):
        plain, _ = self.predicted("plain", self.table(["T [K]", "flow"]))
        for number, text in enumerate((self.table(["flow", "run", "T [K]"]), self.table(["remark", "flow", "T [K]", "site"], ";"),
                                       self.table(["site", "T [K]", "flow"], ";", lambda cell: cell.replace(".", ",")),
                                       self.table(["flow", "T [K]"], "\t"))):
            with self.subTest(number=number):
                np.testing.assert_array_equal(self.predicted(f"order_{number}", text)[0], plain)
        with h5py.File(self.path("order_1_out.h5")) as file:
            self.assertEqual([text.decode() for text in file["remark"][:4]], ["", "NaN", "1.5", ""])
        # Twice the same name, and none, as pandas writes for its index: not copied, and no obstacle.
        head, *rows = self.table(["flow", "T [K]"]).splitlines()
        text = "\n".join([f",u,{head},u", *(f"{k},1,{row},2" for k, row in enumerate(rows))]) + "\n"
        values, out = self.predicted("twice", text)
        np.testing.assert_array_equal(values, plain)
        self.assertIn("without a name of their own are not copied: '', 'u', 'u'", out)

    def test_labels(self):
        plain, _ = self.predicted("bare", self.table(["T [K]", "flow"]))
        values, out = self.predicted("labelled", self.table(["heat [kW]", "T [K]", "flow"]))
        self.assertIn("against the labels", out)
        np.testing.assert_array_equal(values, plain)
        text = self.table(["heat [kW]", "T [K]", "flow"]).splitlines()
        text[7] = "," + text[7].split(",", 1)[1]
        values, out = self.predicted("gap", "\n".join(text) + "\n")
        self.assertNotIn("against the labels", out)
        np.testing.assert_array_equal(values, plain)

    def refused(self, words, name, text, model=None, ranks=1):
        self.write(name, text)
        self.assertIn(words, self.verb(model or self.model, name, "--output", "refused.csv", code=2, ranks=ranks))
        self.assertFalse(os.path.exists(self.path("refused.csv")))

    def test_tables_that_do_not_fit(self):
        for ranks in (1, 2):
            self.refused(f"'lacks.csv' has no column 'flow', which model '{self.model}' reads; it has: 'T [K]', 'run'", "lacks.csv",
                         self.table(["T [K]", "run"]), ranks=ranks)
        self.refused(f"'celsius.csv' has the column 'T' in degC, but model '{self.model}' was trained on it in K; convert the column, or correct "
                     "its heading: 'T [K]'", "celsius.csv", self.table(["T [degC]", "flow"]))
        self.refused("'bare.csv' has the column 'T' in no unit", "bare.csv", self.table(["T", "flow"]))
        self.refused(f"'flow' in kg/s, but model '{self.model}' was trained on it in no unit; convert the column, or correct its heading: 'flow'",
                     "kilograms.csv", self.table(["T [K]", "flow [kg/s]"]))
        self.refused("column 'flow' has no number", "gap.csv", self.table(["T [K]", "flow"]) + "1,\n")
        self.refused("no line follows the line of names", "none.csv", "T [K],flow\n")
        words = "does not store which columns its input 'state' has: it was trained on other data than tables, or by an earlier version; name " \
                "them in a deck: the stage predict with the data set csv"
        self.refused(words, "arrays.csv", self.table(["T [K]", "flow"]), model=self.of_arrays)
        shutil.copy(self.model, self.path("older.h5"))
        with h5py.File(self.path("older.h5"), "a") as file:
            del file["fields/state/columns"]
        self.refused(words, "older.csv", self.table(["T [K]", "flow"]), model=self.path("older.h5"))

    def test_arrays_of_numpy(self):
        x = self.x[::-1].copy()
        with h5py.File(self.path("x.h5"), "w") as file:
            file["state"] = x
        self.verb(self.of_arrays, "x.h5", "--output", "h5_out.h5")
        with h5py.File(self.path("h5_out.h5")) as file:
            expected = file["output"][()]
        np.savez(self.path("x.npz"), state=x, other=np.arange(3))
        np.savez_compressed(self.path("labelled.npz"), heat=self.heat[::-1], state=np.asfortranarray(x))
        np.save(self.path("x.npy"), x)
        for name, ranks in (("x.npz", 1), ("x.npz", 2), ("labelled.npz", 1), ("x.npy", 1), ("x.npy", 2)):
            with self.subTest(name=name, ranks=ranks):
                out = self.verb(self.of_arrays, name, "--output", "numpy_out.h5", "--overwrite", ranks=ranks)
                self.assertEqual("against the labels" in out, name == "labelled.npz")
                with h5py.File(self.path("numpy_out.h5")) as file:
                    np.testing.assert_array_equal(file["output"][()], expected)
        np.save(self.path("wide.npy"), np.zeros((4, 3)))
        self.assertIn("reads 'state' of shape (2) for each sample, but the data have (3)", self.verb(self.of_arrays, "wide.npy", code=2))
        np.save(self.path("empty.npy"), np.zeros((0, 2)))
        self.assertIn("'empty.npy' holds no samples: the first axis of its arrays has the length 0", self.verb(self.of_arrays, "empty.npy", code=2))
        np.savez(self.path("lacks.npz"), other=x)
        self.assertIn(f"'lacks.npz' has no array 'state', which model '{self.of_arrays}' reads; it has: other",
                      self.verb(self.of_arrays, "lacks.npz", code=2))
        x[31, 1] = np.nan
        np.save(self.path("bad.npy"), x)
        for ranks in (1, 2):
            self.assertIn("'bad.npy' holds nan in array 'state', sample 31", self.verb(self.of_arrays, "bad.npy", code=2, ranks=ranks))

    def test_other_categories(self):
        """The same index would be another class: refused by training, evaluation and both ways to predict."""
        kinds = ["warm", "cold"]
        self.write("kinds.csv", "\n".join(["kind,heat [kW]", *(f"{kinds[k % 2]},{k % 2 + 0.01 * k}" for k in range(60))]) + "\n")
        data = f"{{type: csv, files: ['{self.path('kinds.csv')}'], fields: [{{name: kind, categories: [ORDER]}}, {{name: heat}}]}}"
        one, other = data.replace("ORDER", "warm, cold"), data.replace("ORDER", "cold, warm")
        train = TRAIN.replace("input: state", "input: kind")

        def run(name, deck):
            return program.run("run", program.write(self.path(name + ".yaml"), deck.replace("DIR", self.path(name))))

        code, out, error = run("mixed", train.replace("DATA", one) + f"      validation: {other}\n")
        self.assertEqual(code, 2, out + error)
        self.assertIn("the field 'kind' has the categories warm, cold in the training set, but cold, warm in the validation set; give the same ones "
                      "in the same order", out + error)
        code, out, error = run("kinds", train.replace("DATA", one))
        self.assertEqual(code, 0, out + error)
        model = self.path("kinds", "train", "model.h5")
        stage = f"\nrun: {{name: k, directory: DIR}}\nstages:\n  - STAGE: {{model: '{model}', dataset: {other}}}\n"
        code, out, error = run("judged", stage.replace("STAGE", "evaluate"))
        self.assertEqual(code, 2, out + error)
        self.assertIn(f"model '{model}' was trained on 'kind' with the categories warm, cold, but the data set has cold, warm; give the same "
                      "categories in the same order", out + error)
        code, out, error = run("applied", stage.replace("STAGE", "predict"))
        self.assertEqual(code, 2, out + error)
        self.assertIn(f"model '{model}' reads 'kind' with the categories warm, cold, but the data have cold, warm; give the same categories in the "
                      "same order", out + error)


if __name__ == "__main__":
    unittest.main()
