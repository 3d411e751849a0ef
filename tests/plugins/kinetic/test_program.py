"""A kinetic deck through the program: output read by the Python reader, a picture."""
import csv
import os
import re
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.environ["CAMBIUM_SOURCE"], "tests", "system"))
sys.path.insert(0, os.path.join(os.environ["CAMBIUM_SOURCE"], "plugins", "kinetic", "python"))
import kinetic_io  # noqa: E402
import program  # noqa: E402

DECK = """
run: {name: kinetic, directory: DIR}
plugins: [kinetic]
stages:
  - simulate:
      physics: vlasov_poisson
      parameters: {k: 0.5}
      domain: {lower: [0], upper: [2*pi/k], cells: [8]}
      species:
        - {name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [16]}, f0: (1 + 0.1*cos(k*x)) * maxwellian(v)}
      steps: STEPS
      thermo: {every: 10}
      checkpoint: {every: 10, keep: 9}
      observables: {growth_rate: {}, entropy: true}
      output:
        - {type: moments, every: 5, also: [pressure, heat_flux, third_moment]}
        - {type: points, at: [[0], [2.5], [2*pi/k]], every: 5}
        - {type: distribution, every: 20}
"""


def start(name, steps, ranks=1):
    folder = program.fresh("kinetic_" + name)
    run = os.path.join(folder, "run")
    deck = program.write(os.path.join(folder, "deck.yaml"), DECK.replace("DIR", run).replace("STEPS", str(steps)))
    code, out, error = program.run("run", deck, ranks=ranks)
    assert code == 0, error
    return run, out


def read(run, step=20):
    with h5py.File(os.path.join(run, "simulate", f"distribution.{step}.h5")) as file:
        return file["electron/f"][()]


class Kinetic(unittest.TestCase):
    def test_reader(self):
        run, out = start("reader", 20, ranks=2)
        self.assertIn("Mcell-steps/s" if "Mcell" in out else "cell-steps/s", out)
        f = kinetic_io.Distribution(os.path.join(run, "simulate", "distribution.0.h5"))
        x, v, values = f.plane("x", "vx", points=4)
        wanted = (1 + 0.1 * np.cos(0.5 * x))[:, None] * np.exp(-v**2 / 2)[None, :] / np.sqrt(2 * np.pi)
        np.testing.assert_allclose(values, wanted, atol=3e-3)
        conf = kinetic_io.Conf(os.path.join(run, "simulate", "conf.h5"))
        t, x, density = conf.lines("electron/density")
        np.testing.assert_allclose(density[0], 1 + 0.1 * np.cos(0.5 * x), atol=2e-3)
        with h5py.File(os.path.join(run, "simulate", "conf.h5")) as file:
            pressure = file["electron_pressure_xx"]
            self.assertEqual(pressure.attrs["long_name"], "pressure tensor of electron, component xx")
            np.testing.assert_allclose(pressure[0], file["electron_density"][0], atol=1e-4)  # the temperature is 1
            for name, meaning in (("electron_heat_flux_x", "heat flux of electron along x"),
                                  ("electron_third_moment_xxx", "third moment about the mean velocity of electron, component xxx")):
                self.assertEqual(file[name].attrs["long_name"], meaning)
                np.testing.assert_allclose(file[name][0], 0, atol=1e-4)
                self.assertGreater(abs(file[name][-1]).max(), 1e-4)
        self.assertIn("field/Ex", conf.names())
        # dE/dx = 1 - n: E = -0.2 sin(kx). The slope of the quadratic finite elements is its L2 projection onto functions that
        # are linear in each cell (Galerkin orthogonality: derivatives of the elements are all of those with mean zero), of
        # which it may differ at the ends of a cell by 0.2 (kh)^2/12 = 0.0103. So it is compared with that projection.
        _, x, field = conf.lines("field/Ex")
        k, h = 0.5, 4 * np.pi / 8
        centre = (np.floor(x / h) + 0.5) * h
        mean = np.sin(k * centre) * np.sin(k * h / 2) / (k * h / 2)
        slope = 24 / h**3 * np.cos(k * centre) * (np.sin(k * h / 2) / k**2 - h / 2 * np.cos(k * h / 2) / k)
        np.testing.assert_allclose(field[0], -0.2 * (mean + slope * (x - centre)), atol=1e-6)

    def test_reader_of_stretched_cells(self):
        """Coordinates follow the faces, and means over a velocity weigh cells by their widths; files of VTK have the same faces."""
        folder = program.fresh("kinetic_stretched")
        run = os.path.join(folder, "run")
        text = DECK.replace("DIR", run).replace("STEPS", "2").replace("every: 20}", "every: 20}\n        - {type: distribution, format: vtkhdf, axes: [vx]}")
        text = text.replace("velocity: {lower: [-6], upper: [6], cells: [16]}",
                            "velocity: {lower: [-6, -6], upper: [6, 7], cells: [16, 14], spacing: [{stretch: 0.5}, {mapping: 6.5*(0.4*eta + 0.6*eta^3) + 0.5}]}")
        text = text.replace("* maxwellian(v)", "* maxwellian(vx) * maxwellian(vy, 0.5)")
        code, _, error = program.run("run", program.write(os.path.join(folder, "deck.yaml"), text), ranks=2)
        self.assertEqual(code, 0, error)
        f = kinetic_io.Distribution(os.path.join(run, "simulate", "distribution.0.h5"))
        eta = np.arange(17) / 8 - 1
        np.testing.assert_allclose(f.grid.edges[1], 6 * (0.5 * eta + 0.5 * eta * abs(eta)), atol=1e-14)
        x, v, values = f.plane("x", "vx", points=4)
        np.testing.assert_allclose(v.reshape(16, 4).mean(axis=1), 0.5 * (f.grid.edges[1][1:] + f.grid.edges[1][:-1]), atol=1e-14)
        wanted = (1 + 0.1 * np.cos(0.5 * x))[:, None] * np.exp(-v**2 / 2)[None, :] / np.sqrt(2 * np.pi) / 13
        np.testing.assert_allclose(values, wanted, atol=3e-4)
        with h5py.File(os.path.join(run, "simulate", "distribution.0.h5")) as file:
            widths = np.diff(file["electron/f"].attrs["edges_vx"])
            np.testing.assert_allclose(np.diff(file["electron_vx"]), 0.5 * (widths[1:] + widths[:-1]))
        with h5py.File(os.path.join(run, "simulate", "distribution.electron.vtkhdf")) as file:
            points = np.unique(file["VTKHDF/Points"][:, 0])
            np.testing.assert_allclose(points[::3], f.grid.edges[1], atol=1e-6)

    def test_output_by_time(self):
        """At the first step at or after each multiple of the interval, also where a run goes on, and at the end."""
        times = {}
        for name, steps in (("interval_once", 40), ("interval_twice", 25)):
            folder = program.fresh("kinetic_" + name)
            run = os.path.join(folder, "run")
            text = DECK.replace("every: 5", "interval: 0.35").replace("every: 20}", "interval: 2}")
            deck = program.write(os.path.join(folder, "deck.yaml"), text.replace("DIR", run).replace("STEPS", str(steps)))
            code, _, error = program.run("run", deck)
            self.assertEqual(code, 0, error)
            if steps < 40:
                code, _, error = program.run("restart", run, "stages[0].simulate.steps=40")
                self.assertEqual(code, 0, error)
            for file in ("points.h5", "conf.h5"):
                with h5py.File(os.path.join(run, "simulate", file)) as h5:
                    times[name, file] = h5["time"][()]
        once = times["interval_once", "points.h5"]
        np.testing.assert_array_equal(times["interval_twice", "points.h5"], once)
        self.assertGreater(len(once), 3)
        np.testing.assert_array_equal(np.floor(once / 0.35 + 1e-6), np.arange(len(once)))
        conf = times["interval_once", "conf.h5"]
        np.testing.assert_array_equal(conf[:len(once)], once)  # and the end
        self.assertTrue(set(conf) <= set(times["interval_twice", "conf.h5"]))

    def tasks(self, deck, *overrides):
        """What `cambium check` says of a deck's step: {task: (names it reads, names it writes)}, in order."""
        code, out, error = program.run("check", os.path.join(program.SOURCE, "inputs", "kinetic", deck), *overrides)
        self.assertEqual(code, 0, error)
        rows = re.findall(r"^ +\d+\. (.+?) +reads (.*?) +writes (.*)$", out, re.MULTILINE)
        return {name: tuple(names.split(", ") if names else [] for names in lists) for name, *lists in rows}

    def test_check_lists_the_tasks(self):
        stage = "stages[0].simulate."
        found = self.tasks("landau.yaml", stage + "species[0].positivity=true")
        stages = [f"{section}: stage {k}" for k in (1, 2, 3) for section in ("sweep", "moments", "fields")]
        self.assertEqual(list(found), stages[:6] + ["timestep: again if too long"] + stages[6:] + [
            "timestep: of the next step", "limiter: negative parts", "timestep: time reached", "observables: growth rate"])
        self.assertEqual(found["sweep: stage 2"], (["electron/f", "electron/f_1", "fields_1"],
                                                   ["electron/f_2", "electron/moments_2", "frequencies"]))
        self.assertEqual(found["fields: stage 2"], (["electron/moments_2"], ["fields_2"]))  # of the charge that is there now
        # A field with a rate of change: it is ahead of the particles, so two stages may share a pass; small runs gain nothing by it.
        self.assertIn("sweep: stage 1", self.tasks("weibel_1x2v.yaml"))
        found = self.tasks("weibel_1x2v.yaml", stage + "domain.cells=[48]", stage + "species[0].velocity.cells=[32,32]")
        self.assertEqual(list(found)[:5], ["fields: stage 1", "sweep: stages 1 and 2", "moments: stages 1 and 2", "fields: stage 2",
                                           "timestep: again if too long"])
        self.assertEqual(found["sweep: stages 1 and 2"], (["electron/f", "fields", "fields_1"],
                                                          ["electron/f_2", "electron/moments_1", "electron/moments_2", "frequencies"]))
        self.assertEqual(found["fields: stage 2"], (["electron/moments_1", "fields", "fields_1"], ["fields_2"]))
        found = self.tasks("relaxation.yaml")
        self.assertNotIn("fields: stage 1", found)
        self.assertEqual(found["collisions: between species"][0], ["a/f", "b/f", "a/moments", "b/moments"])
        found = self.tasks("sheath_2x2v.yaml", stage + "wall_potential={lower: ['-1', '0'], upper: [floating, '0']}")
        self.assertEqual(found["fields: stage 3"][0],  # a floating wall keeps what it absorbs
                         ["electron/f_2", "ion/f_2", "electron/moments", "ion/moments", "fields", "fields_2"])

    def test_bump_on_tail(self):
        """Frequency and rate of the beam's wave from the phase and size of its field: omega 1.00121789, gamma 0.19809798."""
        folder = program.fresh("kinetic_bump")
        run = os.path.join(folder, "run")
        overrides = ["stages[0].simulate.domain.cells=[24]", "stages[0].simulate.species[0].velocity.cells=[64]",
                     "stages[0].simulate.output=[{type: moments, every: 10}]", "stages[0].simulate.end_time=36",
                     "stages[0].simulate.parameters.a=1e-5", f"run.directory={run}"]
        code, _, error = program.run("run", os.path.join(program.SOURCE, "inputs", "kinetic", "bump_on_tail.yaml"), *overrides)
        self.assertEqual(code, 0, error)
        t, x, field = kinetic_io.Conf(os.path.join(run, "simulate", "conf.h5")).lines("field/Ex")
        late = t > 20
        wave = (field * np.exp(-0.3j * x)).mean(axis=1)[late]
        omega = -np.polyfit(t[late], np.unwrap(np.angle(wave)), 1)[0]
        gamma = np.polyfit(t[late], np.log(np.abs(wave)), 1)[0]
        print(f"bump on tail: omega = {omega:.6f}, gamma = {gamma:.6f}")
        self.assertAlmostEqual(omega / 1.00121789, 1.0, delta=0.02)
        self.assertAlmostEqual(gamma / 0.19809798, 1.0, delta=0.02)

    def test_shock(self):
        """Ions against a reflecting wall: no field at the wall, a plateau of twice the density behind the shock, and its potential."""
        run = os.path.join(program.fresh("kinetic_shock"), "run")
        stage = "stages[0].simulate."
        code, out, error = program.run(
            "run", os.path.join(program.SOURCE, "inputs", "kinetic", "es_shock.yaml"), stage + "domain.lower=[-20]", stage + "domain.cells=[40]",
            stage + "species[0].velocity.cells=[16]", stage + "species[1].velocity.cells=[24]", stage + "end_time=20",
            stage + "output=[{type: moments, every: 20}]", f"run.directory={run}")
        self.assertEqual(code, 0, error)
        self.assertIn("walls of the potential: lower x: potential 0, upper x: symmetry", out)
        with h5py.File(os.path.join(run, "simulate", "conf.h5")) as conf:
            psi = np.sqrt([0.5, 1.5, 2.5])  # at the upper end of a cell
            wall = {name: conf[name][:, -1] @ psi for name in ("field/Ex", "field/potential", "electron/density", "ion/density")}
            ions = conf["ion/density"][-1, :, 0] * np.sqrt(0.5)
            late = conf["time"][()] > 10
        print(f"shock: E at the wall {abs(wall['field/Ex']).max():.3g}, later {abs(wall['field/Ex'][late]).max():.3g}; there {ions[-1]:.3f} ions, "
              f"{wall['electron/density'][-1]:.3f} electrons, potential {wall['field/potential'][-1]:.3f}; largest density {ions.max():.3f}")
        self.assertLess(abs(wall["field/Ex"]).max(), 0.1)  # a grounded wall has 1.1 to 2.5
        self.assertLess(abs(wall["field/Ex"][late]).max(), 3e-3)
        self.assertAlmostEqual(ions[-1], 1.93, delta=0.08)
        self.assertAlmostEqual(wall["electron/density"][-1] / ions[-1], 1.0, delta=0.06)
        self.assertGreater(wall["field/potential"][-1], 1.5)
        np.testing.assert_allclose(ions[:4], 1.0, atol=0.1)  # the front is not there yet

    def test_fluids(self):
        """Files and table show density, momentum and pressure of a fluid species; the run cites its equations."""
        run = os.path.join(program.fresh("kinetic_fluids"), "run")
        stage = "stages[0].simulate."
        code, out, error = program.run(
            "run", os.path.join(program.SOURCE, "inputs", "kinetic", "ion_acoustic_fluid.yaml"), stage + "parameters.a=0.1",
            stage + "fluid_species[0].velocity=[0.01*sin(k*x)]", stage + "end_time=0.2", stage + "thermo={every: 5}",
            stage + "output=[{type: moments, every: 5}]", f"run.directory={run}", ranks=2)
        self.assertEqual(code, 0, error)
        self.assertIn("ion: fluid of 10 moments, 3 finite volumes to a cell", out)
        with h5py.File(os.path.join(run, "simulate", "conf.h5")) as conf:
            first = {name: conf[name][0] for name in ("ion_density", "ion_flux_x", "ion_flux_y", "ion_pressure_xx", "ion_pressure_xy", "ion_pressure_zz")}
            wave = 0.1 * np.cos(0.5 * conf["x"][()])
            flow = (1 + wave) * 0.01 * np.sin(0.5 * conf["x"][()])
        np.testing.assert_allclose(first["ion_density"], 1 + wave, atol=2e-3)
        np.testing.assert_allclose(first["ion_flux_x"], flow, atol=2e-4)
        np.testing.assert_allclose(first["ion_pressure_xx"], 0.02 * (1 + wave), atol=1e-4)
        np.testing.assert_allclose(first["ion_pressure_zz"], 0.02 * (1 + wave), atol=1e-4)
        self.assertEqual(abs(first["ion_flux_y"]).max() + abs(first["ion_pressure_xy"]).max(), 0.0)
        with open(os.path.join(run, "simulate", "thermo.csv")) as file:
            rows = [{name.split(" ")[0]: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
        self.assertAlmostEqual(rows[0]["particles_ion"], 4 * np.pi, places=10)
        self.assertAlmostEqual(rows[0]["pressure_ion"], 0.02, places=4)
        self.assertAlmostEqual(rows[0]["momentum_x_ion"], 0.0, places=10)
        self.assertAlmostEqual(rows[-1]["particles_ion"], 4 * np.pi, places=10)
        with open(os.path.join(run, "simulate", "cite.bib")) as file:
            self.assertIn("wang2015", file.read())

    def test_points(self):
        """What points.h5 says is the expansion of conf.h5 there; an end of the domain belongs to it."""
        run, _ = start("points", 20, ranks=2)
        with h5py.File(os.path.join(run, "simulate", "points.h5")) as points, h5py.File(os.path.join(run, "simulate", "conf.h5")) as conf:
            np.testing.assert_array_equal(points["step"], conf["step"])
            np.testing.assert_allclose(points.attrs["at"], [0, 2.5, 4 * np.pi])
            names = [f"electron/{m}" for m in ("density", "flux_x", "energy")] + ["field/potential", "field/Ex"]
            for name in names:
                for k, (cell, xi) in enumerate(((0, -1.0), (1, 2 * (2.5 / (np.pi / 2) - 1) - 1), (7, 1.0))):
                    psi = np.sqrt([0.5, 1.5, 2.5]) * [1.0, xi, 1.5 * xi**2 - 0.5]
                    np.testing.assert_allclose(points[name][:, k], conf[name][:, cell] @ psi, rtol=1e-12, atol=1e-14)

    def test_other_number_of_ranks_resumes(self):
        """A run that stops at step 10 and goes on with more or with fewer ranks ends where one without a stop does."""
        straight = read(start("straight", 20)[0])
        for before, after in ((2, 1), (1, 2), (2, 4)):
            run, _ = start(f"ranks_{before}_{after}", 10, ranks=before)
            os.remove(os.path.join(run, "stages_done.txt"))
            code, out, error = program.run("restart", run, "stages[0].simulate.steps=20", ranks=after)
            self.assertEqual(code, 0, error)
            self.assertIn("written by another number of ranks", out)
            np.testing.assert_allclose(read(run), straight, rtol=0, atol=1e-13)
            with h5py.File(os.path.join(run, "simulate", "conf.h5")) as file:
                self.assertEqual(list(file["step"]), [0, 5, 10, 15, 20])
            with h5py.File(os.path.join(run, "simulate", "points.h5")) as file:
                self.assertEqual(list(file["step"]), [0, 5, 10, 15, 20])

    def test_picture(self):
        try:
            import plot_kinetic
        except ImportError:
            self.skipTest("python3 has no matplotlib")
        run, _ = start("picture", 20)
        picture = os.path.join(run, "picture.png")
        plot_kinetic.draw(run, picture)
        self.assertGreater(os.path.getsize(picture), 20000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
