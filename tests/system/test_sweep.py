"""`cambium sweep`: tables of runs from end to end: dry run, interruption and going on, two ranks, seeds, pairs, failures, Slurm, files, page."""
# needs: md kinetic
# cost: 60
# thorough
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import h5py
import numpy as np
import program

DECK = """
run: {{name: landau, directory: {folder}/landau}}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_poisson
      parameters: {{k: 0.5, a: 1e-4}}
      domain: {{lower: [0], upper: [2*pi/k], cells: [6]}}
      species:
        - name: electron
          charge: -1
          velocity: {{lower: [-6], upper: [6], cells: [16]}}
          f0: (1 + a*cos(k*x)) * maxwellian(v)
      end_time: {end}
      thermo: {{every: 10}}
      checkpoint: {{every: 20}}
      observables:
        growth_rate: {{oscillating: true, start_time: 1, end_time: 12}}
"""
K = "stages[0].simulate.parameters.k"
THEORY = """
sweep:
  over:
    {k}: [0.4, 0.5, 0.6]
    run.seed: range(1, 2, 2)
  theory:
    gamma: [-0.0661, -0.1534, -0.2641]
    total_energy_mean: 6.28/k
    gama: 1
"""
GAS = """
run: {{name: gas, directory: {folder}/gas, seed: 1}}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {{lattice: {{type: fcc, a: 5.719, cells: [3, 3, 3], species: [Ar]}}}}
      initial_temperature: 100 K
      potential: {{type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 6, truncation: shift}}
      timestep: 2 fs
      steps: 20
      thermo: {{every: 2}}
"""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def table(folder):
    with open(os.path.join(folder, "results.csv"), newline="") as file:
        return list(csv.DictReader(file))


def write_deck(folder, text, name="deck.yaml", **values):
    return program.write(os.path.join(folder, name), text.format(folder=folder, **values))


class Sweep(unittest.TestCase):
    """Three wave numbers and two seeds, with a theory."""

    @classmethod
    def setUpClass(cls):
        os.environ["CAMBIUM_PYTHON"] = sys.executable
        cls.folder = program.fresh("sweep")
        cls.deck = write_deck(cls.folder, DECK, end=12)
        with open(cls.deck, "a") as file:
            file.write(THEORY.format(k=K))
        cls.where = os.path.join(cls.folder, "landau")
        cls.code, cls.out, cls.err = program.run("sweep", cls.deck)

    def test_every_run_has_its_folder(self):
        self.assertEqual(self.code, 0, self.out + self.err)
        folders = [f"00{n}_k={k},seed={s}" for n, (k, s) in enumerate(((k, s) for k in (0.4, 0.5, 0.6) for s in (1, 2)), 1)]
        self.assertEqual([row["folder"] for row in table(self.where)], folders)
        for folder in folders:
            self.assertTrue(os.path.exists(os.path.join(self.where, folder, "simulate", "thermo.csv")), folder)
        self.assertIn(f"6 of 6 runs done in {self.where}", self.out)
        self.assertIn("warning: sweep.theory: no run has a result 'gama'; did you mean 'gamma'?", self.out)
        self.assertIn(f"wrote {self.where}/report.html", self.out)
        self.assertNotIn(".taken", os.listdir(self.where))

    def test_results_of_the_stages(self):
        """The same numbers as each run found; theory by value of the first key and by formula."""
        for row in table(self.where):
            with open(os.path.join(self.where, row["folder"], "simulate", "results.json")) as file:
                found = {result["key"]: result["value"] for result in json.load(file)["results"]}
            self.assertEqual((float(row["gamma"]), float(row["omega"])), (found["gamma"], found["omega"]))
            k = float(row["k"])
            self.assertEqual(float(row["gamma_theory"]), {0.4: -0.0661, 0.5: -0.1534, 0.6: -0.2641}[k])
            self.assertAlmostEqual(float(row["total_energy_mean_theory"]), 6.28 / k)
            self.assertAlmostEqual(float(row["gamma"]), float(row["gamma_theory"]), delta=0.02)

    def test_thermo_means(self):
        row = table(self.where)[2]
        path = os.path.join(self.where, row["folder"], "simulate", "thermo.csv")
        with open(path, newline="") as file:
            energy = [float(line["electric_energy"]) for line in csv.DictReader(file)]
        self.assertAlmostEqual(float(row["electric_energy_mean"]) / np.mean(energy[len(energy) // 2:]), 1, places=12)
        self.assertEqual(float(row["electric_energy_last"]), energy[-1])

    def test_h5py_has_scales(self):
        with h5py.File(os.path.join(self.where, "results.h5")) as file:
            gamma = file["gamma"]
            self.assertEqual(gamma.shape, (3, 2))
            self.assertEqual([d.keys() for d in gamma.dims], [["k"], ["seed"]])
            self.assertEqual(list(file["k"]), [0.4, 0.5, 0.6])
            self.assertTrue((file["exit_code"][:] == 0).all())
            self.assertIn("deck", file["cambium"].attrs)

    def test_xarray_opens_it_without_arguments(self):
        try:
            import xarray
        except ImportError:
            self.skipTest("python3-xarray is missing")
        with xarray.open_dataset(os.path.join(self.where, "results.h5")) as data:
            self.assertEqual(dict(data.sizes), {"k": 3, "seed": 2})
            self.assertEqual(list(data["gamma"].coords), ["k", "seed"])
            found = data["gamma"].sel(k=0.5, seed=2).item()
        self.assertEqual(found, float(table(self.where)[3]["gamma"]))

    def test_python_reads_it(self):
        sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
        import cambium_sweep
        sweep = cambium_sweep.Sweep(self.where)
        self.assertEqual((sweep.keys, sweep["gamma"].shape, len(sweep)), (["k", "seed"], (3, 2), 6))
        self.assertEqual(list(sweep.flat("k")), [0.4, 0.4, 0.5, 0.5, 0.6, 0.6])

    def test_page(self):
        with open(os.path.join(self.where, "report.html")) as file:
            page = file.read()
        for part in ("6 runs over k (3) × seed (2): 6 done.", "<h2>Results over the swept keys</h2>", 'alt="results_1"',
                     "<h2>Runs over their time</h2>", 'alt="tables_0"', "<code>002_k=0.4,seed=2</code>", "To cite", "git_hash"):
            self.assertIn(part, page)
        self.assertEqual(re.findall(r'src="(?!data:)[^"]*"|<link|@import|<script', page), [])

    def test_called_again_it_has_nothing_to_do(self):
        first = os.path.join(self.where, "001_k=0.4,seed=1", "simulate", "thermo.csv")
        before = os.stat(first).st_mtime_ns
        code, out, err = program.run("sweep", self.deck)
        self.assertEqual(code, 0, err)
        self.assertNotIn("run 1 of 6", out)
        self.assertEqual(os.stat(first).st_mtime_ns, before)

    def test_dry_run_and_check(self):
        code, out, err = program.run("sweep", self.deck, "--dry-run", "run.directory=" + self.folder + "/none")
        self.assertEqual(code, 0, err)
        self.assertEqual(out.splitlines()[:3], [f"6 runs in {self.folder}/none", "  run    k  seed    state  folder",
                                                "    1  0.4     1  missing  001_k=0.4,seed=1"])
        self.assertFalse(os.path.exists(self.folder + "/none"))
        code, out, err = program.run("check", self.deck, "run.directory=" + self.folder + "/none")
        self.assertEqual(code, 0, err)
        self.assertIn("the decks of all 6 runs are sound; nothing was run", out)
        self.assertFalse(os.path.exists(self.folder + "/none"))

    def test_check_names_the_run_that_is_refused(self):
        """Stages of every run are constructed: a formula is read then."""
        deck = write_deck(self.folder, DECK, "formula.yaml", end=1)
        with open(deck, "a") as file:
            file.write("sweep:\n  over:\n    stages[0].simulate.species[0].f0: [maxwellian(v), maxwellian(q)]\n")
        code, _, err = program.run("check", deck)
        self.assertEqual(code, 2)
        self.assertRegex(err, r"^cambium: run 2 \(f0=.*maxwellian\(q\).*\): ")
        self.assertNotIn("run 1", err)

    @unittest.skipUnless(CHROMIUM, "no chromium: the page was not looked at in a browser")
    def test_a_browser_shows_it(self):
        picture = os.path.join(self.folder, "page.png")
        subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--screenshot={picture}", "--window-size=1000,1400",
                        "file://" + os.path.join(self.where, "report.html")], capture_output=True, timeout=120)
        import matplotlib.image
        shown = matplotlib.image.imread(picture)[..., :3]
        self.assertGreater((shown.min(axis=2) < 0.5).mean(), 0.005)


class Interrupted(unittest.TestCase):
    setUpClass = classmethod(program.draw_nothing)

    def test_goes_on_where_it_was_stopped(self):
        """SIGTERM in the middle: what was done stays, the run under way goes on from its checkpoint, and all ends as if undisturbed."""
        folder = program.fresh("sweep_interrupted")
        deck = write_deck(folder, DECK, end=60)
        over = ["--over", K + "=range(0.3, 0.55, 6)"]
        where = os.path.join(folder, "landau_sweep")
        launched = subprocess.Popen(program.command("sweep", deck, *over), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        second = os.path.join(where, "002_k=0.35", "simulate")
        give_up = time.time() + 300
        while not (os.path.isdir(second) and any(name.startswith("restart.") for name in os.listdir(second))):
            self.assertLess(time.time(), give_up, "the second run never wrote a checkpoint")
            self.assertIsNone(launched.poll(), "ended too early")
            time.sleep(0.005)
        launched.send_signal(signal.SIGTERM)
        out, err = launched.communicate(timeout=300)
        self.assertEqual(launched.returncode, 3, out + err)
        self.assertIn("stopped by signal SIGTERM; the same command continues with what is missing", out)
        done = [row["state"] for row in table(where)].count("done")
        self.assertTrue(1 <= done < 6, done)
        first = os.stat(os.path.join(where, "001_k=0.3", "simulate", "thermo.csv")).st_mtime_ns
        code, out, err = program.run("sweep", deck, *over)
        self.assertEqual(code, 0, out + err)
        self.assertEqual(out.count(" done in "), 6 - done + 1, out)  # the runs and the last line
        self.assertEqual(os.stat(os.path.join(where, "001_k=0.3", "simulate", "thermo.csv")).st_mtime_ns, first)
        code, out, err = program.run("sweep", deck, *over, f"run.directory={folder}/whole")
        self.assertEqual(code, 0, out + err)
        for row in table(where):
            texts = []
            for place in (where, os.path.join(folder, "whole")):
                with open(os.path.join(place, row["folder"], "simulate", "thermo.csv")) as file:
                    texts.append(file.read())
            self.assertEqual(*texts)

    def test_killed(self):
        """SIGKILL leaves no state behind; the next call finds what is done by itself."""
        folder = program.fresh("sweep_killed")
        deck = write_deck(folder, DECK, end=60)
        over = ["--over", K + "=[0.3, 0.4, 0.5]"]
        where = os.path.join(folder, "landau_sweep")
        launched = subprocess.Popen(program.command("sweep", deck, *over, ranks=2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        give_up = time.time() + 300
        while not os.path.exists(os.path.join(where, "001_k=0.3", "simulate", "thermo.csv")):
            self.assertLess(time.time(), give_up)
            time.sleep(0.005)
        program.kill_ranks(launched, folder)
        code, out, err = program.run("sweep", deck, *over, ranks=2)
        self.assertEqual(code, 0, out + err)
        self.assertEqual([row["state"] for row in table(where)], ["done"] * 3)


class Ranks(unittest.TestCase):
    setUpClass = classmethod(program.draw_nothing)

    def test_two_ranks_share_the_runs(self):
        folder = program.fresh("sweep_ranks")
        deck = write_deck(folder, DECK, end=12)
        over = ["--over", K + "=[0.4, 0.5, 0.6]", "--over", "run.seed=[1, 2]"]
        code, out, err = program.run("sweep", deck, *over, ranks=2)
        self.assertEqual(code, 0, out + err)
        where = os.path.join(folder, "landau_sweep")
        for row in table(where):
            with open(os.path.join(where, row["folder"], "log.txt")) as log:
                self.assertIn("; 1 MPI rank x", log.read())
        code, out, err = program.run("sweep", deck, *over, "--ranks-per-run", "2", f"run.directory={folder}/both", ranks=2)
        self.assertEqual(code, 0, out + err)
        for one, two in zip(table(where), table(os.path.join(folder, "both"))):
            with open(os.path.join(folder, "both", two["folder"], "log.txt")) as log:
                self.assertIn("; 2 MPI ranks x", log.read())
            self.assertAlmostEqual(float(one["gamma"]), float(two["gamma"]), places=5)

    def test_ranks_left_over_are_told(self):
        folder = program.fresh("sweep_left_over")
        deck = write_deck(folder, DECK, end=1)
        code, out, err = program.run("sweep", deck, "--over", K + "=[0.4, 0.5]", "--ranks-per-run", "2", ranks=3)
        self.assertEqual(code, 0, out + err)
        self.assertIn("1 of 3 ranks have nothing to do: 1 runs at a time on 2 each; see --ranks-per-run", out)


class Failures(unittest.TestCase):
    def test_one_that_fails_is_named_and_the_others_run(self):
        folder = program.fresh("sweep_failed")
        deck = write_deck(folder, GAS)
        over = ["--over", "stages[0].simulate.timestep=[2 fs, 2 ps, 1 fs]"]
        code, out, err = program.run("sweep", deck, *over)
        where = os.path.join(folder, "gas_sweep")
        self.assertEqual(code, 4, out + err)
        rows = table(where)
        self.assertEqual([(row["state"], row["exit_code"]) for row in rows], [("done", "0"), ("failed", "4"), ("done", "0")])
        self.assertTrue(rows[1]["reason"].startswith("numerical failure: "), rows[1]["reason"])
        self.assertEqual([float(row["timestep [ps]"]) for row in rows], [0.002, 2, 0.001])
        self.assertIn("run 2 failed (exit code 4): timestep=2 ps: numerical failure: ", out)
        with open(os.path.join(where, rows[1]["folder"], "log.txt")) as log:
            self.assertIn("\nfailed: " + rows[1]["reason"], log.read())
        self.assertIn("2 of 3 runs done in", out)
        with open(os.path.join(where, "report.html")) as page:
            self.assertIn("failed with exit code 4: numerical failure: ", page.read())
        code, out, err = program.run("sweep", deck, *over)
        self.assertEqual(code, 4)
        self.assertNotIn("of 3 failed", out)  # not begun again
        self.assertIn("run 2 failed (exit code 4)", out)
        code, out, err = program.run("sweep", deck, *over, "--retry")
        self.assertEqual(code, 4)
        self.assertIn("run 2 of 3 failed (exit code 4)", out)
        # Coordinates have the unit of their key, whatever they were written in.
        with h5py.File(os.path.join(where, "results.h5")) as file:
            self.assertEqual(file["timestep"].attrs["units"], "ps")
            np.testing.assert_allclose(file["timestep"][:], [0.002, 2, 0.001])
            self.assertTrue(np.isnan(file["temperature_mean"][1]))
            self.assertEqual(file["temperature_mean"].attrs["units"], "K")


class Pairs(unittest.TestCase):
    setUpClass = classmethod(program.draw_nothing)

    def test_zip_and_words(self):
        folder = program.fresh("sweep_zip")
        deck = write_deck(folder, GAS)
        code, out, err = program.run("sweep", deck, "--zip", "--over", "stages[0].simulate.initial_temperature=range(60 K, 100 K, 3)",
                                     "--over", "stages[0].simulate.potential.truncation=[shift, smooth, plain]")
        self.assertEqual(code, 0, out + err)
        where = os.path.join(folder, "gas_sweep")
        self.assertEqual([(row["initial_temperature [K]"], row["truncation"]) for row in table(where)],
                         [("60", "shift"), ("80", "smooth"), ("100", "plain")])
        try:
            import xarray
        except ImportError:
            self.skipTest("python3-xarray is missing")
        with xarray.open_dataset(os.path.join(where, "results.h5")) as data:
            self.assertEqual(dict(data.sizes), {"initial_temperature": 3})
            self.assertEqual([str(word) for word in data["temperature_mean"].coords["truncation"].values], ["shift", "smooth", "plain"])
            self.assertEqual(data["initial_temperature"].attrs["units"], "K")


class Seeds(unittest.TestCase):
    def test_mean_and_standard_error(self):
        """The page's curves over three seeds: by numpy from the runs' own tables."""
        folder = program.fresh("sweep_seeds")
        deck = write_deck(folder, GAS)
        code, out, err = program.run("sweep", deck, "--over", "stages[0].simulate.initial_temperature=[60, 100]", "--over", "run.seed=[1, 2, 3]")
        self.assertEqual(code, 0, out + err)
        where = os.path.join(folder, "gas_sweep")
        sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
        import cambium_sweep
        import sweep_curves
        sweep = cambium_sweep.Sweep(where)
        layout = sweep_curves.Layout(sweep)
        self.assertEqual((layout.axis, layout.seeds, layout.others), ("initial_temperature", ["seed"], []))
        [(_, chosen)] = layout.lines()
        x, mean, error = layout.curve("temperature_mean", chosen)
        rows = table(where)
        for k, first in enumerate((0, 3)):
            values = []
            for row in rows[first:first + 3]:
                with open(os.path.join(where, row["folder"], "simulate", "thermo.csv"), newline="") as file:
                    values.append([float(line["temperature [K]"]) for line in csv.DictReader(file)])
            means = [np.mean(v[len(v) // 2:]) for v in values]
            self.assertGreater(np.ptp(means), 0)
            self.assertEqual(x[k], (60, 100)[k])
            self.assertAlmostEqual(mean[k], np.mean(means), places=9)
            self.assertAlmostEqual(error[k], np.std(means, ddof=1) / np.sqrt(3), places=9)
        with open(os.path.join(where, "report.html")) as page:
            self.assertIn("mean and standard error over seed.", page.read().lower())


class Slurm(unittest.TestCase):
    def test_script(self):
        """Run as an array would: each task its own row, through an srun that starts what follows."""
        folder = program.fresh("sweep_slurm")
        deck = write_deck(folder, DECK, end=1)
        script = os.path.join(folder, "array.sh")
        code, out, err = program.run("sweep", deck, "--over", K + "=[0.4, 0.5]", "--slurm", script, "run.walltime='90:00'")
        self.assertEqual(code, 0, err)
        self.assertEqual(out, f"wrote {script}: 2 runs as a job array; its first lines explain how to submit it\n")
        with open(script) as file:
            text = file.read()
        for part in ("#SBATCH --array=1-2\n", "#SBATCH --job-name=landau\n", "#SBATCH --ntasks=1\n", "#SBATCH --time=01:30:00\n", "#SBATCH --signal=TERM@180\n"):
            self.assertIn(part, text)
        for limit, lines in (("4m", "#SBATCH --time=00:04:00\n#SBATCH --signal=TERM@60\n"), ("20s", "#SBATCH --time=00:02:00\n#SBATCH --signal=TERM@30\n")):
            short = os.path.join(folder, "short.sh")  # the signal does not come before the first step
            code, _, err = program.run("sweep", deck, "--over", K + "=[0.4, 0.5]", "--slurm", short, f"run.walltime={limit}")
            self.assertEqual(code, 0, err)
            with open(short) as file:
                self.assertIn(lines, file.read())
        srun = program.write(os.path.join(folder, "srun"), '#!/bin/sh\nexec "$@"\n')
        os.chmod(srun, 0o755)
        where = os.path.join(folder, "landau_sweep")
        for task in ("1", "2"):
            done = subprocess.run(["bash", script], capture_output=True, text=True,
                                  env={**os.environ, "SLURM_ARRAY_TASK_ID": task, "PATH": folder + ":" + os.environ["PATH"]})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(f"1 of 1 run done in {where}", done.stdout)
        code, out, err = program.run("report", where)
        self.assertEqual((code, out), (0, f"wrote {where}/report.html\n"), err)
        self.assertEqual([row["state"] for row in table(where)], ["done", "done"])


class Shipped(unittest.TestCase):
    setUpClass = classmethod(program.draw_nothing)

    def test_the_deck_that_ships(self):
        """inputs/kinetic/landau_sweep.yaml, long enough for its rates: those of linear theory."""
        folder = program.fresh("sweep_shipped")
        deck = os.path.join(program.SOURCE, "inputs", "kinetic", "landau_sweep.yaml")
        code, out, err = program.run("sweep", deck, f"run.directory={folder}/s", "--over", K + "=[0.4, 0.5]", ranks=2)
        self.assertEqual(code, 0, out + err)
        code, out, err = program.run("sweep", deck, f"run.directory={folder}/small", "--test-size", ranks=2)
        self.assertEqual(code, 0, out + err)
        self.assertEqual([float(row["gamma_theory"]) for row in table(folder + "/small")], [-0.01262037, -0.06612796, -0.15335947, -0.26411034])
        self.assertNotIn("gamma_theory", table(folder + "/s")[0])  # a list is of the deck's own values
        for row, gamma, omega in zip(table(folder + "/s"), (-0.06612796, -0.15335947), (1.28505698, 1.41566186)):
            self.assertAlmostEqual(float(row["gamma"]), gamma, delta=0.002)
            self.assertAlmostEqual(float(row["omega"]), omega, delta=0.01)


if __name__ == "__main__":
    unittest.main(verbosity=2)
