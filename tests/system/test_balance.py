"""A droplet on several ranks through the program: parts of the cell that follow the pairs, restarts on as many and on other ranks."""
# needs: md
# cost: 20
# thorough
import glob
import os
import re
import shutil
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: droplet, directory: DIR, seed: 3}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure:
        lattice: {type: fcc, a: 5.4, cells: [14, 12, 12], species: [Ar], displacement: 0.1}
        keep: {sphere: {center: [0.6, 0.5, 0.45], radius: 21, fractional: true}}
      initial_temperature: 120 K
      potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.0, truncation: smooth}
      integrator: {type: langevin, temperature: 90 K, damping: 1 ps}
      timestep: 5 fs
      balance: {every: 30, threshold: 1.02}
      steps: 120
      thermo: {every: 20}
      checkpoint: {every: 60, keep: 5}
      output: [{type: extxyz, every: 40}]
"""
BALANCE = re.compile(r"^balance: the busiest rank has ([0-9.]+) times the mean of the pairs(.*)$", re.M)
LOAD = re.compile(r"^load: the busiest rank worked [0-9.]+ times as long as the mean, which cost the others [0-9.]+ % of the time; "
                  r"messages and waiting took [0-9.]+ %$", re.M)


def deck(folder):
    return program.write(os.path.join(folder, "droplet.yaml"), DECK.replace("DIR", os.path.join(folder, "run")))


def checkpoint(folder, step):
    return os.path.join(folder, "run", "simulate", f"restart.{step}.h5")


def fields(folder, step):
    with h5py.File(checkpoint(folder, step)) as file:
        order = np.argsort(file["fields/tag"][()])
        return {name: data[()][order] for name, data in file["fields"].items()}


def thermo(folder):
    with open(os.path.join(folder, "run", "simulate", "thermo.csv")) as file:
        return np.array([[float(x) for x in line.split(",")] for line in file.read().splitlines()[1:]])


def taken_back(folder, name):
    """A copy of a run as it was after its first checkpoint."""
    copy = folder + "_" + name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    os.remove(checkpoint(copy, 120))
    os.remove(os.path.join(copy, "run", "stages_done.txt"))
    return copy


class Droplet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folders, cls.pages = {}, {}
        for ranks in (1, 2, 3, 4, 8):
            cls.folders[ranks] = program.fresh(f"droplet_{ranks}")
            code, cls.pages[ranks], error = program.run("run", deck(cls.folders[ranks]), ranks=ranks)
            assert code == 0, error

    def test_ranks_agree_and_share_the_pairs(self):
        alone = fields(self.folders[1], 120)
        self.assertNotRegex(self.pages[1], BALANCE)
        self.assertNotRegex(self.pages[1], LOAD)
        for ranks in (2, 3, 4, 8):
            with self.subTest(ranks=ranks):
                here = fields(self.folders[ranks], 120)
                self.assertTrue(np.array_equal(here["tag"], alone["tag"]))
                self.assertLess(np.abs(here["position"] - alone["position"]).max(), 1e-8)
                self.assertLess(np.abs(thermo(self.folders[ranks])[:, 4] / thermo(self.folders[1])[:, 4] - 1.0).max(), 1e-10)
                said = BALANCE.search(self.pages[ranks])
                self.assertLessEqual(float(said.group(1)), 1.2)
                self.assertRegex(said.group(2), r"^, [0-9.]+ times at first; the cell was repartitioned [0-9]+ times?, last at step [0-9]+$")
                self.assertRegex(self.pages[ranks], LOAD)
                self.assertIn(f", {ranks} ranks balanced by pairs", self.pages[ranks])
                with h5py.File(checkpoint(self.folders[ranks], 120)) as file:
                    self.assertEqual(file["physics/cuts"].shape, (2 * ranks - 2,))

    def test_a_restart_on_as_many_ranks_is_bit_for_bit(self):
        for ranks in (2, 3, 8):
            with self.subTest(ranks=ranks):
                folder = taken_back(self.folders[ranks], "again")
                code, out, error = program.run("restart", os.path.join(folder, "run"), ranks=ranks)
                self.assertEqual(code, 0, error)
                self.assertIn("resumed at step 60", out)
                one, two = fields(self.folders[ranks], 120), fields(folder, 120)
                for name in one:
                    self.assertTrue(np.array_equal(one[name], two[name]), f"{name} differs after the restart")
                self.assertTrue(np.array_equal(thermo(self.folders[ranks]), thermo(folder)))

    def test_other_ranks_and_other_keys_go_on(self):
        for ranks, more, said in ((1, [], None), (3, [], "balanced by pairs"), (4, ["balance.criterion=atoms"], "balanced by atoms"),
                                  (8, ["balance.criterion=volume"], "ranks 2 x 2 x 2"), (8, ["balance=null", "ranks=[1, 2, 4]"], "ranks 1 x 2 x 4")):
            with self.subTest(ranks=ranks, more=more):
                folder = taken_back(self.folders[8], f"on_{ranks}")
                code, out, error = program.run("restart", os.path.join(folder, "run"), *["stages[0].simulate." + m for m in more], ranks=ranks)
                self.assertEqual(code, 0, error)
                self.assertEqual("written by another number of ranks" in out, ranks != 8)
                if said:
                    self.assertIn(said, out)
                here, there = fields(folder, 120), fields(self.folders[8], 120)
                self.assertTrue(np.array_equal(here["tag"], there["tag"]))
                self.assertLess(np.abs(here["position"] - there["position"]).max(), 1e-8)

    def test_a_checkpoint_whose_planes_were_changed_is_refused(self):
        folder = taken_back(self.folders[3], "changed")
        path = checkpoint(folder, 60)
        with h5py.File(path, "r+") as file:
            file["physics/cuts"][1] = 1.5
        code, _, error = program.run("restart", os.path.join(folder, "run"), ranks=3)
        self.assertEqual(code, 2)
        self.assertIn(f"'{path}' holds planes that do not partition the cell into one box for each of 3 ranks; the file is damaged or was changed, "
                      "resume from another one", error)


class Deck(unittest.TestCase):
    def test_the_droplet_that_ships_shares_its_pairs(self):
        folder = program.fresh("droplet_deck")
        code, out, error = program.run("run", os.path.join(program.SOURCE, "inputs", "md", "droplet.yaml"), "--test-size",
                                       f"run.directory={folder}", ranks=4)
        self.assertEqual(code, 0, error)
        self.assertLessEqual(float(BALANCE.search(out).group(1)), 1.2)
        self.assertTrue(glob.glob(os.path.join(folder, "simulate", "*.extxyz")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
