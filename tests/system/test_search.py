"""A search killed with SIGKILL, workers and rank 0, at times drawn at random: resumed, it ends with every trial finished once, and
its journal can be replayed."""
# needs: podlstm
# cost: 35
# processors: 2
# thorough
import json
import os
import random
import signal
import subprocess
import time
import unittest

import h5py

import program

DECK = """
run: {name: search, directory: RUN, seed: 3}
plugins: [podlstm]
stages:
  - synthetic_field: {weeks: 160, latitudes: 8, longitudes: 16}
  - pod: {field: {files: ["{run}/synthetic_field/field.h5"], array: sst, missing: land}, modes: 3, training: 110}
  - search:
      data: {series: {file: "{run}/pod/pod.h5"}}
      network: {epochs: 10, patience: 10}
      trials: 120
      population: 8
      sample: 3
      halving: {rungs: 1, keep: 0.6}
      ensemble: {members: 2, seeds: 1, plain_epochs: 4}
"""


class Kill(unittest.TestCase):
    def trials(self, log):
        """Numbers of the recorded trials: whole lines behind the first, which names the search."""
        if not os.path.exists(log):
            return []
        with open(log, encoding="utf-8") as file:
            return [json.loads(line)["number"] for line in file.read().split("\n")[1:-1]]

    def test_kill_and_resume(self):
        folder = program.fresh("search_kill")
        deck = program.write(os.path.join(folder, "deck.yaml"), DECK.replace("RUN", os.path.join(folder, "run")))
        journal = os.path.join(folder, "run", "search", "journal.h5")
        log = journal.replace(".h5", ".jsonl")
        dice, finished = random.Random(5), []
        arguments = ["run", deck]
        for victim in (1, 0, 1):  # a worker, rank 0, a worker
            before = len(finished)
            process = subprocess.Popen(program.command(*arguments, ranks=2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wanted = before + dice.randint(2, 6)
            while process.poll() is None and len(self.trials(log)) < wanted:
                time.sleep(0.02)
            time.sleep(dice.uniform(0.0, 0.1))
            alive = program.processes_of(folder)
            if process.poll() is None and len(alive) == 2:
                os.kill(alive[victim], signal.SIGKILL)
            process.wait(timeout=120)
            now = self.trials(log)
            self.assertEqual(now[:before], finished[:before])  # nothing is lost
            finished = now
            arguments = ["restart", os.path.join(folder, "run")]
        self.assertLess(len(finished), 120)  # it was killed before its end
        code, out, error = program.run(*arguments, ranks=2)
        self.assertEqual(code, 0, error)
        self.assertIn(f"resumed: {len(finished)} trials are finished", out)
        numbers = self.trials(log)
        self.assertEqual(numbers[:len(finished)], finished)
        self.assertEqual(sorted(numbers), list(range(120)))  # nothing twice, nothing missing
        with h5py.File(journal, "r") as file:
            self.assertEqual(list(file["trials/number"][()]), numbers)  # the table says what the log says
            self.assertEqual(file["selection"].attrs["test_evaluations"], 1)
            self.assertEqual(file["selection"].attrs["trials"], 120)
        copy = os.path.join(folder, "recorded.h5")
        os.rename(journal, copy)
        code, out, error = program.run("run", deck, "--overwrite", f"stages[2].search.replay={copy}", ranks=2)
        self.assertEqual(code, 0, out + error)
        self.assertIn("0 trials differ", out)

    def test_a_rank_that_hangs(self):
        """A stopped process (SIGSTOP) answers nobody and is not dead: its trial goes to another rank."""
        folder = program.fresh("search_hang")
        run = os.path.join(folder, "run")
        deck = program.write(os.path.join(folder, "deck.yaml"), DECK.replace("RUN", run).replace("trials: 120", "trials: 60").replace(
            "      ensemble:", "      heartbeat_timeout: 1.5\n      ensemble:"))
        log = os.path.join(run, "search", "journal.jsonl")
        process = subprocess.Popen(program.command("run", deck, ranks=3), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and len(self.trials(log)) < 5:
            time.sleep(0.02)
        alive = program.processes_of(folder)
        self.assertEqual(len(alive), 3)
        os.kill(alive[2], signal.SIGSTOP)
        out, error = process.communicate(timeout=120)
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(out, r"rank 2 gives no sign of life in trial \d+: taken for hung")
        self.assertIn(f"rank 2 hung and did not come back; each trial assigned is finished and recorded. Check its machine, then continue with: "
                      f"cambium restart {run}", error)
        self.assertEqual(sorted(self.trials(log)), list(range(60)))
        code, out, error = program.run("restart", run, ranks=2)
        self.assertEqual(code, 0, error)
        self.assertIn("resumed: 60 trials are finished", out)
        self.assertIn("ensemble of found networks", out)

    def test_rank_0_that_hangs(self):
        """Workers that wait hear from rank 0; when it is stopped, they end the run, and a restart goes on."""
        folder = program.fresh("search_hang_root")
        run = os.path.join(folder, "run")
        deck = program.write(os.path.join(folder, "deck.yaml"), DECK.replace("RUN", run).replace("trials: 120", "trials: 60").replace(
            "      ensemble:", "      heartbeat_timeout: 1.5\n      ensemble:"))
        log = os.path.join(run, "search", "journal.jsonl")
        process = subprocess.Popen(program.command("run", deck, ranks=3), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and len(self.trials(log)) < 5:
            time.sleep(0.02)
        alive = program.processes_of(folder)
        self.assertEqual(len(alive), 3)
        os.kill(alive[0], signal.SIGSTOP)
        out, error = process.communicate(timeout=120)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn(f"rank 0 gives no sign of life for 1.5 s: taken for hung. Everything finished is recorded; check its machine, then "
                      f"continue with: cambium restart {run}", error)
        finished = self.trials(log)
        self.assertGreaterEqual(len(finished), 5)
        code, out, error = program.run("restart", run, ranks=2)
        self.assertEqual(code, 0, error)
        self.assertIn(f"resumed: {len(finished)} trials are finished", out)
        self.assertEqual(sorted(self.trials(log)), list(range(60)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
