"""A training whose ranks may hold no more than their share of the model and one module: it is begun, validated, written, resumed on other ranks and
exported within that, to the bits of an undivided one; the same of a transformer; and what is said where a key would gather the model."""
# needs: sequence relate
# cost: 40
# processors: 2
# thorough
import glob
import math
import os
import re
import unittest

import h5py

import program
from test_train import deck, stage, text, weights

HIDDEN, LAYERS = 64, 8
LAYER = HIDDEN * HIDDEN + HIDDEN  # the largest module: weights and biases
PARAMETERS = (2 * HIDDEN + HIDDEN) + (LAYERS - 1) * LAYER + (HIDDEN + 1)
SLICES = 8  # of reduce: a rank keeps a sum of gradients for each power of two of its slices
SHARED = 4 * (1 + 1 + 2 + 1 + 1) * PARAMETERS  # bytes of weights, gradients, two states, average and best model


def limit(ranks):
    """Bytes of a share and of one module (its weights, gradient and the parts received of it) and 10 %."""
    sums = math.log2(SLICES / ranks if ranks in (1, 2, 4, 8) else SLICES) * 4 * PARAMETERS
    return 1.1 * ((SHARED + sums) / ranks + 4 * LAYER * (2 + (ranks - 1) / ranks))


def divided(ranks, preset="zero3", bound=None):
    return "{preset: %s, persistence_threshold: 1, prefetch: false, memory_limit: %d B}" % (preset, limit(ranks) if bound is None else bound)


def best(folder):
    with h5py.File(stage(folder, "best.h5")) as file:
        return {name: data[()].tobytes() for name, data in file["weights"].items()}


class MemoryLimit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)

    def deck(self, name, parallel=None, transfer="per_rank", more="", **given):
        folder = program.fresh("limit_" + name)
        path = deck(folder, layers=", ".join([str(HIDDEN)] * LAYERS), **{"mode": "ordered, overlap: false", **given})
        with open(path) as file:
            written = file.read().replace("keep: 100", "keep: 100, transfer: " + transfer)
        if parallel:
            written = written.replace("      log_every: 20\n", f"      log_every: 20\n      parallel: {parallel}\n{more}")
        return folder, program.write(path, written)

    def runs(self, *words, ranks):
        code, out, error = program.run(*words, ranks=ranks)
        self.assertEqual(code, 0, error)
        return out

    def kept_within(self, out, ranks):
        most = float(re.search(r"([\d.]+) MB at one time$", out, re.M)[1])
        self.assertLessEqual(most, 1e-6 * limit(ranks))
        self.assertLess(most, 1e-6 * SHARED)
        self.assertGreater(most, 1e-6 * SHARED / ranks)

    def goes_on(self, folder, ranks, parallel, step=50):
        for path in glob.glob(stage(folder, "restart.*.h5")):
            if int(path.split(".")[-2]) > step:
                os.remove(path)
        for name in ("model.h5", os.path.join("..", "stages_done.txt")):
            if os.path.exists(stage(folder, name)):
                os.remove(stage(folder, name))
        out = self.runs("restart", os.path.join(folder, "run"), f"stages[0].train.parallel={parallel}", ranks=ranks)
        self.assertIn(f"resumed at step {step}", out)
        return out

    def test_no_rank_holds_more_than_its_share_and_one_module(self):
        whole, path = self.deck("whole", transfer="gather")
        self.runs("run", path, ranks=1)
        for transfer in ("per_rank", "collective"):
            part, path = self.deck("part", divided(4), transfer)
            self.kept_within(self.runs("run", path, ranks=4), 4)
            for ranks in (8, 1):
                self.assertEqual(weights(whole), weights(part), (transfer, ranks))
                self.assertEqual(best(whole), best(part))
                for table in ("training.csv", "validation.csv", "learning_curve.csv"):
                    self.assertEqual(text(whole, table), text(part, table))
                out = self.goes_on(part, ranks, divided(ranks))
                if ranks > 1:
                    self.kept_within(out, ranks)
            self.assertEqual(weights(whole), weights(part), transfer)

    def test_from_four_ranks_to_three_to_eight_to_one(self):
        whole, path = self.deck("chain_whole", transfer="gather", every=30)
        self.runs("run", path, ranks=1)
        part, path = self.deck("chain", divided(4), every=30)
        self.kept_within(self.runs("run", path, ranks=4), 4)
        for step, ranks in ((30, 3), (60, 8), (90, 1)):
            out = self.goes_on(part, ranks, divided(ranks), step)
            if ranks > 1:
                self.kept_within(out, ranks)
            self.assertEqual(weights(whole), weights(part), ranks)
            self.assertEqual(best(whole), best(part))
            for table in ("training.csv", "validation.csv", "learning_curve.csv"):
                self.assertEqual(text(whole, table), text(part, table))

    def test_three_ranks_export_what_four_wrote(self):
        """In fast mode sums over three ranks have an order of their own, so nothing is trained there."""
        four, path = self.deck("four", divided(4), mode="fast, overlap: false", steps=100)
        self.kept_within(self.runs("run", path, ranks=4), 4)
        expected = weights(four)
        for ranks in (3, 8, 1):
            for name in ("model.h5", os.path.join("..", "stages_done.txt")):
                os.remove(stage(four, name))
            out = self.runs("restart", os.path.join(four, "run"), f"stages[0].train.parallel={divided(ranks)}", ranks=ranks)
            self.assertIn("resumed at step 100", out)
            self.assertEqual(weights(four), expected, ranks)

    def test_a_transformer_keeps_within_it(self):
        models = []
        for ranks, preset in ((1, "ddp"), (4, "zero3")):
            folder = program.fresh(f"limit_transformer_{ranks}")
            path = program.write(os.path.join(folder, "net.yaml"), f"""
run: {{name: text, directory: {folder}/run, seed: 3}}
plugins: [sequence]
stages:
  - train:
      network: {{type: transformer, layers: 6, width: 32, heads: 4}}
      dataset: {{type: associative_recall, samples: 24, length: 24, pairs: 4, queries: 4, keys: 6, values: 4}}
      hold_out: 0.25
      batch: 8
      steps: 6
      optimizer: adamw
      learning_rate: 0.01
      reduce: {{mode: ordered, overlap: false}}
      validate: {{every: 3}}
      checkpoint: {{transfer: per_rank}}
      parallel: {{preset: {preset}, prefetch: false}}
""")
            out = self.runs("run", path, ranks=ranks)
            models.append((weights(folder), text(folder, "validation.csv")))
            share, most = (float(found) for found in re.search(r"together .* ([\d.]+)\n.* ([\d.]+) MB at one time$", out, re.M).groups())
            if preset == "zero3":  # with the best model and a sum of gradients in the share; two embeddings of 256 and 15 rows of 32 numbers, a block of 12 * 32 * 32, a head of 32 * 256
                self.assertLessEqual(most, 1.1 * (share * 1.5 + 1e-6 * 4 * 13000 * 2.75))
        self.assertEqual(*models)

    def evaluated(self, folder, model, dataset, *more, plugins="", ranks=1, code=0):
        path = program.write(os.path.join(folder, "evaluate.yaml"), f"run: {{name: judged, directory: {folder}/judged}}\n{plugins}stages:\n  - evaluate: "
                             f"{{model: {model}, dataset: {dataset}, batch: 7}}\n")
        found, out, error = program.run("run", path, "--overwrite", *more, ranks=ranks)
        self.assertEqual(found, code, out + error)
        if code:
            return error
        with open(os.path.join(folder, "judged", "evaluate", "evaluation.csv"), encoding="utf-8") as file:
            return file.read()

    def test_a_model_is_evaluated_module_by_module(self):
        numbers = "{type: expression, samples: 100, seed: 9, box: {x: [-1, 1], y: [0, 2]}, target: {z: sin(3*x)*exp(-y)}}"
        texts = "{type: associative_recall, samples: 24, length: 24, pairs: 4, queries: 4, keys: 6, values: 4}"
        for name, network, data, plugins, largest in (
                ("mlp", "{type: mlp, layers: [24, 16]}", numbers, "", 4 * (24 * 16 + 16)),
                ("direct", "{type: mlp, layers: [24, 16]}", numbers, "quantized_training: {weights: ternary}", 4 * (24 * 16 + 16)),
                ("transformer", "{type: transformer, layers: 2, width: 16, heads: 2}", texts, "plugins: [sequence]\n", 4 * (256 + 23) * 16)):
            folder = program.fresh("limit_evaluated_" + name)
            keys, plugins = (plugins, "") if name == "direct" else ("", plugins)
            path = program.write(os.path.join(folder, "net.yaml"), f"run: {{name: net, directory: {folder}/run, seed: 3}}\n{plugins}stages:\n"
                                 f"  - train: {{network: {network}, dataset: {data}, batch: 8, steps: 5, learning_rate: 0.01{', ' + keys if keys else ''}}}\n")
            self.runs("run", path, ranks=1)
            model = stage(folder, "model.h5")
            whole = self.evaluated(folder, model, data, plugins=plugins)
            for ranks in (1, 3):
                limited = self.evaluated(folder, model, data, f"stages[0].evaluate.memory_limit={largest} B", plugins=plugins, ranks=ranks)
                self.assertEqual(whole, limited, (name, ranks))
            error = self.evaluated(folder, model, data, "stages[0].evaluate.memory_limit=1 kB", plugins=plugins, code=2)
            self.assertRegex(error, rf"memory_limit is 0\.001 MB, but the largest module of '.*model\.h5' takes {1e-6 * largest:.3f} MB; raise memory_limit")
        error = self.evaluated(folder, model, data, "stages[0].evaluate.memory_limit=1 MB", "stages[0].evaluate.quantize={weights: ternary}",
                               plugins=plugins, code=2)
        self.assertIn("give one of: memory_limit (weights stay in the file), quantize (all of them are quantised)", error)

    def test_networks_without_modules_are_refused(self):
        folder, data = program.fresh("limit_without_modules"), "{type: clicks, synthetic: {records: 200}}"
        path = program.write(os.path.join(folder, "net.yaml"), f"run: {{name: net, directory: {folder}/run, seed: 3}}\nplugins: [relate]\nstages:\n"
                             f"  - train: {{network: {{type: factorization_machine, embedding_dim: 4}}, dataset: {data}, batch: 20, steps: 2, learning_rate: 0.01}}\n")
        self.runs("run", path, ranks=1)
        error = self.evaluated(folder, stage(folder, "model.h5"), data, "stages[0].evaluate.memory_limit=1 MB", plugins="plugins: [relate]\n", code=2)
        self.assertIn("memory_limit takes the weights of one module at a time, but factorization_machine needs all of them; remove memory_limit", error)

    def test_keys_that_would_gather_the_model(self):
        _, path = self.deck("gather", divided(4), "gather")
        code, _, error = program.run("run", path, ranks=4)
        self.assertEqual(code, 2, error)
        self.assertRegex(error, r"checkpoint\.transfer: gather gathers the model on every rank, [\d.]+ MB in addition to its part of [\d.]+ MB, but "
                                r"parallel\.memory_limit is [\d.]+ MB; use transfer: collective or per_rank, or raise memory_limit")
        _, path = self.deck("spikes", divided(4), more="      loss_spikes: {factor: 3}\n")
        code, _, error = program.run("run", path, ranks=4)
        self.assertEqual(code, 2, error)
        self.assertIn(" gathers the model on every rank, ", error)
        self.assertIn(" MB in addition to its part of ", error)
        self.assertIn(" MB, but parallel.memory_limit is ", error)
        self.assertRegex(error, r"loss_spikes gathers the model on every rank, .*; remove loss_spikes, or raise memory_limit")


if __name__ == "__main__":
    unittest.main(verbosity=2)
