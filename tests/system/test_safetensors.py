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


def write(path, arrays, kind="F64", cut=0, metadata=None):
    header, data = {"__metadata__": metadata} if metadata else {}, b""
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

    def test_statistics_come_with_exported_weights(self):
        """Weights mean what they meant: on data of other scales they answer as the model that was exported."""
        net = "{type: mlp, layers: [6, 5], precision: float64}"
        weights, metadata = self.trained("scaled", network=net)
        exported = self.path("scaled", "export", "model.safetensors")
        self.assertEqual([field["name"] for field in json.loads(metadata["fields"])], ["input", "target"])
        random = np.random.default_rng(7)
        with h5py.File(self.path("other.h5"), "w") as file:
            file["input"], file["target"] = 3 + 5 * random.normal(size=(40, 3)), 100 * random.normal(size=(40, 2))
        earlier = {key: metadata[key] for key in ("format", "type", "config", "state")}  # before there were fields
        older = write(self.path("older.safetensors"), weights, metadata=earlier)
        bare = write(self.path("bare.safetensors"), {**weights, "spare": np.zeros(2)})

        def answers(name, start, network=net):
            data = f"dataset: {{type: hdf5, files: [{self.path('other.h5')}], fields: [{{name: input}}, {{name: target}}]}}"
            deck = (f"run: {{name: net, directory: {self.path(name)}}}\nstages:\n  - train: {{network: {network}, {data}, steps: 1, "
                    f"learning_rate: 0.0, start_from: {start}}}\n  - predict: {{model: '{{run}}/train/model.h5', {data}}}\n"
                    f"  - predict: {{model: {self.path('scaled', 'train', 'model.h5')}, {data}}}\n")
            code, out, error = program.run("run", program.write(self.path(name + ".yaml"), deck), "--overwrite")
            self.assertEqual(code, 0, out + error)
            found = []
            for stage in ("predict", "predict_2"):
                with h5py.File(self.path(name, stage, "predicted.h5")) as file:
                    found.append(file["output"][()])
            return *found, out + error

        for name, start in (("from_exported", exported), ("from_older", older)):
            ours, theirs, said = answers(name, start)
            np.testing.assert_array_equal(ours, theirs)
            self.assertIn(f"weights and statistics from {start}", said)
        _, _, said = answers("from_changed", exported, net.replace("layers", "activation: relu, layers"))
        self.assertIn("has other keys than the deck's: activation: ", said)
        ours, theirs, said = answers("from_bare", bare)
        self.assertGreater(np.abs(ours - theirs).max(), 1.0)
        self.assertIn(f"weights from {bare}; it has no statistics: scales are those of this data set", said)
        self.assertIn(f"start_from: '{bare}' holds a tensor that the network does not have: spare", said)
        many = write(self.path("many.safetensors"), {**weights, **{f"spare.{k}": np.zeros(2) for k in range(9)}}, metadata=metadata)
        ours, theirs, said = answers("from_many", many)
        np.testing.assert_array_equal(ours, theirs)
        self.assertIn(f"start_from: '{many}' holds 9 tensors that the network does not have: spare.0, ", said)

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
        for value in (np.nan, np.inf):
            odd = {**arrays, "layers.2.bias": np.array([0, 1, value, 3, 4])}
            self.refused(write(self.path("odd.safetensors"), odd),
                         "holds values in tensor 'layers.2.bias' that are not finite; take weights of a training that did not diverge")
        _, metadata = read(self.path("good/export/model.safetensors"))
        code, out, error = self.run_deck("wider", network=MLP.replace("6, 5", "7, 5"), start=self.path("good/export/model.safetensors"))
        self.assertEqual(code, 2, out + error)
        self.assertIn("holds a mlp with 71 parameters, but the deck's mlp has 80; use the same network and precision", out + error)
        self.refused(write(self.path("unit.safetensors"), arrays, metadata={**metadata, "fields": '[{"name": "input", "unit": "K"}]'}),
                     "was trained on 'input' in K, but the data set has it in no unit; convert the data, or train on it afresh")
        self.refused(write(self.path("damaged.safetensors"), arrays, metadata={**metadata, "state": "{"}),
                     f"the metadata of '{self.path('damaged.safetensors')}' are damaged: ", "; export the weights again")
        with open(self.path("text.safetensors"), "w") as file:
            file.write("weights, but of another kind")
        self.refused(self.path("text.safetensors"), "is no safetensors file, or is cut short; copy it again")


if __name__ == "__main__":
    unittest.main()
