"""Types of attention through the program: they learn to look keys up, resume bit for bit, and two_pass repeats softmax."""
import csv
import os
import shutil
import unittest

import h5py
import program

DECK = os.path.join(program.SOURCE, "inputs", "train", "long_sequences.yaml")
T = "stages[0].train."
SET = "{type: associative_recall, samples: %d, length: 24, pairs: 4, queries: 4, keys: 6, values: 4%s}"
SMALL = ["sweep=null", T + "network.width=16", T + "dataset=" + SET % (20000, ""), T + "checkpoint={every: 10, keep: 5}", T + "log=10",
         "stages[1].evaluate.dataset=" + SET % (100, ", first: 20000")]
TYPES = ["{type: softmax}", "{type: two_pass}", "{type: linear}", "{type: favor, features: 32}"]


def weights(folder):
    with h5py.File(os.path.join(folder, "train", "model.h5")) as file:
        return {key: data[()] for key, data in file["weights"].items()}, file["model/state"][()]


def evaluated(folder):
    with open(os.path.join(folder, "evaluate", "evaluation.csv"), encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return dict(zip(rows[0], map(float, rows[1])))


class Attention(unittest.TestCase):
    def trained(self, name, kind, *more, ranks=1):
        folder = program.fresh("attention_" + name)
        code, out, error = program.run("run", DECK, f"run.directory={folder}", *SMALL, T + "network.attention=" + kind, *more, ranks=ranks)
        self.assertEqual(code, 0, error)
        return folder, out

    def test_every_type_learns_to_look_up(self):
        for kind in TYPES:
            with self.subTest(kind):
                folder, out = self.trained("learns", kind, T + "steps=400", T + "checkpoint=null")
                self.assertIn("looking a key up answers all of them, guessing one in 4", out)
                self.assertNotIn("parity", out)  # a network for texts writes none
                right = evaluated(folder)["answers_right"]
                self.assertGreater(right, 0.6)  # guessing 0.25, guessing among the values of the text about 0.4

    def test_resumes_bit_for_bit(self):
        for kind in TYPES[1:]:
            with self.subTest(kind):
                whole, _ = self.trained("whole", kind, T + "steps=20", T + "reduce={mode: ordered}")
                part = program.fresh("attention_part")
                shutil.rmtree(part)
                shutil.copytree(whole, part)
                os.remove(os.path.join(part, "train", "restart.20.h5"))
                os.remove(os.path.join(part, "stages_done.txt"))
                code, out, error = program.run("restart", part, ranks=2)
                self.assertEqual(code, 0, error)
                self.assertIn("resumed at step 10", out)
                (before, state), (after, again) = weights(whole), weights(part)
                self.assertEqual(state, again)
                for name, values in before.items():
                    self.assertEqual(values.tobytes(), after[name].tobytes(), name)

    def test_the_same_weights_when_they_are_divided(self):
        ordered = [T + "steps=20", T + "reduce={mode: ordered}", T + "clip=null"]
        for kind in TYPES[1:]:
            with self.subTest(kind):
                whole, _ = self.trained("undivided", kind, *ordered)
                part, _ = self.trained("divided", kind, *ordered, T + "parallel={preset: zero3, persistence_threshold: 500}", ranks=2)
                (before, state), (after, again) = weights(whole), weights(part)
                self.assertEqual(state, again)
                for name, values in before.items():
                    self.assertEqual(values.tobytes(), after[name].tobytes(), name)

    def test_two_pass_trains_as_softmax(self):
        double = [T + "steps=20", T + "network.precision=float64"]
        losses = [evaluated(self.trained("same", kind, *double)[0])["nats_per_byte"] for kind in TYPES[:2]]
        self.assertAlmostEqual(losses[0], losses[1], delta=1e-9)

    def test_works_are_cited(self):
        for kind, key in zip(TYPES[1:], ("dao2022", "katharopoulos2020", "choromanski2021")):
            folder, _ = self.trained("cited", kind, T + "steps=2", T + "warm_up=null")
            with open(os.path.join(folder, "train", "cite.bib"), encoding="utf-8") as file:
                self.assertIn("{" + key, file.read())


if __name__ == "__main__":
    unittest.main(verbosity=2)
