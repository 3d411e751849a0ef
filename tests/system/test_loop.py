"""The stage `loop`: rounds of stages until a result reaches its target, each with what earlier rounds wrote; killed at any moment it ends with the same
files."""
# needs: deepmd
import glob
import hashlib
import json
import os
import random
import re
import subprocess
import time
import unittest

import program

DECK = """
run: {{name: rounds, seed: 1, directory: "{folder}"}}
plugins: [md, deepmd]
stages:
  - label:
      structure: {{lattice: {{type: fcc, a: 3.65, cells: [2, 2, 2], species: [Cu]}}}}
      potential: &teacher {{type: sutton_chen, element: Cu, cutoff: 4.5, switch_width: 1.0}}
      perturbed: {{frames: 8, displacement: 0.08 angstrom}}
      validation: 0
  - loop:
      rounds: {rounds}
      until: {{result: label.labelled, at_most: {target}}}
      stages:
        - train:
            ensemble_size: 2
            network: {{type: deep_potential, rcut: 4.5, rcut_smth: 2, neuron: [4, 8], axis_neuron: 3, fitting: [16, 16]}}
            dataset: {{type: deepmd_npy, systems: ["{{run}}/label/train", "{{rounds}}/label/train"]}}
            batch: 2
            steps: 120
            learning_rate: {{type: exponential, start: 5e-3, stop: 1e-4, every: 10}}
            checkpoint: {{every: 20}}
            log_every: 40
        - label:
            structure: {{lattice: {{type: fcc, a: 3.65, cells: [2, 2, 2], species: [Cu]}}}}
            potential: *teacher
            explore_with: {{type: deep_potential, model: "{{round}}/train/model_1/model.dp", committee: ["{{round}}/train/model_2/model.dp"]}}
            dynamics: [{{temperature: [300, 900], frames: 4, every: 5, equilibrate: 20}}]
            select: {{f_trust_lo: 0, f_trust_hi: 1e6, max_selected: 5}}
            validation: 0
"""
TIMED = re.compile(r"\.h5$|log\.txt$|cite\.bib$|provenance|deck\.resolved|results\.json$|stages_done|\.lock$")


def files_of(folder):
    """What a run is for: labels, models and tables, by the sum of their bytes. HDF5 files hold when they were written, model.dp is one."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "**", "*"), recursive=True)):
        name = os.path.relpath(path, folder)
        if os.path.isfile(path) and not TIMED.search(name) and not name.endswith(".dp"):
            with open(path, "rb") as file:
                text = file.read()
            found[name] = hashlib.sha256(re.sub(rb'(?m)^("time": |#).*$', b"", text)).hexdigest()
    return found


class Loop(unittest.TestCase):
    def deck(self, name, rounds=3, target=-1):
        folder = program.fresh("loop_" + name)
        path = folder + ".yaml"
        with open(path, "w", encoding="utf-8") as file:
            file.write(DECK.format(folder=folder, rounds=rounds, target=target))
        return path, folder

    def results(self, folder, *stage):
        with open(os.path.join(folder, *stage, "results.json"), encoding="utf-8") as file:
            return {r["key"]: r["value"] for r in json.load(file)["results"]}

    def test_rounds_learn_from_the_rounds_before(self):
        path, folder = self.deck("rounds")
        code, out, error = program.run("check", path)
        self.assertEqual(code, 0, error)
        self.assertIn("files and models of the rounds", out)
        code, out, error = program.run("run", path)
        self.assertEqual(code, 0, error)
        for number, frames in enumerate((8, 13, 18), 1):
            self.assertIn(f"{frames} samples to train on", self.part(out, f"round_{number:03}/train/model_1"))
            self.assertEqual(self.results(folder, "loop", f"round_{number:03}", "label"), {"sampled": 8, "labelled": 5})
        self.assertEqual(self.results(folder, "loop"), {"rounds": 3, "last_value": 5})
        self.assertIn("target not reached after 3 rounds: label.labelled = 5", out)
        self.assertEqual(os.path.realpath(os.path.join(folder, "loop", "last")), os.path.realpath(os.path.join(folder, "loop", "round_003")))
        with open(os.path.join(folder, "loop", "rounds.csv"), encoding="utf-8") as file:
            self.assertEqual(file.read().split("\n")[:4], ["round,label.labelled", "1,5", "2,5", "3,5"])

    def part(self, out, place):
        """What was printed from a folder on."""
        return out[out.index(place):]

    def test_the_target_ends_it(self):
        path, folder = self.deck("target", target=5)
        code, out, error = program.run("run", path, ranks=2)
        self.assertEqual(code, 0, error)
        self.assertEqual(self.results(folder, "loop"), {"rounds": 1, "last_value": 5})
        self.assertNotIn("target not reached", out)

    def test_killed_at_several_moments_it_ends_with_the_same_files(self):
        path, whole = self.deck("whole", rounds=2)
        started = time.time()
        code, _, error = program.run("run", path)
        self.assertEqual(code, 0, error)
        lasts = time.time() - started
        path, folder = self.deck("killed", rounds=2)
        dice, kills, words = random.Random(5), 0, program.command("run", path)
        for _ in range(40):
            running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                running.communicate(timeout=(0.15 + 0.2 * dice.random()) * lasts if kills < 5 else 1000)
            except subprocess.TimeoutExpired:
                running.kill()
                running.communicate(timeout=60)
                kills += 1
                if os.path.exists(os.path.join(folder, "deck.resolved.yaml")):
                    words = program.command("restart", folder)
                continue
            self.assertEqual(running.returncode, 0)
            break
        self.assertGreaterEqual(kills, 3)
        there = files_of(folder)
        self.assertEqual({k: v for k, v in there.items() if "journal" not in k}, files_of(whole))
        self.assertGreater(len([name for name in there if name.endswith(".npy")]), 10)
        self.assertEqual(self.results(folder, "loop", "round_002", "label"), {"sampled": 8, "labelled": 5})

    def test_bad_loops(self):
        for change, message in (
                ("stages[1].loop.until.result=labels.labelled", "'labels.labelled' is not STAGE.RESULT with a stage of the round; these are: train, label"),
                ("stages[1].loop.until.result=label", "'label' is not STAGE.RESULT with a stage of the round; these are: train, label"),
                ("stages[1].loop.until={result: label.labelled}", "give either at_most or at_least"),
                ("stages[1].loop.stages=[]", "stages names no stage to repeat"),
                ("stages[1].loop.stages[0].train.stepz=3", "stages[1].loop.stages[0].train.stepz: unknown key"),
                ("stages[1].loop.stages[0].train.network.neuron=[1]", "the widths of neuron must be between 3 and 1000")):
            path, _ = self.deck("bad")
            code, _, error = program.run("check", path, change)
            self.assertEqual(code, 2, change)
            self.assertIn(message, error)
        path, _ = self.deck("bad")
        code, _, error = program.run("run", path, "stages[1].loop.until.result=label.kept")
        self.assertEqual(code, 2)
        self.assertIn("loop: the stage has no result 'kept', which 'until' watches; it has: sampled, labelled", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
