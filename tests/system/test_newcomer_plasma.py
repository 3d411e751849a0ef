"""The path of somebody with an initial condition of their own: run, xarray, a picture, a movie, a sweep of six, the comparison."""
import importlib
import os
import unittest

import numpy as np

import program

DECK = """
run: {name: mine, seed: 1}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_poisson
      parameters: {k: 0.5, a: 0.01, width: 2}
      domain: {lower: [0], upper: [2*pi/k], cells: [8]}
      species:
        - name: electron
          charge: -1
          velocity: {lower: [-5], upper: [5], cells: [16]}
          f0: if(abs(v) < 4.5, (1 + a*cos(k*x)) * maxwellian(v, 0, 1), 0)
      end_time: 2
      thermo: {every: 5}
      output:
        - {type: moments, every: 10}
        - {type: distribution, every: 20}
"""


class Plasma(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = program.fresh("newcomer_plasma")
        cls.deck = program.write(os.path.join(cls.folder, "mine.yaml"), DECK)
        cls.checked = program.run("check", cls.deck, cwd=cls.folder)
        cls.done = program.run("run", cls.deck, cwd=cls.folder)
        cls.stage = os.path.join(cls.folder, "runs", "mine", "simulate")

    def needs(self, module, package):
        try:
            return importlib.import_module(module)
        except ImportError:
            self.skipTest(f"SKIPPED: there is no {module} (Debian: {package})")

    def test_check_and_run(self):
        self.assertEqual(self.checked[0], 0, self.checked)
        self.assertEqual(self.done[0], 0, self.done)

    def test_xarray_opens_without_arguments(self):
        xarray = self.needs("xarray", "python3-xarray python3-h5netcdf")
        with xarray.open_dataset(os.path.join(self.stage, "conf.h5")) as data:
            self.assertIn("time", data.coords)
            self.assertIn("x", data.coords)
            self.assertTrue(any("density" in str(name) for name in data.data_vars), list(data.data_vars))

    def test_reference_by_words_of_decks(self):
        """A stage, a type without its kind, a synonym, and the functions of formulas are found by `doc` and `list`."""
        code, by_kind, _ = program.run("doc", "physics", "vlasov_poisson")
        self.assertEqual(code, 0)
        self.assertIn(by_kind.strip(), program.run("doc", "vlasov_poisson")[1])
        self.assertEqual(program.run("doc", "stage", "train")[:2], program.run("doc", "task", "train")[:2])
        self.assertEqual(program.run("list", "stages")[:2], program.run("list", "task")[:2])
        code, functions, _ = program.run("doc", "function")
        self.assertIn("| `if(condition, x, y)` |", functions)
        code, listed, _ = program.run("list", "functions")
        self.assertEqual(listed.count("\n"), functions.count("| `") + 1)
        code, _, error = program.run("doc", "velocity_verlet")
        self.assertNotEqual(code, 0)
        self.assertIn("take", error)

    def test_a_picture(self):
        self.needs("matplotlib", "python3-matplotlib")
        picture = os.path.join(self.folder, "conf.png")
        code, _, error = program.run("plot", os.path.join(self.stage, "conf.h5"), "-o", picture, cwd=self.folder)
        self.assertEqual(code, 0, error)
        self.assertGreater(os.path.getsize(picture), 5000)

    def test_a_movie(self):
        self.needs("PIL", "python3-pil")
        movie = os.path.join(self.folder, "conf.gif")
        code, _, error = program.run("movie", os.path.join(self.stage, "conf.h5"), "-o", movie, cwd=self.folder)
        self.assertEqual(code, 0, error)
        from PIL import Image

        with Image.open(movie) as frames:
            self.assertGreater(frames.n_frames, 2)

    def test_a_sweep_of_six_and_its_comparison(self):
        place = os.path.join(self.folder, "six")
        code, text, error = program.run("sweep", self.deck, "--over", "stages[0].simulate.parameters.k=range(0.3, 0.55, 6)",
                                        f"run.directory={place}", ranks=2, cwd=self.folder)
        self.assertEqual(code, 0, text + error)
        xarray = self.needs("xarray", "python3-xarray python3-h5netcdf")
        with xarray.open_dataset(os.path.join(place, "results.h5")) as data:
            np.testing.assert_allclose(data["k"], np.linspace(0.3, 0.55, 6))
            self.assertTrue(np.isfinite(data["electric_energy_last"]).all())
        with open(os.path.join(place, "report.html")) as page:
            self.assertIn("data:image/png", page.read())
        runs = sorted(f.path for f in os.scandir(place) if f.is_dir())
        code, _, error = program.run("report", runs[0], runs[-1], "-o", os.path.join(self.folder, "two.html"), cwd=self.folder)
        self.assertEqual(code, 0, error)
        with open(os.path.join(self.folder, "two.html")) as page:
            self.assertIn("0.55", page.read())


if __name__ == "__main__":
    unittest.main()
