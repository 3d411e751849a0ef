"""Runs of the program, opened by the packages that people use, as Debian ships them: MDAnalysis, ASE, xarray.

Each test is skipped, saying so, where its package is missing (Debian: python3-mdanalysis, python3-ase, python3-xarray with
python3-h5netcdf or python3-netcdf4).
"""
# needs: md kinetic podlstm superres
import importlib
import os
import sys
import unittest
import warnings

import numpy as np

import program

sys.path[:0] = [os.path.join(program.SOURCE, *folder) for folder in (("apps", "python"), ("plugins", "kinetic", "python"))]
import cambium_io  # noqa: E402
import kinetic_io  # noqa: E402

ARGON = """
run: {name: readback, seed: 4, directory: DIRECTORY}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: STRUCTURE
      initial_temperature: 200 K
      potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.0, truncation: smooth}
      timestep: 4 fs
      steps: 60
      thermo: {every: 20}
      output:
        - {type: h5md, every: 20, velocities: true, forces: true}
        - {type: extxyz, every: 20, velocities: true, forces: true}
        - {type: rdf, every: 20, r_max: 8.0, bins: 80}
"""
CRYSTAL = "{lattice: {type: fcc, a: 5.63, cells: [4, 4, 4], species: [Ar]}}"


def package(name):
    """The package, or a skip that says what is missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as missing:
        print(f"SKIPPED: output opened by {name}: {missing}")
        raise unittest.SkipTest(str(missing)) from None


def argon(name, structure=CRYSTAL):
    folder = program.fresh(name)
    deck = program.write(os.path.join(folder, "deck.yaml"), ARGON.replace("DIRECTORY", os.path.join(folder, "run"))
                         .replace("STRUCTURE", structure))
    code, out, error = program.run("run", deck, ranks=2)
    assert code == 0, out + error
    return cambium_io.Run(os.path.join(folder, "run"))


class Trajectories(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = argon("readback_argon")

    def test_mdanalysis_reads_cell_positions_velocities_and_names(self):
        package("MDAnalysis")
        ours = self.run_.trajectory
        universe = ours.universe()
        self.assertEqual((len(universe.atoms), len(universe.trajectory)), (256, 4))
        self.assertEqual(set(universe.atoms.elements), {"Ar"})
        self.assertAlmostEqual(universe.atoms.masses[0], 39.95, places=1)
        for k, frame in enumerate(universe.trajectory):
            self.assertAlmostEqual(frame.time, ours.times[k])
            np.testing.assert_allclose(frame.dimensions, [22.52] * 3 + [90] * 3, rtol=1e-6)
            np.testing.assert_allclose(frame.positions, ours.position(k), atol=1e-5)
            np.testing.assert_allclose(frame.velocities, ours.velocity(k), atol=1e-5)
            np.testing.assert_allclose(frame.forces, ours.force(k) * cambium_io.KJ_PER_MOL, rtol=1e-4, atol=1e-4)

    def test_mdanalysis_finds_our_distribution_function(self):
        rdf = package("MDAnalysis.analysis.rdf")
        ours = self.run_.rdf
        atoms = self.run_.trajectory.universe().atoms
        theirs = rdf.InterRDF(atoms, atoms, nbins=80, range=(0.0, 8.0), exclusion_block=(1, 1)).run().results
        np.testing.assert_allclose(theirs.bins, ours.r, atol=1e-9)
        self.assertGreater(ours.g("Ar-Ar").max(), 2.0)
        np.testing.assert_allclose(theirs.rdf, ours.g("Ar-Ar"), rtol=5e-3)  # they bin in float32: a few pairs change bins

    def test_ase_reads_extended_xyz(self):
        io = package("ase.io")
        ours = self.run_.trajectory
        frames = io.read(self.run_.find("trajectory.extxyz"), index=":")
        self.assertEqual(len(frames), 4)
        for k, atoms in enumerate(frames):
            self.assertEqual(set(atoms.get_chemical_symbols()), {"Ar"})
            np.testing.assert_allclose(atoms.cell[:], ours.cell(k))
            np.testing.assert_allclose(atoms.get_forces(), ours.force(k), atol=1e-8)
            np.testing.assert_allclose(atoms.arrays["velo"], ours.velocity(k), atol=1e-8)
            away = atoms.get_positions() - ours.position(k)
            np.testing.assert_allclose(away - np.round(away / 22.52) * 22.52, 0.0, atol=1e-8)

    def test_a_frame_as_atoms_of_ase(self):
        units = package("ase.units")
        ours, thermo = self.run_.trajectory, self.run_.thermo
        atoms = ours.atoms(-1)
        temperature = atoms.get_kinetic_energy() / (1.5 * (len(atoms) - 1) * units.kB)  # the centre of mass rests
        self.assertAlmostEqual(temperature, thermo["temperature"][-1], delta=1e-3 * temperature)
        np.testing.assert_allclose(atoms.get_forces(), ours.force(-1))

    def test_ase_finds_our_energy(self):
        """Their Lennard-Jones with our cut-off's smoothing off: the same sum over the same atoms."""
        lj = package("ase.calculators.lj")
        folder = program.fresh("readback_energy")
        deck = ARGON.replace("DIRECTORY", os.path.join(folder, "run")).replace("STRUCTURE", CRYSTAL)
        deck = deck.replace("truncation: smooth", "truncation: shift")
        code, out, error = program.run("run", program.write(os.path.join(folder, "deck.yaml"), deck))
        self.assertEqual(code, 0, out + error)
        run = cambium_io.Run(os.path.join(folder, "run"))
        atoms = run.trajectory.atoms(-1)
        ours = run.trajectory.force(-1)
        atoms.calc = lj.LennardJones(epsilon=0.010323, sigma=3.405, rc=8.0)
        self.assertAlmostEqual(atoms.get_potential_energy(), run.thermo["potential"][-1], delta=1e-5)
        np.testing.assert_allclose(atoms.get_forces(), ours, atol=1e-5)

    def test_thermo_trajectory_and_distribution_are_drawn(self):
        package("matplotlib").use("Agg")
        run = self.run_
        panels = [axes for axes in run.thermo.plot().axes if axes.lines]
        drawn = {line.get_label(): line for axes in panels for line in axes.lines}
        np.testing.assert_array_equal(drawn["temperature"].get_ydata(), run.thermo["temperature"])
        np.testing.assert_array_equal(drawn["temperature"].get_xdata(), run.thermo["time"])
        self.assertIn("temperature (K)", [axes.get_ylabel() for axes in panels])
        only = cambium_io.plot(run.thermo, ["pressure"]).axes
        self.assertEqual([line.get_label() for line in only[0].lines], ["pressure"])
        first, last = cambium_io.plot(run.trajectory).axes
        shown = np.sort(last.collections[0].get_offsets(), axis=0)
        np.testing.assert_allclose(shown, np.sort(run.trajectory.position(-1)[:, :2], axis=0))
        self.assertEqual((first.get_title("left"), last.get_title("left")), ("0 ps", "0.24 ps"))
        np.testing.assert_array_equal(run.rdf.plot().axes[0].lines[0].get_ydata(), run.rdf.g("Ar-Ar"))

    def test_what_ase_writes_is_read(self):
        io, build = package("ase.io"), package("ase.build")
        folder = program.fresh("readback_from_ase")
        atoms = build.bulk("Ar", "fcc", a=5.6, cubic=True) * (4, 4, 4)
        atoms.rattle(0.05, seed=3)
        io.write(os.path.join(folder, "made.extxyz"), atoms)
        run = argon("readback_from_ase_run", f"{{file: {os.path.join(folder, 'made.extxyz')}}}")
        np.testing.assert_allclose(run.trajectory.position(0), atoms.get_positions(wrap=True), atol=1e-7)


class Plates(unittest.TestCase):
    def test_a_model_that_knows_them_answers_up_to_the_plates(self):
        folder = program.fresh("readback_plates")
        code, out, error = program.run("run", os.path.join(program.SOURCE, "inputs/superres/variable_resolution.yaml"), "--test-size",
                                       f"run.directory={folder}")
        self.assertEqual(code, 0, out + error)
        fields = cambium_io.Run(folder).reconstruction
        z = np.asarray(fields["z"])
        self.assertEqual((z[0], z[-1]), (0.0, 1.0))
        for name, lower, upper in (("b", 0.5, -0.5), ("u", 0.0, 0.0), ("w", 0.0, 0.0)):
            values = np.asarray(fields[name])
            np.testing.assert_allclose(values[:, :, 0], lower, atol=1e-6)
            np.testing.assert_allclose(values[:, :, -1], upper, atol=1e-6)
            self.assertGreater(np.ptp(values[:, :, 5]), 1e-6)


class Fields(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = program.fresh("readback_fields")
        deck = os.path.join(program.SOURCE, "inputs/superres/rayleigh_benard.yaml")
        code, out, error = program.run("run", deck, "--test-size", f"run.directory={folder}", ranks=2)
        assert code == 0, out + error
        cls.convection = cambium_io.Run(folder)

    def test_xarray_has_the_fields_of_convection(self):
        xarray = package("xarray")
        run = self.convection
        data = run.fields
        self.assertIsInstance(data, xarray.Dataset)
        self.assertEqual(dict(data.sizes), {"t": 5, "x": 32, "z": 16})
        self.assertEqual(set(data.data_vars), {"p", "b", "u", "w"})
        mean = data.b.mean("x").isel(t=0)
        self.assertGreater(float(mean.sel(z=0.0, method="nearest")), float(mean.sel(z=1.0, method="nearest")))  # warm below
        copy = os.path.join(os.path.dirname(run.find("fields.h5")), "copy.nc")
        data.to_netcdf(copy)
        with xarray.open_dataset(copy) as again:
            xarray.testing.assert_equal(again.load(), data)

    def test_xarray_opens_the_file_itself(self):
        package("h5netcdf")
        xarray, run = package("xarray"), self.convection
        with xarray.open_dataset(run.find("fields.h5"), engine="h5netcdf") as data:
            self.assertEqual(dict(data.sizes), {"sim_time": 5, "x": 32, "z": 16})
            self.assertEqual(set(data.data_vars), {"p", "b", "u", "w"})
            ours = run.fields
            np.testing.assert_array_equal(data["b"].values, np.asarray(ours["b"]))
            for name, coordinate in (("t", "sim_time"), ("x", "x"), ("z", "z")):
                np.testing.assert_array_equal(data[coordinate].values, np.asarray(ours[name]))

    def test_fields_are_sampled_anywhere(self):
        """Cubics along t and z come out exactly on stretched axes; along x any number is a place; nodes keep their values."""
        t, x, z = np.linspace(0, 2, 6), 4 * np.arange(64) / 64, np.linspace(0.1, 0.95, 9) ** 2

        def f(t, x, z):
            return (1 + t - 2 * t ** 3) * (z ** 3 - z) + np.sin(0.5 * np.pi * x)

        made = {"t": t, "x": x, "z": z, "b": f(t[:, None, None], x[:, None], z)}
        places = [np.array([[0.37, 1.9], [2.0, 0.0]]), np.array([[0.01, 3.99], [-0.4, 9.3]]), np.array([[0.02, 0.9], [0.3, 0.5]])]
        np.testing.assert_allclose(cambium_io.sample(made, *places)["b"], f(*places), atol=2e-6)
        with self.assertRaisesRegex(ValueError, "z = 0.95 lies outside the fields, which span z = 0.01 to 0.9025"):
            cambium_io.sample(made, 1.0, 0.0, 0.95)
        fields = self.convection.fields
        one = cambium_io.sample(fields, float(fields["t"][2]), float(fields["x"][3]), float(fields["z"][4]))
        for name in "pbuw":
            self.assertAlmostEqual(float(one[name]), float(np.asarray(fields[name])[2, 3, 4]), places=6)

    def test_fields_are_drawn(self):
        package("matplotlib").use("Agg")
        run = self.convection
        figure = cambium_io.plot(run.fields, ["b", "w"], frame=-1)
        maps = [axes for axes in figure.axes if axes.get_title("left")]
        self.assertEqual([axes.get_title("left")[0] for axes in maps], ["b", "w"])
        values = np.asarray(maps[0].collections[0].get_array()).reshape(16, 32)
        np.testing.assert_allclose(values, np.asarray(run.fields["b"])[-1].T)
        self.assertEqual(len([axes for axes in cambium_io.plot(run.fields).axes if axes.get_title("left")]), 4)

    def test_a_training_is_drawn(self):
        package("matplotlib").use("Agg")
        folder = program.fresh("readback_training")
        table = program.write(os.path.join(folder, "training.csv"), "step,epoch,learning_rate,loss [eV]\n1,0,0.1,4\n2,0,0.05,2\n3,1,0.02,1\n")
        self.assertTrue(table)
        panels = cambium_io.Run(folder).training.plot().axes
        self.assertEqual({axes.get_ylabel(): axes.get_yscale() for axes in panels}, {"learning rate": "log", "loss (eV)": "log"})
        self.assertEqual(list(panels[1].lines[0].get_ydata()), [4, 2, 1])

    def test_xarray_opens_modes(self):
        xarray = package("xarray")
        folder = program.fresh("readback_modes")
        deck = os.path.join(program.SOURCE, "inputs/podlstm/pod.yaml")
        code, out, error = program.run("run", deck, "--test-size", f"run.directory={folder}")
        self.assertEqual(code, 0, out + error)
        for engine in ("h5netcdf", "netcdf4"):
            try:
                importlib.import_module("netCDF4" if engine == "netcdf4" else engine)
            except ImportError as missing:
                print(f"SKIPPED: pod.h5 opened by {engine}: {missing}")
                continue
            with xarray.open_dataset(os.path.join(folder, "pod", "pod.h5"), engine=engine) as data:
                self.assertEqual(dict(data.sizes), {"time": 60, "mode": 5, "lat": 12, "lon": 24})
                self.assertEqual(str(data.time.dtype)[:10], "datetime64")
                weight = np.cos(np.radians(data.lat))
                modes = data.modes.fillna(0.0)
                gram = (weight * modes * modes.rename(mode="other")).sum(("lat", "lon"))
                np.testing.assert_allclose(gram, np.eye(5), atol=1e-10)  # orthonormal, seen from xarray

    def test_xarray_has_the_moments_of_a_plasma(self):
        xarray = package("xarray")
        folder = program.fresh("readback_moments")
        deck = os.path.join(program.SOURCE, "inputs/kinetic/two_stream.yaml")
        code, out, error = program.run("run", deck, "--test-size", f"run.directory={folder}")
        self.assertEqual(code, 0, out + error)
        data = kinetic_io.Conf(cambium_io.Run(folder).find("conf.h5")).dataset()
        self.assertIsInstance(data, xarray.Dataset)
        self.assertEqual(data.sizes["x"], 24)
        np.testing.assert_allclose(data["electron_density"].mean("x"), 1.0, atol=1e-4)  # of the points, not of the cells


if __name__ == "__main__":
    unittest.main(verbosity=2)
