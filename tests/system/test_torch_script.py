"""Modules of PyTorch train through the layer as PyTorch itself trains them; what they leave is read back by PyTorch."""
# needs: torch
# thorough
import os
import subprocess
import sys
import unittest

import h5py
import numpy as np

import program

try:
    import torch

    import torch_modules as modules
except ImportError:
    torch = None

DECK = """
run: {name: NAME, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: torch_script, file: FILE, trust: true, loss: LOSS, precision: PRECISION}
      dataset: {type: hdf5, files: [DATA], fields: [FIELDS]}
      batch: BATCH
      steps: STEPS
      optimizer: OPTIMIZER
      learning_rate: {type: constant, start: RATE}
      log_every: 1
      EXTRA
  - evaluate: {model: "{run}/train/model.h5", dataset: {type: hdf5, files: [DATA], fields: [FIELDS]}}
  - predict: {model: "{run}/train/model.h5", dataset: {type: hdf5, files: [DATA], fields: [FIELDS]}}
"""
#: Of a loss, relative to the first one.
CLOSE = {"float32": 1e-6, "float64": 1e-12}
#: Name -> as the deck has it, learning rate.
OPTIMIZERS = {"sgd": ("{type: sgd, momentum: 0.9}", 0.02), "adam": ("adam", 0.01)}
LIBRARY = os.path.join(os.path.dirname(program.PROGRAM), "..", "lib", "libcambium_train.so")


@unittest.skipIf(torch is None, "python3-torch is not installed")
class Scripted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("torch_script")
        torch.set_num_threads(1)
        for name, (_, _, _, inputs, target) in modules.CASES.items():
            with h5py.File(cls.path(name + ".h5"), "w") as file:
                for field, values in {**inputs, **target}.items():
                    file[field] = values

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def deck(self, name, run, **given):
        _, loss, _, inputs, target = modules.CASES[name]
        values = {"NAME": run, "DIR": self.path(run), "FILE": modules.export(name, self.folder), "LOSS": loss, "PRECISION": "float64",
                  "DATA": self.path(name + ".h5"), "FIELDS": ", ".join(f"{{name: {f}}}" for f in {**inputs, **target}), "BATCH": "48",
                  "STEPS": "20", "OPTIMIZER": "adam", "RATE": "0.01", "EXTRA": ""}
        values.update({key.upper(): str(value) for key, value in given.items()})
        text = DECK
        for key, value in values.items():
            text = text.replace(key, value)
        return program.write(self.path(run + ".yaml"), text)

    def trained(self, name, run, ranks=1, **given):
        code, out, error = program.run("run", self.deck(name, run, **given), "--overwrite", ranks=ranks)
        self.assertEqual(code, 0, out + error)
        return out

    def stored(self, run, name="model.h5"):
        with h5py.File(self.path(f"{run}/train/{name}")) as file:
            return {key: data[()] for key, data in file["weights"].items()}

    def test_steps_are_those_of_pytorch(self):
        for name in modules.CASES:
            for precision in ("float32", "float64"):
                for optimizer, (keys, rate) in OPTIMIZERS.items():
                    run = f"{name}_{precision}_{optimizer}"
                    self.trained(name, run, precision=precision, optimizer=keys, rate=rate)
                    losses = np.genfromtxt(self.path(run + "/train/training.csv"), delimiter=",", names=True)["loss"]
                    expected, _ = modules.train(name, self.folder, getattr(torch, precision), optimizer, rate, 20, 48)
                    np.testing.assert_allclose(losses, expected, rtol=0, atol=CLOSE[precision] * abs(expected[0]), err_msg=run)

    def test_optimizers_are_those_of_pytorch(self):
        keys = {"rmsprop": "{type: rmsprop, alpha: 0.9, eps: 1e-6, momentum: 0.5, centered: true}",
                "nadam": "{type: nadam, betas: [0.8, 0.99], momentum_decay: 0.01}",
                "groups": "{type: adamw, weight_decay: 0.1, groups: [{match: layers.0.weight, freeze: true}, {match: \"*.bias\", rate: 0.3, "
                          "weight_decay: 0.2}]}"}
        for optimizer, text in keys.items():
            for ranks in (1, 2):
                self.trained("mlp", optimizer, ranks=ranks, optimizer=text)
                losses = np.genfromtxt(self.path(optimizer + "/train/training.csv"), delimiter=",", names=True)["loss"]
                expected, _ = modules.train("mlp", self.folder, torch.float64, optimizer, 0.01, 20, 48)
                np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-12 * abs(expected[0]), err_msg=optimizer)

    def session(self, name, ranks, precision, optimizer, rate, batch):
        _, loss, _, inputs, target = modules.CASES[name]
        np.savez(self.path("arrays.npz"), **inputs, **target)
        deck = (f"network: {{type: torch_script, file: {modules.export(name, self.folder)}, trust: true, loss: {loss}, precision: {precision}}}\n"
                f"optimizer: {optimizer}\nlearning_rate: {{type: constant, start: {rate}}}\n")
        launcher = program.MPIEXEC + ["-np", str(ranks)] if ranks > 1 else []
        done = subprocess.run(launcher + [sys.executable, os.path.join(os.path.dirname(__file__), "torch_session.py"), LIBRARY, deck,
                                          self.path("arrays.npz"), "20", str(batch), self.path("losses.npz")], capture_output=True, text=True,
                              timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return np.load(self.path("losses.npz"))["losses"]

    @unittest.skipUnless(os.path.exists(LIBRARY), "libcambium_train is not built")
    def test_sessions_take_the_same_steps_on_any_number_of_ranks(self):
        for name in modules.CASES:
            for ranks in (1, 2, 4):
                for precision in ("float32", "float64") if ranks == 2 else ("float64",):
                    for optimizer, (keys, rate) in OPTIMIZERS.items():
                        losses = self.session(name, ranks, precision, keys, rate, 20)
                        expected, _ = modules.train(name, self.folder, getattr(torch, precision), optimizer, rate, 20, 20,
                                                    shares=ranks if name == "cnn" else 1)
                        np.testing.assert_allclose(losses, expected, rtol=0, atol=CLOSE[precision] * abs(expected[0]),
                                                   err_msg=f"{name} {ranks} {precision} {optimizer}")

    def test_the_trained_archive_answers_as_the_model_file_does(self):
        for name, (_, _, _, inputs, _) in modules.CASES.items():
            self.trained(name, "answers", steps=7)
            module = torch.jit.load(self.path("answers/train/model.pt"))
            self.assertFalse(module.training)
            given, _ = modules.tensors(name, np.arange(48), torch.float64)
            answer = module(*given)
            answer = answer if isinstance(answer, tuple) else (answer,)
            with h5py.File(self.path("answers/predict/predicted.h5")) as file:
                for k, key in enumerate(("mean", "variance") if len(answer) == 2 else ("output",)):
                    np.testing.assert_allclose(file[key][()].reshape(answer[k].shape), answer[k].detach().numpy(), rtol=1e-12, atol=1e-12)
            code, out, error = program.run("predict", self.path("answers/train/model.h5"), self.path(name + ".h5"), "--output",
                                           self.path("verb.h5"), "--overwrite", cwd=self.path("answers"))
            self.assertEqual(code, 0, out + error)

    def test_batch_norm_is_trained_and_kept(self):
        self.trained("cnn", "norm", steps=20, optimizer="{type: sgd, momentum: 0.9}", rate=0.02)
        _, module = modules.train("cnn", self.folder, torch.float64, "sgd", 0.02, 20, 48)
        found = torch.jit.load(self.path("norm/train/model.pt"))
        for (key, a), (_, b) in zip(found.named_buffers(), module.named_buffers()):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, err_msg=key)
        self.assertEqual(int(found.norm.num_batches_tracked), 20)

    def test_every_layout_of_weights(self):
        for name in ("lstm", "cnn"):
            self.trained(name, "plain", ranks=2, batch=24)
            plain = self.stored("plain")
            for preset in ("ddp", "zero1", "zero2", "zero3"):
                self.trained(name, "divided", ranks=2, batch=24, extra=f"parallel: {{preset: {preset}}}")
                for key, values in self.stored("divided").items():
                    np.testing.assert_allclose(values, plain[key], rtol=0, atol=1e-9, err_msg=f"{name} {preset} {key}")

    def test_ordered_sums_and_resumed_runs_give_equal_bits(self):
        for name in ("cnn", "messages"):
            extra = "reduce: {mode: ordered, micro_batches: 4}\n      checkpoint: {every: 6, keep: 10}"
            self.trained(name, "one", batch=24, extra=extra)
            for ranks in (2, 4):
                self.trained(name, "more", ranks=ranks, batch=24, extra=extra)
                for key, values in self.stored("one").items():
                    np.testing.assert_array_equal(values, self.stored("more")[key], err_msg=f"{name} {ranks} {key}")
                for (key, a), (_, b) in zip(*(torch.jit.load(self.path(f"{r}/train/model.pt")).named_buffers() for r in ("one", "more"))):
                    self.assertTrue(torch.equal(a, b), key)
            self.trained(name, "short", batch=24, steps=12, extra=extra)
            code, out, error = program.run("restart", self.path("short"), "stages[0].train.steps=20")
            self.assertEqual(code, 0, out + error)
            self.assertIn("resumed at step 12", out)
            for key, values in self.stored("one").items():
                np.testing.assert_array_equal(values, self.stored("short")[key])

    def test_outputs_are_compared_by_name(self):
        torch.manual_seed(3)
        module = modules.TwoAnswers().double()
        torch.jit.script(module).save(self.path("two.pt"))
        near, far = modules.X[:, :1] + 5.0, modules.X[:, 1:2] - 3.0
        with h5py.File(self.path("two.h5"), "w") as file:
            file["x"], file["near"], file["far"] = modules.X, near, far
            file["far"].attrs["units"] = "K"
        with torch.no_grad():
            answer = module(torch.as_tensor(modules.X))
        expected = [float(((answer[name].numpy() - right) ** 2).mean()) for name, right in (("near", near), ("far", far))]
        deck = program.write(self.path("two.yaml"), f"""
run: {{name: two, directory: {self.path("two")}}}
stages:
  - train:
      network: {{type: torch_script, file: {self.path("two.pt")}, trust: true, precision: float64, inputs: [x], targets: [near, far]}}
      dataset: &data {{type: hdf5, files: [{self.path("two.h5")}], fields: [{{name: x}}, {{name: near}}, {{name: far}}]}}
      steps: 1
      log_every: 1
      optimizer: sgd
      learning_rate: {{type: constant, start: 1e-12}}
  - evaluate: {{model: "{{run}}/train/model.h5", dataset: *data}}
  - predict: {{model: "{{run}}/train/model.h5", dataset: *data}}
""")
        code, out, error = program.run("run", deck)
        self.assertEqual(code, 0, out + error)
        with open(self.path("two/train/training.csv")) as file:
            head, row = (line.strip().split(",") for line in file.read().splitlines()[:2])
        found = dict(zip(head, map(float, row)))
        np.testing.assert_allclose([found["mse_near"], found["mse_far"]], expected, rtol=1e-9)
        with h5py.File(self.path("two/predict/predicted.h5")) as file:
            for name in ("near", "far"):
                np.testing.assert_allclose(np.ravel(file[name]), np.ravel(answer[name].numpy()), atol=1e-9)
            self.assertEqual(file["far"].attrs["units"], "K")

    def test_options_of_the_layer(self):
        for extra in ("accumulate: 2", "average: {decay: 0.9}", "activations: {keep: compressed}", "clip: {norm: 0.5}",
                      "hold_out: 0.25\n      validate: {every: 5}"):
            self.trained("cnn", "options", precision="float32", batch=36, extra=extra)
        self.trained("mlp", "options", precision="bfloat16")


if __name__ == "__main__":
    unittest.main()
