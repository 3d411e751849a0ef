"""What a training writes for those who watch it: TensorBoard events, norms of gradients, steps whose loss stands out, the slowest rank."""
import glob
import json
import os
import struct
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: net, directory: DIR, seed: 5}
stages:
  - train:
      network: {type: mlp, layers: [12, 9], input: x, target: y, precision: float64}
      dataset: {type: hdf5, files: [FOLDER/points.h5], fields: [{name: x}, {name: y}]}
      hold_out: 0.2
      batch: 8
      steps: 30
      log_every: 10
      reduce: {mode: ordered, micro_batches: 4}
      optimizer: sgd
      learning_rate: {type: constant, start: 0.01}
      validate: {every: 10, keep_best: false}
      checkpoint: {every: 10, keep: 10}
"""
SPIKES = "stages[0].train.loss_spikes={factor: 5, window: 5, keep: 2}"
OUTLIER = 17


def crc32c(data):
    """Bit by bit, as the polynomial says."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def masked(data):
    value = crc32c(data)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    """Contents of a TFRecord file, whose checksums are compared."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert check == masked(data[at:at + 8]), path
        content = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(content), path
        yield content
        at += 16 + length
    assert at == len(data), path


def fields(message):
    """(number, value) of a message of Protocol Buffers: bytes, or numbers as they lie there."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if message[at - 1] < 128:
                return value, at
    at = 0
    while at < len(message):
        key, at = varint(at)
        if key & 7 == 0:
            value, at = varint(at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<d", message, at)[0], at + 8
        elif key & 7 == 5:
            value, at = struct.unpack_from("<f", message, at)[0], at + 4
        else:
            assert key & 7 == 2, key
            length, at = varint(at)
            value, at = bytes(message[at:at + length]), at + length
        yield key >> 3, value


def scalars(path):
    """[(step, tag, value)] of an event file, and the version in its first record."""
    out, version = [], None
    for number, content in enumerate(records(path)):
        event = dict(fields(content))
        assert event[1] > 1.6e9, "wall time in seconds since 1970"
        if number == 0:
            version = event[3]
        for _, value in fields(event.get(5, b"")):
            one = dict(fields(value))
            out.append((event.get(2, 0), one[1].decode(), one[2]))
    return out, version


class TrainingRecords(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("training_records")
        random = np.random.default_rng(3)
        x = random.normal(size=(60, 3))
        y = np.sin(x[:, 0]) + 0.1 * random.normal(size=60)
        y[OUTLIER] = 60.0
        with h5py.File(os.path.join(cls.folder, "points.h5"), "w") as file:
            file["x"], file["y"] = x, y
        cls.x, cls.y = x, y

    def trained(self, name, *overrides, ranks=1):
        run = os.path.join(self.folder, name)
        text = DECK.replace("DIR", run).replace("FOLDER", self.folder)
        code, out, error = program.run("run", program.write(run + ".yaml", text), "--overwrite", *overrides, ranks=ranks)
        self.assertEqual(code, 0, out + error)
        return out + error

    def goes_on(self, name, *overrides):
        code, out, error = program.run("restart", os.path.join(self.folder, name), "stages[0].train.steps=30", *overrides)
        self.assertEqual(code, 0, out + error)

    def path(self, name, file):
        return os.path.join(self.folder, name, "train", file)

    def weights(self, name):
        with h5py.File(self.path(name, "model.h5")) as file:
            return {key: data[()] for key, data in file["weights"].items()}

    def columns(self, name, table):
        with h5py.File(self.path(name, table + ".h5")) as file:
            return {key: data[()] for key, data in file.items() if isinstance(data, h5py.Dataset)}

    def events(self, name):
        return scalars(self.path(name, "events.out.tfevents.cambium"))

    def test_checksum(self):
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)  # the check value of CRC-32C

    def test_tensorboard(self):
        """An independent reader finds the numbers of the tables."""
        self.trained("events", "stages[0].train.tensorboard=true", "stages[0].train.gradient_norms=true", ranks=2)
        found, version = self.events("events")
        self.assertEqual(version, b"brain.Event:2")
        by_tag = {}
        for step, tag, value in found:
            by_tag.setdefault(tag, []).append((step, value))
        training, curve = self.columns("events", "training"), self.columns("events", "learning_curve")
        norms, held = self.columns("events", "gradient_norms"), self.columns("events", "validation")
        expected = {"learning_rate": training["learning_rate"], "loss/training": training["loss"],
                    "training/scaled_error": training["scaled_error"], "loss/validation": curve["validation_loss"],
                    "validation/error": held["error"], **{"gradient_norm/" + key: v for key, v in norms.items() if key != "step"}}
        self.assertEqual(set(by_tag), set(expected))
        for tag, values in expected.items():
            self.assertEqual([step for step, _ in by_tag[tag]], [10, 20, 30], tag)
            np.testing.assert_allclose([value for _, value in by_tag[tag]], values, rtol=1e-6, err_msg=tag)
        self.assertEqual(glob.glob(self.path("plain", "events*")), [])

    def test_tensorboard_after_a_restart(self):
        """Later steps of the earlier run, and what a killed run wrote by half, are not there twice."""
        whole = self.trained("whole", "stages[0].train.tensorboard=true") and self.events("whole")[0]
        self.trained("parts", "stages[0].train.steps=20", "stages[0].train.tensorboard=true")
        path = self.path("parts", "events.out.tfevents.cambium")
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(data + data[-30:-7])
        self.goes_on("parts")
        self.assertEqual(self.events("parts")[0], whole)

    def test_gradient_norms(self):
        """One step of gradient descent is the gradient; with bounds on it the norms are those before."""
        once = ["stages[0].train.steps=1", "stages[0].train.gradient_norms=true"]
        self.trained("first", "stages[0].train.steps=1", "stages[0].train.learning_rate.start=0")
        self.trained("moved", *once, "stages[0].train.learning_rate.start=0.1")
        first, moved = self.weights("first"), self.weights("moved")
        expected = {}
        for key in first:
            module = key.rsplit(".", 1)[0]
            expected[module] = expected.get(module, 0.0) + (((moved[key] - first[key]) / 0.1) ** 2).sum()
        self.assertGreater(len(expected), 1)
        for preset, ranks in ((None, 1), (None, 4), ("ddp", 2), ("zero1", 2), ("zero2", 4), ("zero3", 2)):
            divided = [f"stages[0].train.parallel.preset={preset}"] if preset else []
            self.trained("norms", *once, *divided, "stages[0].train.clip={norm: 0.01}", ranks=ranks)
            found = {key: v[0] for key, v in self.columns("norms", "gradient_norms").items() if key != "step"}
            self.assertEqual(set(found), set(expected))
            for module, square in expected.items():
                self.assertAlmostEqual(found[module] / square ** 0.5, 1.0, places=10, msg=f"{preset} {ranks} {module}")

    def test_spikes(self):
        """The batch with the outlier, and the weights before the step that it would move."""
        out = self.trained("spikes", SPIKES)
        states = sorted(glob.glob(self.path("spikes", "spike.*.h5")))
        self.assertEqual(len(states), 4, states)  # of two spikes
        step = min(int(path.split(".")[-3]) for path in states if path.endswith("batch.h5"))
        self.assertRegex(out, rf"step {step}: the loss \S+ is \S+ times the median of the steps before; its batch is in spike.{step}.batch.h5, "
                              rf"the state before it in spike.{step}.h5")
        with h5py.File(self.path("spikes", f"spike.{step}.batch.h5")) as file:
            ids, x, y = file["id"][()], file["fields/x"][()], file["fields/y"][()]
            loss, median = file.attrs["loss"], file.attrs["median"]
        self.assertEqual(len(ids), 8)
        self.assertIn(60.0, y)
        for row, target in zip(x, y):
            k = int(np.argmin(np.abs(self.x - row).sum(axis=1)))
            self.assertEqual(self.y[k], target)
        self.assertGreater(loss, 5 * median)
        before = "stages[0].train.steps=%d" % (step - 1)
        self.trained("before", before, SPIKES)
        with h5py.File(self.path("spikes", f"spike.{step}.h5")) as file:
            self.assertEqual(file["train"].attrs["step"], step - 1)
            names, stored = [name.decode() for name in file["tensors"][()]], file["weights"][()]
        weights = self.weights("before")
        np.testing.assert_array_equal(np.concatenate([weights[name].ravel() for name in names]), stored)
        self.trained("ranks", SPIKES, "stages[0].train.parallel.preset=zero3", ranks=4)
        with h5py.File(self.path("ranks", f"spike.{step}.batch.h5")) as file:
            self.assertEqual(sorted(file["id"][()]), sorted(ids))
            self.assertEqual(set(file["rank"][()]), {0, 1, 2, 3})
        # A restart in between finds the same ones.
        self.trained("parts", SPIKES, "stages[0].train.steps=10")
        self.goes_on("parts")
        self.assertEqual([os.path.basename(p) for p in sorted(glob.glob(self.path("parts", "spike.*.h5")))], [os.path.basename(p) for p in states])

    def test_spikes_with_fields_called_like_arrays_of_the_file(self):
        data = os.path.join(self.folder, "named.h5")
        with h5py.File(data, "w") as file:
            file["id"], file["rank"] = self.x, self.y
        self.trained("named", SPIKES, f"stages[0].train.dataset={{type: hdf5, files: [{data}], fields: [{{name: id}}, {{name: rank}}]}}",
                     "stages[0].train.network.input=id", "stages[0].train.network.target=rank")
        paths = glob.glob(self.path("named", "spike.*.batch.h5"))
        self.assertTrue(paths)
        with h5py.File(paths[0]) as file:
            self.assertEqual(file["id"].shape, (8,))
            self.assertEqual(set(file["rank"][()]), {0})
            for row, target in zip(file["fields/id"][()], file["fields/rank"][()]):
                k = int(np.argmin(np.abs(self.x - row).sum(axis=1)))
                np.testing.assert_array_equal(row, self.x[k])
                self.assertEqual(target, self.y[k])

    def test_slowest_rank(self):
        self.trained("slow", ranks=2)
        with open(self.path("slow", "results.json"), encoding="utf-8") as file:
            text = file.read()
        results = {result["key"]: result["value"] for result in json.loads(text)["results"]}
        self.assertIn(results["slowest_rank"], (0, 1))
        self.assertTrue(0 < results["slowest_rank_share"] <= 100)
        self.assertGreaterEqual(results["imbalance_of_ranks"], 1.0)
        self.assertIn("slowest rank: ", text)

    def test_what_cannot_be(self):
        run = os.path.join(self.folder, "refused")
        text = DECK.replace("DIR", run).replace("FOLDER", self.folder).replace("      batch: 8", "      quantized_training: {weights: int8}\n      gradient_norms: true\n      batch: 8")
        code, out, error = program.run("run", program.write(run + ".yaml", text), "--overwrite")
        self.assertEqual(code, 2, out + error)
        self.assertIn("quantized_training drops each tensor's gradient once it is used, so that gradient_norms has none; remove one of them", error)


if __name__ == "__main__":
    unittest.main()
