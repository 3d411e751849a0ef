"""What limits of the machine and the shell leave: a full device, a file that may not grow, little memory; and sizes in a deck that no
machine has. Every one ends soon, with a message and the exit code of bad input."""
import os
import resource
import signal
import subprocess
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: net, directory: run, seed: 3}
stages:
  - train:
      network: {type: mlp, layers: [8]}
      dataset: {type: expression, samples: 40, box: {x: [-1, 1]}, target: {z: sin(3*x)}}
      batch: 8
      steps: 4
      learning_rate: {type: constant, start: 1e-3}
      checkpoint: {every: 2}
"""
T = "stages[0].train."
FULL = "the standard output did not take all that this command prints: No space left on device; send it to a device with room"


def setting(what, most):
    return lambda: resource.setrlimit(what, (most, most))


class Limits(unittest.TestCase):
    def setUp(self):
        program.draw_nothing(type(self))
        self.folder = program.fresh("limits")
        self.write("deck.yaml", DECK)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def call(self, *words, **how):
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 120} | how
        return subprocess.run([program.PROGRAM, *words], cwd=self.folder, **how)

    def test_full_device(self):
        for words in (["list"], ["doc"], ["doc", "task", "train"], ["check", "deck.yaml"], ["man"], ["completion", "bash"], ["--help"],
                      ["plan", "deck.yaml", "--machine", os.path.join(program.SOURCE, "machines/frontier.yaml"), "--ranks", "8"]):
            with self.subTest(words=words), open("/dev/full", "w", encoding="utf-8") as full:
                done = self.call(*words, stdout=full)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(FULL, done.stderr)
        with open("/dev/full", "w", encoding="utf-8") as full:  # a run has done its work
            done = self.call("run", "deck.yaml", stdout=full)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(FULL, done.stderr)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "run/train/model.h5")))

    def test_size_of_files(self):
        done = self.call("run", "deck.yaml", preexec_fn=setting(resource.RLIMIT_FSIZE, 4096))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("File too large; raise the limit that this shell or job sets for the size of a file (ulimit -f), then resume", done.stderr)

    def test_memory(self):
        """However little there is, nothing hangs and nothing is called a defect of the program."""
        for megabytes in (1500, 900, 700, 600, 500, 400):
            with self.subTest(megabytes=megabytes):
                done = self.call("run", "deck.yaml", "--overwrite", preexec_fn=setting(resource.RLIMIT_AS, megabytes << 20))
                self.assertNotEqual(done.returncode, 70, done.stderr)
                self.assertNotIn("internal error", done.stderr)
                self.assertNotEqual(done.returncode, -signal.SIGKILL)

    def test_sizes_that_no_machine_has(self):
        rng = np.random.default_rng(1)
        with h5py.File(os.path.join(self.folder, "images.h5"), "w") as file:
            file["image"], file["label"] = rng.normal(size=(8, 8, 8)), np.arange(8) % 2
        images = T + "dataset={type: hdf5, files: [images.h5], fields: [{name: image}, {name: label}]}"
        for overrides in ([T + "network.layers=[100000000000, 100000000000]"], [T + "network.layers=[4000000, 4000000]"],
                          [images, T + "network={type: conv_net, channels: [1000000000000]}"],
                          [images, T + "network={type: conv_net, channels: [65536, 65536]}"],
                          [images, T + "network={type: conv_net, channels: [2], hidden: 1000000000000000}"],
                          [T + "dataset.samples=1000000000000000000"]):
            for verb in ("run",) if "4000000" in overrides[-1] else ("check", "run"):  # a check may be for a larger machine, and warns
                with self.subTest(verb=verb, overrides=overrides):
                    if "conv_net" in overrides[-1] and os.environ.get("CAMBIUM_HAS_TORCH") != "1":
                        continue
                    done = self.call(verb, "deck.yaml", *overrides, *["--overwrite"] * (verb == "run"))
                    self.assertEqual(done.returncode, 2, done.stdout + done.stderr)

    def test_labels_from_one(self):
        rng = np.random.default_rng(1)
        label = np.arange(60) % 3
        for name, values, words in (("zero", label, None), ("one", label + 1, "the labels go from 1 to 3, but classes count from 0: the "
                                     "model has 4 classes, and no sample is of the first one; subtract 1 from the labels if they count "
                                     "from there"),
                                    ("gap", 2 * label, "of the classes 0 to 4, 2 have no sample to learn from: 1, 3")):
            with h5py.File(os.path.join(self.folder, name + ".h5"), "w") as file:
                file["x"], file["label"] = rng.normal(size=(60, 4)), values
            done = self.call("run", "deck.yaml", "--overwrite", T + "network={type: mlp, layers: [4], input: x, target: label, objective: "
                             "classification}", T + "dataset={type: hdf5, files: [%s.h5], fields: [{name: x}, {name: label}]}" % name)
            self.assertEqual(done.returncode, 0, done.stderr)
            with self.subTest(name=name):
                self.assertEqual("warning: field 'label': " + words in done.stdout if words else "field 'label'" not in done.stdout, True,
                                 done.stdout)

    def test_damaged_file_of_others(self):
        """A stand-in for the process that opens a file first ends as the library would."""
        with h5py.File(os.path.join(self.folder, "theirs.h5"), "w") as file:
            file["x"], file["z"] = np.zeros((40, 1)), np.zeros((40, 1))
        self.write("stand_in", "#!/bin/sh\necho looks\nkill -SEGV $$\n")
        os.chmod(os.path.join(self.folder, "stand_in"), 0o755)
        environment = os.environ | {"CAMBIUM_HDF5_PROBE": os.path.join(self.folder, "stand_in")}
        theirs = T + "dataset={type: hdf5, files: [theirs.h5], fields: [{name: x}, {name: z}]}"
        network = T + "network={type: mlp, layers: [4], input: x, target: z}"
        text = ("'theirs.h5' is damaged: the HDF5 library ended on it (Segmentation fault), in a process that was to open it first; copy it "
                "again from its source")
        for words in (["check", "deck.yaml", theirs, network], ["run", "deck.yaml", theirs, network],
                      ["compress", "theirs.h5", "out.h5", "relative=1e-3"]):
            with self.subTest(words=words):
                done = self.call(*words, env=environment)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(text, done.stdout + done.stderr)
        done = subprocess.run(program.command("run", "deck.yaml", theirs, network, "--overwrite", ranks=2), cwd=self.folder, text=True,
                              capture_output=True, timeout=120, env=environment)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertNotIn("fork", done.stderr)
        self.assertEqual(self.call("run", "deck.yaml", theirs, network, "--overwrite").returncode, 0)


if __name__ == "__main__":
    unittest.main()
