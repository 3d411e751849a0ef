"""Ranks that die and checkpoints that are damaged. Every physics goes on, on the same ranks to the same bits and on others to the same numbers; the
message names the rank and the line that goes on.

CAMBIUM_MOMENTS: moments at which a random rank of each physics is killed (where it is not set, 1, of three of them)."""
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

import h5py
import numpy as np

import program

MOMENTS = int(os.environ.get("CAMBIUM_MOMENTS", "1"))
KILLED_USUALLY = {"md", "vlasov_poisson", "graph_diffusion"}
BUILT = os.environ.get("CAMBIUM_BUILT_PLUGINS", "").split()
DECK = """
run: {name: NAME, directory: "DIR", seed: 3}
plugins: PLUGINS
stages:
  - simulate:
BODY
      steps: STEPS
      thermo: {every: 5}
      checkpoint: {every: EVERY, keep: 2}
"""
ELECTRONS = """species: [{name: electron, charge: -1, velocity: {lower: LOWER, upper: UPPER, cells: CELLS}, f0: F0}]"""
# name: plugins, body, steps between two checkpoints, steps of a run that is killed, tolerance on other ranks
PHYSICS = {
    "md": (["md"], """physics: md
structure: {lattice: {type: fcc, a: 3.7, cells: [6, 6, 6], species: [Cu], displacement: 0.1}}
initial_temperature: 1500 K
potential: {type: sutton_chen, element: Cu, cutoff: 5.5}
integrator: {type: npt, temperature: 1500 K, pressure: 0 bar}
timestep: 2 fs""", 10, 400, 1e-8),
    "tight_binding": (["md", "submatrix"], """physics: md
structure: {lattice: {type: diamond, a: 3.556, cells: [2, 2, 3], species: [C], displacement: 0.05 angstrom}}
initial_temperature: 300 K
potential: {type: tight_binding, eps: 0}
timestep: 1 fs""", 2, 30, 1e-7),
    "vlasov_poisson": (["kinetic"], """physics: vlasov_poisson
parameters: {k: 0.5, a: 1e-2}
domain: {lower: [0], upper: [2*pi/k], cells: [24]}
species: [{name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [32]}, f0: (1 + a*cos(k*x)) * maxwellian(v)}]
end_time: 1000""", 10, 600, 1e-11),
    "vlasov_maxwell": (["kinetic"], """physics: vlasov_maxwell
parameters: {k: 0.4, u: 0.3, vt: 0.1, a: 1e-4}
domain: {lower: [0], upper: [2*pi/k], cells: [12]}
species: [{name: electron, charge: -1, velocity: {lower: [-0.9, -0.9], upper: [0.9, 0.9], cells: [8, 8]}, f0: "0.5*maxwellian(vx, 0, vt) * (maxwellian(vy, u, vt) + maxwellian(vy, -u, vt))"}]
fields: {B: ["0", "0", a*sin(k*x)]}
end_time: 1000""", 10, 200, 1e-11),
    "boltzmann_bgk": (["kinetic"], """physics: boltzmann_bgk
parameters: {knudsen: 0.01}
domain: {lower: [-1], upper: [1], cells: [24], lower_wall: [copy], upper_wall: [copy]}
species: [{name: gas, velocity: {lower: [-6], upper: [6], cells: [16]}, f0: "step(-x)*maxwellian(v) + (1 - step(-x))*0.125*maxwellian(v, 0, sqrt(0.8))", collisions: {frequency: 1/knudsen}}]
end_time: 1000""", 10, 400, 1e-11),
    "moment_fluid": (["kinetic"], """physics: moment_fluid
parameters: {k: 0.4, a: 1e-2}
length: 2*pi/k
density: 1 + a*cos(k*x)
closure: {type: hammett_perkins}
end_time: 10000""", 50, 20000, 1e-11),
    "rayleigh_benard": (["superres"], """physics: rayleigh_benard
rayleigh: 1e5
width: 2
cells: [48, 24]
initial: {noise: 1e-2}
end_time: 1000""", 10, 500, 1e-9),
    "graph_diffusion": (["graph"], """physics: graph_diffusion
graph: {random: {nodes: 400, degree: 8, weight: exp(-2*d^2)}}
parameters: {beta: 0.4, gamma: 0.1}
species:
  - {name: S, diffusion: 0.02, initial: "1 - 0.5*exp(-10*((x - 0.1)^2 + (y - 0.1)^2))", reaction: -beta*S*I}
  - {name: I, diffusion: 0.02, initial: "0.5*exp(-10*((x - 0.1)^2 + (y - 0.1)^2))", reaction: beta*S*I - gamma*I}
timestep: 0.01
end_time: 10000""", 50, 10000, 1e-12),
    "mesh_transport": (["graph"], """physics: mesh_transport
mesh: {rectangle: {cells: [24, 12], size: [2, 1]}}
parameters: {A: 0.1}
stream: -A*sin(pi*x)*sin(pi*y)
diffusivity: 1e-4
initial: if((x - 0.5)^2 + (y - 0.5)^2 < 0.09, 1, 0)
end_time: 10000""", 20, 2000, 1e-12),
    "structure_growth": (["cosmo"], """physics: structure_growth
cosmology: {omega_m: 0.3, omega_b: 0.05, h: 0.7, n_s: 0.96, sigma_8: 0.8}
box: 64
particles: 16
mesh: 16
start: 0.02
end: 1
time_steps: 120""", 5, 120, 1e-9),
}


def built(name):
    return all(plugin in BUILT for plugin in PHYSICS[name][0])


def deck(folder, name, steps, every, directory="run"):
    plugins, body = PHYSICS[name][:2]
    text = DECK.replace("BODY", "\n".join("      " + line for line in body.splitlines())).replace("NAME", name).replace("DIR", os.path.join(folder, directory))
    return program.write(os.path.join(folder, directory + ".yaml"), text.replace("PLUGINS", f"[{', '.join(plugins)}]").replace("STEPS", str(steps))
                         .replace("EVERY", str(every)))


def steps_in(run):
    """Steps of the checkpoints that are there."""
    place = os.path.join(run, "simulate")
    found = [re.fullmatch(r"restart\.(\d+)\.h5", name) for name in (os.listdir(place) if os.path.isdir(place) else [])]
    return sorted(int(m[1]) for m in found if m)


def state(run):
    """{name: values} of the last checkpoint, rows of atoms in the order of their tags."""
    out = {}
    with h5py.File(os.path.join(run, "simulate", f"restart.{steps_in(run)[-1]}.h5"), "r") as file:
        order = np.argsort(file["fields/tag"][()]) if "tag" in file.get("fields", {}) else None

        def take(name, item):
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "iuf" and not name.startswith(("ranks", "tables")):
                rows = order is not None and name.startswith("fields/") and item.shape[:1] == order.shape
                out[name] = item[()][order] if rows else item[()]
        file.visititems(take)
    return out


def table(run):
    with open(os.path.join(run, "simulate", "thermo.csv"), encoding="utf-8") as file:
        return file.read()


class Case(unittest.TestCase):
    def runs(self, *words, ranks, code=0):
        done, out, error = program.run(*words, ranks=ranks)
        self.assertEqual(done, code, f"{words} on {ranks} ranks\n{out[-1500:]}{error}")
        return out if code == 0 else error

    def same(self, one, two, tolerance, what):
        first, second = state(one), state(two)
        if tolerance > 0:  # planes between ranks are those of their number
            first.pop("physics/cuts", None), second.pop("physics/cuts", None)
        self.assertEqual(set(first), set(second), what)
        for name, values in first.items():
            other = second[name]
            self.assertEqual(values.shape, other.shape, f"{what}: {name}")
            if tolerance == 0:
                self.assertTrue(np.array_equal(values, other, equal_nan=True), f"{what}: {name} is not the same bit for bit")
            elif values.dtype.kind == "f" and values.size:
                scale = max(np.abs(values).max(), 1e-300)
                self.assertLessEqual(np.abs(values - other).max() / scale, tolerance, f"{what}: {name}")


class OtherRanks(Case):
    """1 rank, then 2, then 3, against 1 all the time."""

    def goes_on(self, name):
        every, tolerance = PHYSICS[name][2], PHYSICS[name][4]
        folder = program.fresh("ranks_" + name)
        whole, moved = os.path.join(folder, "whole"), os.path.join(folder, "moved")
        self.runs("run", deck(folder, name, 3 * every, every, "whole"), ranks=1)
        self.runs("run", deck(folder, name, every, every, "moved"), ranks=1)
        for ranks, steps in ((2, 2 * every), (3, 3 * every)):
            out = self.runs("restart", moved, f"stages[0].simulate.steps={steps}", ranks=ranks)
            self.assertIn("(written by another number of ranks)", out)
        self.same(whole, moved, tolerance, name)


class Killed(Case):
    """A random rank dies at random moments."""

    def begins(self, name, path, ranks):
        return subprocess.Popen(program.command("run", path, ranks=ranks), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def first_checkpoint(self, running, run):
        while running.poll() is None and not steps_in(run):
            time.sleep(0.005)

    def dies(self, name, folder, directory, ranks, moment, dice):
        """Starts a run and kills one of its ranks `moment` seconds after its first checkpoint. False when it ended before."""
        path, run = deck(folder, name, PHYSICS[name][3], PHYSICS[name][2], directory), os.path.join(folder, directory)
        running = self.begins(name, path, ranks)
        self.first_checkpoint(running, run)
        time.sleep(moment)
        processes = program.processes_of(path)
        if running.poll() is not None or len(processes) < ranks:
            running.communicate()
            return False
        victim = dice.choice(processes)
        os.kill(victim, signal.SIGKILL)
        killed = time.time()
        error = running.communicate(timeout=60)[1]
        if running.returncode == 0:
            return False  # it had written everything
        self.assertLess(time.time() - killed, 20, "the job goes on for long without one of its ranks")
        self.named += self.says_how_to_go_on(error, victim, run, ranks)
        return True

    def says_how_to_go_on(self, error, victim, run, ranks):
        """A launcher that is quick takes the others' output away before they have named the rank: then it has said so itself."""
        if "has ended without a word" not in error:
            self.assertIn("exited on signal 9", error)
            return 0
        said = re.search(r"^cambium: rank (\d) \(process (\d+) on \S+\) has ended without a word: it was killed, for want of memory perhaps, or it crashed; "
                         r"the job cannot go on\. (?:Its newest checkpoint is simulate/restart\.\d+\.h5)\. Resume with:\n  cambium restart (\S+)$", error, re.M)
        self.assertTrue(said, error)
        self.assertEqual(error.count("has ended without a word"), 1, error)
        self.assertEqual((int(said[2]), said[3]), (victim, run))
        self.assertLess(int(said[1]), ranks)
        return 1

    def is_killed(self, name, moments):
        folder = program.fresh("killed_" + name)
        dice = random.Random(name)
        whole = {}
        for ranks in (2, 3):
            started = time.time()
            self.runs("run", deck(folder, name, PHYSICS[name][3], PHYSICS[name][2], f"whole{ranks}"), ranks=ranks)
            whole[ranks] = time.time() - started
        done, share = 0, 0.6  # of the time that the run takes, its start included; less where it turns out to be too much
        self.named = 0  # of those that died, by the ranks that were left
        for attempt in range(20 * moments):
            if done >= moments and self.named > 0:
                break
            ranks = dice.choice((2, 3))
            run = os.path.join(folder, "killed")
            shutil.rmtree(run, ignore_errors=True)
            if not self.dies(name, folder, "killed", ranks, dice.uniform(0.0, share) * whole[ranks], dice):
                share *= 0.7
                continue
            done += 1
            other = os.path.join(folder, "other")
            shutil.rmtree(other, ignore_errors=True)
            shutil.copytree(run, other)
            for folder_, again in ((run, ranks), (other, 5 - ranks)):
                self.runs("restart", folder_, ranks=again)
                tolerance = 0 if again == ranks else 1e3 * PHYSICS[name][4]
                self.same(os.path.join(folder, f"whole{ranks}"), folder_, tolerance, f"{name}, moment {attempt}, {ranks} ranks, then {again}")
            self.assertEqual(table(run), table(os.path.join(folder, f"whole{ranks}")))
        self.assertGreaterEqual(done, moments, "runs ended before a rank could be killed")
        self.assertGreater(self.named, 0, "no rank that died was named")


def add(case, method, name, *arguments):
    def test(self):
        getattr(self, method)(name, *arguments)
    test.__doc__ = name
    setattr(case, "test_" + name, unittest.skipUnless(built(name), f"needs {PHYSICS[name][0]}")(test))


for one in PHYSICS:
    add(OtherRanks, "goes_on", one)
    if "CAMBIUM_MOMENTS" in os.environ or one in KILLED_USUALLY:
        add(Killed, "is_killed", one, MOMENTS)


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
        for damage, why in ((self.flip, "what it holds is not what was written"), (self.cut, "it was cut or overwritten, and HDF5 cannot open it"),
                            (self.empty, "it was cut or overwritten, and HDF5 cannot open it")):
            for ranks in (1, 2):
                run, (_, newest) = self.stopped()
                damage(newest)
                out = self.runs("restart", run, ranks=ranks)
                self.assertIn(f"'{newest}' is damaged: {why}; the run goes on from restart.20.h5, and the damaged file is kept as {newest}.damaged", out)
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
                             f"cambium: no checkpoint in '{os.path.join(run, 'simulate')}' is whole:\n  restart.30.h5: it was cut or overwritten, and HDF5 cannot open "
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
        self.runs("run", deck(folder, "md", 200, 10, "whole"), ranks=2)
        path, run = deck(folder, "md", 200, 10, "later"), os.path.join(folder, "later")
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


class Abort(Case):
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
