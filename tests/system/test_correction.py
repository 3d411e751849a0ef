"""A coarse solver corrected by a network, through the program: the filtered file, rows of the table, what an untrained and a trained network do to a run,
and the same on two ranks."""
# needs: superres
import os
import unittest

import h5py
import numpy as np

import program

DECK = os.path.join(program.SOURCE, "inputs", "superres", "correction.yaml")
RUN = """
run: {{name: {name}, directory: {folder}/{name}, seed: 1}}
plugins: [superres]
stages:
  - simulate:
      physics: rayleigh_benard
      rayleigh: 1e6
      aspect_ratio: 4
      cells: [{cells}]
      initial: {{noise: 0.3, seed: 5}}
      end_time: {end}
      sample_interval: 0.25
      thermo: {{every: 1000}}
      output: [{{type: fields, interval: 0.25, average: {average}, single: false}}]
      {more}
"""


class Correction(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("correction")
        code, cls.out, error = program.run("run", DECK, "--test-size", f"run.directory={cls.folder}/deck")
        assert code == 0, error

    def fields(self, name, cells="16, 8", end=3, average=1, more="", ranks=1):
        path = program.write(os.path.join(self.folder, name + ".yaml"), RUN.format(
            name=name, folder=self.folder, cells=cells, end=end, average=average, more=more))
        code, _, error = program.run("run", path, ranks=ranks)
        self.assertEqual(code, 0, error)
        return self.read(name)

    def read(self, name):
        with h5py.File(os.path.join(self.folder, name, "simulate", "fields.h5")) as file:
            return {k: file["tasks/" + k][:] for k in "pbuw"} | {k: file["scales/" + k][:] for k in "xz"}

    def test_the_file_holds_means_over_cells(self):
        fine, means = self.fields("fine", "32, 16", 1), self.fields("means", "32, 16", 1, 4)
        height = np.array([0.0, *np.cumsum(self.heights(fine["z"]))])
        weight = np.diff(height)
        for name in "pbuw":
            blocks = (fine[name] * weight).reshape(-1, 8, 4, 4, 4).sum((2, 4)) / weight.reshape(4, 4).sum(1) / 4
            np.testing.assert_allclose(means[name], blocks, atol=1e-12)
        np.testing.assert_allclose(means["x"], fine["x"].reshape(8, 4).mean(1), atol=1e-12)
        np.testing.assert_allclose(means["z"], 0.5 * (height[:-1:4] + height[4::4]), atol=1e-12)

    @staticmethod
    def heights(centres):
        face, out = 0.0, []
        for z in centres:
            out.append(2 * (z - face))
            face += out[-1]
        return out

    def test_the_table_has_the_rows(self):
        for row in ("persistence", "solver", "finer_solver", "corrected"):
            self.assertIn(row, self.out)

    def untrained(self):
        path = program.write(os.path.join(self.folder, "untrained.yaml"), f"""
run: {{name: untrained, directory: {self.folder}/untrained, seed: 1}}
plugins: [superres]
stages:
  - train:
      network: {{type: fourier_operator, width: 4, layers: 2, modes: [4, 4]}}
      dataset: {{type: corrections, data: ["{self.folder}/deck/simulate/fields.h5"], rayleigh: 1e6}}
      batch: 4
      steps: 1
      learning_rate: {{type: constant, start: 1e-30}}
""")
        code, _, error = program.run("run", path)
        self.assertEqual(code, 0, error)
        return f'correction: "{self.folder}/untrained/train/model.h5"'

    def test_an_untrained_network_adds_nothing_and_a_trained_one_something(self):
        plain = self.fields("plain")
        same = self.fields("same", more=self.untrained())
        other = self.fields("other", more=f'correction: "{self.folder}/deck/train/model.h5"')
        for name in "buw":
            np.testing.assert_allclose(same[name], plain[name], atol=1e-6)
            self.assertGreater(np.abs(other[name] - plain[name]).max(), 1e-5)

    def test_a_model_of_another_flow_is_refused_unless_it_is_allowed(self):
        more = f'correction: "{self.folder}/deck/train/model.h5"'
        path = program.write(os.path.join(self.folder, "far.yaml"), RUN.format(
            name="far", folder=self.folder, cells="16, 8", end=0.5, average=1, more=more))
        other = "stages[0].simulate.rayleigh=1e7"
        code, _, error = program.run("run", path, other)
        self.assertEqual(code, 2, error)
        self.assertIn("was trained on flows with the Rayleigh number 1000000, and this run has the Rayleigh number 10000000", " ".join(error.split()))
        code, out, error = program.run("run", path, other, "stages[0].simulate.allow_other_parameters=true")
        self.assertEqual(code, 0, error)
        self.assertIn("this run has the Rayleigh number 10000000: its errors are unknown there", " ".join((out + error).split()))

    def test_two_ranks_go_the_same_way(self):
        more = f'correction: "{self.folder}/deck/train/model.h5"'
        one = self.fields("one", more=more)
        two = self.fields("two", more=more, ranks=2)
        for name in "buw":
            np.testing.assert_allclose(two[name], one[name], atol=1e-7)


if __name__ == "__main__":
    unittest.main()
