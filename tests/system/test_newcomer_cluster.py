"""The path of somebody on a cluster: an installation in a prefix, a deck by name, a wall time, a restart on other ranks, a plan, a
batch script, and a log without what only a terminal understands."""
import os
import re
import subprocess
import unittest

import program

CMAKE = os.environ.get("CAMBIUM_CMAKE", "cmake")


class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = program.fresh("newcomer_cluster")
        cls.prefix = os.path.join(cls.folder, "prefix")
        done = subprocess.run([CMAKE, "--install", os.environ["CAMBIUM_BUILD"], "--prefix", cls.prefix], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        cls.work = os.path.join(cls.folder, "work")
        os.makedirs(cls.work)
        cls.program = os.path.join(cls.prefix, "bin", "cambium")

    def cambium(self, *words, ranks=1):
        launcher = program.MPIEXEC + ["-np", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launcher, self.program, *words], cwd=self.work, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout, done.stderr

    def test_a_wall_time_and_a_restart_on_other_ranks(self):
        code, log, error = self.cambium("run", "md/argon_melt", "--test-size", "run.directory=runs/argon", "run.walltime=1s",
                                        "stages[0].simulate.steps=2000000")
        self.assertEqual(code, 3, log + error)
        self.assertNotRegex(log, r"[\r\x1b\x08]", "a log of a batch job holds what only a terminal understands")
        words = re.search(r"cambium restart (\S+)", log + error)
        self.assertTrue(words, log[-500:])
        step = int(re.findall(r"step (\d+)", log + error)[-1])
        code, log, error = self.cambium("restart", "runs/argon", "run.walltime=10m", f"stages[0].simulate.steps={step + 50}", ranks=2)
        self.assertEqual(code, 0, log + error)

    def test_a_plan_for_another_machine(self):
        code, text, error = self.cambium("plan", "train/zero", "--machine", "frontier", "--ranks", "4,8", "--test-size")
        self.assertEqual(code, 0, error)
        self.assertIn("Frontier", text)

    def test_a_batch_script_for_a_sweep(self):
        code, text, error = self.cambium("sweep", "kinetic/landau", "--test-size", "run.directory=runs/array", "--over",
                                         "stages[0].simulate.parameters.k=[0.3, 0.4]", "--slurm", "array.sh")
        self.assertEqual(code, 0, text + error)
        script = os.path.join(self.work, "array.sh")
        with open(script) as file:
            self.assertRegex(file.read(), r"#SBATCH --array=\S+")
        self.assertEqual(subprocess.run(["bash", "-n", script]).returncode, 0)

    def test_what_it_was_built_with_is_said(self):
        code, text, _ = self.cambium("--version")
        self.assertEqual(code, 0)
        self.assertRegex(text, r"^cambium \d+\.\d+\.\d+ \(commit ")


if __name__ == "__main__":
    unittest.main()
