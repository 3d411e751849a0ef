"""Training whose gradients travel in fewer bits: it repeats, resumes bit for bit, sends what the codec says, and learns as well."""
# needs: md
import os
import re
import shutil
import unittest

import h5py

import program

DECK = os.path.join(program.SOURCE, "inputs", "train", "compressed_gradients.yaml")


def weights(folder):
    with h5py.File(os.path.join(folder, "train", "model.h5")) as file:
        return {key: data[()].tobytes() for key, data in file["weights"].items()}


class Codecs(unittest.TestCase):
    def trained(self, codec, *more):
        folder = program.fresh("codec_" + codec)
        small = "stages[0].train."
        code, out, error = program.run("run", DECK, f"run.directory={folder}", small + f"reduce.codec={codec}", small + "steps=200",
                                       small + "network.layers=[48]", small + "checkpoint={every: 50, keep: 10}", small + "validate.every=100",
                                       *more, ranks=2)
        self.assertEqual(code, 0, error)
        return folder, out, float(re.search(r"error +([\d.e+-]+)", out.split("on 1000 samples:")[1]).group(1))

    def test_bytes_and_error(self):
        _, _, plain = self.trained("none")
        # 193 parameters (2 to 48 to 1) in four arrays of at most 96, padded to a multiple of 16 each (128 where groups have scales)
        # and of 128 per rank: 256 (512) numbers between two ranks, of which one rank sends half in each direction.
        for codec, sent in {"bf16": 256, "int8": 2 * 132, "int4": 2 * 68, "mxfp8_e4m3": 2 * 132, "mxfp8_e5m2": 2 * 132, "mxfp4": 2 * 68}.items():
            _, out, error = self.trained(codec)
            for collective in ("reduce-scatter", "all-gather"):
                row = re.search(collective + r" +world +(\d+) +([\d.]+)", out)
                self.assertEqual(int(row.group(1)), 200)
                self.assertAlmostEqual(float(row.group(2)), 200 * sent / 1e6, delta=5.1e-4, msg=codec)
            self.assertLess(error, 1.1 * plain, codec)

    def test_messages_within_a_bound(self):
        _, _, plain = self.trained("none")
        sent = []
        for bound in (1e-2, 1e-4):
            _, out, error = self.trained("none", f"stages[0].train.reduce.lossy.relative={bound}")
            self.assertLess(error, 1.1 * plain)
            sent.append(float(re.search(r"all-gather +world +200 +([\d.]+)", out).group(1)))
        self.assertLess(sent[0], sent[1])

    def test_resumes_bit_for_bit(self):
        whole, _, _ = self.trained("int4")
        part = program.fresh("codec_part")
        shutil.rmtree(part)
        shutil.copytree(whole, part)
        for step in (150, 200):
            os.remove(os.path.join(part, "train", f"restart.{step}.h5"))
        os.remove(os.path.join(part, "stages_done.txt"))
        code, _, error = program.run("restart", part, ranks=2)
        self.assertEqual(code, 0, error)
        self.assertEqual(weights(whole), weights(part))


if __name__ == "__main__":
    unittest.main(verbosity=2)
