"""What the program does before it computes: it loads LibTorch only for a deck with a network that is written with it, starts once, and
looks for no launcher where there is none. Asked of the dynamic linker (LD_DEBUG)."""
# needs: md
import glob
import os
import re
import subprocess
import sys
import unittest

import h5py
import numpy as np

import program

TORCH = os.environ.get("CAMBIUM_HAS_TORCH") == "1"
BUILT = os.environ.get("CAMBIUM_BUILT_PLUGINS", "").split()
MD = """
run: {name: argon, directory: run, seed: 3}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.3, cells: [2, 2, 2], species: [Ar]}}
      initial_temperature: 100 K
      potential: {type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 5.2}
      timestep: 0.002
      steps: 2
"""
TRAIN = """
run: {name: net, directory: run, seed: 3}
stages:
  - train:
      network: {type: NETWORK}
      dataset: DATASET
      batch: 2
      steps: 1
      learning_rate: {type: constant, start: 0.01}
"""
MLP = TRAIN.replace("NETWORK", "mlp, layers: [4]").replace(
    "DATASET", "{type: expression, samples: 20, box: {x: [-1, 1]}, target: {z: sin(3*x)}}")
CONV = TRAIN.replace("NETWORK", "conv_net, channels: [2]").replace(
    "DATASET", "{type: hdf5, files: [d.h5], fields: [{name: image}, {name: label}]}")


def own_kernels():
    """The kernels that OpenBLAS takes where no variable names any; empty without OpenBLAS."""
    asked = "import ctypes; of = ctypes.CDLL('libopenblas.so.0').openblas_get_corename; of.restype = ctypes.c_char_p; print(of().decode())"
    bare = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
    return subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, env=bare, check=False).stdout.strip().upper()


class Started:
    """A call of the program: what it said, which libraries it loaded, how often it started itself, which programs it called."""

    def __init__(self, folder, *words, status=0, **environment):
        log = os.path.join(folder, "linker")
        for old in glob.glob(log + ".*"):
            os.remove(old)
        bare = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI"))}
        bare |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        bare |= {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": log} | environment
        done = subprocess.run([program.PROGRAM, *words], cwd=folder, capture_output=True, text=True, timeout=300,
                              env={k: v for k, v in bare.items() if v is not None})
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        self.said = done.stdout
        texts = []
        for path in glob.glob(log + ".*"):
            with open(path, encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
        called = [line for text in texts for line in text.splitlines() if "transferring control:" in line]
        self.starts = sum(line.rstrip().endswith("/cambium") for line in called)
        self.daemons = sum("orted" in line for line in called)
        loaded = [line for text in texts for line in text.splitlines() if "calling init: " in line]
        named = re.search(r"BLAS OpenBLAS \S+ with (\w+) kernels", self.said)
        self.kernels = named[1].upper() if named else ""
        self.torch, self.openmp = (any(name in line for line in loaded) for name in ("libtorch_cpu", "libgomp"))


class Start(unittest.TestCase):
    def folder(self, deck=None):
        folder = program.fresh("start_" + self.id().split(".")[-1])
        if deck:
            with open(os.path.join(folder, "deck.yaml"), "w", encoding="utf-8") as file:
                file.write(deck)
        with h5py.File(os.path.join(folder, "d.h5"), "w") as file:
            file["image"] = np.arange(4 * 4 * 4, dtype=float).reshape(4, 4, 4)
            file["label"] = np.array([[0], [1], [0], [1]])
        return folder

    def test_what_needs_no_torch_loads_none(self):
        folder = self.folder(MD)
        words = [["--version"], ["--help"], ["list"], ["list", "networks"], ["check", "deck.yaml"], ["run", "deck.yaml"]]
        for call in words:
            self.assertFalse(Started(folder, *call).torch, call)

    def test_training_without_torch_loads_none(self):
        folder = self.folder(MLP)
        for call in (["check", "deck.yaml"], ["run", "deck.yaml"]):
            self.assertFalse(Started(folder, *call).torch, call)

    @unittest.skipUnless(TORCH, "needs LibTorch")
    def test_a_network_of_torch_loads_it(self):
        folder = self.folder(CONV)
        for call in (["check", "deck.yaml"], ["run", "deck.yaml"]):
            self.assertTrue(Started(folder, *call).torch, call)

    @unittest.skipUnless(TORCH, "needs LibTorch")
    def test_lists_and_references_know_its_networks(self):
        folder = self.folder()
        listed = Started(folder, "list", "networks")
        self.assertRegex(listed.said, r"conv_net +core +small convolutional classifier of images \(Torch\)")
        self.assertFalse(listed.torch)  # their sentences were read as the program was built
        self.assertIn("label_smoothing", Started(folder, "doc", "network", "conv_net").said)
        self.assertIn('"label_smoothing"', Started(folder, "doc", "--schema").said)
        if "superres" in BUILT:
            names = [line.split()[0] for line in listed.said.splitlines()[1:]]
            late = [name for name in names if name in ("conv_net", "meshfree_flow_net", "flow_unet")]
            self.assertEqual(late, ["conv_net", "meshfree_flow_net", "flow_unet"])
            self.assertIn("decoder", Started(folder, "bench").said)

    def test_the_program_starts_once_and_alone(self):
        folder = self.folder(MD)
        for given in ({"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": None, "OPENBLAS_NUM_THREADS": None, "OPENBLAS_CORETYPE": None}):
            started = Started(folder, "run", "deck.yaml", "--overwrite", **given)
            self.assertEqual(started.daemons, 0)
            self.assertRegex(started.said, "BLAS .*, 1 thread\n")
            if started.openmp or given["OMP_NUM_THREADS"]:  # a BLAS with threads of its own starts them before it can be told
                untold = "OPENBLAS_CORETYPE" in given and own_kernels() not in ("", started.kernels)
                self.assertEqual(started.starts, 2 if untold else 1)


if __name__ == "__main__":
    unittest.main()
