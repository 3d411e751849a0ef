"""Trainings measured by rules: logs of three decks, a table of seeds and batches with its page, and the bench of tasks."""
import json
import os
import unittest

import program

SAID = "submission={benchmark: mine, organisation: mine, platform: laptop, caches_cleared: true}"
DECK = """
run: {name: net, directory: DIR}
stages:
  - train:
      network: {type: mlp, layers: [24, 24]}
      dataset: {type: expression, samples: 4000, box: {x: [-1, 1], y: [0, 2]}, target: {z: sin(3*x)*exp(-y)}}
      hold_out: 0.1
      batch: 50
      epochs: 60
      optimizer: adamw
      learning_rate: {type: constant, start: 0.01}
      validate: {every: 72, target: 0.05}
      mllog: true
      submission: {benchmark: expression, organisation: mine, platform: laptop, caches_cleared: true}
"""


class Suite(unittest.TestCase):
    def test_logs_of_decks(self):
        """Decks of the collection, of networks that have nothing in common: their logs keep every rule."""
        for name, stage in (("train/transformer", 0), ("train/direct", 0), ("graph/nodes", 0)):
            with self.subTest(deck=name):
                folder = program.fresh("suite_" + os.path.basename(name))
                deck = os.path.join(program.SOURCE, "inputs", name + ".yaml")
                train = f"stages[{stage}].train."
                code, out, error = program.run("run", deck, "--test-size", f"run.directory={folder}/run", train + "mllog=true", train + SAID)
                self.assertEqual(code, 0, out + error)
                code, out, error = program.run("suite", "check", f"{folder}/run")
                self.assertEqual(code, 0, out + error)
                self.assertIn("logged by the rules of MLPerf HPC 3.0", out)

    def test_a_table_of_seeds_and_batches(self):
        folder = program.fresh("suite_table")
        deck = program.write(os.path.join(folder, "net.yaml"), DECK.replace("DIR", os.path.join(folder, "runs")))
        code, out, error = program.run("sweep", deck, "--over", "stages[0].train.batch=[50, 100]", "--over", "run.seed=[1, 2, 3]")
        self.assertEqual(code, 0, out + error)
        runs = os.path.join(folder, "runs_sweep")
        code, out, error = program.run("suite", "report", runs, "--runs", "3", "--into", folder)
        self.assertEqual(code, 0, out + error)
        with open(os.path.join(folder, "suite.json"), encoding="utf-8") as file:
            sets = json.load(file)["sets"]
        self.assertEqual([s["batch"] for s in sets], [50, 100])
        for s in sets:
            self.assertEqual((s["runs"], s["reached"], s["against_rules"], s["ranks"], s["problems"]), (3, 3, 0, 1, []))
            self.assertGreater(s["fastest"], 0.0)
            self.assertTrue(s["fastest"] <= s["score_seconds"] <= s["slowest"])
            self.assertGreater(s["phases"]["gradient"], 0.0)
            self.assertGreater(s["explained"], 0.8)  # times are of milliseconds; the machine may be busy
            self.assertLess(s["explained"], 1.02)
            self.assertEqual(sorted(s["split"]), ["communication", "computing", "evaluation", "staging"])
            self.assertAlmostEqual(sum(s["split"].values()), sum(s["phases"].values()), 9)
            self.assertEqual(s["split"]["evaluation"], s["phases"]["validate"] + s["phases"].get("output", 0.0))
            self.assertGreaterEqual(s["split"]["computing"], s["phases"]["gradient"])
        self.assertLessEqual(sets[0]["epochs_mean"], sets[1]["epochs_mean"])  # a larger batch takes no fewer epochs
        with open(os.path.join(folder, "suite.md"), encoding="utf-8") as file:
            self.assertIn("| expression | 1 | 100 | 3 | 3 | 0 | ", file.read())
        code, out, error = program.run("suite", "report", runs, "--runs", "10", "--into", folder)
        self.assertEqual(code, 2)
        self.assertIn("No score: there are 3 runs, and a score of expression takes 10.", out)
        code, out, error = program.run("suite", "check", *sorted(os.path.join(runs, name) for name in os.listdir(runs) if "seed" in name), "--runs", "6")
        self.assertEqual(code, 2)
        self.assertIn("global_batch_size is 50 in ", out)

    def test_bench_of_tasks(self):
        code, out, error = program.run("bench", "task_bench", "patterns=all", "back_ends=all", "steps=6", "width=8", "iterations=2", "repeats=1",
                                       "hide_bytes=4096", "--json", ranks=2)
        self.assertEqual(code, 0, out + error)
        figures = json.loads(out.strip().splitlines()[-1])
        self.assertTrue(figures["check"].startswith("ok: "), figures["check"])
        self.assertEqual(len(figures["measured_curves"]), 11 * 5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
