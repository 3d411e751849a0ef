"""Direct quantized training through the program: bytes held, weights on their grids, resumed bit for bit, what is refused."""
# needs: md
import os
import re
import shutil
import unittest

import h5py
import numpy
import program

DECK = os.path.join(program.SOURCE, "inputs", "train", "quantized_training.yaml")
T = "stages[0].train."
SMALL = [T + "network.width=16", T + "network.heads=2", T + "dataset.samples=2000", T + "validation.samples=20", T + "validation.first=2000",
         T + "steps=20", T + "validate.every=10", T + "checkpoint={every: 10, keep: 5}", T + "log=10", "stages[1].evaluate.dataset.samples=20"]


def unpacked(data):
    """An array of a model file as numbers."""
    codes = data[()]
    if "shape" in data.attrs:  # ternary, four to a byte
        shape = tuple(data.attrs["shape"])
        codes = ((codes[:, None] >> (2 * numpy.arange(4))) & 3).astype(numpy.int8).reshape(-1)[:numpy.prod(shape)].reshape(shape) - 1
    return codes if "scale_factor" not in data.attrs else codes.astype(numpy.float32) * data.attrs["scale_factor"]


def matrices(folder):
    with h5py.File(os.path.join(folder, "train", "model.h5")) as file:
        return {key: unpacked(data) for key, data in file["weights"].items()}


class Direct(unittest.TestCase):
    def trained(self, name, *more, ranks=1):
        folder = program.fresh("direct_" + name)
        code, out, error = program.run("run", DECK, f"run.directory={folder}", *SMALL, *more, ranks=ranks)
        self.assertEqual(code, 0, error)
        return folder, out

    def test_what_is_held_and_where_weights_lie(self):
        for weights, bits, numbers in (("int8", 8, 255), ("ternary", 2, 3)):
            folder, out = self.trained(weights, T + f"direct.weights={weights}")
            # Two blocks of 16 x (48 + 16 + 64) + 64 x 16 = 6144 in all; embeddings, norms and head: 16 x (256 + 64 + 4 + 1 + 256).
            others = 16 * (256 + 64 + 5 + 256)
            held = 6144 * bits / 8 + 4 * others
            self.assertIn(f"weights: 6144 of {6144 + others} parameters in {bits} bits, the others in 32: {held / 1e6:.4f} MB by formula, "
                          f"{held / 1e6:.4f} MB held", out)
            flips = float(re.search(r"quantised weights: ([\d.e+-]+) of them changed in the last step", out).group(1))
            self.assertGreater(flips, 1e-5)
            for name, values in matrices(folder).items():
                if "attention" in name or "feed_forward" in name:
                    self.assertLessEqual(len(numpy.unique(values)), numbers, name)

    def test_another_training_starts_where_this_one_ended(self):
        """With the same grids: a rate of next to nothing moves no weight, whole or divided; the file holds codes, not floats."""
        still = [T + "steps=1", T + "log=1", T + "validate.every=1", T + "checkpoint.every=0", T + "warm_up=null", T + "learning_rate={type: constant, start: 1e-30}"]
        for weights, least in (("int8", 3.9), ("ternary", 15.0)):
            first, _ = self.trained("first_" + weights, T + f"direct.weights={weights}")
            model = os.path.join(first, "train", "model.h5")
            with h5py.File(model) as file:
                linear = [data for data in file["weights"].values() if "scale_factor" in data.attrs]
                numbers = sum(int(numpy.prod(data.attrs.get("shape", data.shape))) for data in linear)
                self.assertEqual(numbers, 6144)
                self.assertGreater(4 * numbers / sum(data.nbytes for data in linear), least)
                self.assertEqual(file["model"].attrs["format"], 2)
            for parallel, ranks in (("null", 1), ("{preset: zero3, persistence_threshold: 500}", 2)):
                with self.subTest(weights=weights, ranks=ranks):
                    again, _ = self.trained(f"again_{weights}_{ranks}", T + f"direct.weights={weights}", T + f"start_from={model}",
                                            T + f"parallel={parallel}", *still, ranks=ranks)
                    for name, values in matrices(first).items():
                        numpy.testing.assert_allclose(matrices(again)[name], values, rtol=0, atol=0, err_msg=name)

    def test_other_bits_are_said(self):
        first, _ = self.trained("eight", T + "direct.weights=int8")
        model = os.path.join(first, "train", "model.h5")
        _, out = self.trained("two", T + "direct.weights=ternary", T + f"start_from={model}")
        self.assertIn(f"start_from: '{model}' stores its matrices in 8 bits and this training in 2: they are rounded to new grids", out)

    def test_resumes_bit_for_bit_on_other_ranks_too(self):
        whole, _ = self.trained("whole", T + "reduce={mode: ordered}")
        part = program.fresh("direct_part")
        shutil.rmtree(part)
        shutil.copytree(whole, part)
        os.remove(os.path.join(part, "train", "restart.20.h5"))
        os.remove(os.path.join(part, "stages_done.txt"))
        code, out, error = program.run("restart", part, ranks=2)
        self.assertEqual(code, 0, error)
        self.assertIn("resumed at step 10", out)
        before, after = matrices(whole), matrices(part)
        for name, values in before.items():
            self.assertEqual(values.tobytes(), after[name].tobytes(), name)

    def test_the_same_weights_when_they_are_divided(self):
        ordered = [T + "reduce={mode: ordered}", T + "clip=null"]
        whole, _ = self.trained("undivided", *ordered)
        part, out = self.trained("divided", *ordered, T + "parallel={preset: zero3, persistence_threshold: 500}", ranks=2)
        self.assertIn("weights: 6144 of 15440 parameters in 8 bits, the others in 32", out)
        self.assertRegex(out, r"gather forward +world")
        rows = [open(os.path.join(folder, "train", "training.csv")).read() for folder in (whole, part)]
        self.assertEqual(*rows)  # the share of weights that change in a step, too
        for name, values in matrices(whole).items():
            self.assertEqual(values.tobytes(), matrices(part)[name].tobytes(), name)
        # What whole weights left is gone on with by divided ones.
        os.remove(os.path.join(whole, "train", "restart.20.h5"))
        os.remove(os.path.join(whole, "stages_done.txt"))
        code, out, error = program.run("restart", whole, T + "parallel={preset: zero2}", ranks=2)
        self.assertEqual(code, 0, error)
        self.assertIn("resumed at step 10", out)
        for name, values in matrices(whole).items():
            self.assertEqual(values.tobytes(), matrices(part)[name].tobytes(), name)

    def test_a_deep_potential_whole_and_divided(self):
        copper = os.path.join(program.SOURCE, "inputs", "deepmd", "copper_divided.yaml")
        train, models = "stages[1].train.", []
        for name, parallel, ranks in (("whole", "null", 1), ("parts", "{preset: zero3, persistence_threshold: 100}", 2)):
            folder = program.fresh(f"direct_copper_{name}")
            code, out, error = program.run("run", copper, "--test-size", f"run.directory={folder}", train + f"parallel={parallel}",
                                           train + "direct={weights: int8}", ranks=ranks)
            self.assertEqual(code, 0, error)
            # Energy network 48-32-32-1: the hidden matrices.
            self.assertRegex(out, r"weights: 2560 of \d+ parameters in 8 bits, the others in 32")
            models.append(matrices(folder))
        for name, values in models[0].items():
            self.assertEqual(values.tobytes(), models[1][name].tobytes(), name)
            if name in ("fitting.0.0.w", "fitting.0.1.w"):
                self.assertLessEqual(len(numpy.unique(values)), 255)

    def test_a_checkpoint_with_direct_is_not_resumed_without(self):
        folder, _ = self.trained("changed")
        os.remove(os.path.join(folder, "stages_done.txt"))
        os.remove(os.path.join(folder, "train", "restart.20.h5"))
        code, _, error = program.run("restart", folder, T + "direct=null")
        self.assertEqual(code, 2)
        self.assertIn("restart.10.h5' cannot continue with this deck: stages[0].train.quantized_training is {weights: int8, rounding: stochastic, range: 8} there "
                      "and ~ here; ", error)
        with h5py.File(os.path.join(folder, "train", "restart.10.h5"), "r+") as file:
            file["cambium"].attrs["deck"] = ""  # as of a version that stored none
        code, _, error = program.run("restart", folder, T + "direct=null")
        self.assertEqual(code, 2)
        self.assertIn("restart.10.h5' was written with quantized_training, unlike in the deck; resume with the same, or begin a new run with "
                      "start_from", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
