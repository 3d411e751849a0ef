#!/usr/bin/env python3
"""Reads every kind of output file with tools that are not Cambium's and compares it with what was written.

    read_back.py WRITE_SAMPLES SOURCE_DIR MPIEXEC...

Runs write_samples on 1, 2 and 4 ranks. Checks the H5MD 1.1 specification item by item, the values against the formula of
tests/sample_particles.hpp, that the number of ranks makes no difference, the reader and the pictures of apps/python, and,
where they are installed, that MDAnalysis and ASE open the trajectories.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: files read back by h5py: {error}")
    sys.exit(77)

WRITE_SAMPLES, SOURCE, MPIEXEC = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
sys.path.insert(0, str(SOURCE / "apps" / "python"))
import cambium_io  # noqa: E402

ATOMS, STEPS = 23, [0, 100, 200, 300, 400, 500]
CELL = np.array([[8, 0, 0], [1.5, 9, 0], [-0.75, 0.5, 10]])
ORIGIN = np.array([-1.0, 0.0, 2.0])
IDS = np.arange(1, ATOMS + 1)


def sample(step):
    """Unwrapped position relative to the corner, velocity, force: as tests/sample_particles.hpp."""
    k = np.arange(3)
    s = 0.5 + 0.55 * np.sin(1.7 * IDS[:, None] + 0.9 * k + 0.01 * step)
    image = (IDS[:, None] + k) % 3 - 1
    return (s + image) @ CELL, np.cos(0.3 * IDS[:, None] + k) / 3, np.sin(0.2 * IDS[:, None] - k) / 7


def setUpModule():
    global scratch, folders
    scratch = tempfile.TemporaryDirectory(prefix="cambium_read_back_")
    folders = {}
    for ranks in (1, 2, 4):
        folders[ranks] = Path(scratch.name) / f"np{ranks}"
        folders[ranks].mkdir()
        subprocess.run([*MPIEXEC, "-np", str(ranks), WRITE_SAMPLES, str(folders[ranks])], check=True)


def tearDownModule():
    scratch.cleanup()


def datasets(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


class H5mdSpecification(unittest.TestCase):
    """Release 1.1 of the specification and the units module 1.0."""

    def setUp(self):
        self.file = h5py.File(folders[2] / "trajectory.h5md")

    def tearDown(self):
        self.file.close()

    def fixed_text(self, item, name):
        kind = item.attrs.get_id(name).get_type()
        self.assertIsInstance(kind, h5py.h5t.TypeStringID)
        self.assertFalse(kind.is_variable_str(), f"{item.name}@{name} is to have fixed length")
        return item.attrs[name]

    def test_metadata(self):
        head = self.file["h5md"]
        self.assertEqual(head.attrs["version"].shape, (2,))
        self.assertEqual(list(head.attrs["version"]), [1, 1])
        self.assertTrue(np.issubdtype(head.attrs["version"].dtype, np.integer))
        self.assertTrue(self.fixed_text(head["author"], "name"))
        self.assertEqual(self.fixed_text(head["creator"], "name"), b"Cambium")
        self.assertTrue(self.fixed_text(head["creator"], "version"))
        self.assertEqual(list(head["modules/units"].attrs["version"]), [1, 0])
        self.assertTrue(self.fixed_text(head["modules/units"], "system"))

    def test_box(self):
        box = self.file["particles/trajectory/box"]
        self.assertEqual(box.attrs["dimension"], 3)
        self.assertEqual(box.attrs["dimension"].shape, ())
        self.assertEqual(list(self.fixed_text(box, "boundary")), [b"periodic"] * 3)
        self.assertEqual(box["edges/value"].shape, (len(STEPS), 3, 3))
        np.testing.assert_array_equal(box["edges/value"][3], CELL)

    def test_time_dependent_elements(self):
        group = self.file["particles/trajectory"]
        for name, shape in (("position", (ATOMS, 3)), ("image", (ATOMS, 3)), ("velocity", (ATOMS, 3)),
                            ("force", (ATOMS, 3)), ("box/edges", (3, 3))):
            element = group[name]
            self.assertEqual(set(element), {"step", "time", "value"}, name)
            self.assertEqual(element["value"].shape, (len(STEPS), *shape), name)
            self.assertIsNone(element["value"].maxshape[0], name)
            self.assertTrue(np.issubdtype(element["step"].dtype, np.integer))
            self.assertEqual(list(element["step"]), STEPS)
            np.testing.assert_allclose(element["time"], 0.001 * np.array(STEPS))
            # box and image must share step and time with position by hard links
            self.assertEqual(element["step"], group["position/step"], name)
            self.assertEqual(element["time"], group["position/time"], name)

    def test_units(self):
        group = self.file["particles/trajectory"]
        for name, unit in (("position/value", "Angstrom"), ("box/edges/value", "Angstrom"), ("position/time", "ps"),
                           ("velocity/value", "Angstrom ps-1"), ("force/value", "kJ mol-1 Angstrom-1"), ("mass", "g mol-1")):
            self.assertEqual(group[name].attrs["unit"], unit)
            self.assertEqual(np.shape(group[name].attrs["unit"]), ())

    def test_fixed_elements(self):
        group = self.file["particles/trajectory"]
        self.assertEqual(group["species"].shape, (ATOMS,))
        self.assertEqual(h5py.check_enum_dtype(group["species"].dtype), {"Cu": 0, "O": 1})
        np.testing.assert_array_equal(group["species"], IDS % 2)
        np.testing.assert_array_equal(group["id"], IDS)
        np.testing.assert_allclose(group["mass"], np.where(IDS % 2, 15.999, 63.546))

    def test_provenance(self):
        attributes = self.file["cambium"].attrs
        for name in ("version", "git_hash", "compiler", "kokkos", "mpi", "hdf5", "blas", "host", "date", "command_line"):
            self.assertTrue(attributes[name], name)
        self.assertEqual(attributes["ranks"], 2)
        self.assertEqual(attributes["seed"], 7)
        self.assertEqual(attributes["deck"], "run:\n  name: sample\n")


class Values(unittest.TestCase):
    def test_trajectory(self):
        trajectory = cambium_io.Run(folders[4]).trajectory
        self.assertEqual(len(trajectory), len(STEPS))
        self.assertEqual(list(trajectory.species[:2]), ["O", "Cu"])
        for frame, step in enumerate(STEPS):
            x, v, f = sample(step)
            np.testing.assert_allclose(trajectory.unwrapped(frame), x, atol=1e-12)
            np.testing.assert_allclose(trajectory.velocity(frame), v, atol=1e-15)
            np.testing.assert_allclose(trajectory.force(frame), f, atol=1e-14)
            fractions = trajectory.position(frame) @ np.linalg.inv(CELL)
            self.assertTrue(np.all((fractions > -1e-12) & (fractions < 1 + 1e-12)))
        np.testing.assert_allclose(trajectory.position(-1), trajectory.position(5))

    def test_extended_xyz(self):
        lines = (folders[4] / "trajectory.extxyz").read_text().splitlines()
        self.assertEqual(len(lines), len(STEPS) * (ATOMS + 2))
        for frame, step in enumerate(STEPS):
            block = lines[frame * (ATOMS + 2):(frame + 1) * (ATOMS + 2)]
            self.assertEqual(block[0], str(ATOMS))
            self.assertIn('Lattice="8 0 0 1.5 9 0 -0.75 0.5 10"', block[1])
            self.assertIn("Properties=species:S:1:pos:R:3:velo:R:3:forces:R:3", block[1])
            self.assertIn(f" Step={step} ", block[1])
            rows = [line.split() for line in block[2:]]
            self.assertEqual([row[0] for row in rows], ["O" if i % 2 else "Cu" for i in IDS])
            numbers = np.array([row[1:] for row in rows], dtype=float)
            x, v, f = sample(step)
            crossed = (numbers[:, :3] - ORIGIN - x) @ np.linalg.inv(CELL)
            np.testing.assert_allclose(crossed, crossed.round(), atol=1e-8)
            np.testing.assert_allclose(numbers[:, 3:6], v, atol=1e-9)
            np.testing.assert_allclose(numbers[:, 6:9], f, atol=1e-9)

    def test_thermo(self):
        table = cambium_io.Run(folders[2]).thermo
        self.assertEqual(table.names, ["step", "time", "temperature", "potential_energy", "kinetic_energy", "pressure"])
        self.assertEqual(table.units["pressure"], "bar")
        np.testing.assert_allclose(table["temperature"], 300.0 + np.array(STEPS))
        with h5py.File(folders[2] / "thermo.h5") as series:
            for name in table.names:
                np.testing.assert_array_equal(series[f"thermo/{name}"], table[name])
                np.testing.assert_array_equal(series[name], table[name])

    def test_correlations(self):
        run = cambium_io.Run(folders[2])
        frames = [sample(step) for step in STEPS]
        mass = np.where(IDS % 2, 15.999, 63.546)[:, None]
        for correlation, rows, pair in ((run.msd, 0, lambda a, b: ((b - a) ** 2).sum(1)),
                                        (run.vacf, 1, lambda a, b: (a * b).sum(1))):
            data = [frame[rows] - (mass * frame[rows]).sum(0) / mass.sum() for frame in frames]
            for lag in range(4):
                values = np.mean([pair(data[k], data[k + lag]) for k in range(len(STEPS) - lag)], axis=0)
                self.assertAlmostEqual(correlation["all"][lag], values.mean(), places=10)
                self.assertAlmostEqual(correlation["Cu"][lag], values[IDS % 2 == 0].mean(), places=10)
            np.testing.assert_allclose(correlation.time, 0.1 * np.arange(4), atol=1e-12)

    def test_rdf(self):
        rdf = cambium_io.Run(folders[2]).rdf
        self.assertEqual(rdf.pairs, ["Cu-Cu", "Cu-O", "O-O"])
        width = rdf.r[1] - rdf.r[0]
        images = np.array([[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]) @ CELL
        neighbours = np.zeros(50)
        for step in STEPS:
            x = sample(step)[0][IDS % 2 == 1]
            x -= np.floor(x @ np.linalg.inv(CELL)) @ CELL
            r = np.linalg.norm(x[:, None, None] - x[None, :, None] + images, axis=-1)
            neighbours += np.histogram(r[r > 1e-9], bins=50, range=(0, 50 * width))[0]
        np.testing.assert_allclose(rdf.coordination("O-O"), np.cumsum(neighbours) / 12 / len(STEPS), atol=1e-10)

    def test_checkpoint(self):
        with h5py.File(folders[4] / "restart.500.h5") as file:
            tags = file["fields/tag"][:]
            self.assertEqual(list(file["ranks/particle"]), [5, 6, 6, 6])
            self.assertEqual(file["fields/velocity"].attrs["unit"], "angstrom/ps")
            np.testing.assert_allclose(file["fields/velocity"][:], sample(500)[1][tags - 1], atol=1e-15)
            self.assertEqual(file["checkpoint"].attrs["step"], 500)
            np.testing.assert_array_equal(file["box/vectors"], CELL)


class Ranks(unittest.TestCase):
    def test_every_file_is_the_same_on_any_number_of_ranks(self):
        for name in ("trajectory.h5md", "thermo.h5", "msd.h5", "vacf.h5", "rdf.h5"):
            first = datasets(folders[1] / name)
            for ranks in (2, 4):
                other = datasets(folders[ranks] / name)
                self.assertEqual(set(first), set(other))
                for key, values in first.items():
                    np.testing.assert_array_equal(values, other[key], f"{name}:{key}")
        for name in ("trajectory.extxyz", "thermo.csv", "msd.csv", "vacf.csv", "rdf.csv"):
            texts = {(folders[ranks] / name).read_text() for ranks in folders}
            self.assertEqual(len(texts), 1, name)

    def test_nothing_is_left_half_written(self):
        for folder in folders.values():
            self.assertEqual(list(folder.glob("*.part")), [])


class Tools(unittest.TestCase):
    def test_picture(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            print(f"SKIPPED: picture of a run: {error}")
            return
        picture = folders[1] / "picture.png"
        script = SOURCE / "apps" / "python" / "plot_run.py"
        subprocess.run([sys.executable, str(script), str(folders[1]), "-o", str(picture)], check=True, capture_output=True)
        self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")
        self.assertGreater(picture.stat().st_size, 20000)
        none = subprocess.run([sys.executable, str(script), scratch.name + "/nowhere"], capture_output=True, text=True)
        self.assertEqual(none.returncode, 1)
        self.assertIn("is not a folder; name a run directory", none.stderr)

    def test_mdanalysis(self):
        try:
            import MDAnalysis
        except ImportError as error:
            print(f"SKIPPED: H5MD opened by MDAnalysis: {error}")
            return
        universe = MDAnalysis.Universe(str(folders[2] / "trajectory.h5md"))
        self.assertEqual(len(universe.atoms), ATOMS)
        self.assertEqual(len(universe.trajectory), len(STEPS))
        for frame, step in zip(universe.trajectory, STEPS):
            self.assertAlmostEqual(frame.time, 0.001 * step)
            np.testing.assert_allclose(frame.velocities, sample(step)[1], atol=1e-6)
            np.testing.assert_allclose(frame.forces, sample(step)[2] * cambium_io.KJ_PER_MOL, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(frame.dimensions[:3], np.linalg.norm(CELL, axis=1), rtol=1e-6)

    def test_ase(self):
        try:
            import ase.io
        except ImportError as error:
            print(f"SKIPPED: extended XYZ opened by ASE: {error}")
            return
        frames = ase.io.read(folders[2] / "trajectory.extxyz", index=":")
        self.assertEqual(len(frames), len(STEPS))
        for atoms, step in zip(frames, STEPS):
            np.testing.assert_allclose(atoms.cell[:], CELL)
            self.assertTrue(all(atoms.pbc))
            self.assertEqual(atoms.info["Step"], step)
            np.testing.assert_allclose(atoms.get_forces(), sample(step)[2], atol=1e-9)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    unittest.main(argv=[sys.argv[0]], verbosity=1)
