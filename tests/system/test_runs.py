"""One directory, one run: a used directory is refused, a run in use is left alone, a restart continues the run that is there and no
other one."""
# needs: md
import os
import re
import shutil
import signal
import time
import unittest

import h5py
import numpy as np

import program
from run_directories import MD, STAGE, TRAIN, Case, deck, ids, steps_of, table, tree, wait_for


class Used(Case):
    def test_an_older_run_is_neither_mixed_nor_lost(self):
        deck(self.folder, seed=1, steps=100)
        self.does("run", "deck.yaml")
        before = tree(self.run_folder)
        deck(self.folder, seed=2, steps=60)
        self.assertEqual(self.does("run", "deck.yaml", code=2), (
            "cambium: 'run' holds a run already (simulate/restart.100.h5), and `run` begins a new one. What to type instead:\n"
            "  cambium restart run   continues it\n"
            "  cambium run deck.yaml --overwrite   begins again and keeps the older run in run/previous\n"
            "  cambium run deck.yaml run.directory=run_2   leaves it unchanged and writes elsewhere\n"
            "Its deck is another one: run.seed is 1 there and 2 here, stages[0].simulate.steps is 100 there and 60 here\n"))
        self.assertEqual(tree(self.run_folder), before)
        out = self.does("run", "deck.yaml", "--overwrite")
        self.assertIn("the older run is kept in run/previous, until the next --overwrite", out)
        self.assertEqual(tree(self.path("run", "previous")), before)
        self.assertEqual(steps_of(self.run_folder), [40, 60])
        newer = ids(self.run_folder)
        self.assertEqual(len(set(newer.values())), 1, newer)
        self.assertNotEqual(set(newer.values()), set(ids(self.path("run", "previous")).values()))
        # The same, killed before its end: it goes on from its own checkpoint.
        whole = table(self.run_folder)
        os.remove(self.path("run", "stages_done.txt"))
        os.remove(self.path("run", "simulate", "restart.60.h5"))
        self.assertIn("resumed at step 40", self.does("restart", "run"))
        self.assertEqual(table(self.run_folder), whole)

    def test_the_message_knows_the_restart_that_is_meant(self):
        deck(self.folder, steps=40)
        self.does("run", "deck.yaml")
        deck(self.folder, steps=60)
        error = self.does("run", "deck.yaml", code=2)
        self.assertIn("\n  cambium restart run 'stages[0].simulate.steps=60'   continues it\n", error)
        command = re.search(r"cambium (restart .*)   continues it", error).group(1)
        out = self.does(*command.replace("'", "").split())
        self.assertIn("changed: stages[0].simulate.steps was 40, is 60", out)
        self.assertIn("resumed at step 40", out)
        os.makedirs(self.path("run_2"))
        self.assertIn(" run.directory=run_3   leaves it unchanged", self.does("run", "deck.yaml", code=2))

    def test_a_run_that_never_began_is_in_nobodys_way(self):
        deck(self.folder)
        self.does("run", "deck.yaml", "stages[0].simulate.structure={file: none.xyz}", code=2)
        self.does("run", "deck.yaml", "stages[0].simulate.ranks=[2, 1, 1]", code=2)
        self.does("run", "deck.yaml")

    def test_a_deck_that_is_not_sound_moves_nothing(self):
        deck(self.folder)
        self.does("run", "deck.yaml")
        before = tree(self.run_folder)
        for wrong in ("stages[0].simulate.stps=3", "stages[0].simulate.structure={file: none.xyz}", "stages[0].simulate.ranks=[2, 1, 1]"):
            self.does("run", "deck.yaml", "--overwrite", wrong, code=2)
            self.assertEqual(tree(self.run_folder), before)

    def test_checkpoints_without_their_deck_are_not_mixed_either(self):
        deck(self.folder, steps=100)
        self.does("run", "deck.yaml")
        for name in ("deck.resolved.yaml", "stages_done.txt", "provenance.yaml", "log.txt"):
            os.remove(self.path("run", name))
        error = self.does("run", "deck.yaml", code=2)
        self.assertIn("'run' holds a run already (simulate/restart.100.h5)", error)
        self.assertNotIn("continues it", error)
        self.assertIn("'run' holds no run: there is no deck.resolved.yaml", self.does("restart", "run", code=2))

    def test_a_checkpoint_of_another_run_is_refused(self):
        for seed in (1, 2):
            deck(self.folder, seed=seed, directory=f"run{seed}", steps=40 * seed)
            self.does("run", "deck.yaml")
        os.remove(self.path("run1", "stages_done.txt"))
        shutil.copy(self.path("run2", "simulate", "restart.80.h5"), self.path("run1", "simulate"))
        theirs, ours = (ids(self.path(name))["deck.resolved.yaml"] for name in ("run2", "run1"))
        self.assertEqual(self.does("restart", "run1", code=2), (
            f"cambium: 'run1/simulate/restart.80.h5' was written by another run (its id is {theirs}, that of this directory {ours}): move it away, or "
            "continue in the directory that it came from\n"))

    def test_a_stage_folder_that_is_a_link_is_refused(self):
        deck(self.folder)
        self.does("run", "deck.yaml")
        shutil.move(self.path("run"), self.path("other"))
        before = tree(self.path("other"))
        os.makedirs(self.path("run"))
        os.symlink("../other/simulate", self.path("run", "simulate"))
        said = ("cambium: 'run/simulate' is a symbolic link to '../other/simulate': a stage replaces and removes files in its folder, and those may "
                "be another run's; remove the link (rm run/simulate), or move the whole run with run.directory=PATH\n")
        for words in (("run", "deck.yaml"), ("run", "deck.yaml", "--overwrite")):
            self.assertEqual(self.does(*words, code=2), said)
        shutil.copy(self.path("other", "deck.resolved.yaml"), self.path("run"))
        self.assertEqual(self.does("restart", "run", code=2), said)
        self.assertEqual(tree(self.path("other")), before)
        # The directory itself is where the user says.
        os.remove(self.path("run", "simulate"))
        shutil.rmtree(self.path("run"))
        os.makedirs(self.path("scratch"))
        os.symlink("scratch", self.path("run"))
        self.does("run", "deck.yaml")
        self.assertTrue(os.path.isdir(self.path("scratch", "simulate")))
        os.remove(self.path("run"))

    def test_the_folder_of_a_committees_model_is_no_link_either(self):
        deck(self.folder, "train", steps=40, directory="run_train")
        os.makedirs(self.path("run_train", "train"))
        os.makedirs(self.path("elsewhere"))
        program.write(self.path("elsewhere", "restart.9.h5"), "of somebody else")
        os.symlink(self.path("elsewhere"), self.path("run_train", "train", "model_2"))
        self.assertIn("'run_train/train/model_2' is a symbolic link to '", self.does("run", "deck.yaml", "stages[0].train.ensemble_size=2", code=2))
        self.assertEqual(os.listdir(self.path("elsewhere")), ["restart.9.h5"])


class Restarts(Case):
    def test_what_decides_the_result_stays(self):
        deck(self.folder, "train", steps=40)
        self.does("run", "deck.yaml")
        before = tree(self.path("run", "train"))
        self.assertEqual(self.does("restart", "run", "stages[0].train.learning_rate.start=0.02", "stages[0].train.steps=60", code=2), (
            "cambium: 'run/train/restart.40.h5' cannot continue with this deck: stages[0].train.learning_rate.start is 0.01 there and 0.02 here; leave what "
            "determines the result as it was, or begin a new run with run.directory=PATH, which start_from lets begin with the weights of this one\n"))
        self.assertEqual(self.does("restart", "run", "run.seed=7", code=2), (
            "cambium: run.seed was 1 when 'run' began, and every random number since follows from it: it cannot become 7; begin a new run with "
            "run.directory=PATH\n"))
        for other in ("network.layers=[9]", "dataset.samples=70", "optimizer=sgd", "batch=12"):
            self.assertIn(f"stages[0].train.{other.split('=')[0]}", self.does("restart", "run", "stages[0].train." + other, code=2))
        self.assertEqual(tree(self.path("run", "train")), before)
        # A change by hand is found, too.
        with open(self.path("run", "deck.resolved.yaml")) as file:
            text = file.read()
        os.remove(self.path("run", "stages_done.txt"))
        program.write(self.path("run", "deck.resolved.yaml"), text.replace("samples: 60", "samples: 50"))
        self.assertIn("stages[0].train.dataset.samples is 60 there and 50 here", self.does("restart", "run", code=2))
        program.write(self.path("run", "deck.resolved.yaml"), text)
        for free in ("steps=60", "checkpoint.every=10", "log=5", "loader=buffered", "accumulate=2"):
            self.assertIn("resumed at step", self.does("restart", "run", "stages[0].train." + free))

    def test_simulations_keep_their_physics(self):
        deck(self.folder)
        self.does("run", "deck.yaml")
        error = self.does("restart", "run", "stages[0].simulate.timestep=0.002", "stages[0].simulate.potential.epsilon=0.02", code=2)
        self.assertIn("stages[0].simulate.potential.epsilon is 0.0104 there and 0.02 here, stages[0].simulate.timestep is 0.001 there and 0.002 here; "
                      "leave what determines the result as it was, or begin a new run with run.directory=PATH\n", error)
        self.assertIn("resumed at step 40", self.does("restart", "run", "stages[0].simulate.steps=60", "stages[0].simulate.thermo.every=20",
                                                      "stages[0].simulate.ranks=[1, 1, 1]", 'run.walltime="01:00:00"'))

    def test_a_directory_with_odd_letters(self):
        name = "x #1's"
        deck(self.folder, directory=name)
        self.does("run", "deck.yaml")
        self.assertIn("resumed at step 40", self.does("restart", name, "stages[0].simulate.steps=60"))
        self.assertEqual(steps_of(self.path(name)), [40, 60])
        self.assertEqual(sorted(os.listdir(self.folder)), ["deck.yaml", name])
        self.assertIn("\n  cambium restart 'x #1'\\''s' stages[0].simulate.KEY=VALUE", self.does("restart", name))
        self.does("run", "deck.yaml", "run.directory=y #2")
        self.assertTrue(os.path.isdir(self.path("y #2")))
        self.assertEqual(self.does("restart", name, "run.directory=elsewhere", code=2), (
            f"cambium: a run continues where it is: run.directory=elsewhere was requested for '{name}'; to continue elsewhere, copy the folder and restart the "
            "copy\n"))

    def test_a_moved_run_reads_its_own_files(self):
        text = TRAIN.replace("DIR", "run").replace("SEED", "1").replace("STEPS", "20")
        text += '  - evaluate: {model: "{run}/train/model.h5", dataset: {type: expression, samples: 9, box: {x: [-1, 1]}, target: {z: sin(3*x)}}}\n'
        program.write(self.path("deck.yaml"), text)
        self.does("run", "deck.yaml")
        os.rename(self.path("run"), self.path("moved"))
        self.does("restart", "moved", "stages[1].evaluate.batch=3")  # the model lies beside it, no longer in run/

    def test_what_follows_from_a_change_begins_anew(self):
        first = MD.replace("DIR", "run").replace("SEED", "1").replace("STEPS", "20")
        program.write(self.path("deck.yaml"), first + first.split("stages:\n")[1].replace("steps: 20", "steps: 60"))
        self.does("run", "deck.yaml")
        self.assertEqual(steps_of(self.run_folder, "simulate_2"), [40, 60])
        self.does("restart", "run", "stages[0].simulate.steps=40", "stages[1].simulate.steps=20")
        self.assertEqual(steps_of(self.run_folder, "simulate_2"), [20])

    def test_a_damaged_state_is_refused_and_leaves_no_other(self):
        deck(self.folder)
        self.does("run", "deck.yaml")
        with h5py.File(self.path("run", "simulate", "restart.40.h5"), "r+") as file:
            position = file["fields/position"][()]
            position[1, :3] = np.nan
            file["fields/position"][...] = position
        os.remove(self.path("run", "stages_done.txt"))
        self.assertIn("'run/simulate/restart.40.h5': atom 2 is at nan with the velocity", self.does("restart", "run", code=2))
        self.assertEqual([name for name in os.listdir(self.path("run", "simulate")) if name.startswith("failed")], [])  # failed.0.h5, once


class AtOnce(Case):
    def test_a_second_run_is_held_off(self):
        deck(self.folder, steps=100000000)
        first = self.start("run", "deck.yaml")
        wait_for(self.path("run"), "simulate", 20, first)
        for words in (("run", "deck.yaml"), ("run", "deck.yaml", "--overwrite"), ("restart", "run")):
            self.assertRegex(self.does(*words, code=2), (
                r"^cambium: 'run' is in use: process \d+ on this machine has been writing to it since \S+ \(`cambium run deck.yaml`\); wait for its end, "
                r"stop it with `kill \d+`, or write elsewhere with run.directory=PATH\n$"))
        # A copy made meanwhile is a run of its own.
        first.send_signal(signal.SIGSTOP)  # or checkpoints are pruned under the copy's hands
        shutil.copytree(self.run_folder, self.path("copy"), ignore=lambda folder, names: [n for n in names if n.endswith(".part")])
        first.send_signal(signal.SIGCONT)
        step = steps_of(self.path("copy"))[-1]
        self.assertIn("resumed at step", self.does("restart", "copy", f"stages[0].simulate.steps={step + 20}"))
        first.send_signal(signal.SIGTERM)
        out, error = first.communicate(timeout=120)
        self.assertEqual(first.returncode, 3, error)
        self.assertFalse(os.path.exists(self.path("run", "run.lock")))
        self.does("restart", "run", f"stages[0].simulate.steps={steps_of(self.run_folder)[-1] + 1}")

    def test_a_run_that_was_taken_over_stops(self):
        for kind, ranks in (("md", 1), ("md", 2), ("train", 1)):
            name = f"run_{kind}_{ranks}"
            deck(self.folder, kind, steps=100000000, directory=name)
            first = self.start("run", "deck.yaml", ranks=ranks)
            wait_for(self.path(name), STAGE[kind], 40, first)
            lock = self.path(name, "run.lock")
            with open(lock) as file:
                text = file.read()
            program.write(lock + ".new", re.sub("token: .*", "token: another", text))
            os.rename(lock + ".new", lock)
            time.sleep(0.05)  # for a checkpoint that was being written
            before = steps_of(self.path(name), STAGE[kind])
            _, error = first.communicate(timeout=120)
            self.assertEqual(first.returncode, 2, error)
            self.assertRegex(error, rf"this run no longer holds '{name}': process \d+ on \S+ has taken it over \(`cambium run deck.yaml`\); it stops, and "
                                    "what is there belongs to the other run")
            self.assertEqual(steps_of(self.path(name), STAGE[kind])[-1], before[-1])
            with open(lock) as file:
                self.assertIn("token: another", file.read())
            os.remove(lock)

    def test_a_launcher_that_is_killed_alone(self):
        """Its ranks may live on for a while: the restart waits for their end, or they are gone already."""
        deck(self.folder, "train", steps=400)
        self.does("run", "deck.yaml", "run.directory=whole", ranks=2)
        first = self.start("run", "deck.yaml", ranks=2)
        wait_for(self.path("run"), "train", 60, first)
        first.kill()
        out = self.does("restart", "run", ranks=2)
        first.communicate()
        self.assertEqual(table(self.run_folder, "train"), table(self.path("whole"), "train"))
        with h5py.File(self.path("run", "train", "model.h5")) as a, h5py.File(self.path("whole", "train", "model.h5")) as b:
            for name in a["weights"]:
                self.assertTrue(np.array_equal(a["weights"][name][()], b["weights"][name][()]), name + out)

    def test_a_signal_at_the_start(self):
        deck(self.folder, steps=100000000)
        first = self.start("run", "deck.yaml")
        while first.poll() is None:  # until the program listens, which is before it starts up MPI
            with open(f"/proc/{first.pid}/status") as file:
                caught = int(re.search(r"SigCgt:\s*(\w+)", file.read()).group(1), 16)
            if caught >> (signal.SIGTERM - 1) & 1:
                break
        first.send_signal(signal.SIGTERM)
        out, error = first.communicate(timeout=120)
        self.assertEqual(first.returncode, 3, error)
        self.assertIn("stopped by signal SIGTERM before stage 1 began. Resume with:\n  cambium restart run\n", out)
        self.assertIn("this stage began at step 0", self.does("restart", "run", "stages[0].simulate.steps=20"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
