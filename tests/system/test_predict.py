"""A trained model applied to data without labels: by a deck, on several ranks, with the coordinates of the data; and what is said of bad
input."""
import csv
import json
import os
import shutil
import subprocess
import sys
import unittest

import h5py
import numpy as np

import program

TRAIN = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [8], input: input, target: target, precision: float64}
      dataset: {type: hdf5, files: [TRAINING], fields: [{name: input}, {name: target}, {name: station}]}
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
        cls.path("training.h5", input=x, target=np.stack([np.sin(2 * x[:, 0]), x.prod(1), x.sum(1)], 1), station=np.arange(200))
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

    @staticmethod
    def value(results, key):
        return next(result["value"] for result in results["results"] if result["key"].endswith(key))

    def labelled(self, name, network, plugins, **arrays):
        """Trains on arrays whose last one is the label; results of `evaluate` with it, and predictions without it."""
        names = list(arrays)
        self.path(f"{name}_labelled.h5", **arrays)
        self.path(f"{name}_unlabelled.h5", **{key: arrays[key] for key in names[:-1]})
        data = f"{{type: hdf5, files: [{self.folder}/{name}_labelled.h5], fields: [{', '.join(f'{{name: {key}}}' for key in names)}]}}"
        deck = program.write(os.path.join(self.folder, name + "_train.yaml"), f"""
run: {{name: {name}, directory: {self.folder}/{name}, seed: 2}}
plugins: {plugins}
stages:
  - train: {{network: {network}, dataset: {data}, batch: 8, steps: 20, optimizer: adam, learning_rate: {{type: constant, start: 3e-3}}}}
  - evaluate: {{model: "{{run}}/train/model.h5", dataset: {data}}}
""")
        code, out, error = program.run("run", deck)
        self.assertEqual(code, 0, out + error)
        fields = ", ".join(f"{{name: {key}}}" for key in names[:-1])
        self.predicted(name + "_out", file=f"{name}_unlabelled.h5", fields=fields, model=os.path.join(self.folder, name, "train", "model.h5"))
        with open(os.path.join(self.folder, name, "evaluate", "results.json")) as file:
            results = json.load(file)
        with h5py.File(os.path.join(self.folder, name + "_out", "predict", "predicted.h5")) as file:
            return results, file["output"][...]

    @unittest.skipUnless(os.environ["CAMBIUM_HAS_TORCH"] == "1", "without LibTorch")
    def test_networks_of_torch_need_no_labels(self):
        rng = np.random.default_rng(4)
        label = np.arange(60) % 3
        image = rng.normal(0, 0.3, (60, 8, 8)) + label[:, None, None] * np.eye(8)
        results, found = self.labelled("conv", "{type: conv_net, channels: [4], hidden: 8}", "[]", image=image, label=label.astype("i4"))
        self.assertAlmostEqual(self.value(results, "wrong"), np.mean(found.argmax(1) != label), places=6)
        self.assertLess(np.abs(found.sum(1) - 1).max(), 1e-5)
        counts = rng.poisson(3.0, (24, 8, 8, 8)).astype("f4")
        target = np.stack([counts.mean((1, 2, 3)) - 3, counts.std((1, 2, 3)) - 1.7], 1)
        results, found = self.labelled("cosmo", "{type: cosmoflow, channels: [2], hidden: [8], fit: false}", "[cosmo]", counts=counts, target=target)
        self.assertAlmostEqual(self.value(results, "absolute_error"), np.abs(found - target).mean(), places=6)

    @unittest.skipUnless("podlstm" in os.environ["CAMBIUM_BUILT_PLUGINS"].split(), "plugin podlstm is not built")
    def test_windows_of_a_series(self):
        """Coefficients in their own unit, by a stage, the command and Python: cells and head of the model file, multiplied here."""
        folder = os.path.join(self.folder, "series")
        windows = f'{{type: forecast_windows, series: {{file: "{folder}/pod/pod.h5"}}, range: [0, 18]}}'
        deck = program.write(os.path.join(self.folder, "series.yaml"), f"""
run: {{name: series, directory: {folder}, seed: 2}}
plugins: [podlstm]
stages:
  - synthetic_field: {{weeks: 60, latitudes: 4, longitudes: 6}}
  - pod: {{field: {{files: ["{{run}}/synthetic_field/field.h5"], array: sst, missing: land}}, modes: 2, training: 50}}
  - train:
      network: {{type: stacked_lstm, head: dense, genome: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}}
      dataset: {windows}
      batch: 6
      steps: 20
      optimizer: adam
      learning_rate: {{type: constant, start: 3e-3}}
  - predict: {{model: "{{run}}/train/model.h5", dataset: {windows}}}
""")
        code, out, error = program.run("run", deck)
        self.assertEqual(code, 0, out + error)
        self.assertIn("against the labels", out)
        model = os.path.join(folder, "train", "model.h5")
        with h5py.File(os.path.join(folder, "pod", "pod.h5")) as file:
            series, unit = file["coefficients"][()], file["coefficients"].attrs["units"]
        x = np.stack([series[k:k + 8] for k in range(18)])
        expected = self.forecast(model, x, series[:50])
        with h5py.File(os.path.join(folder, "predict", "predicted.h5")) as file:
            found = file["forecast"][()]
            self.assertEqual(file["forecast"].attrs["units"], unit)
        self.assertEqual(found.shape, (18, 8, 2))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.ptp(series))
        path = self.path("windows.h5", coefficients=x)
        with h5py.File(path, "a") as file:
            file["coefficients"].attrs["units"] = unit
        self.verb(model, path, "--output", "windows_out.h5")
        with h5py.File(os.path.join(self.folder, "windows_out.h5")) as file:
            np.testing.assert_array_equal(file["forecast"][()], found)
        np.save(os.path.join(self.folder, "windows.npy"), x)
        package = os.path.join(os.path.dirname(program.PROGRAM), "..", "share", "cambium", "python")
        code = "import sys, numpy, cambium; numpy.save(sys.argv[3], cambium.Model(sys.argv[1])(numpy.load(sys.argv[2])))"
        done = subprocess.run([sys.executable, "-c", code, model, "windows.npy", "forecast.npy"], capture_output=True, text=True,
                              cwd=self.folder, timeout=300, env={**os.environ, "PYTHONPATH": package})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        np.testing.assert_array_equal(np.load(os.path.join(self.folder, "forecast.npy")), found)
        self.assertIn("(8, 2) for each sample, but the data have (2)", self.verb(model, os.path.join(folder, "pod", "pod.h5"), code=2))

    @staticmethod
    def forecast(model, x, training):
        """One layer of LSTM cells and a dense head on windows (samples, 8, 2), scaled to [0, 1] over the training years."""
        with h5py.File(model) as file:
            wx, wh, b = (file[f"weights/node1.{name}"][()].astype("f8") for name in ("wx", "wh", "b"))
            head, bias = (file[f"weights/head.{name}"][()].astype("f8") for name in ("w", "b"))
        low, width = training.min(0), np.ptp(training, 0)
        h = c = np.zeros((len(x), wh.shape[0]))
        states = []
        for time in range(8):
            i, f, g, o = np.split((x[:, time] - low) / width @ wx + h @ wh + b, 4, axis=1)
            c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
            h = np.tanh(c) / (1 + np.exp(-o))
            states.append(h)
        y = np.einsum("tsc,tco->so", np.stack(states), head) + bias
        return y.reshape(-1, 8, 2) * width + low

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
        self.assertNotIn("extrapolates", out)  # stations are far from those of training, but the network does not read them

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

    def test_identifiers_of_the_training_are_not_required(self):
        deck = program.write(os.path.join(self.folder, "judged.yaml"), f"""
run: {{name: judged, directory: {self.folder}/judged}}
stages:
  - evaluate:
      model: {self.model}
      dataset: {{type: hdf5, files: [{self.folder}/training.h5], fields: [{{name: input}}, {{name: target}}]}}
""")
        code, out, error = program.run("run", deck)
        self.assertEqual(code, 0, out + error)
        with h5py.File(self.model) as file:
            self.assertEqual(sorted(file["fields"]), ["input", "target"])

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

    def test_a_network_without_answers(self):
        text = TRAIN.replace("DIR", os.path.join(self.folder, "texts")).replace("stages:", "plugins: [sequence]\nstages:")
        text = text.replace("{type: mlp, layers: [8], input: input, target: target, precision: float64}",
                            "{type: transformer, layers: 1, width: 8, heads: 1}")
        text = text.replace("{type: hdf5, files: [TRAINING], fields: [{name: input}, {name: target}, {name: station}]}", "{type: synthetic_grammar, samples: 40, length: 9}")
        code, out, error = program.run("run", program.write(os.path.join(self.folder, "texts.yaml"), text.replace("steps: 60", "steps: 1")))
        self.assertEqual(code, 0, out + error)
        model = os.path.join(self.folder, "texts", "train", "model.h5")
        self.assertIn(f"model '{model}' is a network 'transformer', which returns no values for a single sample; the stages of its plugin "
                      "run it (cambium list task)", self.verb(model, "new.h5", code=2))

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

    def asked(self, *command, environment=None):
        """Answers of a program that reads samples and prints rows of numbers."""
        x = np.array(self.new)
        text = f"{len(x)}\n" + "\n".join(" ".join(map(repr, map(float, row))) for row in x)
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=self.folder, timeout=300,
                              env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return np.array([line.split() for line in done.stdout.splitlines()], dtype=float)

    def test_c(self):
        folder, _ = self.predicted("beside_c")
        with h5py.File(os.path.join(folder, "predicted.h5")) as file:
            np.testing.assert_allclose(self.asked(os.environ["CAMBIUM_MODEL_FROM_C"], self.model), file["output"][()], rtol=0, atol=1e-12)

    def test_fortran(self):
        if not shutil.which("gfortran"):
            print("SKIPPED: models from Fortran: gfortran is not installed")
            self.skipTest("gfortran is not installed")
        source, library = program.SOURCE, os.path.join(os.path.dirname(program.PROGRAM), "..", "lib")
        built = os.path.join(self.folder, "model_from_fortran")
        subprocess.run(["gfortran", "-J", self.folder, os.path.join(source, "apps/c/cambium_model.f90"),
                        os.path.join(source, "tests/train/session/model_from_fortran.f90"), "-o", built, "-L" + library,
                        "-Wl,-rpath," + os.path.abspath(library), "-lcambium_train"], check=True)
        np.testing.assert_allclose(self.asked(built, self.model), self.expected(self.new), rtol=0, atol=1e-12)

    def test_python(self):
        folder = os.path.join(os.path.dirname(program.PROGRAM), "..", "share", "cambium", "python")
        code = """
import sys, numpy, cambium
model = cambium.Model(sys.argv[1])
x = numpy.loadtxt(sys.stdin, skiprows=1)
for row in model(x): print(*map(repr, map(float, row)))
assert "input (samples, 2)" in repr(model) and "output (samples, 3) in K" in repr(model), repr(model)
assert numpy.array_equal(model(x), model(numpy.asfortranarray(x))) and numpy.array_equal(model(x)[::2], model(x[::2]))
try:
    model(x, units={"input": "m"})
except cambium.CambiumError as error:
    assert "reads 'input' in no unit, but the data have it in m" in str(error), error
else:
    raise AssertionError("another unit was taken")
try:
    model()
except cambium.CambiumError as error:
    assert str(error) == f"no array is an input of model '{sys.argv[1]}'; it reads: input", error
else:
    raise AssertionError("nothing was answered")
run = cambium.open(sys.argv[2])
assert "train/model.h5" in repr(run) and len(run["train/training.csv"]["loss"]) > 0, run
"""
        answers = self.asked(sys.executable, "-c", code, self.model, os.path.join(self.folder, "net"), environment={"PYTHONPATH": folder})
        np.testing.assert_allclose(answers, self.expected(self.new), rtol=0, atol=1e-12)


if __name__ == "__main__":
    unittest.main()
