"""Every file that stages write opens in the program that its users use, by the one line that docs/using/output.md names for it, with
names, units and coordinates. Needs no data: decks that ship, at the size of their x-test notes.

The lines of that page are carried out as they stand, in the folder of the stage. A test is skipped, saying so, where the package is
missing (Debian: python3-xarray with python3-h5netcdf and python3-netcdf4, netcdf-bin, cdo, python3-ase, python3-mdanalysis,
python3-pandas, python3-vtk9; OVITO is not in Debian) or, VTK, too old for the files.
"""
# needs: md
import glob
import os
import re
import sys
import unittest

import numpy as np

import program

sys.path[:0] = [os.path.join(program.SOURCE, *folder) for folder in (("apps", "python"), ("plugins", "kinetic", "python"))]
import cambium_io  # noqa: E402
import kinetic_io  # noqa: E402

from netcdf_readers import Netcdf  # noqa: E402, F401: run as a part of this file
from opened_runs import LINES, RUNS, folders, opened, package, run  # noqa: E402


class Xarray(unittest.TestCase):
    def dataset(self, file, name, stage="simulate"):
        data = opened(file, name, stage).load()
        self.addCleanup(data.close)
        self.assertTrue(data.data_vars, file)
        for variable in data.data_vars.values():
            self.assertTrue(variable.attrs.get("long_name"), f"{file}: {variable.name} says not what it is")
            self.assertIn("units", variable.attrs, f"{file}: {variable.name} has no units")
            self.assertFalse([d for d in variable.dims if "phony" in d], file)
        for coordinate in data.coords.values():
            if coordinate.dtype.kind == "f":
                self.assertIn("units", coordinate.attrs, f"{file}: {coordinate.name}")
        return data

    def test_thermo(self):
        data, table = self.dataset("thermo.h5", "argon"), cambium_io.Run(run("argon")).thermo
        self.assertEqual((data.temperature.dims, data.temperature.units, data.time.units), (("time",), "K", "ps"))
        self.assertEqual(list(data.step.values), [0, 50, 100, 150, 200])
        self.assertIn("step", data.coords)
        np.testing.assert_array_equal(data.temperature, table["temperature"])
        self.assertEqual(float(data.potential.sel(time=table["time"][2])), table["potential"][2])

    def test_vectors(self):
        data = self.dataset("vectors.h5", "archive", "embed")
        self.assertEqual((data.vector.dims, data.parameters.dims), (("sample", "component"), ("sample", "parameter")))
        np.testing.assert_allclose((data.vector ** 2).sum("component"), 1.0, atol=1e-5)
        pictures = self.dataset("pictures.h5", "archive", "neighbours")
        self.assertEqual(pictures.field.dims, ("query", "shown", "axis0", "axis1"))

    def test_matter(self):
        data = self.dataset("matter.h5", "structure")
        self.assertEqual((data.counts.dims, data.power.dims), (("scale_factor", "x", "y", "z"), ("scale_factor", "k")))
        np.testing.assert_allclose(data.counts.sum(("x", "y", "z")), 16 ** 3, rtol=1e-6)
        np.testing.assert_allclose(data.scale_factor, 0.02 * 50 ** (np.arange(4) / 3), rtol=1e-12)
        np.testing.assert_array_equal(data.power[0], data.linear[0])
        self.assertEqual((data.k.units, data.x.units, data.attrs["omega_m"]), ("h/Mpc", "Mpc/h", 0.3175))

    def test_training(self):
        data = self.dataset("training.h5", "levels", "train")
        self.assertEqual(data.loss.dims, ("step",))
        np.testing.assert_array_equal(data.loss, cambium_io.Run(run("levels")).training["loss"])
        self.assertEqual(self.dataset("validation.h5", "levels", "train").homo.units, "eV")
        self.assertEqual(self.dataset("learning_curve.h5", "classify", "train").validation_loss.dims, ("step",))

    def test_deviation(self):
        data = self.dataset("deviation.h5", "learning", "label_2")
        self.assertEqual((data.deviation.dims, data.deviation.units), (("step",), "eV/angstrom"))
        np.testing.assert_array_equal(data.deviation, cambium_io.Table(os.path.join(run("learning"), "label_2", "deviation.csv"))["deviation"])

    def test_distribution_functions_and_correlations(self):
        ours = cambium_io.Run(run("argon"))
        data = self.dataset("rdf.h5", "argon")
        self.assertEqual((data.g.dims, data.r.units), (("average", "pair", "r"), "angstrom"))
        np.testing.assert_array_equal(data.g.sel(average=1, pair="Ar-Ar"), ours.rdf.g("Ar-Ar"))
        for name, unit in (("msd", "angstrom^2"), ("vacf", "angstrom^2/ps^2")):
            data = self.dataset(name + ".h5", "argon")
            self.assertEqual((data[name].dims, data[name].units, data.time.units), (("species", "time"), unit, "ps"))
            np.testing.assert_array_equal(data[name].sel(species="Ar"), getattr(ours, name)["Ar"])
            self.assertAlmostEqual(float(data.diffusion.sel(species="Ar")), getattr(ours, name).diffusion["Ar"])

    def test_moments_of_a_plasma(self):
        data = self.dataset("conf.h5", "two_stream")
        self.assertEqual((data.electron_density.dims, data.time.units), (("time", "x"), "1/omega"))
        ours = kinetic_io.Conf(os.path.join(run("two_stream"), "simulate", "conf.h5"))
        _, x, values = ours.lines("electron/density", points=data.sizes["x"] // 8)
        np.testing.assert_allclose(data.x, x)
        np.testing.assert_allclose(data.electron_density, values, rtol=1e-12)
        self.assertGreater(float(abs(data.Ex).max()), 0.0)

    def test_moments_in_a_plane(self):
        data = self.dataset("conf.h5", "plane")
        self.assertEqual(data.Bz.dims, ("time", "y", "x"))
        x, y = np.meshgrid(data.x, data.y)
        k = np.sqrt(0.5)  # the deck's B_z = a cos(k x + k y) at first
        np.testing.assert_allclose(data.Bz.isel(time=0), 1e-4 * np.cos(k * x + k * y), atol=4e-6)
        f = self.dataset("distribution.0.h5", "plane").electron_f
        self.assertEqual(f.dims, ("x", "y", "electron_vx", "electron_vy"))
        centre = f.sel(electron_vy=0.3, method="nearest").isel(x=0, y=0)
        self.assertGreater(float(centre.sel(electron_vx=0.0, method="nearest")), 10 * abs(float(centre.sel(electron_vx=0.8, method="nearest"))))

    def test_points_and_distributions(self):
        points = self.dataset("points.h5", "two_stream")
        self.assertEqual(points.electron_density.dims, ("time", "point"))
        np.testing.assert_allclose(points.x, [0.5, 2.0])
        self.assertIn("x", points.coords)
        np.testing.assert_allclose(points.electron_density.isel(time=0), 1.0, atol=1e-3)
        f = self.dataset("distribution.0.h5", "two_stream")
        self.assertEqual((f.electron_f.dims, float(f.time)), (("x", "electron_vx"), 0.0))
        cell = float(np.diff(f.x)[0] * np.diff(f.electron_vx)[0])
        particles = cambium_io.Run(run("two_stream")).thermo["particles"][0]
        self.assertAlmostEqual(float(f.electron_f.sum()) * cell, particles, places=8)
        waves = self.dataset("heat_flux.h5", "two_stream")
        self.assertEqual(waves.temperature.dims, ("time", "part"))
        self.assertEqual(list(waves.part.values), ["real", "imaginary"])

    def test_convection(self):
        data = self.dataset("fields.h5", "convection")
        self.assertEqual((data.b.dims, data.b.long_name, data.x.units), (("sim_time", "x", "z"), "buoyancy", "1"))
        mean = data.b.mean("x").isel(sim_time=0)
        self.assertGreater(float(mean[0]), float(mean[-1]))  # warm below
        data = self.dataset("reconstruction.h5", "variable_resolution", "reconstruct")
        self.assertEqual((float(data.z[0]), float(data.z[-1])), (0.0, 1.0))
        np.testing.assert_allclose(data.b.sel(z=0.0), 0.5, atol=1e-6)  # the warm plate
        data = self.dataset("frames.h5", "variable_resolution", "reconstruct")
        self.assertEqual(data.b.dims, ("method", "x", "z"))
        self.assertEqual(str(data.method.values[0]), "data")

    def test_modes_and_forecasts(self):
        field = self.dataset("field.h5", "search", "synthetic_field")
        self.assertEqual((field.sst.dims, str(field.time.dtype)[:10], field.sst.units), (("time", "lat", "lon"), "datetime64", "degC"))
        self.assertTrue(20.0 < float(field.sst.sel(lat=0.0, method="nearest").mean()) < 35.0)
        modes = self.dataset("pod.h5", "search", "pod")
        self.assertEqual(modes.modes.dims, ("mode", "lat", "lon"))
        data = self.dataset("forecast.h5", "search", "search")
        self.assertEqual(data.truth.dims, ("issued", "lead", "mode"))
        np.testing.assert_allclose(data.forecast_persistence.sel(lead=1), data.past.isel(past_time=-1))
        trials = self.dataset("journal.h5", "search", "search")
        self.assertEqual((trials.reward.dims, trials.seconds.units), (("number",), "s"))
        self.assertEqual(trials.genome.dims, ("number", "decision"))

    def test_filters(self):
        series = self.dataset("assimilation.h5", "filters", "assimilate")
        self.assertEqual(series.rmse_a.dims, ("time",))
        self.assertTrue((series.rmse_a > 0.0).all())

    def test_parity(self):
        data = self.dataset("parity_0.h5", "learning", "test")
        self.assertEqual((data.predicted.dims, data.predicted.units), (("row", "component"), "eV/angstrom"))
        self.assertEqual({"frame", "atom", "component"}, set(data.coords))
        table = cambium_io.Table(os.path.join(run("learning"), "test", "parity_0_force.csv"))
        np.testing.assert_array_equal(data.reference.sel(component="y"), table["reference_y"])
        np.testing.assert_array_equal(data.atom, table["atom"])

    def test_matrices_and_spectra(self):
        data = self.dataset("density.h5", "levels", "density_matrix")
        self.assertEqual((data.row.dims, data["values"].dims), (("entry",), ("element",)))
        sizes = data.block_sizes.values
        self.assertEqual(int((sizes[data.row.values] * sizes[data.column.values]).sum()), data.sizes["element"])
        data = self.dataset("train.h5", "levels", "local_spectra")
        self.assertEqual((data.homo.units, data.moments.dims), ("hartree", ("block_column", "moment")))
        self.assertTrue((data.lumo > data.homo).all())


class Particles(unittest.TestCase):
    def test_ase_has_energies_forces_stresses_and_velocities(self):
        frames, ours = opened("trajectory.extxyz", "argon"), cambium_io.Run(run("argon"))
        self.assertEqual(len(frames), 5)
        lj = package("ase.calculators.lj").LennardJones(epsilon=0.010323, sigma=3.405, rc=8.5125)
        for k, atoms in enumerate(frames):
            np.testing.assert_allclose(atoms.get_potential_energy(), ours.thermo["potential"][k], rtol=1e-12)
            np.testing.assert_allclose(atoms.get_forces(), ours.trajectory.force(k), atol=1e-8)
            theirs = ours.thermo["kinetic"][k] * ours.trajectory.masses[0] / atoms.get_masses()[0]  # ASE has 39.948 for argon
            np.testing.assert_allclose(atoms.get_kinetic_energy(), theirs, rtol=1e-7)
            stress, volume = atoms.get_stress(), atoms.get_volume()
            self.assertEqual(stress.shape, (6,))
            pressure = (2.0 / 3.0 * ours.thermo["kinetic"][k] / volume - stress[:3].mean()) * 1602176.634
            self.assertAlmostEqual(pressure, ours.thermo["pressure"][k], delta=1e-6 * abs(pressure) + 1e-3)
        again = frames[-1].copy()
        again.calc = lj
        np.testing.assert_allclose(stress, again.get_stress(), atol=1e-8)  # their sign and unit, eV/Å^3

    def test_mdanalysis_has_names_and_elements(self):
        universe, ours = opened("trajectory.h5md", "argon"), cambium_io.Run(run("argon")).trajectory
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(os.path.join(run("argon"), "simulate"))  # it opens its file anew by the same name
        self.assertEqual((set(universe.atoms.names), set(universe.atoms.elements)), ({"Ar"}, {"Ar"}))
        self.assertAlmostEqual(universe.atoms.masses[0], 39.95, places=1)
        self.assertEqual(len(universe.select_atoms("element Ar")), 500)
        for k, frame in enumerate(universe.trajectory):
            self.assertAlmostEqual(frame.time, ours.times[k])
            np.testing.assert_allclose(frame.positions, ours.position(k), atol=1e-4)
        np.testing.assert_allclose(universe.trajectory[0].dimensions, [28.595] * 3 + [90] * 3, rtol=1e-6)
        self.assertEqual(universe.trajectory.units["length"], "Angstrom")

    def test_h5py(self):
        file = opened("model.h5", "levels", "train")
        self.assertTrue(file.attrs["version"] if "version" in file.attrs else file["cambium"].attrs["version"])
        index = opened("index.h5", "archive", "retrieve")
        np.testing.assert_allclose((index["rows"][()] ** 2).sum(1), 1.0, rtol=1e-5)
        self.assertEqual(sorted(n for n in index["number"][()] if n >= 0), list(range(len(index["rows"]))))

    def test_labels(self):
        force = opened("train/set.000/force.npy", "learning", "label")
        self.assertEqual(force.shape[1] % 3, 0)
        self.assertTrue(np.isfinite(force).all())

    def test_ovito(self):
        pipeline = opened("trajectory.extxyz", "argon", line=1)
        self.assertEqual(pipeline.source.num_frames, 5)


class Vtk(unittest.TestCase):
    """Not with Debian's VTK 9.1, which reads version 1.0 of the format: one moment in a file. system.vtkhdf holds the layout."""

    def setUp(self):
        vtk = package("vtkmodules.vtkCommonCore")
        found = vtk.vtkVersion().GetVTKVersion()
        if tuple(map(int, found.split(".")[:2])) < (9, 3):
            print(f"SKIPPED: VTKHDF opened by VTK: this one is {found}; files with several moments need 9.3")
            self.skipTest(f"VTK {found}")

    def test_fields_and_particles(self):
        ours = cambium_io.Run(run("argon")).trajectory
        output = opened("output.vtkhdf", "argon").GetOutputDataObject(0)
        self.assertEqual(output.GetNumberOfPoints(), 500)
        np.testing.assert_allclose(output.GetPoint(3), ours.position(0)[3], atol=1e-4)
        output = opened("output.vtkhdf", "two_stream").GetOutputDataObject(0)
        self.assertTrue(output.GetCellData().GetArray("electron_density"))


class Tables(unittest.TestCase):
    WHERE = {"thermo.csv": ("argon", "simulate", "temperature [K]"), "rdf.csv": ("argon", "simulate", "g Ar-Ar"),
             "msd.csv": ("argon", "simulate", "msd Ar [angstrom^2]"), "vacf.csv": ("argon", "simulate", "time [ps]"),
             "training.csv": ("levels", "train", "loss"), "validation.csv": ("levels", "train", "homo [eV]"),
             "learning_curve.csv": ("classify", "train", "validation_loss"), "predicted.csv": ("predict", "predict", "output"),
             "evaluation.csv": ("levels", "evaluate", "homo [eV]"), "charges.csv": ("levels", "density_matrix", "mulliken_electrons"),
             "submatrices.csv": ("levels", "density_matrix", "dimension"), "spectrum.csv": ("convection", "simulate", "k [1/H]"),
             "scores.csv": ("search", "search", "test_r2"), "residuals.csv": ("verify", "verify", "rms"),
             "spin_up.csv": ("coarse_to_fine", "spin_up", "nusselt_bottom_steady"), "trials.csv": ("tune", "tune", "error"),
             "nodes.csv": ("nodes", "classify_nodes", "predicted"), "predictions.csv": ("recommend", "predict_links", "score"),
             "affinities.csv": ("affinity", "predict_affinities", "predicted"), "clicks.csv": ("clicks", "evaluate_clicks", "probability"),
             "recommended.csv": ("choices", "recommend", "chosen"),
             "neighbours.csv": ("archive", "neighbours", "similarity"), "found.csv": ("archive", "retrieve", "similarity"),
             "candidates.csv": ("archive", "select_runs", "distance"), "chosen.csv": ("archive", "select_runs", "distance"),
             "classes.csv": ("classify", "evaluate", "recall"), "confusion.csv": ("classify", "evaluate", "samples"),
             "made.csv": ("archive", "select_runs", "rayleigh"),
             "deviation.csv": ("learning", "label_2", "deviation [eV/angstrom]"),
             "errors.csv": ("learning", "test", "force_rmse (eV/angstrom)"),
             "parity_0_force.csv": ("learning", "test", "predicted_x [eV/angstrom]")}

    def test_pandas(self):
        package("pandas")
        for file, (name, stage, column) in self.WHERE.items():
            with self.subTest(file):
                data = opened(file, name, stage)
                self.assertIn(column, list(data.columns))
                self.assertTrue(np.isfinite(data[column].astype(float)).any())

    def test_the_page_names_what_is_there(self):
        """No kind of file that these runs left is missing in the table, and none of the table is missing here."""
        kinds = {re.sub(r"\d+", "N", name) for name in LINES}
        found = set()
        for name in RUNS:
            try:
                folder = run(name)
            except unittest.SkipTest:
                continue
            for path in glob.glob(os.path.join(folder, "*", "**", "*"), recursive=True):
                if path.endswith((".h5", ".csv", ".h5md", ".extxyz", ".vtkhdf", ".npy", ".nc")) and os.path.sep + "best" + os.path.sep not in path:
                    found.add(re.sub(r"\d+", "N", os.path.relpath(path, folder).split(os.sep, 1)[1]))
        found = {re.sub(r"^(model_N|trials/N|run_N)/", "", name) for name in found}
        found = {re.sub(r"^(train|validation)/set\.N/\w+\.npy", "train/set.N/force.npy", name) for name in found}
        sets = {"held_out.hN", "larger.hN", "test.hN"}  # local spectra: a file for each set, named by the deck
        self.assertEqual(found - sets - kinds, set())
        if len(folders) == len(RUNS):
            self.assertEqual(kinds - found - {"restart.N.hN"}, set())  # checkpoints go when a stage is done


if __name__ == "__main__":
    unittest.main(verbosity=2)
