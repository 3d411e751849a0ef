"""Training with weights, gradients and states divided among ranks, through the program: the same weights whatever is divided,
checkpoints that any division reads, and what is refused."""
# needs: superres
# cost: 20
# processors: 2
import json
import os
import re
import unittest

import h5py

import program
from test_train import deck, stage, text, weights

AVERAGE = "      ema: {decay: 0.9}\n"


def model(folder):
    with h5py.File(os.path.join(folder, "train", "model.h5"), "r") as file:
        return {name: array[...].tobytes() for name, array in file["weights"].items()}


class Divided(unittest.TestCase):
    def divided(self, name, ranks, parallel, **given):
        """A run with what is given under `parallel`; None: undivided."""
        folder = program.fresh("train_" + name)
        path = deck(folder, mode="ordered", **given)
        with open(path) as file:
            divided = file.read().replace(AVERAGE, AVERAGE + (f"      parallel: {parallel}\n" if parallel else ""))
        return folder, program.run("run", program.write(path, divided), ranks=ranks)

    def test_what_is_divided_does_not_change_the_weights(self):
        one, (code, out, error) = self.divided("divided_1", 1, "{preset: ddp, persistence_threshold: 50}")
        self.assertEqual(code, 0, error)
        undivided, (code, _, error) = self.divided("undivided", 1, None)
        self.assertEqual(code, 0, error)
        self.assertEqual(weights(undivided), weights(one))  # what is exported is the average
        self.assertEqual(weights(undivided, "restart.100.h5"), weights(one, "restart.100.h5"))
        for ranks, preset in ((2, "zero1"), (2, "zero3"), (4, "zero2"), (4, "hybrid, levels: [{name: pair, size: 2}, {name: world}]")):
            more, (code, out, error) = self.divided("divided_more", ranks, "{persistence_threshold: 50, preset: %s}" % preset)
            self.assertEqual(code, 0, error)
            self.assertIn("memory per rank", out)
            self.assertIn("reduce-scatter", out)
            self.assertEqual(weights(one), weights(more), preset)
            self.assertEqual(weights(one, "restart.100.h5"), weights(more, "restart.100.h5"))
            for table in ("training.csv", "validation.csv"):
                self.assertEqual(text(one, table), text(more, table))

    def test_checkpoints_do_not_know_what_was_divided(self):
        whole, (code, _, error) = self.divided("divided_whole", 1, "{preset: ddp, persistence_threshold: 50}", optimizer="split_adamw")
        self.assertEqual(code, 0, error)
        part, (code, _, error) = self.divided("divided_part", 2, "{preset: zero3, persistence_threshold: 50}", optimizer="split_adamw")
        self.assertEqual(code, 0, error)
        for ranks, preset in ((4, "zero2"), (1, "zero1")):
            for name in ("restart.100.h5", "restart.120.h5", "stages_done.txt"):
                path = os.path.join(part, "run", name) if name.startswith("stages") else stage(part, name)
                if os.path.exists(path):
                    os.remove(path)
            code, out, error = program.run("restart", os.path.join(part, "run"), f"run.directory={part}/run",
                                           f"stages[0].train.parallel.preset={preset}", ranks=ranks)
            self.assertEqual(code, 0, error)
            self.assertIn("resumed at step 50", out)
            self.assertEqual(weights(whole), weights(part))
            self.assertEqual(weights(whole, "restart.100.h5"), weights(part, "restart.100.h5"))

    def test_a_deep_potential_is_divided_by_its_networks_as_planned(self):
        copper = os.path.join(program.SOURCE, "inputs", "deepmd", "copper_divided.yaml")
        train, pages, models = "stages[1].train.", [], []
        for ranks, preset in ((1, "ddp"), (2, "zero3")):
            folder = program.fresh(f"copper_{preset}")
            code, out, error = program.run("run", copper, "--test-size", f"run.directory={folder}", train + f"parallel.preset={preset}", ranks=ranks)
            self.assertEqual(code, 0, error)
            pages.append(out)
            with h5py.File(os.path.join(folder, "train", "model.h5")) as file:
                models.append({name: data[()].tobytes() for name, data in file["weights"].items()})
        self.assertEqual(*models)
        code, out, error = program.run("plan", copper, "--test-size", train + f"dataset.systems=[{folder}/label/train]", "--ranks", "2", "--json",
                                       "--machine", os.path.join(program.SOURCE, "machines", "frontier.yaml"))
        self.assertEqual(code, 0, error)
        self.assertRegex(out, r"in 11 arrays and 2 modules, float32")
        planned = json.loads(out.splitlines()[-1])["plans"][0]["exchanges"]
        self.assertEqual({e["collective"] for e in planned}, {"gather forward", "gather backward", "reduce-scatter", "gather update", "allreduce"})
        for e in planned:  # of six steps
            calls, megabytes = re.search(rf"^{e['collective']} +{e['level']} +(\d+) +([\d.]+)$", pages[1], re.M).groups()
            self.assertEqual(int(calls), 6 * e["calls"], e)
            self.assertAlmostEqual(float(megabytes), 6e-6 * e["bytes"], delta=6e-4, msg=str(e))

    def test_a_plan_counts_the_average(self):
        copper = os.path.join(program.SOURCE, "inputs", "deepmd", "copper_divided.yaml")
        folder, train = program.fresh("copper_average"), "stages[1].train."
        code, _, error = program.run("run", copper, "--test-size", f"run.directory={folder}")
        self.assertEqual(code, 0, error)
        plans = []
        for average in ("null", "{decay: 0.9}"):
            code, out, error = program.run("plan", copper, "--test-size", train + f"dataset.systems=[{folder}/label/train]", "--ranks", "2", "--json",
                                           "--machine", os.path.join(program.SOURCE, "machines", "frontier.yaml"), train + f"average={average}")
            self.assertEqual(code, 0, error)
            plans.append(json.loads(out.splitlines()[-1])["plans"][0])
        without, with_average = (plan["states"] for plan in plans)
        self.assertEqual(2 * with_average, 3 * without)  # adam's two states of the same size

    def test_a_torch_network_of_a_plugin_is_divided(self):
        """The training of inputs/superres/variable_resolution.yaml on what one simulation wrote: two ranks, divided, and one that keeps all."""
        source = os.path.join(program.SOURCE, "inputs", "superres", "variable_resolution.yaml")
        folder = program.fresh("divided_superres")
        ordered = "stages[2].train.reduce={mode: ordered, micro_batches: 2}"
        code, out, error = program.run("run", source, "--test-size", f"run.directory={folder}", ordered, ranks=2)
        if "CAMBIUM_TORCH" in error:
            self.skipTest("built without Torch")
        self.assertEqual(code, 0, error)
        self.assertIn("sharded: weights by 2, gradients by 2, states by 2 of 2 ranks", out)
        self.assertRegex(out, r"states +8 +2 ")
        with open(source) as file:
            deck_text = file.read()
        train = deck_text[deck_text.index("  - train:"):deck_text.index("  - reconstruct:")].replace("{run}/", folder + "/").replace("zero3", "ddp")
        sizes = [line.split('"')[1].replace("stages[2]", "stages[0]") + "=" + line.split('": ')[1]
                 for line in deck_text.splitlines() if line.startswith('  "stages[2]')]
        alone = program.fresh("divided_superres_alone")
        path = program.write(os.path.join(alone, "deck.yaml"), f"run: {{name: alone, directory: {alone}, seed: 42}}\nplugins: [superres]\nstages:\n{train}")
        code, out, error = program.run("run", path, ordered.replace("stages[2]", "stages[0]"), *sizes)
        self.assertEqual(code, 0, error)
        self.assertEqual(model(folder), model(alone))

    def test_divisions_that_cannot_be_are_refused(self):
        for ranks, parallel, optimizer, message in (
                (2, "{preset: hpz, levels: [{name: pair, size: 4}, {name: world}]}", "adam",
                 "the levels pair 4 need a multiple of 4 ranks, but 2 run; change the levels or start 4 ranks"),
                (1, "{preset: zero4}", "adam", "zero4"),
                (1, "{preset: zero3, memory_limit: 1 kB}", "adam", "parallel.memory_limit is 0.001 MB per rank")):
            _, (code, _, error) = self.divided("refused", ranks, parallel, optimizer=optimizer)
            self.assertEqual(code, 2, error)
            self.assertIn(message, error)
        folder, _ = self.divided("buffered", 1, "{preset: zero2}", steps=2)
        code, _, error = program.run("run", os.path.join(folder, "net.yaml"), "stages[0].train.loader=buffered", "--overwrite", ranks=2)
        self.assertEqual(code, 2, error)
        self.assertIn("loader buffered gives each rank one contiguous part of a batch, but with reduce.mode ordered and sharded gradients ranks alternate "
                      "by micro-batch; use loader: shuffle", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
