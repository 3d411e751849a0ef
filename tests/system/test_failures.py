"""A calculation that breaks: exit code 4, a message with the step, the rank and the place, and a file that holds what there is of that step."""
# needs: md kinetic superres
import os
import re
import unittest

import h5py
import numpy as np

import program

MD = """
run: {name: gas, directory: out}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.4, cells: [4, 4, 4], species: [Ar]}}
      initial_temperature: 90 K
      potential: {type: lennard_jones, epsilon: 0.0104, sigma: 3.4, cutoff: 4.0}
      skin: 0.5
      timestep: 200 fs
      steps: 1000
      thermo: {every: 1}
"""
WAVES = """
run: {name: waves, directory: out}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_poisson
      parameters: {k: 0.5, a: 1e-4}
      domain: {lower: [0], upper: [2*pi/k], cells: [8]}
      species:
        - {name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [16]}, f0: (1 + a*cos(k*x)) * maxwellian(v)}
      external: {E: ["sqrt(0.3 - t)"]}
      end_time: 1
      thermo: {every: 1}
"""
FLOW = """
run: {name: flow, directory: out}
plugins: [superres]
stages:
  - simulate:
      physics: rayleigh_benard
      rayleigh: 1e5
      aspect_ratio: 2
      cells: [16, 8]
      initial: {noise: 1e140, amplitude: 1e140}
      end_time: 1e9
      thermo: {every: 1}
"""


class Failures(unittest.TestCase):
    def setUp(self):
        self.folder = program.fresh("failures_" + self.id().rsplit(".", 1)[1])

    def fails(self, deck, *overrides, ranks=1, limit=120):
        """(what was said after 'numerical failure: ', the only failed.*.h5 of the run)"""
        program.write(os.path.join(self.folder, "deck.yaml"), deck)
        code, out, error = program.run("run", "deck.yaml", *overrides, "--overwrite", ranks=ranks, cwd=self.folder, limit=limit)
        self.assertEqual(code, 4, out[-2000:] + error)
        said = re.search(r"^cambium: numerical failure: (.*); the state is in (\S+)$", error, re.M)
        self.assertTrue(said, error)
        stage = os.path.join(self.folder, "out", "simulate")
        self.assertEqual([name for name in os.listdir(stage) if name.startswith("failed")], [os.path.basename(said[2])])
        return said[1], os.path.join(self.folder, said[2])

    def rows_until(self, step):
        """The table was written up to the step before."""
        with open(os.path.join(self.folder, "out", "simulate", "thermo.csv"), encoding="utf-8") as table:
            self.assertEqual(int(table.read().split("\n")[-2].split(",")[0]), step)

    def holds(self, path, step):
        """The file, whose name and head say this step."""
        self.assertEqual(os.path.basename(path), f"failed.{step}.h5")
        file = h5py.File(path, "r")
        self.addCleanup(file.close)
        self.assertEqual(file["checkpoint"].attrs["step"], step)
        self.assertIn("x-run", file["cambium"].attrs["deck"])
        return file

    def test_a_timestep_that_is_too_long(self):
        for ranks in (1, 2):
            said, path = self.fails(MD, ranks=ranks)
            found = re.fullmatch(r"step (\d+): atom (\d+) on rank (\d) is lost: its position is \((\S+), (\S+), (\S+)\) Å; use a shorter time step, or "
                                 "look for atoms that start too close together", said)
            self.assertTrue(found, said)
            step, tag = int(found[1]), int(found[2])
            self.assertGreater(step, 1)
            self.assertLess(int(found[3]), ranks)
            file = self.holds(path, step)
            self.assertAlmostEqual(file["checkpoint"].attrs["time"], 0.2 * step)
            self.assertEqual(file["fields/position"].shape, (256, 4))
            row = list(file["fields/tag"][()]).index(tag)
            np.testing.assert_allclose(file["fields/position"][row, :3], [float(found[k]) for k in (4, 5, 6)], rtol=1e-5)
            self.rows_until(step - 1)

    def test_forces_beyond_any_number(self):
        said, path = self.fails(MD.replace("epsilon: 0.0104", "epsilon: 1e300"))
        self.assertEqual(said, "step 1: an atom moved by more than 1e150 Å on rank 0")
        self.assertGreater(np.abs(self.holds(path, 1)["fields/position"][()]).max(), 1e150)

    def test_a_distribution_that_is_no_number(self):
        for ranks in (1, 2):
            said, path = self.fails(WAVES, ranks=ranks)
            found = re.fullmatch(r"the distribution function is not finite any more at step (\d+), time (\S+): that of 'electron' in cell \[(\d)\] "
                                 r"\(x = (\S+)\) on rank (\d); take more cells or a smaller 'cfl', and check what the deck lets grow", said)
            self.assertTrue(found, said)
            step, cell = int(found[1]), int(found[3])
            self.assertGreater(step, 1)
            self.assertLess(float(found[2]), 0.31)
            self.assertAlmostEqual(float(found[4]), (cell + 0.5) * np.pi / 2, places=4)
            self.assertEqual(int(found[5]), cell * ranks // 8)
            file = self.holds(path, step)
            # The stage that broke left alone what the step began with.
            steps = ("run.directory=whole", f"stages[0].simulate.steps={step - 1}", f"stages[0].simulate.checkpoint.every={step - 1}")
            code, _, error = program.run("run", "deck.yaml", *steps, "--overwrite", ranks=ranks, cwd=self.folder)
            self.assertEqual(code, 0, error)
            with h5py.File(os.path.join(self.folder, "whole", "simulate", f"restart.{step - 1}.h5"), "r") as before:
                np.testing.assert_array_equal(file["physics/electron/f"][()], before["physics/electron/f"][()])
            self.rows_until(step - 1)

    def test_collisions_that_break_on_one_rank(self):
        """Both ranks write the state; the one that is at fault speaks."""
        broken = WAVES.replace("f0: (1 + a*cos(k*x)) * maxwellian(v)", "f0: (0.001 + step(x - 9.5)) * maxwellian(v), collisions: {frequency: 1}")
        broken = broken.replace('      external: {E: ["sqrt(0.3 - t)"]}\n', "")
        for kind in ("bgk", "dougherty"):
            said, path = self.fails(broken.replace("frequency: 1", f"operator: {kind}, frequency: 1"), "stages[0].simulate.ranks=[2, 1]", ranks=2)
            found = re.fullmatch(r"step (\d+), time \S+: rank (\d): collisions: species 'electron' has density \S+ and squared thermal speed \S+ in cell "
                                 r"\[(\d)\] \(x = \S+\), and both must be positive: its distribution function has become negative there, which its key "
                                 "positivity: true prevents", said)
            self.assertTrue(found, said)
            self.assertEqual(int(found[2]), int(found[3]) // 4)
            self.holds(path, int(found[1]))

    def test_a_field_that_grows_without_bound(self):
        """Each step is shorter than the one before, and time would stand still for ever."""
        said, path = self.fails(WAVES.replace("sqrt(0.3 - t)", "1/(0.3 - t)"))
        found = re.fullmatch(r"step (\d+) is \S+ long at time \S+, which does not advance any more: a speed or a field grows without bound; check what "
                             "the deck lets grow, and take more cells", said)
        self.assertTrue(found, said)
        self.holds(path, int(found[1]))

    def test_a_flow_that_is_no_number(self):
        for ranks in (1, 2):
            said, path = self.fails(FLOW, ranks=ranks)
            found = re.fullmatch(r"the flow is not finite any more after step (\d+) \(t = \S+\): ([buw]) is (nan|inf) at x = (\S+), z = (\S+) on rank (\d); "
                                 r"take more cells or a smaller 'cfl' \(it is 1\)", said)
            self.assertTrue(found, said)
            step = int(found[1])
            file = self.holds(path, step)
            column = round(float(found[4]) * 8 - 0.5)
            broken = ~np.isfinite(file["fields/" + found[2]][()])
            self.assertEqual(broken.shape, (8, 16))
            self.assertTrue(broken[:, column].any())
            row = int(np.argwhere(broken[:, column])[0, 0])
            self.assertEqual(int(found[6]), row * ranks // 8)


class OtherUnits(unittest.TestCase):
    def test_numbers_without_a_unit_are_warned_of(self):
        """A cut-off meant in nm and a time step meant in fs."""
        folder = program.fresh("other_units")
        deck = program.write(os.path.join(folder, "gas.yaml"), MD)
        keys = ("stages[0].simulate.steps=1", f"run.directory={folder}/run")
        code, out, error = program.run("run", deck, *keys, "stages[0].simulate.timestep=1", "stages[0].simulate.potential.cutoff=0.8")
        self.assertEqual(code, 0, out + error)
        self.assertIn("timestep is 1000 fs, longer than a vibration of atoms; a value without a unit is in ps, so write '1 fs' where that is meant", out)
        self.assertIn("no atom has another one within the cut-off of 0.8 Å and the skin: nothing acts on them; check the lengths of potential and "
                      "structure, which are in Å where no unit is given", out)
        code, out, error = program.run("run", deck, *keys, "stages[0].simulate.timestep=2 fs", "stages[0].simulate.structure.lattice.a=0.526",
                                       "stages[0].simulate.structure.lattice.cells=[12, 12, 12]", "stages[0].simulate.potential.cutoff=0.8", "--overwrite")
        self.assertRegex(out, r"atoms \d+ \(Ar\) and \d+ \(Ar\) are 0.372 Å apart, less than any bond; check the lengths of the structure, which are in Å "
                              r"where no unit is given \(a lattice constant of 0.5 nm is 5\), or minimise it first")
        code, out, error = program.run("run", deck, *keys, "stages[0].simulate.timestep=2 fs", "--overwrite")
        self.assertEqual(code, 0, out + error)
        self.assertNotIn("timestep is", out)
        self.assertNotIn("no atom has", out)
        self.assertNotIn("less than any bond", out)


if __name__ == "__main__":
    unittest.main()
