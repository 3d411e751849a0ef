"""Networks that name their modules are trained, validated, exported, begun from a file, evaluated and run while a rank holds its share and one
module, to the bits of whole weights; and which networks need all of their weights."""
# needs: superres graph
# cost: 60
# processors: 2
# thorough
import os
import re
import unittest

import h5py
import numpy as np

import program
from test_held_out_loss import CONVECTION, CROPS, FRAMES, TORCH

RANKS = 4
TRAIN = """
  - train:
      network: NETWORK
      dataset: DATASET
      validation: DATASET
      batch: 4
      steps: STEPS
      optimizer: adamw
      learning_rate: {type: constant, start: 1e-3}
      reduce: {mode: ordered, overlap: false}
      validate: {every: 2, batch: 3}
      checkpoint: {transfer: per_rank}
"""
DIVIDED = "      parallel: {preset: zero3, prefetch: false, persistence_threshold: 1}\n"
MESHFREE = ("{type: meshfree_flow_net, features: 8, most_features: 16, latent: 8, decoder: [32, 32], activation: swish, gamma: 0.1, "
            'constants: {P: 1e-3}, equations: ["dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b)) = 0"]}')
#: Of each the plugins, the stage before, the network and its data. Crops have points of their own, which the stage predict refuses.
CASES = {
    "fourier_operator": ("superres", CONVECTION, "{type: fourier_operator, width: 8, layers: 4, modes: [4, 4], ratio: [2, 2, 2]}", CROPS),
    "vision_transformer": ("superres", CONVECTION, "{type: vision_transformer, width: 16, heads: 2, layers: 4}", FRAMES),
    **({} if not TORCH else {
        "flow_unet": ("superres", CONVECTION, "{type: flow_unet, features: 8, most_features: 16, ratio: [2, 2, 2]}", CROPS),
        "flow_unet_forecast": ("superres", CONVECTION, "{type: flow_unet, features: 8, most_features: 16}", FRAMES),
        "meshfree_flow_net": ("superres", CONVECTION, MESHFREE, CROPS),
        "message_passing": ("graph", "", "{type: message_passing, layers: 3, width: 24, loss: huber, reference: atoms}",
                            "{type: molecules, file: FOLDER/energies.extxyz}"),
        "conv_net": ("", "", "{type: conv_net, channels: [8, 16], residual_blocks: 1, hidden: 32}",
                     "{type: hdf5, files: [FOLDER/pictures.h5], fields: [{name: image}, {name: label}]}"),
        "conv_net_bfloat16": ("", "", "{type: conv_net, channels: [8, 16], hidden: 32, precision: bfloat16}",
                              "{type: hdf5, files: [FOLDER/pictures.h5], fields: [{name: image}, {name: label}]}"),
    })}


def arrays(path, of=None):
    with h5py.File(path) as file:
        names = of or list(file["weights"])
        return {name: (file if of else file["weights"])[name][()].tobytes() for name in names}


class SharesOfNetworks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("shares_of_networks")
        random = np.random.default_rng(3)
        with h5py.File(os.path.join(cls.folder, "pictures.h5"), "w") as file:
            file["image"] = random.normal(size=(14, 8, 8)).astype("f4")
            file["label"] = random.integers(0, 3, size=14)
        # Energies alone: forces would be derivatives, for which weights are read twice.
        with open(os.path.join(cls.folder, "energies.extxyz"), "w", encoding="utf-8") as file:
            for _ in range(14):
                atoms = random.integers(3, 7)
                places = np.cumsum(random.normal(scale=0.2, size=(atoms, 3)) + [1.0, 0.2, 0.1], axis=0)
                file.write(f'{atoms}\nProperties=species:S:1:pos:R:3 energy={random.normal() - 3 * atoms:.6f} pbc="F F F"\n')
                file.writelines(f"{random.choice(['H', 'C'])} " + " ".join(f"{x:.6f}" for x in row) + "\n" for row in places)

    def run_deck(self, name, plugins, stages, *words, ranks=1, code=0, **given):
        run = os.path.join(self.folder, name)
        text = f"run: {{name: {name}, directory: {run}, seed: 5}}\n" + (f"plugins: [{plugins}]\n" if plugins else "") + "stages:" + stages
        for key, value in {"STEPS": "4", **given}.items():
            text = text.replace(key, value)
        text = text.replace("FOLDER", self.folder)
        found, out, error = program.run("run", program.write(run + ".yaml", text), "--overwrite", *words, ranks=ranks)
        self.assertEqual(found, code, out + error)
        return run, error if code else out

    def data_of(self, before, plugins):
        """One simulation serves all networks of a plugin."""
        if not before:
            return ""
        if not hasattr(type(self), "simulated"):
            type(self).simulated, _ = self.run_deck("simulated", plugins, before)
        return self.simulated

    def test_bits_and_bytes(self):
        for name, (plugins, before, network, data) in CASES.items():
            with self.subTest(name):
                given = {"NETWORK": network, "DATASET": data.replace("{run}", self.data_of(before, plugins))}
                whole, _ = self.run_deck(name + "_whole", plugins, TRAIN, **given)
                part, out = self.run_deck(name + "_part", plugins, TRAIN + DIVIDED, ranks=RANKS, **given)
                for file in ("model.h5", "best.h5"):
                    self.assertEqual(arrays(os.path.join(whole, "train", file)), arrays(os.path.join(part, "train", file)), file)
                for table in ("validation.csv", "learning_curve.csv"):
                    with open(os.path.join(whole, "train", table)) as one, open(os.path.join(part, "train", table)) as other:
                        self.assertEqual(one.read(), other.read())
                module = self.judged(name, plugins, os.path.join(whole, "train", "model.h5"), given["DATASET"])
                share, most = (float(x) for x in re.search(r"together .* ([\d.]+)\n.* ([\d.]+) MB at one time$", out, re.M).groups())
                # The share has the best model and a sum of gradients beside it; of a module the weights, its gradient and its parts received.
                self.assertLessEqual(most, 1.1 * (1.5 * share + (2 + (RANKS - 1) / RANKS) * module) + 0.002)
                self.assertIn("copies (best model, checkpoints)", out)
                self.begun_from(name, plugins, given, os.path.join(whole, "train", "model.h5"))

    def judged(self, name, plugins, model, data):
        """The size of the largest module (MB), once both stages gave equal numbers with it and with whole weights."""
        stages = f"\n  - evaluate: {{model: {model}, dataset: {data}, batch: 3, parity: falseLIMIT}}\n"
        predicts = "type: crops" not in data
        if predicts:
            stages += f"  - predict: {{model: {model}, dataset: {data}, batch: 3LIMIT}}\n"
        out, answers = "", []
        for ranks, limit in ((1, ""), (1, ", memory_limit: 1 GB"), (3, ", memory_limit: 1 GB")):
            run, out = self.run_deck(name + "_judged", plugins, stages, LIMIT=limit, ranks=ranks)
            with open(os.path.join(run, "evaluate", "evaluation.csv")) as file:
                table = file.read()
            numbers = {}
            if predicts:
                with h5py.File(os.path.join(run, "predict", "predicted.h5")) as file:
                    numbers = {key: array[()].tobytes() for key, array in file.items() if isinstance(array, h5py.Dataset)}
                self.assertTrue(numbers)
            answers.append((table, numbers))
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])
        largest = re.findall(r"module by module \(([\d.]+) MB at most\)", out)
        self.assertEqual(len(set(largest)), 1)
        self.assertEqual(len(largest), 1 + predicts)
        for key in ("stages[0].evaluate", "stages[1].predict")[:len(largest)]:
            _, error = self.run_deck(name + "_judged", plugins, stages, f"{key}.memory_limit=100 B", LIMIT="", code=2)
            self.assertRegex(error, r"memory_limit is 0\.000 MB, but the largest module of '.*model\.h5' takes [\d.]+ MB; raise memory_limit")
        return float(largest[0])

    def begun_from(self, name, plugins, given, model):
        begun = TRAIN + f"      start_from: {model}\n"
        whole, _ = self.run_deck(name + "_again", plugins, begun, STEPS="2", **given)
        part, out = self.run_deck(name + "_again_part", plugins, begun + DIVIDED, ranks=RANKS, STEPS="2", **given)
        self.assertEqual(arrays(os.path.join(whole, "train", "model.h5")), arrays(os.path.join(part, "train", "model.h5")))

    def test_weights_of_pytorch_are_read_tensor_by_tensor(self):
        given = {"NETWORK": "{type: mlp, layers: [16, 16]}", "DATASET":
                 "{type: expression, samples: 24, seed: 9, box: {x: [-1, 1], y: [0, 2]}, target: {z: sin(3*x)*exp(-y)}}"}
        first, _ = self.run_deck("exported", "", TRAIN + '  - export: {model: "{run}/train/model.h5"}\n', **given)
        given["STEPS"] = "3"
        begun = TRAIN + f"      start_from: {first}/export/model.safetensors\n"
        whole, _ = self.run_deck("of_pytorch", "", begun, **given)
        part, _ = self.run_deck("of_pytorch_part", "", begun + DIVIDED, ranks=RANKS, **given)
        self.assertEqual(arrays(os.path.join(whole, "train", "model.h5")), arrays(os.path.join(part, "train", "model.h5")))

    def test_networks_that_need_all_weights(self):
        """Forces of a validation are derivatives, for which weights are read twice."""
        if not TORCH:
            self.skipTest("built without Torch")
        random = np.random.default_rng(4)
        with open(os.path.join(self.folder, "frames.extxyz"), "w", encoding="utf-8") as file:
            for _ in range(8):
                places = np.array([[0, 0, 0], [1.1, 0, 0], [0, 1.2, 0]]) + random.normal(scale=0.05, size=(3, 3))
                rows = np.hstack([places, random.normal(size=(3, 3))])
                file.write(f'3\nProperties=species:S:1:pos:R:3:forces:R:3 energy={random.normal():.6f} pbc="F F F"\n')
                file.writelines("H " + " ".join(f"{x:.6f}" for x in row) + "\n" for row in rows)
        given = {"NETWORK": "{type: message_passing, layers: 1, width: 8}", "DATASET": "{type: molecules, file: FOLDER/frames.extxyz}"}
        run, _ = self.run_deck("forces", "graph", TRAIN, **given)
        evaluate = f"\n  - evaluate: {{model: {run}/train/model.h5, dataset: {given['DATASET']}, memory_limit: 1 GB}}\n"
        _, error = self.run_deck("forces_judged", "graph", evaluate, code=2)
        self.assertIn("memory_limit takes the weights of one module at a time, but message_passing needs all of them; remove memory_limit", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
