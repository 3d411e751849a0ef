"""cambium.Potential and the ASE calculator: the same numbers as `cambium run`, differences of energies, phonons by phonopy, a socket."""
import concurrent.futures
import copy
import gc
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

import program

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
missing = ""
try:
    import ase  # noqa: F401
    import ase.build
    import ase.optimize
    from ase.md.verlet import VelocityVerlet
except ImportError as error:
    missing = str(error)
import cambium  # noqa: E402

KEYS = {"type": "sutton_chen", "element": "Cu", "cutoff": 7.0}
MVV2E = 10.0 / (6.02214076e23 * 1.602176634e-19)  # eV of 1 g/mol Å^2/ps^2
DECK = """
run: {name: copper, directory: DIR}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {file: DIR/start.xyz}
      masses: {Cu: 63.546}
      potential: {type: sutton_chen, element: Cu, cutoff: 7.0}
      INTEGRATOR
      timestep: 2 fs
      steps: STEPS
      thermo: {every: 10}
      checkpoint: {every: STEPS}
"""


def copper(cells=(3, 3, 3), displacement=0.1, seed=2):
    """Symbols, positions and cell of rattled fcc copper."""
    basis = np.array([[0, 0, 0], [0, .5, .5], [.5, 0, .5], [.5, .5, 0]])
    grid = np.array([(x, y, z) for z in range(cells[2]) for y in range(cells[1]) for x in range(cells[0])])
    positions = 3.61 * (grid[:, None] + basis).reshape(-1, 3)
    positions += np.random.default_rng(seed).uniform(-displacement, displacement, positions.shape)
    return ["Cu"] * len(positions), positions, 3.61 * np.diag(cells).astype(float)


def run(folder, integrator, steps, positions, cell):
    """potential energies (eV) of the table, and the positions of the last checkpoint in the order of the file."""
    rows = "\n".join(f"Cu {x[0]:.17g} {x[1]:.17g} {x[2]:.17g}" for x in positions)
    lattice = " ".join(f"{value:.17g}" for value in cell.ravel())
    program.write(os.path.join(folder, "start.xyz"), f'{len(positions)}\nLattice="{lattice}" Properties=species:S:1:pos:R:3\n{rows}\n')
    deck = DECK.replace("DIR", folder).replace("INTEGRATOR", integrator).replace("STEPS", str(steps))
    code, out, error = program.run("run", program.write(os.path.join(folder, "deck.yaml"), deck))
    assert code == 0, out + error
    table = cambium.open(folder)["simulate/thermo.csv"]
    return table["potential"], out


class Evaluations(unittest.TestCase):
    def test_energy_forces_and_virial_are_differences(self):
        potential = cambium.Potential(KEYS)
        symbols, x, cell = copper((2, 2, 2), 0.2)
        cell = cell + np.array([[0, 0, 0], [0.4, 0, 0], [-0.3, 0.5, 0]])
        turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        x, cell = x @ turn, cell @ turn
        at = potential.evaluate(symbols, x, cell, per_atom=True)

        def energy(x, cell):
            return potential.evaluate(symbols, x, cell).energy
        h = 1e-4
        for i, k in ((0, 0), (7, 1), (20, 2)):
            step = np.zeros_like(x)
            step[i, k] = h
            slope = (8 * (energy(x + step, cell) - energy(x - step, cell)) - energy(x + 2 * step, cell) + energy(x - 2 * step, cell)) / (12 * h)
            self.assertAlmostEqual(at.forces[i, k], -slope, delta=1e-7)
        for a in range(3):
            for b in range(3):
                def strained(e):
                    strain = np.eye(3)
                    strain[a, b] += e
                    return energy(x @ strain.T, cell @ strain.T)
                slope = (8 * (strained(h) - strained(-h)) - strained(2 * h) + strained(-2 * h)) / (12 * h)
                self.assertAlmostEqual(at.virial[a, b], -slope, delta=1e-5)
        self.assertAlmostEqual(at.energies.sum(), at.energy, delta=1e-10)
        np.testing.assert_allclose(at.virials.sum(0), at.virial, atol=1e-9)
        only = potential.evaluate(symbols, x, cell, per_atom="energies")
        np.testing.assert_array_equal(only.energies, at.energies)
        self.assertIsNone(only.virials)

    def test_meam_of_openkim_does_not_depend_on_where_the_cell_begins(self):
        model = "MEAM_LAMMPS_AlmyrasSangiovanniSarakinos_2019_NAlTi__MO_958395190627_000"
        listing = shutil.which("kim-api-collections-management")
        listed = subprocess.run([listing, "list"], capture_output=True, text=True).stdout if listing else ""
        if "kim" not in os.environ["CAMBIUM_BUILT_PLUGINS"].split() or model not in listed:
            self.skipTest("no plugin kim, or the model is not installed")
        potential = cambium.Potential({"type": "kim", "model": model})
        _, x, cell = copper((2, 2, 2), 0.2)
        x, cell, symbols = x * 4.3 / 3.61, cell * 4.3 / 3.61, [["N", "Al", "Ti"][i % 3] for i in range(len(x))]

        def evaluated(shift):
            inside = (x + shift) @ np.linalg.inv(cell)
            return potential.evaluate(symbols, (inside - np.floor(inside)) @ cell, cell)
        one = evaluated((0, 0, 0))
        for shift in ((1, .3, 2.2), (3, 3, 3), (.4, 2.9, 5.1)):
            other = evaluated(shift)
            self.assertAlmostEqual(other.energy, one.energy, delta=1e-10)
            np.testing.assert_allclose(other.forces, one.forces, atol=1e-10)

    def test_many_structures_open_directions_and_left_handed_cells(self):
        potential = cambium.Potential(KEYS)
        symbols, x, cell = copper((2, 2, 2))
        one = potential.evaluate(symbols, x, cell)
        two = potential.evaluate_many([(symbols, x, cell, True), (symbols[:2], x[:2], None, False), (symbols, x, -cell, True)])
        self.assertEqual(one.energy, two[0].energy)
        self.assertAlmostEqual(two[2].energy, one.energy, delta=1e-10)
        np.testing.assert_allclose(two[2].forces, one.forces, atol=1e-10)
        wide = np.diag([60.0, 60.0, 60.0])
        self.assertAlmostEqual(two[1].energy, potential.evaluate(symbols[:2], x[:2], wide).energy, delta=1e-12)
        slab = cell.copy()
        slab[2] = [0, 0, 80.0]
        closed = potential.evaluate(symbols, x, slab)
        opened = potential.evaluate(symbols, x, cell, periodic=(True, True, False))
        self.assertAlmostEqual(opened.energy, closed.energy, delta=1e-10)
        np.testing.assert_allclose(opened.forces, closed.forces, atol=1e-10)

    def test_periodic_structures_need_a_cell(self):
        potential = cambium.Potential(KEYS)
        symbols, x, cell = copper((2, 2, 2))
        self.assertEqual(potential.evaluate(symbols, x, cell).energy, potential.evaluate(symbols, x, cell, True).energy)
        self.assertEqual(potential.evaluate(symbols, x).energy, potential.evaluate(symbols, x, None, False).energy)
        with self.assertRaises(ValueError) as caught:
            potential.evaluate(symbols, x, periodic=True)
        self.assertEqual(str(caught.exception), "periodic is True, but there is no cell; give one, or periodic=False for a molecule")
        with self.assertRaisesRegex(ValueError, "there is no cell"):
            potential.evaluate_many([(symbols, x, None, (True, True, False))])

    def test_a_potential_has_no_memory(self):
        lj = {"type": "lennard_jones", "cutoff": 8.0, "tail": True, "pairs": [{"species": [s, s], "epsilon": e, "sigma": d} for s, e, d in (("Ar", .0103, 3.4), ("Kr", .014, 3.65))]}
        ions = {"type": "sum", "terms": [{"type": "coulomb", "charges": {"Ar": 1, "Kr": -1}, "method": method, "cutoff": 7.0} for method in ("mesh", "ewald")]}
        _, x, cell = copper((2, 2, 2), 0.2)
        x, cell = 1.5 * x, 1.5 * cell
        halves, few = ["Ar", "Kr"] * 16, (["Ar"] * 15 + ["Kr"]) * 2
        structures = [(halves, x, cell, True), (few, x, cell, True), (halves[::-1], 1.1 * x, 1.1 * cell, True), (halves[:4], x[:4], cell, True), (halves, x, cell, True)]
        for keys, given in ((lj, structures), (ions, structures[:1] + structures[2:])):
            potential = cambium.Potential(keys)
            for structure in given:
                found, alone = potential.evaluate(*structure), cambium.Potential(keys).evaluate(*structure)
                self.assertAlmostEqual(found.energy, alone.energy, delta=1e-11)
                np.testing.assert_allclose(found.forces, alone.forces, atol=1e-11)
                np.testing.assert_allclose(found.virial, alone.virial, atol=1e-10)

    def test_copies_are_potentials_of_their_own(self):
        symbols, x, cell = copper((2, 2, 2))
        with tempfile.TemporaryDirectory() as folder:
            deck = program.write(os.path.join(folder, "potential.yaml"), json.dumps(KEYS))
            keys = dict(KEYS, cutoff=np.float64(7.0))
            for what in (keys, deck, pathlib.Path(deck)):
                potential = cambium.Potential(what)
                energy = potential.evaluate(symbols, x, cell).energy
                for copied in (copy.copy(potential), copy.deepcopy(potential), pickle.loads(pickle.dumps(potential))):
                    self.assertEqual(copied.evaluate(symbols, x, cell).energy, energy)
                    copied.close()
                    self.assertEqual(potential.evaluate(symbols, x, cell).energy, energy)
        with self.assertRaisesRegex(cambium.CambiumError, "the potential is closed"):
            copied.evaluate(symbols, x, cell)

    def test_programs_started_by_mpirun_afterwards(self):
        mpirun = [*program.MPIEXEC, "-n", "1"]
        code = ("import subprocess, sys, cambium\n"
                f"potential = cambium.Potential({KEYS!r})\n"
                f"done = subprocess.run([*{mpirun!r}, sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True)\n"
                "print(done.returncode, done.stdout, done.stderr)\n"
                "assert done.returncode == 0 and '42' in done.stdout\n"
                "potential.evaluate(['Cu'] * 2, [[0, 0, 0], [0, 0, 2.5]])\n")
        bare = {key: value for key, value in os.environ.items() if not key.startswith(("OMPI_COMM_WORLD_", "PMI"))}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                              env=dict(bare, PYTHONPATH=os.path.join(program.SOURCE, "apps", "python")))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_potentials_are_freed_with_their_last_reference(self):
        potential = cambium.Potential(KEYS)
        collected = potential._collected
        self.assertTrue(collected.alive)
        del potential
        gc.collect()
        self.assertFalse(collected.alive)

    def test_threads_wait_for_each_other(self):
        symbols, x, cell = copper((2, 2, 2))
        potentials = [cambium.Potential(KEYS) for _ in range(4)]
        energy = potentials[0].evaluate(symbols, x, cell).energy
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda k: potentials[k % 4].evaluate(symbols, x, cell).energy, range(40)))
        self.assertEqual(set(found), {energy})

    def test_decks_models_and_what_is_refused(self):
        symbols, x, cell = copper((2, 2, 2))
        deck = cambium.Potential(os.path.join(program.SOURCE, "inputs", "md", "copper_eam.yaml"))
        self.assertIn("EAM", repr(deck))
        self.assertIsNone(deck.evaluate(symbols, x, cell).deviation)
        if "deepmd" in os.environ["CAMBIUM_BUILT_PLUGINS"].split():
            model = cambium.Potential(os.path.join(program.SOURCE, "inputs", "deepmd", "models", "copper.dp"))
            self.assertLess(model.evaluate(symbols, x, cell).energy, 0.0)
            with tempfile.TemporaryDirectory() as folder:
                written = os.path.join(folder, "model.yaml")
                code, out, error = program.run("deepmd", "compress", os.path.join(program.SOURCE, "inputs", "deepmd", "models", "copper.dp"), written)
                self.assertEqual(code, 0, out + error)
                found = cambium.Potential(written).evaluate(symbols, x, cell)
                self.assertAlmostEqual(found.energy, model.evaluate(symbols, x, cell).energy, delta=1e-4)
        long = json.dumps({"type": "lennard_jones", "epsilon": 0.01, "sigma": 3.4, "cutoff": 7.0}) + 300 * " "  # no name of a file is as long
        self.assertLess(cambium.Potential(long).evaluate(symbols[:2], [[0, 0, 0], [0, 0, 4.0]]).energy, 0.0)
        with self.assertRaises(cambium.CambiumError) as caught:
            cambium.Potential(KEYS).evaluate(symbols[:3], [[0, 0, 0], [0, 0, 0], [0, 0, 2.5]])
        self.assertIn("the energy is not finite: atoms are at the same position, or nearer to each other than the potential allows", str(caught.exception))
        for what, words in (({"type": "suton_chen"}, "sutton_chen"), ("nothing", "is no file, and no keys of a potential; give a deck, a model file or {type: ...}"),
                            ({"cutoff": 3}, "has no `type` of a potential; give {type: sutton_chen, ...}")):
            with self.assertRaises(cambium.CambiumError) as caught:
                cambium.Potential(what)
            self.assertIn(words, str(caught.exception))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("run: {name: x}\nstages: []\n")
            file.flush()
            with self.assertRaises(cambium.CambiumError) as caught:
                cambium.Potential(file.name)
            self.assertIn("has no `potential` in any of its stages", str(caught.exception))
        with self.assertRaises(cambium.CambiumError) as caught:
            deck.evaluate(["Au"], x[:1], cell)
        self.assertIn("has no species 'Au'", str(caught.exception))
        with self.assertRaises(cambium.CambiumError) as caught:
            deck.evaluate(["Cu"], [[0, np.nan, 0]], cell)
        self.assertIn("the position of atom 0 is not finite", str(caught.exception))
        deck.close()
        with self.assertRaises(cambium.CambiumError):
            deck.evaluate(symbols, x, cell)


@unittest.skipIf(missing, "ase is not installed")
class Calculator(unittest.TestCase):
    def atoms(self, *arguments):
        from cambium.ase import Cambium
        symbols, x, cell = copper(*arguments)
        atoms = ase.Atoms(symbols, x, cell=cell, pbc=True)
        atoms.set_masses([63.546] * len(atoms))
        atoms.calc = Cambium(potential=KEYS)
        return atoms

    def test_dynamics_are_those_of_a_run(self):
        folder = program.fresh("ase_nve")
        atoms = self.atoms()
        energies, _ = run(folder, "integrator: nve", 50, atoms.get_positions(), atoms.cell.array)
        dynamics = VelocityVerlet(atoms, 0.002 / np.sqrt(MVV2E))
        found = [atoms.get_potential_energy()]
        for _ in range(5):
            dynamics.run(10)
            found.append(atoms.get_potential_energy())
        np.testing.assert_allclose(found, energies, rtol=1e-10)
        with h5py.File(os.path.join(folder, "simulate", "restart.50.h5")) as file:
            arrays = {}
            file.visititems(lambda name, item: arrays.__setitem__(name.split("/")[-1], item[()]) if isinstance(item, h5py.Dataset) else None)
        x = np.empty((len(atoms), 3))
        x[arrays["tag"].ravel() - 1] = arrays["position"][:, :3]
        apart = (atoms.get_positions() - x) @ np.linalg.inv(atoms.cell.array)
        apart = (apart - np.round(apart)) @ atoms.cell.array
        self.assertLess(np.abs(apart).max(), 1e-10)

    def test_relaxation_is_that_of_a_run(self):
        folder = program.fresh("ase_fire")
        atoms = self.atoms()
        energies, _ = run(folder, "integrator: {type: fire, force_tolerance: 1e-7}", 2000, atoms.get_positions(), atoms.cell.array)
        ase.optimize.FIRE(atoms, logfile=None).run(fmax=1e-7, steps=2000)
        self.assertLess(abs(atoms.get_potential_energy() / energies[-1] - 1.0), 1e-10)

    def test_properties_are_calculated_once(self):
        atoms = self.atoms((2, 2, 2))
        stress = atoms.get_stress()
        atoms.get_forces()
        energy = atoms.get_potential_energy()
        self.assertEqual(atoms.get_potential_energy(force_consistent=True), energy)
        self.assertEqual(atoms.calc.evaluations, 1)
        self.assertAlmostEqual(atoms.get_potential_energies().sum(), energy, delta=1e-10)
        self.assertEqual(atoms.calc.evaluations, 2)
        np.testing.assert_allclose(atoms.get_stresses().sum(0), stress, atol=1e-10)
        np.testing.assert_allclose(atoms.calc.calculate_numerical_stress(atoms, d=1e-5), stress, atol=1e-7)
        atoms.positions[0, 0] += 0.01
        atoms.get_forces()
        self.assertGreater(atoms.calc.evaluations, 2)
        atoms.pbc = (True, True, False)  # its strained cells are those of ASE's filters
        np.testing.assert_allclose(atoms.get_stress(), atoms.calc.calculate_numerical_stress(atoms, d=1e-5), atol=1e-7)
        atoms.cell[2] = 0.0
        atoms.get_forces()
        with self.assertRaises(ase.calculators.calculator.PropertyNotImplementedError):
            atoms.get_stress()

    def test_phonons_of_phonopy_have_the_force_constants_of_energies(self):
        try:
            import phonopy
            from phonopy.structure.atoms import PhonopyAtoms
        except ImportError as error:
            self.skipTest(str(error))
        from cambium.ase import Cambium
        unit = ase.build.bulk("Cu", "fcc", a=3.61)
        cell = PhonopyAtoms(symbols=["Cu"], cell=unit.cell.array, scaled_positions=[[0, 0, 0]])
        phonons = phonopy.Phonopy(cell, np.diag([4, 4, 4]))
        phonons.generate_displacements(distance=0.002)
        calculator = Cambium(potential=KEYS)
        forces = []
        for moved in phonons.supercells_with_displacements:
            atoms = ase.Atoms(moved.symbols, cell=moved.cell, scaled_positions=moved.scaled_positions, pbc=True, calculator=calculator)
            forces.append(atoms.get_forces())
        phonons.forces = forces
        phonons.produce_force_constants()
        constants = phonons.force_constants
        ideal = phonons.supercell
        h = 0.01
        for a, b in ((0, 0), (0, 1)):
            def energy(p, q):
                x = ideal.positions.copy()
                x[0, a] += p * h
                x[1, b] += q * h
                return calculator.potential.evaluate(["Cu"] * len(x), x, ideal.cell).energy
            mixed = (energy(1, 1) - energy(1, -1) - energy(-1, 1) + energy(-1, -1)) / (4 * h * h)
            self.assertAlmostEqual(constants[0, 1, a, b], mixed, delta=2e-3 * np.abs(constants[0, 1]).max())
        phonons.run_qpoints([[0, 0, 0], [0.5, 0.5, 0.0]])
        frequencies = phonons.get_qpoints_dict()["frequencies"]
        self.assertLess(np.abs(frequencies[0]).max(), 0.05)  # THz, acoustic at Gamma
        self.assertGreater(frequencies[1].min(), 1.0)

    def test_elastic_constants_of_stresses_are_those_of_energies(self):
        from cambium.ase import Cambium
        calculator = Cambium(potential=KEYS)

        def strained(strain):
            atoms = ase.build.bulk("Cu", "fcc", a=3.61, cubic=True) * (2, 2, 2)
            atoms.set_cell(atoms.cell.array @ (np.eye(3) + strain), scale_atoms=True)
            atoms.calc = calculator
            return atoms
        volume, h = strained(np.zeros((3, 3))).get_volume(), 1e-3
        along = np.diag([1.0, 0, 0])
        energies = [strained(s * h * along).get_potential_energy() for s in (-1, 0, 1)]
        second = (energies[0] - 2 * energies[1] + energies[2]) / h**2 / volume
        tension = [strained(s * h * along).get_stress()[0] * strained(s * h * along).get_volume() / (1 + s * h) for s in (-1, 1)]
        self.assertAlmostEqual((tension[1] - tension[0]) / (2 * h) / volume, second, delta=1e-4 * abs(second))
        c11, c12 = (np.array([strained(h * along).get_stress()[k] - strained(-h * along).get_stress()[k] for k in (0, 1)]) / (2 * h))
        self.assertGreater(c11, c12)
        self.assertGreater(c12, 0.0)


if __name__ == "__main__":
    if missing:
        print(f"SKIPPED: the calculator of ASE: {missing} (Debian: python3-ase)")
    unittest.main(verbosity=2)
