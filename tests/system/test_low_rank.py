"""The stage `compress`: its model is a model file as any other, faster and nearly as good; what cannot be is said, and the best is kept."""
# cost: 60
# thorough
import json
import os
import re
import unittest

import h5py
import numpy as np
import yaml

import program

DATA = "{type: expression, samples: 1000, seed: SEED, box: {x: [-1, 1], y: [0, 2]}, target: {z: sin(3*x)*exp(-y)}}"
DENSE = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [384, 384], activation: relu}
      dataset: %s
      batch: 50
      steps: 150
      learning_rate: {type: cosine, start: 3e-3, stop: 1e-4}
  - compress:
      model: "{run}/train/model.h5"
      dataset: %s
      validation: %s
      budget: 0.5
      samples: 100
      batch: 100
      fine_tune: {steps: 150, batch: 50}
      baselines: [table, search, equal_shares, equal_energy, smaller, whole]
      from_scratch: {steps: 60}
  - evaluate: {model: "{run}/compress/model.h5", dataset: %s}
""" % tuple(DATA.replace("SEED", str(seed)) for seed in (1, 1, 2, 3))
IMAGES = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: conv_net, channels: [48, 64]}
      dataset: {type: hdf5, files: [images.h5], fields: [{name: image}, {name: label}]}
      batch: 20
      steps: 40
      learning_rate: {type: constant, start: 1e-3}
  - compress:
      model: "{run}/train/model.h5"
      dataset: {type: hdf5, files: [images.h5], fields: [{name: image}, {name: label}]}
      budget: 0.97
      samples: 100
      fine_tune: {steps: 40, batch: 20}
  - evaluate: {model: "{run}/compress/model.h5", dataset: {type: hdf5, files: [images.h5], fields: [{name: image}, {name: label}]}}
"""
# A continuous network of a flow, at test size, whose products stand in for it in a reconstruction that a solver goes on from.
FLOW = """
run: {name: flow, directory: DIR, seed: 5}
plugins: [superres]
stages:
  - simulate: &flow
      physics: rayleigh_benard
      rayleigh: 1e5
      aspect_ratio: 2
      cells: [32, 16]
      initial: {noise: 0.1, seed: 1}
      end_time: 4
      sample_interval: 0.25
      output: [{type: fields, interval: 0.25}]
  - train:
      network: {type: NETWORK}
      dataset: &crops {type: crops, data: ["{run}/simulate/fields.h5"], ratio: [1, 2, 2], crop: [4, 0, 0], points: 64, samples: 64}
      batch: 4
      steps: 30
      learning_rate: {type: constant, start: 2e-3}
  - compress:
      model: "{run}/train/model.h5"
      dataset: *crops
      budget: 0.97
      samples: 8
      batch: 4
      search: {steps: 20, batch: 4}
      fine_tune: {steps: 30, batch: 4, learning_rate: 2e-3}
  - reconstruct:
      data: "{run}/simulate/fields.h5"
      rayleigh: 1e5
      ratio: [1, 2, 2]
      frames: 9
      methods: [linear]
      models: {whole: "{run}/train/model.h5", small: "{run}/compress/model.h5"}
      write: {method: small, points: [3, 40, 20]}
  - simulate:
      physics: rayleigh_benard
      rayleigh: 1e5
      aspect_ratio: 2
      cells: [40, 20]
      initial: {file: "{run}/reconstruct/reconstruction.h5"}
      end_time: 0.2
"""
NETWORKS = {"flow_unet": "flow_unet, base_channels: 16, levels: 1, ratio: [1, 2, 2]",
            "meshfree_flow_net": "meshfree_flow_net, base_channels: 16, levels: 1, latent_dim: 16, decoder: [64, 64], blend: spline"}


def rows(folder, stage="compress"):
    """Loss, multiplications, seconds and what was predicted, by name."""
    with open(os.path.join(folder, "run", stage, "compress.json"), encoding="utf-8") as file:
        return {row["name"]: row for row in json.load(file)["rows"]}


class LowRank(unittest.TestCase):
    def run_deck(self, name, deck, *options):
        folder = program.fresh(name)
        path = program.write(os.path.join(folder, "net.yaml"), deck.replace("DIR", os.path.join(folder, "run")))
        return folder, program.run("run", path, *options, cwd=folder)

    def test_dense(self):
        folder, (code, out, error) = self.run_deck("low_rank_dense", DENSE)
        self.assertEqual(code, 0, error)
        found = rows(folder)
        self.assertLessEqual({"whole", "ranks by table", "ranks by search", "equal shares", "equal energy"}, set(found))
        trained = {name: row for name, row in found.items() if name.endswith("trained on")}
        self.assertEqual(len(trained), 5)  # the chosen ranks, the other ones, equal shares, equal energy, the whole network
        chosen = re.search(r"model.h5 has the (ranks by \w+)", out).group(1)
        best = found[chosen + ", trained on"]
        self.assertGreater(found["whole"]["multiplications"], 1.5 * best["multiplications"])
        self.assertLess(best["loss"], found[chosen]["loss"])
        self.assertLess(best["loss"], 2.0 * found["whole"]["loss"])
        for name, row in found.items():
            self.assertRegex(out, re.escape(name) + f" +{row['loss']:.6g} ")
        # The smaller network is whole, as fast, and trained from scratch.
        small = found["smaller, from scratch"]
        self.assertLess(small["multiplications"], found["whole"]["multiplications"])
        self.assertLess(small["seconds"], 0.6 * found["whole"]["seconds"])
        self.check_equal_time(folder, out, found, chosen)
        with h5py.File(os.path.join(folder, "run", "compress", "smaller", "model.h5")) as file:
            self.assertIn("ranks: []", file["model/config"][()].decode())
        for baseline in ("equal_shares", "equal_energy"):
            self.assertTrue(os.path.exists(os.path.join(folder, "run", "compress", baseline, "model.h5")))
        with h5py.File(os.path.join(folder, "run", "compress", "model.h5")) as file:
            config = file["model/config"][()].decode()
            self.assertIn("ranks:", config)
            numbers = sum(data.size for data in file["weights"].values())
        with h5py.File(os.path.join(folder, "run", "train", "model.h5")) as file:
            self.assertLess(1.5 * numbers, sum(data.size for data in file["weights"].values()))
        # It cannot be made smaller once more, and what no rank can do is said with the least possible.
        again = DENSE[:DENSE.index("  - train")] + DENSE[DENSE.index("  - compress"):DENSE.index("  - evaluate")]
        again = again.replace("{run}/train", os.path.join(folder, "run", "compress")).replace("DIR", os.path.join(folder, "again"))
        code, _, error = program.run("run", program.write(os.path.join(folder, "again.yaml"), again), cwd=folder)
        self.assertEqual(code, 2)
        self.assertRegex(error, r"model: layer \S+ of '.*model.h5' is a product already; give the model that it was made from, whose layers are "
                         "full")

    def check_equal_time(self, folder, out, found, chosen):
        """Ranks keep the budget by the clock, or that is said; so is a baseline that does not have their time. No baseline has more than 2 % above it."""
        with open(os.path.join(folder, "run", "compress", "compress.json"), encoding="utf-8") as file:
            wanted = json.load(file)["wanted_seconds"]
        for name in ("ranks by table", "ranks by search"):
            said = re.search(name + ": predicted to take .* and none that are faster were found", out) is not None
            self.assertEqual(found[name]["seconds"] > wanted, said, name)
        for name in ("equal shares", "equal energy", "smaller, from scratch"):
            over = found[name]["time_over_chosen"]
            self.assertLessEqual(over, 1.02)
            self.assertAlmostEqual(found[name]["seconds"], over * found[chosen]["seconds"], delta=1e-9)
            self.assertEqual(f"{name}: {over:.3g} of the time of the {chosen}, no comparison at equal time" in out, abs(over - 1.0) > 0.03, name)
        # What the steps alone do: the whole network, trained on by as many, is another network and as slow.
        self.assertNotEqual(found["whole, trained on"]["loss"], found["whole"]["loss"])
        self.assertEqual(found["whole, trained on"]["seconds"], found["whole"]["seconds"])

    def test_a_budget_of_multiplications_has_the_same_ranks_every_time(self):
        deck = DENSE.replace("budget: 0.5", "multiplications: 0.4").replace("steps: 150", "steps: 20")
        deck = deck.replace("[table, search, equal_shares, equal_energy, smaller, whole]", "[equal_shares, smaller, whole]")
        found = []
        for name in ("low_rank_counted", "low_rank_counted_again"):
            folder, (code, out, error) = self.run_deck(name, deck)
            self.assertEqual(code, 0, out + error)
            with open(os.path.join(folder, "run", "compress", "compress.json"), encoding="utf-8") as file:
                found.append(json.load(file))
        table = found[0]
        by_name = {row["name"]: row for row in table["rows"]}
        self.assertAlmostEqual(table["wanted_multiplications"], 0.4 * by_name["whole"]["multiplications"])
        for name in ("ranks by table", "ranks by search", "equal shares"):
            self.assertLessEqual(by_name[name]["multiplications"], 1.02 * table["wanted_multiplications"])
        self.assertLessEqual(by_name["smaller, from scratch"]["multiplications"], 1.02 * by_name[table["chosen"]]["multiplications"])
        for row, other in zip(table["rows"], found[1]["rows"]):
            self.assertEqual({key: row[key] for key in ("name", "loss", "multiplications", "ranks")},
                             {key: other[key] for key in ("name", "loss", "multiplications", "ranks")})
        losses = [by_name[name + ", trained on"]["loss"] for name in (table["chosen"], "equal shares")]
        self.assertEqual("choosing ranks gains nothing here" in out, losses[0] >= losses[1])

    def test_a_budget_that_no_rank_meets(self):
        deck = DENSE[:DENSE.index("  - evaluate")]
        folder, (code, out, error) = self.run_deck("low_rank_budget", deck, "stages[1].compress.budget=0.001",
                                                   "stages[1].compress.fine_tune.steps=5", "stages[1].compress.baselines=[]", "stages[0].train.steps=20")
        self.assertEqual(code, 4, out)
        self.assertRegex(error, r"no ranks bring a pass to \S+ ms: the least possible is \S+ of \S+ ms; '.*model.h5' has the best that was "
                         "found: allow more, or train it on for longer")
        self.assertTrue(os.path.exists(os.path.join(folder, "run", "compress", "model.h5")))
        model = os.path.join(folder, "run", "train")
        counted = (deck[:deck.index("  - train")] + deck[deck.index("  - compress"):]).replace("{run}/train", model)
        counted = counted.replace("DIR", os.path.join(folder, "counted")).replace("budget: 0.5", "multiplications: 0.001")
        code, out, error = program.run("run", program.write(os.path.join(folder, "counted.yaml"), counted), "stages[0].compress.fine_tune.steps=5",
                                       "stages[0].compress.baselines=[]", cwd=folder)
        self.assertEqual(code, 4, out)
        self.assertRegex(error, r"no ranks bring a pass to \S+ multiplications: the least possible is \S+ of \S+; '.*model.h5' has the best")
        accept = (deck[:deck.index("  - train")] + deck[deck.index("  - compress"):]).replace("{run}/train", model)
        accept = accept.replace("DIR", os.path.join(folder, "accept"))
        path = program.write(os.path.join(folder, "accept.yaml"), accept)
        code, out, error = program.run("run", path, "stages[0].compress.accept=1e-3", "stages[0].compress.budget=0.9",
                                       "stages[0].compress.fine_tune.steps=5", "stages[0].compress.baselines=[]", cwd=folder)
        self.assertEqual(code, 4, out)
        self.assertRegex(error, r"the loss is \S+ times that of the full network, more than accept \(0.001\); '.*model.h5' has the best")

    def run_small(self, name, path):
        """A shipped deck at its test size. Its rows, and the factors in its model.h5."""
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inputs", path)
        with open(source, encoding="utf-8") as file:
            small = yaml.safe_load(file)["x-test"]
        folder = program.fresh(name)
        code, out, error = program.run("run", source, f"run.directory={folder}/run",
                                       *(f"{key}={json.dumps(value)}" for key, value in small.items()), cwd=folder)
        self.assertEqual(code, 0, out + error)
        found = rows(folder)
        self.assertLessEqual({"whole", "ranks by table", "equal shares", "equal energy", "smaller, from scratch", "whole, trained on"}, set(found))
        chosen = re.search(r"model.h5 has the (ranks by \w+)", out).group(1)
        for other in (chosen, "equal shares", "smaller, from scratch"):
            self.assertLess(found[other]["multiplications"], found["whole"]["multiplications"], other)
        with h5py.File(os.path.join(folder, "run", "compress", "model.h5")) as file:
            factors = {key: file["weights"][key][()] for key in file["weights"] if key.endswith((".enter", ".leave"))}
        self.assertTrue(factors)
        return folder, factors

    def test_recurrent_layers(self):
        _, factors = self.run_small("low_rank_lstm", "podlstm/low_rank.yaml")
        for key, enter in factors.items():
            if key.endswith(".enter"):
                self.assertEqual(enter.shape[1], factors[key.replace(".enter", ".leave")].shape[0])

    def test_a_deep_potential_is_simulated_with_its_factors(self):
        folder, factors = self.run_small("low_rank_copper", "deepmd/low_rank.yaml")
        self.assertTrue(all(key.startswith("fitting.") for key in factors), list(factors))  # tables replace embedding networks
        with h5py.File(os.path.join(folder, "run", "compress", "model.dp")) as file:
            model = json.loads(file.attrs["json"])["model"]
            layers = model["fitting"]["nets"]["networks"][0]["layers"]
            given = [layer["@variables"] for layer in layers if "enter" in layer["@variables"]]
            self.assertTrue(given)
            for one in given:
                w, enter, leave = (file[one[name]][()] for name in ("w", "enter", "leave"))
                self.assertLess(np.abs(enter @ leave - w).max(), 1e-5 * np.abs(w).max())
        with open(os.path.join(folder, "run", "simulate", "thermo.csv"), encoding="utf-8") as file:
            self.assertNotIn("nan", file.read())

    @unittest.skipUnless(os.environ.get("CAMBIUM_HAS_TORCH") == "1", "built without Torch")
    def test_convolutions(self):
        """Stripes of two directions, with noise."""
        folder = program.fresh("low_rank_images")
        random, i = np.random.default_rng(1), np.arange(16)
        label = np.arange(200) % 2
        phase = random.uniform(0, 6, 200)[:, None, None]
        stripes = np.where(label[:, None, None], np.sin(i[:, None] + phase), np.sin(i[None, :] + phase))
        with h5py.File(os.path.join(folder, "images.h5"), "w") as file:
            file["image"] = (stripes + 0.3 * random.normal(size=stripes.shape)).astype("f4")
            file["label"] = label[:, None]
        path = program.write(os.path.join(folder, "net.yaml"), IMAGES.replace("DIR", os.path.join(folder, "run")))
        code, out, error = program.run("run", path, cwd=folder)
        self.assertEqual(code, 0, error)
        found = rows(folder)
        chosen = re.search(r"model.h5 has the (ranks by \w+)", out).group(1)
        self.assertGreater(found["whole"]["multiplications"], found[chosen]["multiplications"])
        self.assertLess(found[chosen + ", trained on"]["loss"], found[chosen]["loss"])
        with h5py.File(os.path.join(folder, "run", "compress", "model.h5")) as file:
            self.assertTrue([name for name in file["weights"] if ".core." in name or ".enter." in name], list(file["weights"]))

    @unittest.skipUnless(os.environ.get("CAMBIUM_HAS_TORCH") == "1", "built without Torch")
    def test_a_solver_goes_on_from_what_the_products_say(self):
        for name, keys in NETWORKS.items():
            with self.subTest(name):
                folder, (code, out, error) = self.run_deck("low_rank_" + name, FLOW.replace("NETWORK", keys))
                self.assertEqual(code, 0, error)
                found = rows(folder)
                chosen = re.search(r"model.h5 has the (ranks by \w+)", out).group(1)
                self.assertGreater(found["whole"]["multiplications"], found[chosen]["multiplications"])
                with h5py.File(os.path.join(folder, "run", "compress", "model.h5")) as file:
                    self.assertTrue([key for key in file["weights"] if ".enter." in key or key.endswith(".core.weight")])
                # Scores of both stand beside each other, near one another; then a solver starts from the products' fields.
                scores = re.search(r"^ +linear +small +whole$", out, re.M)
                self.assertTrue(scores, out)
                with h5py.File(os.path.join(folder, "run", "reconstruct", "reconstruction.h5")) as file:
                    fields = {key: file["tasks/" + key][()] for key in ("p", "b", "u", "w")}
                with h5py.File(os.path.join(folder, "run", "simulate", "fields.h5")) as file:
                    truth = {key: file["tasks/" + key][()][:9] for key in fields}
                for key, values in fields.items():
                    self.assertTrue(np.isfinite(values).all())
                self.assertAlmostEqual(fields["b"].std() / truth["b"].std(), 1.0, delta=0.2)
                with open(os.path.join(folder, "run", "simulate_2", "thermo.csv"), encoding="utf-8") as file:
                    rows_of_run = [line for line in file if line[0].isdigit()]
                self.assertGreater(len(rows_of_run), 1)
                self.assertNotIn("nan", rows_of_run[-1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
