"""cambium.Training: a network trained from Python has the losses of the same session in C's terms, goes on from a checkpoint, and its model
answers as `cambium predict` does."""
import os
import sys
import unittest

import h5py
import numpy as np

import program

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
import cambium  # noqa: E402

DECK = {"network": {"type": "mlp", "layers": [16], "input": "x", "target": "y", "precision": "float64"}, "optimizer": "adam",
        "learning_rate": {"type": "constant", "start": 0.02}, "seed": 3}


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = program.fresh("training")
        rng = np.random.default_rng(1)
        cls.x = rng.uniform(-1, 1, (200, 2))
        cls.y = np.sin(2 * cls.x[:, :1]) * cls.x[:, 1:]

    def test_learns_and_resumes(self):
        with cambium.Training(DECK) as training:
            losses = [training.step(x=self.x, y=self.y) for _ in range(60)]
            training.save(os.path.join(self.folder, "half.h5"))
            losses += [training.step(x=self.x, y=self.y) for _ in range(60)]
            self.assertEqual(training.steps, 120)
            self.assertLess(losses[-1], 0.1 * losses[0])
            error = training.evaluate(x=self.x, y=self.y)
            predicted = training.model()(self.x)
            np.testing.assert_allclose(error, [np.sqrt(np.mean((predicted - self.y) ** 2))], rtol=1e-12)
            training.write_model(os.path.join(self.folder, "model.h5"))
        with cambium.Training(DECK) as again:
            again.load(os.path.join(self.folder, "half.h5"))
            self.assertEqual([again.step(x=self.x, y=self.y) for _ in range(60)], losses[60:])
        with h5py.File(os.path.join(self.folder, "new.h5"), "w") as file:
            file["x"] = self.x
        out = os.path.join(self.folder, "predicted.h5")
        code, said, error = program.run("predict", os.path.join(self.folder, "model.h5"), os.path.join(self.folder, "new.h5"), "--output", out)
        self.assertEqual(code, 0, said + error)
        with h5py.File(out) as file:
            # Up to rounding: batches differ, and with them the sums of a BLAS.
            np.testing.assert_allclose(np.ravel(file["output"]), np.ravel(predicted), rtol=1e-10, atol=1e-13)

    def test_float32_and_strided_arrays_as_they_lie(self):
        wide = np.asfortranarray(np.concatenate([self.x, self.x], 1))
        with cambium.Training(DECK) as one, cambium.Training(DECK) as other:
            first = [one.step(x=self.x, y=self.y) for _ in range(3)]
            self.assertEqual([other.step(x=wide[:, 2:], y=self.y) for _ in range(3)], first)
        with cambium.Training(DECK) as single:
            self.assertAlmostEqual(single.step(x=self.x.astype(np.float32), y=self.y.astype(np.float32)), first[0], 5)

    def test_arrays_of_the_other_order_of_bytes(self):
        with cambium.Training(DECK) as one, cambium.Training(DECK) as other:
            first = [one.step(x=self.x, y=self.y) for _ in range(3)]
            self.assertEqual([other.step(x=self.x.astype(">f8"), y=self.y.astype(">f8")) for _ in range(3)], first)
            self.assertEqual(list(one.evaluate(x=self.x.astype(">f8"), y=self.y)), list(other.evaluate(x=self.x, y=self.y)))
            model = one.model()
            for other_order in (">f8", ">f4", ">i4", ">i8"):
                whole = np.round(4 * self.x)
                np.testing.assert_array_equal(model(whole.astype(other_order)), model(whole))

    def test_other_types_of_numbers_are_widened(self):
        counts = np.stack([np.arange(200) % 50, np.arange(200) % 7], 1)
        with cambium.Training(DECK) as one:
            losses = [one.step(x=counts, y=self.y) for _ in range(3)]
            model = one.model()
        answers = model(counts)
        for kind in ("f2", "i2", "u2", "u4", "u8", ">u2", ">f2"):
            with cambium.Training(DECK) as other:
                self.assertEqual([other.step(x=counts.astype(kind), y=self.y) for _ in range(3)], losses, kind)
            np.testing.assert_array_equal(model(counts.astype(kind)), answers, kind)
        classes = {**DECK, "network": {**DECK["network"], "objective": "classification"}}
        with cambium.Training(classes) as one, cambium.Training(classes) as other:
            self.assertEqual(one.step(x=self.x, y=self.y > 0), other.step(x=self.x, y=(self.y > 0).astype("i8")))
        with self.assertRaises(cambium.CambiumError) as raised:
            model(np.full((2, 2), 2**63, "u8"))
        self.assertEqual(str(raised.exception), "array 'x' holds 9223372036854775808, but integers go up to 2^63 - 1; give float64, or less an offset")

    def test_bad_input(self):
        with self.assertRaisesRegex(cambium.CambiumError, "did you mean 'mlp'"):
            cambium.Training({"network": {"type": "mpl"}})
        training = cambium.Training(DECK)
        with self.assertRaisesRegex(cambium.CambiumError, "'y'"):
            training.step(x=self.x)
        with self.assertRaisesRegex(cambium.CambiumError, "array 'x' is of type complex128"):
            training.step(x=self.x + 0j, y=self.y)
        hidden = np.ma.masked_less(self.x, -0.5)
        said = f"array 'x' has {hidden.mask.sum()} masked values; leave their samples out, or give a number for them: x.filled(number)"
        for call in (training.step, training.evaluate):
            with self.assertRaises(cambium.CambiumError) as raised:
                call(x=hidden, y=self.y)
            self.assertEqual(str(raised.exception), said)
        with self.assertRaises(cambium.CambiumError) as raised:
            training.step(x=self.x, y=self.y, units={"z": "K"})
        self.assertEqual(str(raised.exception), "units names 'z', which is not given; the arrays are: x, y")
        with self.assertRaisesRegex(cambium.CambiumError, "array 'y' is a scalar; give an array whose first axis counts samples"):
            training.step(x=self.x, y=1.0)
        self.assertEqual(training.steps, 0)
        training.step(x=np.ma.masked_less(self.x, -2), y=self.y)
        with self.assertRaises(cambium.CambiumError) as raised:
            training.model()(hidden)
        self.assertEqual(str(raised.exception), said)
        with self.assertRaisesRegex(cambium.CambiumError, "no such file|cannot"):
            training.load(os.path.join(self.folder, "nowhere.h5"))
        self.assertEqual(training.steps, 1)
        training.close()
        with self.assertRaisesRegex(cambium.CambiumError, "the training is closed"):
            training.step(x=self.x, y=self.y)


if __name__ == "__main__":
    unittest.main()
