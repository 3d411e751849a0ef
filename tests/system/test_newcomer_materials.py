"""The path of somebody with labelled frames of their own: extended XYZ from ASE, a model, parity, NVT, g(r), the trajectory in ASE and
MDAnalysis, the same forces in LAMMPS. Every command stands in the documentation."""
import csv
import importlib
import os
import subprocess
import unittest

import h5py
import numpy as np

import program

DECK = """
run: {name: mine, seed: 1}
plugins: [md, deepmd]
stages:
  - train:
      network:
        type: deep_potential
        rcut: 5.0 angstrom
        rcut_smth: 2.0 angstrom
        neuron: [8, 16]
        axis_neuron: 4
        fitting: [24, 24]
        loss: {start_pref_e: 0.02, limit_pref_e: 1, start_pref_f: 1000, limit_pref_f: 100, start_pref_v: 0.2, limit_pref_v: 1}
      dataset: {type: extxyz, files: ["{deck}/train.xyz"]}
      validation: {type: extxyz, files: ["{deck}/test.xyz"]}
      batch: 2
      steps: 600
      learning_rate: {type: exponential, start: 3e-3, stop: 1e-4, every: 50}
      validate: {every: 200}
      log_every: 200
  - test:
      model: "{run}/train/model.dp"
      systems: ["{deck}/test.xyz"]
  - simulate:
      physics: md
      structure: {file: "{deck}/test.xyz", repeat: [2, 1, 1]}
      initial_temperature: 300 K
      potential: {type: deep_potential, model: "{run}/train/model.dp"}
      integrator: {type: INTEGRATOR, temperature: 300 K, damping: 0.1 ps}
      timestep: 2 fs
      steps: 200
      thermo: {every: 20}
      output:
        - {type: rdf, every: 10, r_max: 3.4}
        - {type: extxyz, every: 50, forces: true}
        - {type: h5md, every: 50}
"""
IN_LAMMPS = """
units metal
read_data DATA
pair_style cambium
pair_coeff * * "{model: MODEL}" Cu
thermo_style custom step pe
thermo_modify format float %.15g
dump forces all custom 1 FORCES id fx fy fz
dump_modify forces format float %.16g sort id
run 0
"""


def frames_of(folder):
    """Rattled copper with energies, forces and stress of ASE's own potential, written as ASE writes them."""
    from ase.build import bulk
    from ase.calculators.emt import EMT
    from ase.io import write

    draw = np.random.default_rng(7)
    for name, count in (("train.xyz", 24), ("test.xyz", 6)):
        frames = []
        for _ in range(count):
            atoms = bulk("Cu", cubic=True).repeat((2, 2, 2))
            atoms.set_cell(atoms.cell[:] * draw.uniform(0.97, 1.03), scale_atoms=True)
            atoms.rattle(0.08, seed=int(draw.integers(1 << 30)))
            atoms.calc = EMT()
            atoms.get_potential_energy(), atoms.get_forces(), atoms.get_stress()
            frames.append(atoms)
        write(os.path.join(folder, name), frames)


def columns(path):
    with open(path) as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


class Materials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            importlib.import_module("ase")
        except ImportError:
            raise unittest.SkipTest("SKIPPED: own frames to a model: there is no ASE (Debian: python3-ase)")
        cls.folder = program.fresh("newcomer_materials")
        frames_of(cls.folder)
        guessed = program.write(os.path.join(cls.folder, "guessed.yaml"), DECK.replace("INTEGRATOR", "nvt"))
        cls.guess = program.run("check", guessed, cwd=cls.folder)
        deck = program.write(os.path.join(cls.folder, "mine.yaml"), DECK.replace("INTEGRATOR", "langevin"))
        cls.checked = program.run("check", deck, cwd=cls.folder)
        cls.done = program.run("run", deck, cwd=cls.folder)
        cls.place = os.path.join(cls.folder, "runs", "mine")
        assert cls.done[0] == 0, cls.done

    def test_the_guessed_name_points_to_what_there_is(self):
        code, _, error = self.guess
        self.assertEqual(code, 2)
        self.assertRegex(error, r"'nvt'.*(langevin|csvr)")
        self.assertNotRegex(error, r"did you mean '?nve")

    def test_check_finds_the_deck_sound(self):
        self.assertEqual(self.checked[0], 0, self.checked)

    def test_parity_is_written_and_the_model_has_learned(self):
        table = columns(os.path.join(self.place, "test", "parity_0_force.csv"))
        reference, predicted = (np.stack([table[name].astype(float) for name in table if name.startswith(side)], axis=1).ravel()
                                for side in ("reference", "predicted"))
        from ase.io import read

        frames = read(os.path.join(self.folder, "test.xyz"), index=":")
        own = np.concatenate([atoms.get_forces().ravel() for atoms in frames])
        np.testing.assert_allclose(reference, own, atol=1e-6)
        self.assertLess(np.sqrt(np.mean((predicted - reference) ** 2)), 0.5 * np.sqrt(np.mean(reference**2)))

    def test_the_page_holds_parity_plot_and_rdf(self):
        code, _, error = program.run("report", self.place, cwd=self.folder)
        self.assertEqual(code, 0, error)
        with open(os.path.join(self.place, "report.html")) as file:
            page = file.read()
        self.assertGreaterEqual(page.count("data:image/png"), 3)

    def test_the_first_peak_of_the_rdf_is_the_nearest_neighbour(self):
        with h5py.File(os.path.join(self.place, "simulate", "rdf.h5")) as file:
            names = []
            file.visit(names.append)
        table = columns(os.path.join(self.place, "simulate", "rdf.csv"))
        r, g = (table[name].astype(float) for name in list(table)[:2])
        self.assertTrue(names)
        self.assertAlmostEqual(r[np.argmax(g)], 2.55, delta=0.15)

    def test_ase_opens_the_trajectory(self):
        from ase.io import read

        frames = read(os.path.join(self.place, "simulate", "trajectory.extxyz"), index=":")
        self.assertEqual({len(atoms) for atoms in frames}, {64})
        self.assertEqual(set(frames[-1].get_chemical_symbols()), {"Cu"})
        self.assertTrue(np.isfinite(frames[-1].get_potential_energy()))
        self.assertEqual(frames[-1].get_forces().shape, (64, 3))

    def test_mdanalysis_opens_the_trajectory(self):
        try:
            import MDAnalysis
        except ImportError:
            self.skipTest("SKIPPED: there is no MDAnalysis (Debian: python3-mdanalysis)")
        folder = os.path.join(self.place, "simulate")
        universe = MDAnalysis.Universe(os.path.join(folder, "trajectory.pdb"), os.path.join(folder, "trajectory.h5md"))
        self.assertEqual(set(universe.atoms.elements), {"Cu"})
        self.assertEqual(len(universe.trajectory), 5)

    def test_lammps_gives_the_same_forces(self):
        lammps = os.environ.get("LMP_CAMBIUM", "")
        if not lammps:
            self.skipTest("SKIPPED: the same model in LAMMPS: lmp_cambium is not built (Debian: liblammps-dev)")
        from ase.io import read, write

        last = read(os.path.join(self.place, "simulate", "trajectory.extxyz"), index=-1)
        data, forces = os.path.join(self.folder, "data"), os.path.join(self.folder, "forces")
        write(data, last, format="lammps-data", units="metal")
        text = IN_LAMMPS.replace("DATA", data).replace("MODEL", f"{self.place}/train/model.dp").replace("FORCES", forces)
        path = program.write(os.path.join(self.folder, "in.lmp"), text.replace("read_data", "read_data"))
        masses = "mass 1 63.546\n"
        with open(path) as file:
            text = file.read().replace("pair_style", masses + "pair_style", 1)
        program.write(path, text)
        done = subprocess.run([lammps, "-in", path, "-log", "none"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = np.loadtxt(forces, skiprows=9)[:, 1:]
        np.testing.assert_allclose(found, last.get_forces(), atol=2e-5)


if __name__ == "__main__":
    unittest.main()
