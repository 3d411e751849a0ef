"""Physics of the plugin graph through the program: decks on ranks, stopped and resumed; files in the layouts that others read; meshes
that meshio wrote (Debian: python3-meshio)."""
# needs: graph
import glob
import os
import sys
import unittest

import h5py
import numpy as np

import program
from vtkhdf_layout import Layout

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
import cambium_io  # noqa: E402

MESH = """
run: {name: dye, directory: DIRECTORY}
plugins: [graph]
stages:
  - simulate:
      physics: mesh_transport
      mesh: {file: FILE}
      diffusivity: 0.1
      initial: x + 2*y
      boundaries: {BOUNDARY: {value: 1}}
      end_time: 0.05
      output: [{type: node_fields, interval: 0.05}]
"""


def deck(name):
    return os.path.join(program.SOURCE, "inputs", "graph", name)


class Decks(unittest.TestCase):
    def run_deck(self, name, folder, *overrides, ranks=1):
        code, out, error = program.run("run", deck(name), "--test-size", f"run.directory={folder}", *overrides, ranks=ranks)
        self.assertEqual(code, 0, out + error)
        return cambium_io.Run(folder)

    def test_ranks_and_restarts_write_the_same(self):
        for name in ("diffusion.yaml", "transport.yaml"):
            folder = program.fresh("graph_" + name[:-5])
            every = ["stages[0].simulate.thermo.every=5", "stages[0].simulate.checkpoint={every: 5}"]
            one = self.run_deck(name, os.path.join(folder, "one"), *every)
            two = self.run_deck(name, os.path.join(folder, "two"), *every, ranks=2)
            path = os.path.join(folder, "half")
            self.run_deck(name, path, *every)
            for checkpoint in sorted(glob.glob(os.path.join(path, "simulate", "restart.*.h5")))[1:]:
                os.remove(checkpoint)
            os.remove(os.path.join(path, "stages_done.txt"))
            code, out, error = program.run("restart", path, ranks=2)
            self.assertEqual(code, 0, out + error)
            for other in (two, cambium_io.Run(path)):
                with h5py.File(one.find("nodes.h5")) as a, h5py.File(other.find("nodes.h5")) as b:
                    self.assertEqual(list(a), list(b))
                    for array in set(a) - {"cambium", "node", "corner", "edge_number", "triangle_number", "seconds"}:
                        np.testing.assert_array_equal(a[array][:], b[array][:], err_msg=f"{name}: {array}")
                np.testing.assert_array_equal(one.thermo["time"], other.thermo["time"])

    def test_nobody_is_lost(self):
        table = self.run_deck("diffusion.yaml", os.path.join(program.fresh("graph_epidemic"), "run")).thermo
        people = table["S_total"] + table["I_total"] + table["R_total"]
        self.assertLess(np.ptp(people) / people[0], 1e-12)
        self.assertLess(table["S_total"][-1], table["S_total"][0])

    def test_files_follow_the_layout_of_vtkhdf(self):
        run = self.run_deck("transport.yaml", os.path.join(program.fresh("graph_stirred"), "run"))
        seen = Layout(run.find("output.vtkhdf"))
        self.assertEqual(seen.problems, [])
        with h5py.File(run.find("nodes.h5")) as file:
            self.assertEqual(len(seen.values), len(file["time"]))
            for step in range(len(seen.values)):
                np.testing.assert_allclose(seen.point_data("c", step), file["c"][step], rtol=1e-6, atol=1e-7)
            np.testing.assert_array_equal(seen.root["Connectivity"][:], file["triangle"][:].ravel())
        table = run.thermo
        self.assertLess(np.ptp(table["total"]) / table["total"][0], 1e-12)


class Meshio(unittest.TestCase):
    def test_files_of_meshio_give_the_same_run(self):
        try:
            import meshio
        except ImportError as missing:
            print(f"SKIPPED: meshes written by meshio: {missing}")
            raise unittest.SkipTest(str(missing)) from None
        folder = program.fresh("graph_meshio")
        n = 6
        x, y = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1))
        points = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], 1)
        a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
        triangles = np.concatenate([np.stack([a, a + 1, a + n + 2], 1), np.stack([a, a + n + 2, a + n + 1], 1)])
        left = np.arange(n) * (n + 1)
        lines = np.stack([left, left + n + 1], 1)
        cells = [("triangle", triangles), ("line", lines)]
        group = [np.full(len(triangles), 9), np.full(len(lines), 7)]
        entity = [np.full(len(triangles), 1), np.full(len(lines), 1)]
        mesh = meshio.Mesh(points, cells, cell_data={"gmsh:physical": group, "gmsh:geometrical": entity},
                           field_data={"inlet": np.array([7, 1]), "body": np.array([9, 2])})
        plain = meshio.Mesh(points, cells, cell_data={"tag": group})
        meshio.write(os.path.join(folder, "old.msh"), mesh, file_format="gmsh22", binary=False)
        meshio.write(os.path.join(folder, "plain.vtu"), plain, file_format="vtu", binary=False)
        meshio.write(os.path.join(folder, "packed.vtu"), plain, file_format="vtu", binary=True, compression=None)
        ended = {}
        for name, boundary in (("old.msh", "inlet"), ("plain.vtu", '"7"'), ("packed.vtu", '"7"')):
            text = MESH.replace("DIRECTORY", os.path.join(folder, name.replace(".", "_")))
            path = program.write(os.path.join(folder, name + ".yaml"),
                                 text.replace("FILE", os.path.join(folder, name)).replace("BOUNDARY", boundary))
            code, out, error = program.run("run", path)
            self.assertEqual(code, 0, out + error)
            with h5py.File(cambium_io.Run(os.path.join(folder, name.replace(".", "_"))).find("nodes.h5")) as file:
                np.testing.assert_allclose(file["x"][:], points[:, 0], atol=1e-15)
                ended[name] = file["c"][-1]
            np.testing.assert_array_equal(ended[name][left], 1.0)  # the boundary was found
        for name in ended:
            np.testing.assert_allclose(ended[name], ended["old.msh"], rtol=1e-10)  # texts round the last digit of a place


if __name__ == "__main__":
    unittest.main()
