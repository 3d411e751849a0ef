"""Ranks that die. Every physics goes on, on the same ranks to the same bits and on others to the same numbers; the message names the rank and the line
that goes on.

CAMBIUM_MOMENTS: moments at which a random rank of each physics is killed (where it is not set, 1, of three of them)."""
# needs: md
# cost: 40
# processors: 2
# thorough
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

import program
from physics_runs import PHYSICS, Case, deck, of_each_physics, steps_in, table

MOMENTS = int(os.environ.get("CAMBIUM_MOMENTS", "1"))
KILLED_USUALLY = ("md", "vlasov_poisson", "graph_diffusion")


class Killed(Case):
    """A random rank dies at random moments."""

    def begins(self, name, path, ranks):
        return subprocess.Popen(program.command("run", path, ranks=ranks), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def first_checkpoint(self, running, run):
        while running.poll() is None and not steps_in(run):
            time.sleep(0.005)

    def dies(self, name, folder, directory, ranks, moment, dice, slow_launcher=False):
        """Starts a run and kills one of its ranks `moment` seconds after its first checkpoint. False when it ended before. A slow launcher
        notices nothing before the ranks that are left have spoken."""
        path, run = deck(folder, name, PHYSICS[name][2], PHYSICS[name][1], directory), os.path.join(folder, directory)
        running = self.begins(name, path, ranks)
        self.first_checkpoint(running, run)
        time.sleep(moment)
        processes = program.processes_of(path)
        if running.poll() is not None or len(processes) < ranks:
            running.communicate()
            return False
        victim = dice.choice(processes)
        if slow_launcher:
            os.kill(running.pid, signal.SIGSTOP)
        os.kill(victim, signal.SIGKILL)
        killed = time.time()
        if slow_launcher:
            time.sleep(0.5)
            os.kill(running.pid, signal.SIGCONT)
        error = running.communicate(timeout=60)[1]
        if running.returncode == 0:
            return False  # it had written everything
        self.assertLess(time.time() - killed, 20, "the job goes on for long without one of its ranks")
        self.named += self.says_how_to_go_on(error, victim, run, ranks)
        return True

    def says_how_to_go_on(self, error, victim, run, ranks):
        """A launcher that is quick takes the others' output away before they have named the rank: then it has said so itself."""
        if "has ended without a message" not in error:
            self.assertIn("exited on signal 9", error)
            return 0
        said = re.search(r"^cambium: rank (\d) \(process (\d+) on \S+\) has ended without a message: it was killed, perhaps for lack of memory, or it crashed; "
                         r"the job cannot continue\. (?:Its newest checkpoint is simulate/restart\.\d+\.h5)\. Resume with:\n  cambium restart (\S+)$", error, re.M)
        self.assertTrue(said, error)
        self.assertEqual(error.count("has ended without a message"), 1, error)
        self.assertEqual((int(said[2]), said[3]), (victim, run))
        self.assertLess(int(said[1]), ranks)
        return 1

    def undisturbed(self, name, folder, ranks):
        """Seconds that the whole run takes on these ranks, its start included; it is what others are compared with."""
        started = time.time()
        self.runs("run", deck(folder, name, PHYSICS[name][2], PHYSICS[name][1], f"whole{ranks}"), ranks=ranks)
        return time.time() - started

    def ends_alike(self, name, folder, ranks, what):
        """The killed run ends as the whole one did, on its own number of ranks to the same bits, and on the other one."""
        run, other = os.path.join(folder, "killed"), os.path.join(folder, "other")
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(run, other)
        for place, again in ((run, ranks), (other, 5 - ranks)):
            self.runs("restart", place, ranks=again)
            tolerance = 0 if again == ranks else 1e3 * PHYSICS[name][3]
            self.same(os.path.join(folder, f"whole{ranks}"), place, tolerance, f"{what}, {ranks} ranks, then {again}")
        self.assertEqual(table(run), table(os.path.join(folder, f"whole{ranks}")))

    def is_killed(self, name, moments):
        """At so many moments; then, where no rank that was left had a word before the launcher ended it, until one has."""
        folder = program.fresh("killed_" + name)
        dice, whole = random.Random(name), {}
        done, share = 0, 0.6  # of the time that the run takes; less where it turns out to be too much
        self.named = 0  # of those that died, by the ranks that were left
        for attempt in range(20 * moments):
            if done >= moments and self.named > 0:
                break
            ranks = dice.choice((2, 3))
            if ranks not in whole:
                whole[ranks] = self.undisturbed(name, folder, ranks)
            shutil.rmtree(os.path.join(folder, "killed"), ignore_errors=True)
            if not self.dies(name, folder, "killed", ranks, dice.uniform(0.0, share) * whole[ranks], dice, slow_launcher=done >= moments):
                share *= 0.7
            elif done < moments:
                done += 1
                self.ends_alike(name, folder, ranks, f"{name}, moment {attempt}")
        self.assertGreaterEqual(done, moments, "runs ended before a rank could be killed")
        self.assertGreater(self.named, 0, "no rank that died was named")


of_each_physics(Killed, "is_killed", MOMENTS, only=PHYSICS if "CAMBIUM_MOMENTS" in os.environ else KILLED_USUALLY)


def rank_of(process):
    """The rank that the launcher gave a process."""
    with open(f"/proc/{process}/environ", "rb") as file:
        found = re.search(rb"(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)", file.read())
    return int(found[1]) if found else None


def is_pending(process, number):
    """Whether a process has yet to take a signal."""
    with open(f"/proc/{process}/status", encoding="utf-8") as file:
        return any(int(bits, 16) >> (number - 1) & 1 for bits in re.findall(r"^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)", file.read(), re.M))


class Abort(Case):
    def test_a_witness_that_is_killed_too(self):
        """Rank 2 dies; rank 1, which would say so, was asked to stop and is killed, as launchers do: before it can notice, and at some moment
        while it may be about to speak. Rank 2 is named all the same, and once."""
        self.witness_is_killed(stopped=True, wait=0.0)
        self.witness_is_killed(stopped=False, wait=random.choice((0.0, 0.0003, 0.001)))

    def witness_is_killed(self, stopped, wait):
        folder = program.fresh("killed_witness")
        path, run = deck(folder, "md", 1000000, 20), os.path.join(folder, "run")
        with open(os.path.join(folder, "said"), "w+", encoding="utf-8") as said:
            running = subprocess.Popen(program.command("run", path, ranks=3), stdout=subprocess.DEVNULL, stderr=said)
            while running.poll() is None and not steps_in(run):
                time.sleep(0.01)
            ranks = {rank_of(process): process for process in program.processes_of(path)}
            os.kill(running.pid, signal.SIGSTOP)
            try:
                if set(ranks) != {0, 1, 2}:
                    self.skipTest("this launcher does not say which process has which rank")
                os.kill(ranks[2], signal.SIGSTOP)  # without it no rank can stop in order
                os.kill(ranks[1], signal.SIGTERM)
                while is_pending(ranks[1], signal.SIGTERM):  # a busy machine takes its time to tell a process
                    time.sleep(0.001)
                time.sleep(0.01)
                if stopped:
                    os.kill(ranks[1], signal.SIGSTOP)
                os.kill(ranks[2], signal.SIGKILL)
                time.sleep(wait)
                os.kill(ranks[1], signal.SIGKILL)
                time.sleep(5)  # for rank 0 to look and to speak
            finally:
                os.kill(running.pid, signal.SIGCONT)  # only now what was said goes on its way
                started = time.time()
                while "without a message" not in open(said.name, encoding="utf-8").read() and time.time() - started < 10:
                    time.sleep(0.05)
                program.kill_ranks(running, path)
                running.wait()
        with open(said.name, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(re.findall(r"rank (\d) \(process (\d+) on \S+\) has ended without a message", text), [("2", str(ranks[2]))],
                         f"stopped {stopped}, after {wait} s: {text}")

    def test_a_launcher_that_does_nothing(self):
        """The ranks that are left end themselves; here the launcher is stopped, so that it cannot."""
        folder = program.fresh("stopped_launcher")
        path, run = deck(folder, "md", 1000000, 20), os.path.join(folder, "run")
        said = open(os.path.join(folder, "said"), "w+", encoding="utf-8")
        running = subprocess.Popen(program.command("run", path, ranks=3), stdout=subprocess.DEVNULL, stderr=said)
        while running.poll() is None and not steps_in(run):
            time.sleep(0.01)
        ranks = program.processes_of(path)
        os.kill(running.pid, signal.SIGSTOP)
        try:
            os.kill(ranks[1], signal.SIGKILL)
            started = time.time()
            while program.processes_of(path) and time.time() - started < 40:
                time.sleep(0.1)
            self.assertEqual(program.processes_of(path), [])
            self.assertLess(time.time() - started, 25)
        finally:
            os.kill(running.pid, signal.SIGCONT)
            program.kill_ranks(running, path)
            running.wait()
        said.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
