"""The output 'vtkhdf' of runs, against the published layout and against the other outputs of the same run."""
# needs: md superres
import os
import sys
import unittest

import numpy as np

import program
from vtkhdf_layout import Layout

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
import cambium_io  # noqa: E402

ARGON = """
run: {name: argon, seed: 4, directory: DIRECTORY}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.63, cells: [4, 4, 4], species: [Ar]}}
      initial_temperature: 200 K
      potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.0, truncation: smooth}
      timestep: 4 fs
      steps: 40
      thermo: {every: 20}
      output:
        - {type: h5md, every: 20, velocities: true, forces: true}
        - {type: vtkhdf, every: 20, velocities: true, forces: true, precision: double}
"""


class Particles(unittest.TestCase):
    def test_dynamics_become_points_with_velocities_and_forces(self):
        folder = program.fresh("vtkhdf_argon")
        deck = program.write(os.path.join(folder, "deck.yaml"), ARGON.replace("DIRECTORY", os.path.join(folder, "run")))
        code, out, error = program.run("run", deck, ranks=2)
        self.assertEqual(code, 0, out + error)
        run = cambium_io.Run(os.path.join(folder, "run"))
        seen, ours = Layout(run.find("output.vtkhdf")), run.trajectory
        self.assertEqual(seen.problems, [])
        self.assertEqual((seen.type, seen.count), ("PolyData", 3))
        np.testing.assert_allclose(seen.values, ours.times)
        for k in range(3):
            np.testing.assert_array_equal(seen.points(k), ours.position(k))
            np.testing.assert_array_equal(seen.point_data("velocity", k), ours.velocity(k))
            np.testing.assert_allclose(seen.point_data("force", k), ours.force(k), rtol=1e-14)
            np.testing.assert_array_equal(seen.point_data("id", k), ours.ids)


CONVECTION = """
run: {name: convection, seed: 4, directory: DIRECTORY}
plugins: [superres]
stages:
  - simulate:
      physics: rayleigh_benard
      rayleigh: 1e5
      cells: [16, 12]
      stretching: STRETCHING
      initial: {noise: 0.1}
      end_time: 1
      sample_interval: 0.5
      output:
        - {type: fields, interval: 0.5, single: false}
        - {type: vtkhdf, interval: 0.5, precision: double}
"""


class Convection(unittest.TestCase):
    def compare(self, stretching, kind):
        import h5py

        folder = program.fresh("vtkhdf_convection_" + stretching)
        deck = CONVECTION.replace("DIRECTORY", os.path.join(folder, "run")).replace("STRETCHING", stretching)
        code, out, error = program.run("run", program.write(os.path.join(folder, "deck.yaml"), deck), ranks=2)
        self.assertEqual(code, 0, out + error)
        run = cambium_io.Run(os.path.join(folder, "run"))
        seen = Layout(run.find("output.vtkhdf"))
        self.assertEqual(seen.problems, [])
        self.assertEqual(seen.type, kind)
        with h5py.File(run.find("fields.h5")) as file:
            np.testing.assert_allclose(seen.values, file["scales/sim_time"][:])
            for k in range(len(seen.values)):
                ours = {name: file["tasks/" + name][k].T.ravel() for name in "pbuw"}  # (t, x, z) there, x fastest here
                np.testing.assert_array_equal(np.ravel(seen.cell_data("b", k)), ours["b"])
                np.testing.assert_array_equal(np.ravel(seen.cell_data("p", k)), ours["p"])
                velocity = np.reshape(seen.cell_data("velocity", k), (-1, 3))
                np.testing.assert_array_equal(velocity, np.stack([ours["u"], ours["w"], 0 * ours["u"]], 1))

    def test_convection_on_a_stretched_grid_becomes_a_mesh(self):
        self.compare("1.2", "UnstructuredGrid")

    def test_convection_on_even_cells_becomes_an_image(self):
        self.compare("0", "ImageData")


class Xml(unittest.TestCase):
    """What stands beside for readers before VTK 9.3, read by whatever VTK there is."""

    def setUp(self):
        try:
            from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLUnstructuredGridReader
        except ImportError as missing:
            print(f"SKIPPED: VTK's XML formats read by VTK: {missing} (Debian: python3-vtk9)")
            raise unittest.SkipTest(str(missing)) from None
        self.readers = {".vti": vtkXMLImageDataReader, ".vtu": vtkXMLUnstructuredGridReader}

    def moments(self, run):
        """(times, data sets) that the list of a run names."""
        import xml.etree.ElementTree as tree

        place = os.path.dirname(run.find("output.vtkhdf"))
        entries = list(tree.parse(os.path.join(place, "output.pvd")).iter("DataSet"))
        found = []
        for entry in entries:
            reader = self.readers[os.path.splitext(entry.get("file"))[1]]()
            reader.SetFileName(os.path.join(place, entry.get("file")))
            reader.Update()
            found.append(reader.GetOutput())
        return [float(entry.get("timestep")) for entry in entries], found

    def of(self, name, deck, ranks=2):
        folder = program.fresh("vtkxml_" + name)
        deck = deck.replace("DIRECTORY", os.path.join(folder, "run")).replace("precision: double}", "precision: double, xml: true}")
        code, out, error = program.run("run", program.write(os.path.join(folder, "deck.yaml"), deck), ranks=ranks)
        self.assertEqual(code, 0, out + error)
        self.assertNotIn("for ParaView 5.12", out)
        return cambium_io.Run(os.path.join(folder, "run"))

    def test_grids(self):
        from vtkmodules.util.numpy_support import vtk_to_numpy

        for stretching in ("0", "1.2"):
            run = self.of("convection" + stretching, CONVECTION.replace("STRETCHING", stretching))
            seen = Layout(run.find("output.vtkhdf"))
            times, grids = self.moments(run)
            np.testing.assert_array_equal(times, seen.values)
            for k, grid in enumerate(grids):
                for name in ("b", "p", "velocity"):
                    theirs = vtk_to_numpy(grid.GetCellData().GetArray(name))
                    np.testing.assert_array_equal(theirs, np.reshape(seen.cell_data(name, k), theirs.shape))
            bounds = [grids[0].GetCell(n).GetBounds() for n in range(grids[0].GetNumberOfCells())]
            middles = [[(b[0] + b[1]) / 2, (b[2] + b[3]) / 2, (b[4] + b[5]) / 2] for b in bounds]
            np.testing.assert_allclose(middles, seen.centres(), atol=1e-12)

    def test_particles(self):
        from vtkmodules.util.numpy_support import vtk_to_numpy

        run = self.of("argon", ARGON)
        times, clouds = self.moments(run)
        np.testing.assert_allclose(times, run.trajectory.times)
        for k, cloud in enumerate(clouds):
            np.testing.assert_array_equal(vtk_to_numpy(cloud.GetPoints().GetData()), run.trajectory.position(k))
            np.testing.assert_array_equal(vtk_to_numpy(cloud.GetPointData().GetArray("velocity")), run.trajectory.velocity(k))
            np.testing.assert_array_equal(vtk_to_numpy(cloud.GetPointData().GetArray("id")), run.trajectory.ids)
            self.assertEqual(cloud.GetCellType(0), 1)


class Checker(unittest.TestCase):
    def test_it_sees_what_is_wrong(self):
        import h5py

        folder = program.fresh("vtkhdf_wrong")
        deck = ARGON.replace("DIRECTORY", os.path.join(folder, "run")).replace("cells: [4, 4, 4]", "cells: [3, 3, 3]")
        deck = deck.replace("cutoff: 8.0", "cutoff: 6.0")
        code, out, error = program.run("run", program.write(os.path.join(folder, "deck.yaml"), deck))
        self.assertEqual(code, 0, out + error)
        path = cambium_io.Run(os.path.join(folder, "run")).find("output.vtkhdf")
        with h5py.File(path, "r+") as file:
            del file["VTKHDF/Lines/Offsets"]
            file["VTKHDF/Lines/Offsets"] = np.array([], dtype=int)
            file["VTKHDF/Steps"].attrs["NSteps"] = 4
        problems = Layout(path).problems
        self.assertIn("Lines has wrong lengths", problems)
        self.assertIn("Steps/Values has not NSteps entries", problems)


if __name__ == "__main__":
    unittest.main(verbosity=2)
