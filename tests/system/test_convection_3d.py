"""Convection in three dimensions through the program: what its files hold, the same on two ranks, a restart on fewer, means over blocks, pictures."""
# needs: superres
# cost: 15
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


def cubic(values, axis, old, new, period=0.0):
    """Values at other places of an axis, by the polynomial through the four nearest: two on each side, or those at the end of an axis without a period."""
    out = []
    for place in new:
        first = int(np.searchsorted(old, place, side="right")) - 2
        if not period:
            first = min(max(first, 0), len(old) - 4)
        nodes = [(old[j % len(old)] + period * (j // len(old)), j % len(old)) for j in range(first, first + 4)]
        out.append(sum(np.take(values, n, axis) * np.prod([(place - b) / (a - b) for b, _ in nodes if b != a]) for a, n in nodes))
    return np.stack(out, axis)


class Convection3D(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("convection_3d")
        cls.run_deck("alone")

    @classmethod
    def run_deck(cls, name, *more, ranks=1, depth=(f"{S}aspect_ratio_y={DEPTH}",)):
        outputs = "{type: fields, interval: 1, single: false}, {type: vtkhdf, interval: 1, precision: double}, {type: spectrum, every: 1, start_time: 1.999}"
        code, out, error = program.run("run", DECK, "--test-size", f"run.directory={cls.folder}/{name}", f"{S}cells={list(CELLS)}",
                                       *depth, S + "initial={noise: 1, seed: 3}", f"{S}output=[{outputs}]", *more, ranks=ranks)
        assert code == 0, error
        return out

    @classmethod
    def run_flat(cls, name, *more):
        """In two dimensions."""
        cls.run_deck(name, f"{S}cells=[{CELLS[0]}, {CELLS[2]}]", S + "output=[{type: fields, interval: 1, single: false}]", *more, depth=())

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

    def test_a_start_from_fields_of_another_grid(self):
        before, (nx, ny, nz) = self.fields("alone"), (24, 20, 14)
        keys = (S + f"initial={{file: {self.folder}/alone/simulate/fields.h5}}", f"{S}cells=[{nx}, {ny}, {nz}]", S + "end_time=0.01")
        self.run_deck("finer", *keys)
        self.run_deck("finer_two", *keys, ranks=2)
        fine, two = self.fields("finer"), self.fields("finer_two")
        b = cubic(before["b"][-1], 0, before["x"], fine["x"], 2)
        b = cubic(cubic(b, 1, before["y"], fine["y"], DEPTH), 2, before["z"], fine["z"])
        np.testing.assert_allclose(fine["b"][0], b, atol=1e-12)
        # Velocities go from centres to faces and back: near what the coarse fields say, components not exchanged.
        for name in "uvw":
            expected = cubic(before[name][-1], 0, before["x"], fine["x"], 2)
            expected = cubic(cubic(expected, 1, before["y"], fine["y"], DEPTH), 2, before["z"], fine["z"])
            self.assertLess(np.linalg.norm(fine[name][0] - expected), 0.15 * np.linalg.norm(expected), name)
        for name in "pbuvw":
            np.testing.assert_allclose(two[name], fine[name], atol=1e-11)

    def test_the_same_grid_goes_on(self):
        self.run_deck("again", S + f"initial={{file: {self.folder}/alone/simulate/fields.h5}}", S + "end_time=0.01")
        before, again = self.fields("alone"), self.fields("again")
        np.testing.assert_allclose(again["b"][0], before["b"][-1], atol=1e-13)

    def test_fields_in_two_dimensions_are_taken_for_all_y(self):
        self.run_flat("flat")
        start = f"file: {self.folder}/flat/simulate/fields.h5"
        self.run_flat("flat_on", S + f"initial={{{start}}}")
        self.run_deck("same", S + f"initial={{{start}, noise: 0}}")
        self.run_deck("noisy", S + f"initial={{{start}, noise: 0.01}}", S + "end_time=0.01")
        with h5py.File(os.path.join(self.folder, "flat_on", "simulate", "fields.h5")) as file:
            expected = {k: file["tasks/" + k][:] for k in "pbuw"}
        same, noisy = self.fields("same"), self.fields("noisy")
        for name in "pbuw":
            np.testing.assert_allclose(same[name], np.broadcast_to(expected[name][:, :, None], same[name].shape), atol=1e-11)
        self.assertLess(np.abs(same["v"]).max(), 1e-11)
        difference = noisy["b"][0] - expected["b"][0][:, None]
        width = 0.01 * noisy["z"] * (1 - noisy["z"])
        self.assertAlmostEqual((difference / width).std(), 1, delta=0.1)
        self.assertGreater(np.abs(difference - difference.mean(1, keepdims=True)).max(), 1e-3)

    def test_forecasts_of_a_section_are_scored(self):
        """The table of a section is that of the same section in a file of its own."""
        source, own = f"{self.folder}/alone/simulate/fields.h5", os.path.join(self.folder, "own.h5")
        with h5py.File(source) as solid, h5py.File(own, "w") as flat:
            for name in "pbuw":
                flat["tasks/" + name] = solid["tasks/" + name][:, :, 1]
            for name in ("sim_time", "x", "z"):
                flat["scales/" + name] = solid["scales/" + name][()]
            flat["scales/x"].attrs["periodic"] = 1
            frames = len(solid["scales/sim_time"])
        tables = []
        for name, data in (("of_section", source + "#1"), ("of_own", own)):
            path = program.write(os.path.join(self.folder, name + ".yaml"), f"""
run: {{name: {name}, directory: {self.folder}/{name}}}
plugins: [superres]
stages:
  - score_forecasts: {{data: ["{data}"], methods: [persistence, mean], history: 1, horizon: {frames - 1}, windows: [[0, 1]],
      forecasts: {{itself: {{one_step: ["{data}"], rollout: ["{data}"]}}}}}}
""")
            code, _, error = program.run("run", path)
            self.assertEqual(code, 0, error)
            with open(os.path.join(self.folder, name, "score_forecasts", "scores.csv")) as file:
                tables.append(file.read())
        self.assertEqual(tables[0], tables[1])
        self.assertEqual([float(x) for x in tables[0].splitlines()[3].split(",")][:5], [0.0] * 5)

    def test_a_section_is_read_as_fields_in_two_dimensions(self):
        self.run_flat("section", S + "end_time=0.01", S + f"initial={{file: '{self.folder}/alone/simulate/fields.h5#7'}}")
        with h5py.File(os.path.join(self.folder, "section", "simulate", "fields.h5")) as file:
            np.testing.assert_allclose(file["tasks/b"][0], self.fields("alone")["b"][-1][:, 7], atol=1e-13)

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
