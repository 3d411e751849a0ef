"""Spin-polarised DFTB through the program, beside a dense solution in numpy: energies, spins, forces, pressure; ranks, k-points, submatrices, purification."""
# needs: md submatrix
# cost: 60
# thorough
import csv
import json
import math
import os
import unittest

import numpy
from scipy.linalg import eigh
from scipy.optimize import root

import dftb_oracle as oracle
import program
from test_dftb import BENT, BOHR, CELL, HARTREE, KELVIN, structure

BAR = 1.602176634e6  # of one eV/Å^3
SHELLS = {"C": "p", "H": "s", "Si": "d"}
HIGHEST = {"C": 1, "H": 0, "Si": 2}
CONSTANTS = {"H": [[-0.072]], "C": [[-0.031, -0.025], [-0.025, -0.023]], "Si": [[-0.02, -0.015, 0.0], [-0.015, -0.014, -0.002], [0.0, -0.002, -0.03]]}
X = numpy.array([[0.1, 0, 0], [-1.4, 2.1, 0.5], [2.9, 1.4, 2.3]])


class SpinOracle:
    """Charges of atoms and spins of shells of two channels, each with its own Hamiltonian."""

    def __init__(self, model, symbols, x, cell=None, charge=0.0, kt=1e-8, k_points=((0, 0, 0),), constants=CONSTANTS, unpaired=0.0, relax=False, start=None):
        x = numpy.array(x, float)
        cell = None if cell is None else numpy.array(cell, float)
        self.h, self.s, self.repulsive = oracle.integrals(model, symbols, x, cell)
        self.k_points, self.kt, self.unpaired, self.relax = k_points, kt, unpaired, relax
        shells, atoms, neutral, w = [], [], [], []
        for i, a in enumerate(symbols):
            for l in range(model.highest[a] + 1):
                shells += (2 * l + 1) * [len(atoms)]
                atoms.append(i)
                neutral.append(model.file[a, a].electrons[l])
                w.append([constants[a][l if len(constants[a]) > 1 else 0][m if len(constants[a]) > 1 else 0] for m in range(model.highest[a] + 1)])
        self.shell, self.atom, self.neutral = numpy.array(shells), numpy.array(atoms), numpy.array(neutral)
        self.w = numpy.zeros((len(atoms), len(atoms)))
        for row, values in enumerate(w):
            first = atoms.index(atoms[row])
            self.w[row, first:first + len(values)] = values
        self.gamma = oracle.gamma_matrix(x, [model.file[a, a].hubbard[0] for a in symbols], cell)
        self.electrons = self.neutral.sum() - charge
        n = len(symbols)
        spins = self.neutral * unpaired / self.neutral.sum() if start is None else \
            self.neutral * numpy.array(start)[self.atom] / numpy.bincount(self.atom, self.neutral)[self.atom]
        mixed = numpy.concatenate([numpy.full(n, -charge / n), spins])
        for _ in range(150):
            mixed = mixed + 0.2 * (self.populations(mixed)[0] - mixed)
        solution = root(lambda m: self.populations(m)[0] - m, mixed, tol=1e-13)
        found, mu, entropy, h0 = self.populations(solution.x)
        if abs(found - solution.x).max() > 1e-9:
            raise ValueError(f"the oracle's populations still change by {abs(found - solution.x).max()}")
        q, p = found[:n], found[n:]
        second, spin = q @ self.gamma @ q / 2, p @ self.w @ p / 2
        total = h0 + second + spin + self.repulsive
        self.result = {"total_energy": total, "mermin_energy": total + entropy, "second_order_energy": second, "spin_energy": spin, "uncharged_energy": h0,
                       "fermi_level": mu[0] * HARTREE, "fermi_level_down": mu[1] * HARTREE, "charges": -q, "spins": numpy.bincount(self.atom, p), "shells": p,
                       "magnetisation": p.sum()}

    def fill(self, levels):
        """Occupations and Fermi levels of both channels."""
        weights = numpy.full(len(self.k_points), 1 / len(self.k_points))
        if self.relax:
            f, mu, entropy = oracle.fermi(numpy.concatenate(levels), numpy.concatenate([weights, weights]), 2 * self.electrons, self.kt)
            return numpy.split(f, 2), (mu, mu), entropy / 2
        parts = [oracle.fermi(e, weights, self.electrons + sign * self.unpaired, self.kt) for e, sign in zip(levels, (1, -1))]
        return [part[0] for part in parts], [part[1] for part in parts], sum(part[2] for part in parts) / 2

    def populations(self, mixed):
        n = self.atom[-1] + 1
        v = (self.gamma @ mixed[:n])[self.atom[self.shell]]
        field = (self.w @ mixed[n:])[self.shell]
        levels, vectors, matrices = [[], []], [[], []], []
        for k in self.k_points:
            phase = {c: numpy.exp(2j * math.pi * numpy.dot(k, c)) for c in self.s}
            sk, hk = sum(phase[c] * self.s[c] for c in self.s), sum(phase[c] * self.h[c] for c in self.s)
            matrices.append((hk, sk))
            for channel, sign in enumerate((1, -1)):
                shift = v + sign * field
                e, c = eigh(hk + sk * (shift[:, None] + shift) / 2, sk)
                levels[channel].append(e), vectors[channel].append(c)
        f, mu, entropy = self.fill([numpy.array(e) for e in levels])
        population, h0 = numpy.zeros((2, len(v))), 0.0
        for channel in range(2):
            for fk, c, (hk, sk) in zip(f[channel], vectors[channel], matrices):
                density = (c * fk) @ c.conj().T / len(self.k_points)
                population[channel] += numpy.einsum("ij,ji->i", density, sk).real
                h0 += numpy.einsum("ij,ji->", density, hk).real
        shells = [numpy.bincount(self.shell, one) for one in population]
        charges = numpy.bincount(self.atom, shells[0] + shells[1] - self.neutral)
        return numpy.concatenate([charges, shells[0] - shells[1]]), mu, entropy, h0


class DftbSpin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = oracle.write_set(os.path.join(program.fresh("dftb_spin_set"), "set"))
        cls.model = oracle.Model(cls.folder, ["C", "H", "Si"], HIGHEST)

    def single_point(self, name, symbols, x, cell=None, ranks=1, **keys):
        """Results of the stage, and the columns of atoms.csv by name."""
        run = program.fresh("dftb_spin_" + name)
        spin = {"constants": {s: CONSTANTS[s] for s in set(symbols)}, **keys.pop("spin")}
        keys = {"periodic": cell is not None, "tolerance": 1e-10, **keys}
        path = structure(os.path.join(run, "atoms.extxyz"), symbols, x, 40 * numpy.eye(3) if cell is None else cell)
        deck = {"run": {"name": name, "directory": run}, "plugins": ["submatrix"],
                "stages": [{"dftb": {"structure": {"file": path}, "slater_koster": {"directory": self.folder},
                                     "shells": {s: SHELLS[s] for s in set(symbols)}, "spin": spin, **keys}}]}
        code, out, error = program.run("run", program.write(os.path.join(run, "deck.yaml"), json.dumps(deck)), ranks=ranks)
        self.assertEqual(code, 0, out + error)
        with open(os.path.join(run, "dftb", "atoms.csv")) as file:
            rows = list(csv.reader(file))
        table = {name.split(" ")[0].split("[")[0]: numpy.array([float(row[k]) for row in rows[1:]]) for k, name in enumerate(rows[0])}
        with open(os.path.join(run, "dftb", "results.json")) as file:
            found = {r["key"]: r["value"] for r in json.load(file)["results"]}
        forces = numpy.array([table["force_" + axis] for axis in "xyz"]).T * BOHR / HARTREE
        return found, table, forces

    def compare(self, found, table, expected, energy=1e-8, spin=1e-7):
        for key in ("total_energy", "mermin_energy", "second_order_energy", "spin_energy", "uncharged_energy"):
            self.assertAlmostEqual(found[key], expected[key], delta=energy, msg=key)
        self.assertAlmostEqual(found["magnetisation"], expected["magnetisation"], delta=spin)
        self.assertLess(abs(table["charge"] - expected["charges"]).max(), spin)
        self.assertLess(abs(table["spin"] - expected["spins"]).max(), spin)
        shells = numpy.array([table["spin_" + l] for l in "spd"]).T
        self.assertLess(abs(shells.sum(axis=1) - table["spin"]).max(), 1e-10)

    def test_molecule(self):
        """A fixed and a relaxed number of unpaired electrons; charges mixed by every method; ranks."""
        symbols = ["C", "H", "Si", "H", "C"]
        for spin, charge in (({"unpaired_electrons": 2}, 0.0), ({"unpaired_electrons": 1}, 1.0), ({"unpaired_electrons": 1.5, "relax": True}, 0.0),
                             ({"initial_atom_spins": [1, 0.5, 1, 0.5, -1], "relax": True}, 0.0)):
            arguments = {"unpaired": spin.get("unpaired_electrons", 0.0), "relax": spin.get("relax", False), "start": spin.get("initial_atom_spins")}
            expected = SpinOracle(self.model, symbols, BENT, charge=charge, kt=3000 * KELVIN, **arguments).result
            print(f"{spin}: magnetisation {expected['magnetisation']:.4f}, spin energy {expected['spin_energy']:.6f} hartree")
            for ranks, mixing in ((1, "anderson"), (2, "broyden"), (4, "simple")):
                found, table, _ = self.single_point("molecule", symbols, BENT, ranks=ranks, charge=charge, filling={"temperature": 3000}, spin=spin,
                                                    cycles=1000, mixing={"type": mixing, "parameter": 0.1})
                self.compare(found, table, expected)
                for level in ("fermi_level", "fermi_level_down"):
                    self.assertAlmostEqual(found[level], expected[level], delta=1e-6)

    def test_crystal(self):
        """k-points: energies, forces and pressure by differences."""
        symbols = ["Si", "H", "C"]
        points = [[(i + 0.5) / 2, 0, (k + 0.25) / 2] for i in range(2) for k in range(2)]

        def energy(x, cell):
            return SpinOracle(self.model, symbols, x, cell=cell, kt=3000 * KELVIN, k_points=points, unpaired=1.0).result["mermin_energy"]
        expected = SpinOracle(self.model, symbols, X, cell=CELL, kt=3000 * KELVIN, k_points=points, unpaired=1.0).result
        h, slopes = 1e-3, []
        for atom, axis in ((0, 0), (1, 2), (2, 1)):
            step = numpy.zeros_like(X)
            step[atom, axis] = h
            slopes.append((energy(X + step, CELL) - energy(X - step, CELL)) / (2 * h))
        stretch = (energy(X * (1 + h), CELL * (1 + h)) - energy(X * (1 - h), CELL * (1 - h))) / (2 * h)
        volume = abs(numpy.linalg.det(CELL)) * BOHR**3
        for ranks in (1, 2, 4):
            found, table, forces = self.single_point("crystal", symbols, X, cell=CELL, ranks=ranks, filling={"temperature": 3000},
                                                     k_points={"grid": [2, 1, 2], "shift": [0.5, 0, 0.25]}, spin={"unpaired_electrons": 1})
            self.compare(found, table, expected)
            for (atom, axis), slope in zip(((0, 0), (1, 2), (2, 1)), slopes):
                self.assertAlmostEqual(forces[atom, axis], -slope, delta=1e-6)
            self.assertAlmostEqual(found["pressure"] * 3 * volume / BAR / HARTREE, -stretch, delta=2e-5)

    def test_submatrices(self):
        """Hydrogen atoms of opposite and of equal spins, far from each other: both channels by submatrices, and by purification."""
        x = numpy.array([[3.0 + 6 * i, 3.1 + 6 * j, 3.0 + 5.5 * k] for i in range(2) for j in range(2) for k in range(2)])
        x += 0.2 * numpy.random.default_rng(7).uniform(-1, 1, x.shape)
        cell = numpy.diag([12.0, 12.0, 11.0])
        for start, keys in ((8 * [1.0], {"unpaired_electrons": 6}), ([1, -1, -1, 1, -1, 1, 1, -1], {"unpaired_electrons": 0}),
                            ([1, -1, -1, 1, -1, 1, 1, -1], {"relax": True})):
            keys = {"initial_atom_spins": start, **keys}
            if keys.get("unpaired_electrons") == 6:
                keys["initial_atom_spins"] = [-1] + 7 * [1]
            dense, table, forces = self.single_point("dense", 8 * ["H"], x, cell, tolerance=1e-8, spin=keys)
            for solver in ("submatrix", "purification"):
                for ranks in (1, 2, 4):
                    found, other, pulls = self.single_point(solver, 8 * ["H"], x, cell, ranks=ranks, tolerance=1e-8, spin=keys, solver=solver, eps_filter=1e-8)
                    self.assertAlmostEqual(found["mermin_energy"], dense["mermin_energy"], delta=1e-6)
                    self.assertAlmostEqual(found["magnetisation"], dense["magnetisation"], delta=1e-6)
                    self.assertLess(abs(other["spin"] - table["spin"]).max(), 1e-5)
                    self.assertLess(abs(pulls - forces).max(), 1e-5)

    def test_dynamics(self):
        """A radical (CH3) by the program's own files: relaxed, then at constant energy on one rank and on two; the checkpointed state is the same."""
        folder = os.path.join(program.SOURCE, "inputs", "submatrix", "hc")
        spin = {"unpaired_electrons": 1, "constants": {"C": [[-0.031, -0.025], [-0.025, -0.023]], "H": [[-0.072]]}}
        x = 2.05 * numpy.array([[0, 0, 0], [1, 0, 0.1], [-0.5, 3**0.5 / 2, 0], [-0.5, -3**0.5 / 2, 0]])
        potential = {"type": "dftb", "slater_koster": {"directory": folder}, "shells": {"C": "p", "H": "s"}, "periodic": False, "spin": spin}
        ends = []
        for ranks in (1, 2):
            run = program.fresh(f"dftb_spin_md_{ranks}")
            path = structure(os.path.join(run, "atoms.extxyz"), ["C", "H", "H", "H"], x, 30 * numpy.eye(3))
            common = {"physics": "md", "structure": {"file": path}, "potential": potential}
            deck = {"run": {"name": "methyl", "directory": run, "seed": 3}, "plugins": ["md", "submatrix"],
                    "stages": [{"simulate": {**common, "integrator": {"type": "fire"}, "steps": 200, "thermo": {"every": 20}}},
                               {"simulate": {**common, "initial_temperature": "300 K", "timestep": "0.25 fs", "steps": 100, "thermo": {"every": 10}}}]}
            code, out, error = program.run("run", program.write(os.path.join(run, "deck.yaml"), json.dumps(deck)), ranks=ranks)
            self.assertEqual(code, 0, out + error)
            self.assertIn("spin-polarised", out)
            with open(os.path.join(run, "simulate_1", "thermo.csv")) as file:
                rows = list(csv.reader(file))
            total = next(k for k, name in enumerate(rows[0]) if name.startswith("conserved"))
            energies = [float(row[total]) for row in rows[1:]]
            print(f"{ranks} ranks: total energy {energies[0]} to {energies[-1]} eV")
            self.assertLess(max(energies) - min(energies), 2e-3)
            ends.append(energies[-1])
        self.assertAlmostEqual(*ends, delta=1e-7)


if __name__ == "__main__":
    unittest.main(verbosity=2)
