"""Small decks, and what is looked at in run directories, for the tests of runs that meet each other."""
import glob
import json
import os
import re
import shutil
import subprocess
import time
import unittest

import h5py

import program

MD = """
run: {name: gas, directory: "DIR", seed: SEED}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.4, cells: [2, 2, 2], species: [Ar]}}
      initial_temperature: 90 K
      potential: {type: lennard_jones, epsilon: 0.0104, sigma: 3.4, cutoff: 4.0}
      skin: 0.5
      steps: STEPS
      thermo: {every: 10}
      checkpoint: {every: 20, keep: 2}
"""
TRAIN = """
run: {name: net, directory: "DIR", seed: SEED}
stages:
  - train:
      network: {type: mlp, layers: [8]}
      dataset: {type: expression, samples: 60, box: {x: [-1, 1]}, target: {z: sin(3*x)}}
      batch: 10
      steps: STEPS
      learning_rate: {type: constant, start: 0.01}
      checkpoint: {every: 20, keep: 2}
      log_every: 10
"""
DECKS = {"md": MD, "train": TRAIN}
STAGE = {"md": "simulate", "train": "train"}
TABLE = {"md": "thermo.csv", "train": "training.csv"}


def deck(folder, kind="md", seed=1, steps=40, directory="run", name="deck.yaml"):
    text = DECKS[kind].replace("DIR", directory).replace("SEED", str(seed)).replace("STEPS", str(steps))
    return program.write(os.path.join(folder, name), text)


def tree(folder):
    """{relative path: content} of everything in a folder but locks."""
    out = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if not name.startswith("run.lock"):
                with open(path, "rb") as file:
                    out[os.path.relpath(path, folder)] = file.read()
    return out


def steps_of(run, stage="simulate"):
    """Steps of the checkpoints that are there."""
    return sorted(int(name.split(".")[1]) for name in os.listdir(os.path.join(run, stage)) if re.fullmatch(r"restart\.\d+\.h5", name))


def id_in(text):
    return re.findall(r"^x-run: .*\bid: (\w+)", text, re.M)


def ids(run):
    """Identities in a run directory: of its deck and of every file that stores one."""
    with open(os.path.join(run, "deck.resolved.yaml")) as file:
        found = {"deck.resolved.yaml": id_in(file.read())[0]}
    for path in glob.glob(os.path.join(run, "*", "*.h5")):
        with h5py.File(path, "r") as file:
            found[os.path.relpath(path, run)] = id_in(file["cambium"].attrs["deck"])[0]
    return found


def table(run, kind="md"):
    with open(os.path.join(run, STAGE[kind], TABLE[kind])) as file:
        return file.read()


def wait_for(run, stage, step, running=None):
    """Until there is a checkpoint of this step or of a later one: on a busy machine the first may be pruned before it is seen."""
    for _ in range(12000):
        if running and running.poll() is not None:
            return
        if os.path.isdir(os.path.join(run, stage)) and any(s >= step for s in steps_of(run, stage)):
            return
        time.sleep(0.005)
    raise AssertionError(f"no checkpoint of step {step} appears in {run}/{stage}")


class Commands:
    """Commands one after the other in one process: the program takes a second to load."""

    def __init__(self, folder):
        self.said = open(os.path.join(folder + ".out"), "w+")
        self.process = subprocess.Popen([os.environ["CAMBIUM_MANY_COMMANDS"]], cwd=folder, stdin=subprocess.PIPE, stdout=self.said, stderr=subprocess.PIPE,
                                        text=True, bufsize=1)

    def __call__(self, words):
        """(exit code, standard output, standard error)"""
        before = os.fstat(self.said.fileno()).st_size
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        error = ""
        for line in self.process.stderr:
            if line.startswith("\x1e"):
                self.said.seek(before)
                return int(line[1:]), self.said.read(), error[:-1]
            error += line
        raise AssertionError(f"the process ended in {words}: {error}")

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stderr.close()
        self.said.close()


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = program.fresh("runs_" + cls.__name__.lower())
        cls.run_folder = os.path.join(cls.folder, "run")
        cls.commands = Commands(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.commands.end()

    def setUp(self):
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def does(self, *words, code=0, ranks=1):
        """What a command that ends with this code says: its refusal where that is 2."""
        done, out, error = program.run(*words, ranks=ranks, cwd=self.folder) if ranks > 1 else self.commands(words)
        self.assertEqual(done, code, f"{words}\n{out}{error}")
        return error if code in (2, 4) else out

    def start(self, *words, ranks=1):
        return subprocess.Popen(program.command(*words, ranks=ranks), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
