"""A run that goes on and a run that resumes are the same; ranks do not change the physics; signals end a run in order."""
# needs: md
# cost: 20
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

import h5py
import numpy as np

import program

MELT = """
run: {name: melt, directory: DIR, seed: 7}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 3.7, cells: [6, 6, 6], species: [Cu], displacement: 0.1}}
      initial_temperature: 1500 K
      potential: {type: sutton_chen, element: Cu, cutoff: 5.5}
      integrator: INTEGRATOR
      timestep: 2 fs
      steps: STEPS
      thermo: {every: 20}
      checkpoint: {every: 100, keep: 5}
      output:
        - {type: h5md, every: 50, velocities: true, forces: true}
        - {type: rdf, every: 20, r_max: 5.0}
        - {type: msd, every: 20}
"""
INTEGRATORS = {
    "nve": "nve",
    "langevin": "{type: langevin, temperature: 1500 K}",
    "csvr": "{type: csvr, temperature: 1500 K}",
    "npt": "{type: npt, temperature: 1500 K, pressure: 0 bar}",
}


def deck(folder, integrator="nve", steps=200):
    text = MELT.replace("DIR", os.path.join(folder, "run")).replace("STEPS", str(steps))
    return program.write(os.path.join(folder, "melt.yaml"), text.replace("INTEGRATOR", INTEGRATORS[integrator]))


def fields(folder, step):
    """Fields of a checkpoint, in the order of tags."""
    with h5py.File(os.path.join(folder, "run", "simulate", f"restart.{step}.h5")) as file:
        order = np.argsort(file["fields/tag"][()])
        return {name: data[()][order] for name, data in file["fields"].items()}


def first_forces(folder):
    with h5py.File(os.path.join(folder, "run", "simulate", "trajectory.h5md")) as file:
        return file["particles/trajectory/force/value"][0]


def read(folder, name):
    with open(os.path.join(folder, "run", "simulate", name)) as file:
        return file.read()


def thermo(folder):
    return read(folder, "thermo.csv")


def result(folder, key):
    return next(entry["value"] for entry in json.loads(read(folder, "results.json"))["results"] if entry["key"] == key)


def ranks_of(launcher):
    """Process numbers of the ranks that a launcher started."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(launcher)], capture_output=True, text=True).stdout
    return [int(number) for number in listed.split()]


class Restart(unittest.TestCase):
    def check(self, integrator, ranks):
        whole = program.fresh(f"restart_{integrator}_{ranks}")
        code, _, error = program.run("run", deck(whole, integrator), ranks=ranks)
        self.assertEqual(code, 0, error)
        halved = whole + "_halved"
        shutil.rmtree(halved, ignore_errors=True)
        shutil.copytree(whole, halved)
        os.remove(os.path.join(halved, "run", "simulate", "restart.200.h5"))
        os.remove(os.path.join(halved, "run", "stages_done.txt"))
        code, out, error = program.run("restart", os.path.join(halved, "run"), ranks=ranks)
        self.assertEqual(code, 0, error)
        self.assertIn("resumed at step 100", out)
        one, two = fields(whole, 200), fields(halved, 200)
        for name in one:
            self.assertTrue(np.array_equal(one[name], two[name]), f"{name} differs after the restart")
        self.assertEqual(thermo(whole), thermo(halved))
        for name in ("rdf.csv", "msd.csv"):
            texts = [read(f, name) for f in (whole, halved)]
            self.assertEqual(*texts, f"{name} differs after the restart")

    def test_one_rank(self):
        for integrator in INTEGRATORS:
            with self.subTest(integrator):
                self.check(integrator, 1)

    def test_two_ranks(self):
        self.check("npt", 2)


class Ranks(unittest.TestCase):
    def test_ranks_agree(self):
        results = {}
        for ranks in (1, 2, 4):
            folder = program.fresh(f"ranks_{ranks}")
            code, _, error = program.run("run", deck(folder, "nve", 100), ranks=ranks)
            self.assertEqual(code, 0, error)
            results[ranks] = (first_forces(folder), fields(folder, 100), thermo(folder))
        scale = np.abs(results[1][0]).max()
        for ranks in (2, 4):
            self.assertLess(np.abs(results[ranks][0] - results[1][0]).max() / scale, 1e-11)
            for name, bound in (("position", 1e-9), ("velocity", 1e-8)):
                difference = np.abs(results[ranks][1][name] - results[1][1][name]).max()
                self.assertLess(difference, bound, f"{name} on {ranks} ranks")
            energy = [float(r[2].splitlines()[1].split(",")[4]) for r in (results[1], results[ranks])]
            self.assertLess(abs(energy[1] / energy[0] - 1.0), 1e-11)

    def test_collective_checkpoint(self):
        folder = program.fresh("collective")
        code, _, error = program.run("run", deck(folder, "nve", 100), "stages[0].simulate.checkpoint.transfer=collective",
                                     ranks=2)
        if "without MPI" in error:
            self.assertIn("set `checkpoint.transfer: gather` or build with a parallel HDF5", error)
            return
        self.assertEqual(code, 0, error)
        gathered = program.fresh("gathered")
        program.run("run", deck(gathered, "nve", 100), ranks=2)
        one, two = fields(folder, 100), fields(gathered, 100)
        for name in one:
            self.assertTrue(np.array_equal(one[name], two[name]), f"{name} depends on how the checkpoint was written")

    def test_other_number_of_ranks_resumes(self):
        folder = program.fresh("ranks_change")
        program.run("run", deck(folder, "nve", 100), ranks=2)
        code, out, error = program.run("restart", os.path.join(folder, "run"), "stages[0].simulate.steps=120", ranks=1)
        self.assertEqual(code, 0, error)
        self.assertIn("written by another number of ranks", out)


class Finished(unittest.TestCase):
    def test_a_finished_run_is_prolonged(self):
        whole, longer = program.fresh("prolonged_whole"), program.fresh("prolonged")
        program.run("run", deck(whole, "nve", 200))
        program.run("run", deck(longer, "nve", 100))
        run = os.path.join(longer, "run")
        code, out, error = program.run("restart", run)
        self.assertEqual((code, error), (0, ""))
        self.assertIn(f"every stage of {run} is done; a stage of which a key is changed is taken up again:\n"
                      f"  cambium restart {run} stages[0].simulate.KEY=VALUE", out)
        code, _, error = program.run("restart", run, "stages[0].simulate.output[1].bins=70", "stages[0].simulate.steps=200")
        self.assertEqual(code, 2, error)  # a histogram of other bins: refused, and forgotten
        self.assertIn("stages[0].simulate.output[1].bins is 400 there and 70 here", error)
        self.assertIn("steps: 100", pathlib.Path(run, "deck.resolved.yaml").read_text())
        code, out, error = program.run("restart", run, "stages[0].simulate.steps=200")
        self.assertEqual(code, 0, error)
        self.assertIn("resumed at step 100", out)
        self.assertEqual(thermo(whole), thermo(longer))
        for key in ("drift_of_the_conserved_energy", "averages_temperature", "averages_pressure"):  # of all lines
            self.assertEqual(result(longer, key), result(whole, key), key)
        self.assertIn("steps: 200", pathlib.Path(run, "deck.resolved.yaml").read_text())
        code, out, _ = program.run("restart", run)
        self.assertIn("is done", out)
        code, out, error = program.run("restart", run, "stages[0].simulate.steps=150")
        self.assertEqual(code, 0, error)
        self.assertIn("the run has done 200 steps, more than steps: 150; its state and its files are those of step 200; begin a new run for fewer", out)

    def test_without_a_checkpoint_a_stage_begins_anew_and_says_so(self):
        folder = program.fresh("no_checkpoint")
        path = deck(folder, "nve", 20)
        program.run("run", path, "stages[0].simulate.checkpoint={at_end: false}")
        code, out, error = program.run("restart", os.path.join(folder, "run"), "stages[0].simulate.steps=30")
        self.assertEqual(code, 0, error)
        self.assertIn(f"no checkpoint in {os.path.join(folder, 'run', 'simulate')}: this stage began at step 0", out)


class Structures(unittest.TestCase):
    def test_checkpoint_starts_another_run(self):
        folder = program.fresh("from_checkpoint")
        program.run("run", deck(folder, "nve", 100))
        last = thermo(folder).splitlines()[-1].split(",")
        start = os.path.join(folder, "run", "simulate", "restart.100.h5")
        again = program.fresh("from_checkpoint_again")
        with open(deck(again, "nve", 20)) as file:
            text = file.read()
        text = re.sub(r"structure: .*", f"structure: {{file: {start}}}", text)
        text = re.sub(r" *initial_temperature: .*\n", "", text)
        code, _, error = program.run("run", program.write(os.path.join(again, "melt.yaml"), text), ranks=2)
        self.assertEqual(code, 0, error)
        first = thermo(again).splitlines()[1].split(",")
        for column in (2, 4, 5):  # temperature, potential and kinetic energy
            self.assertLess(abs(float(first[column]) / float(last[column]) - 1.0), 1e-11)


class Signals(unittest.TestCase):
    def check(self, number, ranks):
        folder = program.fresh(f"signal_{number}_{ranks}")
        path = deck(folder, "langevin", 10_000_000)
        running = subprocess.Popen(program.command("run", path, ranks=ranks), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        watched = os.path.join(folder, "run", "simulate", "restart.100.h5")
        for _ in range(600):
            if os.path.exists(watched):
                break
            time.sleep(0.1)
        # A launcher may kill what it started when it is signalled itself; batch systems signal the ranks.
        os.kill(ranks_of(running.pid)[-1] if ranks > 1 else running.pid, number)
        out, error = running.communicate(timeout=300)
        self.assertEqual(running.returncode, 3, error)
        resume = re.search(r"Resume with:\n  cambium (restart \S+)", out)
        self.assertIsNotNone(resume, out)
        stopped = max(int(name.split(".")[1]) for name in os.listdir(os.path.join(folder, "run", "simulate"))
                      if name.startswith("restart."))
        code, out, error = program.run(*resume.group(1).split(), f"stages[0].simulate.steps={stopped + 20}")
        self.assertEqual(code, 0, error)
        self.assertIn(f"resumed at step {stopped}", out)

    def test_sigterm(self):
        self.check(signal.SIGTERM, 1)

    def test_sigusr1(self):
        self.check(signal.SIGUSR1, 1)

    def test_sigterm_on_two_ranks(self):
        self.check(signal.SIGTERM, 2)

    def test_wall_time(self):
        folder = program.fresh("walltime")
        path = deck(folder, "nve", 10_000_000)
        code, out, _ = program.run("run", path, 'run.walltime="00:00:02"')
        self.assertEqual(code, 3)
        self.assertIn("stopped by the wall-time limit of 2 s", out)


LABEL = """
run: {name: label, directory: DIR, seed: 1}
plugins: [md, deepmd]
stages:
  - label:
      structure: {lattice: {type: fcc, a: 3.61, cells: [2, 2, 2], species: [Cu]}}
      potential: {type: sutton_chen, element: Cu, cutoff: 5.0, switch_width: 1.0}
      perturbed: {frames: 20, displacement: 0.08 angstrom}
      dynamics:
        - {temperature: [600, 900, 1200], strain: [0.0, 0.02], frames: 5, equilibrate: 300}
      validation: 0.2
"""


class Label(unittest.TestCase):
    """A stage without steps: what its ranks had finished when they were killed is not done again, and the files are the same."""

    def files(self, run):
        found = {}
        for place in pathlib.Path(run, "label").rglob("*.npy"):
            found[str(place.relative_to(run))] = place.read_bytes()
        return found

    def killed(self, ranks):
        folder = program.fresh(f"label_killed_{ranks}")
        decks = {name: program.write(os.path.join(folder, name + ".yaml"), LABEL.replace("DIR", os.path.join(folder, name))) for name in ("whole", "killed")}
        code, out, error = program.run("run", decks["whole"])
        self.assertEqual(code, 0, out + error)
        run = os.path.join(folder, "killed")
        journal = os.path.join(run, "label", "samples.journal")
        running = subprocess.Popen(program.command("run", decks["killed"], ranks=ranks), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.time() + 120
        while not (os.path.exists(journal) and os.path.getsize(journal) > 20000) and time.time() < end:
            time.sleep(0.005)
        program.kill_ranks(running, decks["killed"])
        self.assertTrue(os.path.exists(journal), "it ended before it could be killed")
        code, out, error = program.run("restart", run)
        self.assertEqual(code, 0, out + error)
        self.assertFalse(os.path.exists(journal))
        whole = self.files(os.path.join(folder, "whole"))
        self.assertEqual(len(whole), 10)
        self.assertEqual(self.files(run), whole)

    def test_one_rank(self):
        self.killed(1)

    def test_two_ranks(self):
        self.killed(2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
