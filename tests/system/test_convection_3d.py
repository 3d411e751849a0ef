"""Convection in three dimensions through the program: what its files hold, the same on two ranks, a restart on fewer, means over blocks, pictures."""
# needs: superres
# cost: 10
import os
import subprocess
import sys
import unittest

import h5py
import numpy as np

import program

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
import cambium_io  # noqa: E402
from vtkhdf_layout import Layout  # noqa: E402

DECK = os.path.join(program.SOURCE, "inputs", "superres", "convection_3d.yaml")
S = "stages[0].simulate."
CELLS, DEPTH = (16, 12, 10), 1.5


class Convection3D(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("convection_3d")
        cls.run_deck("alone")

    @classmethod
    def run_deck(cls, name, *more, ranks=1):
        outputs = "{type: fields, interval: 1, single: false}, {type: vtkhdf, interval: 1, precision: double}, {type: spectrum, every: 1, start_time: 1.999}"
        code, out, error = program.run("run", DECK, "--test-size", f"run.directory={cls.folder}/{name}", f"{S}cells={list(CELLS)}",
                                       f"{S}aspect_ratio_y={DEPTH}", S + "initial={noise: 1, seed: 3}", f"{S}output=[{outputs}]", *more, ranks=ranks)
        assert code == 0, error
        return out

    def fields(self, name):
        with h5py.File(os.path.join(self.folder, name, "simulate", "fields.h5")) as file:
            return {k: file["tasks/" + k][:] for k in "pbuvw"} | {k: file["scales/" + k][:] for k in "xyz"}

    def test_the_file_has_four_axes_with_their_names(self):
        fields = self.fields("alone")
        for name in "pbuvw":
            self.assertEqual(fields[name].shape, (3, *CELLS))
            self.assertGreater(np.abs(fields[name][-1]).max(), 1e-3)
        for axis, (cells, length) in zip("xyz", zip(CELLS, (2, DEPTH, 1))):
            self.assertEqual(len(fields[axis]), cells)
            self.assertAlmostEqual(fields[axis][0] + fields[axis][-1], length, 12)
        with h5py.File(os.path.join(self.folder, "alone", "simulate", "fields.h5")) as file:
            self.assertEqual(list(file["tasks/b"].attrs["DIMENSION_LABELS"]), ["t", "x", "y", "z"])
            self.assertEqual(file["y"], file["scales/y"])
            self.assertEqual([d[0].name.split("/")[-1] for d in file["tasks/v"].dims], ["sim_time", "x", "y", "z"])

    def test_fields_and_vtkhdf_agree(self):
        fields, seen = self.fields("alone"), Layout(os.path.join(self.folder, "alone", "simulate", "output.vtkhdf"))
        self.assertEqual(seen.problems, [])
        for k in range(3):
            values = seen.cell_data("velocity", k).reshape(*CELLS[::-1], 3)
            for component, name in enumerate("uvw"):
                np.testing.assert_array_equal(values[..., component].transpose(2, 1, 0), fields[name][k])
            np.testing.assert_array_equal(seen.cell_data("b", k).reshape(CELLS[::-1]).transpose(2, 1, 0), fields["b"][k])

    def test_spectra_hold_the_energy(self):
        table = cambium_io.Table(os.path.join(self.folder, "alone", "simulate", "spectrum.csv"))
        self.assertEqual(table.names, ["k", "E_u", "E_w", "E_b", "E_v"])
        kinetic = cambium_io.Table(os.path.join(self.folder, "alone", "simulate", "thermo.csv"))["kinetic_energy"][-1]
        # w of the spectrum is weighted by the heights of cells, that of the energy by the distances of their centres.
        self.assertAlmostEqual(sum(table[name].sum() for name in ("E_u", "E_v", "E_w")) / kinetic, 1, delta=0.05)

    def test_two_ranks_and_a_restart_on_one_give_the_same(self):
        self.run_deck("two", ranks=2)
        alone, two = self.fields("alone"), self.fields("two")
        for name in "pbuvw":
            np.testing.assert_allclose(two[name], alone[name], atol=1e-10)
        self.run_deck("stopped", S + "checkpoint={every: 10}", S + "steps=20", ranks=2)
        code, _, error = program.run("restart", os.path.join(self.folder, "stopped"), S + "steps=10000")
        self.assertEqual(code, 0, error)
        resumed = self.fields("stopped")  # with a frame where it was stopped
        for name in "pbuvw":
            np.testing.assert_allclose(resumed[name][-1], alone[name][-1], atol=1e-10)

    def test_means_over_blocks(self):
        self.run_deck("means", S + "output=[{type: fields, interval: 1, average: 2, single: false}]")
        fine, means = self.fields("alone"), self.fields("means")
        edge = [0.0]
        for z in fine["z"]:
            edge.append(2 * z - edge[-1])
        height = np.diff(edge)
        for name in "pbuvw":
            blocks = (fine[name] * height).reshape(-1, 8, 2, 6, 2, 5, 2).sum((2, 4, 6)) / height.reshape(5, 2).sum(1) / 4
            np.testing.assert_allclose(means[name], blocks, atol=1e-12)
        np.testing.assert_allclose(means["y"], fine["y"].reshape(6, 2).mean(1), atol=1e-12)

    def test_the_picture_of_a_run(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError as missing:
            print(f"SKIPPED: the picture of convection in three dimensions: {missing} (Debian: python3-matplotlib)")
            raise unittest.SkipTest(str(missing)) from None
        picture = os.path.join(self.folder, "picture.png")
        script = os.path.join(program.SOURCE, "plugins", "superres", "python", "plot_superres.py")
        done = subprocess.run([sys.executable, script, os.path.join(self.folder, "alone"), "-o", picture], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(os.path.getsize(picture), 10000)


if __name__ == "__main__":
    unittest.main()
