"""Weights leave as safetensors and come back; PyTorch gives the same answers with them."""
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
      network: NETWORK
      dataset: {type: hdf5, files: [DATA], fields: [{name: input}, {name: target}]}
      batch: 20
      steps: STEPS
      learning_rate: {type: constant, start: 0.01}
      START
  - export: {model: "{run}/train/model.h5"}
  - predict: {model: "{run}/train/model.h5", dataset: {type: hdf5, files: [DATA], fields: [{name: input}]}}
"""
MLP = "{type: mlp, layers: [6, 5], activation: tanh, normalise: false, precision: PRECISION}"


def read(path):
    """Name -> array, and the metadata."""
    with open(path, "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__")
    kinds = {"F32": np.float32, "F64": np.float64}
    return {name: np.frombuffer(data[8 + length:][slice(*e["data_offsets"])], kinds[e["dtype"]]).reshape(e["shape"])
            for name, e in header.items()}, metadata


def write(path, arrays, kind="F64", cut=0):
    header, data = {}, b""
    for name, values in arrays.items():
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        whole = len(text).to_bytes(8, "little") + text + data
        file.write(whole[:len(whole) - cut])
    return path


class Weights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("safetensors")
        random = np.random.default_rng(2)
        with h5py.File(cls.path("data.h5"), "w") as file:
            file["input"] = random.normal(size=(60, 3))
            file["target"] = random.normal(size=(60, 2))

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)

    def run_deck(self, name, network=MLP, precision="float64", steps=20, start="", ranks=1):
        text = DECK.replace("DIR", self.path(name)).replace("NETWORK", network).replace("PRECISION", precision)
        text = text.replace("DATA", self.path("data.h5")).replace("STEPS", str(steps)).replace("START", start and f"start_from: {start}")
        return program.run("run", program.write(self.path(name + ".yaml"), text), "--overwrite", ranks=ranks)

    def trained(self, name, **given):
        code, out, error = self.run_deck(name, **given)
        self.assertEqual(code, 0, out + error)
        return read(self.path(name, "export", "model.safetensors"))

    def answers(self, name):
        with h5py.File(self.path(name, "predict", "predicted.h5")) as file:
            return file["output"][()]

    def test_an_mlp_is_a_sequential_of_pytorch(self):
        for precision, close in (("float64", 1e-13), ("float32", 1e-6)):
            weights, metadata = self.trained("mlp_" + precision, precision=precision)
            self.assertEqual({k: v.shape for k, v in weights.items()},
                             {"layers.0.weight": (6, 3), "layers.0.bias": (6,), "layers.2.weight": (5, 6), "layers.2.bias": (5,),
                              "layers.4.weight": (2, 5), "layers.4.bias": (2,)})
            self.assertEqual((metadata["format"], metadata["type"]), ("pt", "mlp"))
            with h5py.File(self.path("data.h5")) as file:
                x = file["input"][()].astype(precision)
            y = x
            for layer in (0, 2, 4):
                y = y @ weights[f"layers.{layer}.weight"].T + weights[f"layers.{layer}.bias"]
                y = np.tanh(y) if layer < 4 else y
            np.testing.assert_allclose(self.answers("mlp_" + precision), y, rtol=close, atol=close)
            try:
                import torch
            except ImportError:
                print("SKIPPED: safetensors in PyTorch: python3-torch is not installed")
                continue
            module = torch.nn.Module()
            module.layers = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Tanh(), torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
            module.to(getattr(torch, precision)).load_state_dict({k: torch.tensor(v) for k, v in weights.items()})
            np.testing.assert_allclose(self.answers("mlp_" + precision), module.layers(torch.tensor(x)).detach(), rtol=close, atol=close)

    def test_a_scripted_module_takes_its_own_names_back(self):
        try:
            import torch
        except ImportError:
            print("SKIPPED: safetensors of scripted modules: python3-torch is not installed")
            self.skipTest("python3-torch is not installed")

        torch.manual_seed(3)
        module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 2)).double()
        torch.jit.script(module).save(self.path("net.pt"))
        weights, _ = self.trained("scripted", network=f"{{type: torch_script, file: {self.path('net.pt')}, trust: true, inputs: [input], "
                                                      "precision: float64}")
        module.load_state_dict({k: torch.tensor(v) for k, v in weights.items()})
        with h5py.File(self.path("data.h5")) as file:
            np.testing.assert_allclose(self.answers("scripted"), module(torch.tensor(file["input"][()])).detach(), rtol=1e-12, atol=1e-12)

    def test_training_begins_with_weights_of_others(self):
        self.trained("first")
        for ranks in (1, 2):
            again, _ = self.trained("again", start=self.path("first/export/model.safetensors"), steps=1, ranks=ranks)
            before, _ = read(self.path("first/export/model.safetensors"))
            for name, values in again.items():
                self.assertLess(np.abs(values - before[name]).max(), 0.011, name)  # one step of Adam

    def refused(self, start, *words):
        code, out, error = self.run_deck("refused", start=start)
        self.assertEqual(code, 2, out + error)
        for word in words:
            self.assertIn(word, out + error)

    def test_bad_input(self):
        self.trained("good")
        arrays, _ = read(self.path("good/export/model.safetensors"))
        few = {k: v for k, v in arrays.items() if k != "layers.2.bias"}
        self.refused(self.path("absent.safetensors"), "cannot be read; check the path")
        self.refused(write(self.path("few.safetensors"), few), "has no tensor 'layers.2.bias' of shape (5), which the network needs")
        self.refused(write(self.path("wide.safetensors"), {**arrays, "layers.0.bias": np.zeros(7)}),
                     "holds 'layers.0.bias' of shape (7), but the network's has (6); use the same network")
        self.refused(write(self.path("cut.safetensors"), arrays, cut=9), "is no sound safetensors file: the file ends before its values do")
        self.refused(write(self.path("kind.safetensors"), arrays, "F32"), "is no sound safetensors file: shape and number of bytes differ")
        self.refused(write(self.path("kind.safetensors"), arrays, "I8"),
                     "is no sound safetensors file: values of type I8; weights are F64, F32, F16, BF16, I64 or I32")
        with open(self.path("text.safetensors"), "w") as file:
            file.write("weights, but of another kind")
        self.refused(self.path("text.safetensors"), "is no safetensors file, or is cut short; copy it again")


if __name__ == "__main__":
    unittest.main()
