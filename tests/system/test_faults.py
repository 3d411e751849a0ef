"""Checkpoints that are damaged, that a thread writes, and that other ranks read. Every physics goes on, on the same ranks to the same bits and on
others to the same numbers."""
# needs: md
# cost: 40
# processors: 2
# thorough
import os
import shutil
import subprocess
import time
import unittest

import program
from physics_runs import PHYSICS, Case, deck, of_each_physics, steps_in


class OtherRanks(Case):
    """1 rank, then 2, then 3, against 1 all the time."""

    def goes_on(self, name):
        every, tolerance = PHYSICS[name][1], PHYSICS[name][3]
        folder = program.fresh("ranks_" + name)
        whole, moved = os.path.join(folder, "whole"), os.path.join(folder, "moved")
        self.runs("run", deck(folder, name, 3 * every, every, "whole"), ranks=1)
        self.runs("run", deck(folder, name, every, every, "moved"), ranks=1)
        for ranks, steps in ((2, 2 * every), (3, 3 * every)):
            out = self.runs("restart", moved, f"stages[0].simulate.steps={steps}", ranks=ranks)
            self.assertIn("(written by another number of ranks)", out)
        self.same(whole, moved, tolerance, name)


of_each_physics(OtherRanks, "goes_on")


class Damaged(Case):
    """The newest checkpoint is cut or one of its bits has changed: the one before is used, and the end is the same."""

    @classmethod
    def setUpClass(cls):
        cls.folder = program.fresh("damaged_checkpoints")
        cls.whole = os.path.join(cls.folder, "whole")
        code, out, error = program.run("run", deck(cls.folder, "md", 30, 10, "whole"), ranks=2)
        assert code == 0, error

    def stopped(self):
        """As if it had been killed at the end, with its checkpoints of steps 20 and 30."""
        run = os.path.join(self.folder, "stopped")
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(self.whole, run)
        os.remove(os.path.join(run, "stages_done.txt"))
        self.assertEqual(steps_in(run), [20, 30])
        return run, [os.path.join(run, "simulate", f"restart.{step}.h5") for step in (20, 30)]

    def flip(self, path):
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 2)
            byte = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([byte[0] ^ 1]))

    def cut(self, path):
        os.truncate(path, os.path.getsize(path) // 2)

    def empty(self, path):
        os.truncate(path, 0)

    def test_the_one_before_is_used(self):
        for damage, why in ((self.flip, "what it holds is not what was written"), (self.cut, "it was truncated or overwritten, and HDF5 cannot open it"),
                            (self.empty, "it was truncated or overwritten, and HDF5 cannot open it")):
            for ranks in (1, 2):
                run, (_, newest) = self.stopped()
                damage(newest)
                out = self.runs("restart", run, ranks=ranks)
                self.assertIn(f"'{newest}' is damaged: {why}; the run continues from restart.20.h5, and the damaged file is kept as {newest}.damaged", out)
                self.assertIn("resumed at step 20", out)
                self.assertTrue(os.path.exists(newest + ".damaged"))
                self.assertEqual(steps_in(run), [20, 30])
                self.same(self.whole, run, 0 if ranks == 2 else 1e-9, f"{why}, {ranks} ranks")

    def test_a_checkpoint_without_its_last_bytes_is_not_lost(self):
        """The end of the file is its checksum alone."""
        run, (_, newest) = self.stopped()
        os.truncate(newest, os.path.getsize(newest) - 32)
        out = self.runs("restart", run, "stages[0].simulate.steps=40", ranks=2)
        self.assertIn("resumed at step 30", out)
        self.assertIn("this checkpoint has no checksum: an earlier version wrote it, or it was changed since", out)

    def test_none_is_left(self):
        run, both = self.stopped()
        self.flip(both[0])
        self.cut(both[1])
        for ranks in (1, 2):
            self.assertTrue(self.runs("restart", run, ranks=ranks, code=2).startswith(
                             f"cambium: no checkpoint in '{os.path.join(run, 'simulate')}' is intact:\n  restart.30.h5: it was truncated or overwritten, and HDF5 cannot open "
                             "it\n  restart.20.h5: what it holds is not what was written\nput back a copy of one, or remove them, and the stage begins at step 0 when "
                             "the run is resumed\n"))
        self.assertEqual(steps_in(run), [20, 30])


class Asynchronous(Case):
    """A thread writes checkpoints; their bytes are those of any other."""

    KEY = "stages[0].simulate.checkpoint.asynchronous=true"

    def test_the_same_files(self):
        for ranks in (1, 2):
            folder = program.fresh(f"asynchronous_{ranks}")
            self.runs("run", deck(folder, "md", 40, 10, "plain"), ranks=ranks)
            self.runs("run", deck(folder, "md", 40, 10, "later"), self.KEY, ranks=ranks)
            self.assertEqual(steps_in(os.path.join(folder, "later")), [30, 40])
            self.same(os.path.join(folder, "plain"), os.path.join(folder, "later"), 0, "asynchronous")
            out = self.runs("restart", os.path.join(folder, "later"), "stages[0].simulate.steps=50", ranks=ranks)
            self.assertIn("resumed at step 40", out)
            self.assertNotIn("no checksum", out)

    def test_killed(self):
        folder = program.fresh("asynchronous_killed")
        self.runs("run", deck(folder, "md", 120, 10, "whole"), ranks=2)
        path, run = deck(folder, "md", 120, 10, "later"), os.path.join(folder, "later")
        running = subprocess.Popen(program.command("run", path, self.KEY, ranks=2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while running.poll() is None and not any(step >= 60 for step in steps_in(run)):
            time.sleep(0.002)
        program.kill_ranks(running, path)
        self.runs("restart", run, ranks=2)
        self.same(os.path.join(folder, "whole"), run, 0, "asynchronous, killed")

    def test_a_disk_that_refuses_is_an_error_of_the_run(self):
        """A folder lies where the checkpoint is to be written: what the thread meets is said by all ranks."""
        for ranks in (1, 2):
            folder = program.fresh("asynchronous_refused")
            path, run = deck(folder, "md", 40, 20, "run"), os.path.join(folder, "run")
            os.makedirs(os.path.join(run, "simulate", "restart.20.h5.part"))
            error = self.runs("run", path, self.KEY, ranks=ranks, code=2)
            self.assertIn(f"cannot write '{run}/simulate/restart.20.h5': Is a directory; free some space or choose another run directory (run.directory), then resume", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
