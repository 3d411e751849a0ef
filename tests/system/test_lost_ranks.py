"""`cambium run --keep-going`: ranks that are killed, and the same weights as undisturbed, on as many ranks or fewer.

CAMBIUM_LOSSES: runs of which ranks are killed (4)."""
# needs: md
# processors: 2
# thorough
import glob
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

import program
from test_shares import shared
from test_train import stage, weights

LOSSES = int(os.environ.get("CAMBIUM_LOSSES", "4"))
LAUNCHER = " ".join(program.MPIEXEC)
LONG = {"steps": 120, "layers": "64, 64", "validate": 1000, "every": 100000}


def kept_folders():
    return set(glob.glob("/dev/shm/cambium.*"))


def keep_going(path, ranks, *more):
    return [program.PROGRAM, "run", "--keep-going", "--ranks", ranks, "--launcher", LAUNCHER, "--copy-every", "1", path, *more]


class LostRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)

    def loses(self, path, folder, ranks, victims, dice, losses=1):
        """(exit code, standard error, standard output) of a run of which so many ranks are killed, `losses` times."""
        first = int(ranks.split(",")[0])
        run = subprocess.Popen(keep_going(path, ranks, "run.directory=run"), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        killed = []
        for loss in range(losses):
            while run.poll() is None:
                members = [number for number in program.processes_of(folder) if number not in killed and "--keep-going" not in self.words(number)]
                copies = glob.glob(f"/dev/shm/cambium.*/*{os.path.basename(folder)}*/restart.*.h5")
                if copies and len(members) >= int(ranks.split(",")[loss]):
                    break
                time.sleep(0.005)
            time.sleep(dice.uniform(0.0, 0.3))
            for number in dice.sample(members, min(victims, len(members))):
                killed.append(number)
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            killed += members
        out, error = run.communicate(timeout=300)
        return run.returncode, error, out

    def words(self, number):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                return file.read().decode().split("\0")
        except OSError:
            return []

    def test_the_weights_are_those_of_the_undisturbed_run(self):
        folder, dice, before = program.fresh("lost_ranks"), random.Random(11), kept_folders()
        whole = program.fresh("lost_nothing")
        code, _, error = program.run("run", shared(whole, "transfer: gather", **LONG))
        self.assertEqual(code, 0, error)
        lost = 0
        cases = ((None, "2,2", 1), ("zero3", "4,3,1", 1), ("zero2", "2,1", 2), ("zero1", "2,4", 1))
        for number in range(LOSSES):
            preset, ranks, victims = cases[number % len(cases)]
            shutil.rmtree(os.path.join(folder, "run"), ignore_errors=True)
            path = shared(folder, "transfer: per_rank", preset, **LONG)
            code, error, out = self.loses(path, folder, ranks, victims, dice)
            self.assertEqual(code, 0, error)
            self.assertEqual(weights(folder), weights(whole), (preset, ranks))
            if "a rank was lost" in error:
                lost += 1
                self.assertRegex(error, rf"a rank was lost \(the launcher ended with \d+\); start 2 of \d, with {ranks.split(',')[1]} ranks")
                self.assertRegex(out, r"resumed at step \d+ from /dev/shm/cambium\.")
            self.assertEqual(glob.glob(stage(folder, "restart.*")), [])
        self.assertGreater(lost, 0, "no rank was killed in time")
        self.assertEqual(kept_folders() - before, set())

    def test_nothing_is_left_to_go_on_with(self):
        folder = program.fresh("lost_all")
        path = shared(folder, "transfer: per_rank", **{**LONG, "steps": 2000, "every": 50, "keep": 2})
        code, error, _ = self.loses(path, folder, "2,2", 1, random.Random(5), losses=2)
        self.assertGreater(code, 128, error)
        self.assertIn("and no start is left of --ranks; the run continues from its newest checkpoint on disk by cambium restart", error)

    def test_other_ends_are_not_losses(self):
        folder = program.fresh("lost_none")
        path = shared(folder, "transfer: per_rank", steps=20)
        done = subprocess.run(keep_going(path, "1,1", "stages[0].train.steps=-1"), capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertNotIn("a rank was lost", done.stderr)
        done = subprocess.run(keep_going(path, "1,1"), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_signals_stop_the_run_with_a_checkpoint(self):
        folder = program.fresh("lost_stopped")
        path = shared(folder, "transfer: per_rank", **{**LONG, "steps": 10_000_000, "every": 50, "keep": 2})
        for number in (signal.SIGTERM, signal.SIGINT):  # mpirun itself would kill the ranks
            shutil.rmtree(os.path.join(folder, "run"), ignore_errors=True)
            run = subprocess.Popen(keep_going(path, "2,2", "run.directory=run"), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(1200):
                if glob.glob(stage(folder, "restart.*.h5")) or run.poll() is not None:
                    break
                time.sleep(0.05)
            run.send_signal(number)
            out, error = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 3, out + error)
            self.assertIn("a checkpoint is written. Resume with:", out)

    def refused(self, *words, **environment):
        done = subprocess.run([program.PROGRAM, "run", "--keep-going", *words, "deck.yaml"], capture_output=True, text=True,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_bad_input(self):
        self.assertIn("--keep-going starts the ranks itself; give the number of ranks of the first start, and of those after a loss, for example "
                      "--ranks 4,4,2", self.refused())
        self.assertIn("--ranks 4 leaves nothing to continue with after the loss of a rank; give the numbers of ranks of later starts, too, for "
                      "example --ranks 4,4", self.refused("--ranks", "4"))
        for wrong in ("4,x", "0,2", "4,", ""):
            if wrong:
                self.assertIn(f"--ranks is '{wrong}', expected comma-separated numbers of ranks, for example --ranks 4,4,2",
                              self.refused("--ranks", wrong))
        self.assertIn("--copy-every is 'often', but takes the number of steps between two copies in memory, for example --copy-every 1",
                      self.refused("--ranks", "2,2", "--copy-every", "often"))
        self.assertIn("--keep-going starts the ranks by 'mpirun', which is not in the PATH; install Open MPI's mpirun, or name another launcher, "
                      'for example --launcher "srun"', self.refused("--ranks", "2,2", PATH="/nowhere"))
        self.assertIn("'/tmp' cannot be started: Permission denied", self.refused("--ranks", "2,2", "--launcher", "/tmp"))
        self.assertIn("--keep-going was started by a launcher such as mpirun, but starts the ranks itself; run it without one, and give the number of ranks by --ranks", self.refused("--ranks=2,2", OMPI_COMM_WORLD_SIZE="2"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
