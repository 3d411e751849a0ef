"""DFTB of inputs that users of DFTB+ bring: d shells, k-points with forces and pressure, ions, larger cells, extended files, files without a spline."""
# needs: submatrix
# cost: 40
# thorough
import csv
import json
import os
import unittest

import numpy

import dftb_oracle as oracle
import program
from test_dftb import BOHR, CELL, HARTREE, KELVIN, structure

BAR = 1.602176634e6  # of one eV/Å^3
SHELLS = {"C": "p", "H": "s", "Si": "d"}
SYMBOLS, X = ["Si", "H", "Si"], numpy.array([[0.1, 0, 0], [-1.4, 2.1, 0.5], [2.9, 1.4, 2.3]])
SHIFT = [0.5, 0.0, 0.25]
POINTS = [[(i + 0.5) / 2, 0, (k + 0.25) / 2] for i in range(2) for k in range(2)]


class DftbInputs(unittest.TestCase):
    def run_stage(self, name, folder, symbols, file, ranks=1, **keys):
        run = program.fresh("dftb_inputs_" + name)
        path = file if isinstance(file, str) else structure(os.path.join(run, "atoms.extxyz"), symbols, *file)
        deck = {"run": {"name": name, "directory": run}, "plugins": ["submatrix"],
                "stages": [{"dftb": {"structure": {"file": path}, "slater_koster": {"directory": folder},
                                     "shells": {s: SHELLS[s] for s in set(symbols)}, "tolerance": 1e-10, **keys}}]}
        code, out, error = program.run("run", program.write(os.path.join(run, "deck.yaml"), json.dumps(deck)), ranks=ranks)
        self.assertEqual(code, 0, out + error)
        with open(os.path.join(run, "dftb", "atoms.csv")) as rows:
            table = [[float(c) for c in row] for row in list(csv.reader(rows))[1:]]
        with open(os.path.join(run, "dftb", "results.json")) as results:
            found = {r["key"]: r["value"] for r in json.load(results)["results"]}
        return found, numpy.array([row[5] for row in table]), numpy.array([row[9:12] for row in table]) * BOHR / HARTREE

    def compare(self, found, charges, expected):
        for key in ("total_energy", "mermin_energy", "second_order_energy", "uncharged_energy", "repulsive_energy"):
            self.assertAlmostEqual(found[key], expected[key], delta=1e-8, msg=key)
        self.assertLess(abs(charges - expected["charges"]).max(), 1e-7)

    def test_d_shells_k_points_forces_pressure(self):
        folder = oracle.write_set(os.path.join(program.fresh("dftb_inputs_set"), "set"))
        model = oracle.Model(folder, ["Si", "H"], {"Si": 2, "H": 0})
        def energy(x, cell):
            return oracle.solve(model, SYMBOLS, x, cell=cell, kt=4000 * KELVIN, k_points=POINTS)["mermin_energy"]
        expected = oracle.solve(model, SYMBOLS, X, cell=CELL, kt=4000 * KELVIN, k_points=POINTS)
        h = 2e-3
        slopes = []
        for atom, axis in ((0, 0), (1, 2), (2, 1)):
            step = numpy.zeros_like(X)
            step[atom, axis] = h
            slopes.append((energy(X + step, CELL) - energy(X - step, CELL)) / (2 * h))
        stretch = (energy(X * (1 + h), CELL * (1 + h)) - energy(X * (1 - h), CELL * (1 - h))) / (2 * h)
        volume = abs(numpy.linalg.det(CELL)) * BOHR**3
        for ranks in (1, 2):
            found, charges, forces = self.run_stage("silicon", folder, SYMBOLS, (X, CELL), ranks=ranks, filling={"temperature": 4000},
                                                    k_points={"grid": [2, 1, 2], "shift": SHIFT})
            self.compare(found, charges, expected)
            for (atom, axis), slope in zip(((0, 0), (1, 2), (2, 1)), slopes):
                self.assertAlmostEqual(forces[atom, axis], -slope, delta=5e-6)
            self.assertAlmostEqual(found["pressure"] * 3 * volume / BAR / HARTREE, -stretch, delta=5e-5)

    def test_ion(self):
        """A charged crystal and a charged molecule, without spin."""
        folder = oracle.write_set(os.path.join(program.fresh("dftb_inputs_set"), "set"))
        model = oracle.Model(folder, ["C", "H"], {"C": 1, "H": 0})
        symbols = ["C", "H", "C"]
        for charge in (1.0, -1.0, 0.5):
            expected = oracle.solve(model, symbols, X, cell=CELL, charge=charge, kt=3000 * KELVIN)
            found, charges, _ = self.run_stage("ion", folder, symbols, (X, CELL), charge=charge, filling={"temperature": 3000})
            self.compare(found, charges, expected)
            self.assertAlmostEqual(charges.sum(), charge, delta=1e-8)
            expected = oracle.solve(model, symbols, X, charge=charge, kt=3000 * KELVIN)
            found, charges, _ = self.run_stage("ion", folder, symbols, (X, 40 * numpy.eye(3)), charge=charge, periodic=False, filling={"temperature": 3000})
            self.compare(found, charges, expected)

    def test_third_order(self):
        """DFTB3: derivatives of the Hubbard parameters and damped hydrogen, an ion and a crystal."""
        folder = oracle.write_set(os.path.join(program.fresh("dftb_inputs_set"), "set"))
        model = oracle.Model(folder, ["C", "H"], {"C": 1, "H": 0})
        symbols, derivatives = ["C", "H", "C"], {"C": -0.1492, "H": -0.1857}
        for cell in (None, CELL):
            for zeta in (0.0, 4.0):
                expected = oracle.solve(model, symbols, X, cell=cell, charge=0.5, kt=3000 * KELVIN, derivatives=derivatives, zeta=zeta)
                for ranks in (1, 2):
                    found, charges, _ = self.run_stage("third", folder, symbols, (X, 40 * numpy.eye(3) if cell is None else cell), ranks=ranks, charge=0.5,
                                                       periodic=cell is not None, filling={"temperature": 3000}, hubbard_derivatives=derivatives,
                                                       hydrogen_damping=zeta)
                    self.compare(found, charges, expected)
                    self.assertAlmostEqual(found["third_order_energy"], expected["third_order_energy"], delta=1e-8)
        self.assertGreater(abs(expected["third_order_energy"]), 1e-4)

    def test_larger_cell(self):
        """Twelve cells at the Gamma point are one cell at twelve k-points: energy, charges, forces, pressure; also by submatrices."""
        folder = oracle.write_set(os.path.join(program.fresh("dftb_inputs_set"), "set"))
        symbols, n = ["C", "H", "C"], (3, 2, 2)
        x = numpy.concatenate([X + numpy.array([i, j, k]) @ CELL for i in range(n[0]) for j in range(n[1]) for k in range(n[2])])
        keys = {"filling": {"temperature": 8000}, "tolerance": 1e-9}
        one, charges, forces = self.run_stage("cell", folder, symbols, (X, CELL), k_points={"grid": list(n)}, **keys)
        cell = numpy.array(n)[:, None] * CELL
        for solver in ({}, {"solver": "submatrix", "eps_filter": 1e-8}):
            for ranks in (1, 2):
                all_of, others, pulls = self.run_stage("supercell", folder, 12 * symbols, (x, cell), ranks=ranks, **keys, **solver)
                self.assertAlmostEqual(all_of["mermin_energy"], 12 * one["mermin_energy"], delta=1e-6 if solver else 1e-8)
                self.assertAlmostEqual(all_of["pressure"], one["pressure"], delta=20 if solver else 0.5)
                self.assertLess(abs(others.reshape(12, 3) - charges).max(), 1e-6 if solver else 1e-7)
                self.assertLess(abs(pulls.reshape(12, 3, 3) - forces).max(), 1e-6 if solver else 1e-7)

    def test_extended_files(self):
        """The same set with f columns, and without splines: the repulsion is then the polynomial."""
        simple = oracle.write_set(os.path.join(program.fresh("dftb_inputs_set"), "set"))
        extended = os.path.join(os.path.dirname(simple), "extended")
        os.makedirs(extended)
        columns = (7, 8, 9, 12, 13, 14, 15, 17, 18, 19)
        for name in os.listdir(simple):
            with open(os.path.join(simple, name)) as file:
                lines = file.read().split("Spline")[0].splitlines()
            with open(os.path.join(extended, name), "w") as file:
                file.write("@ extended\n" + lines[0] + "\n")
                a, b = name[:-4].split("-")
                if a == b:
                    v = oracle.words(lines[1])
                    file.write(" ".join(map(repr, [0.0, *v[:3], v[3], 0.0, *v[4:7], 0.0, *v[7:10]])) + "\n")
                at = 2 if a == b else 1
                file.write(lines[at] + "\n")
                for line in lines[at + 1:]:
                    v = oracle.words(line)
                    row = [0.0] * 40
                    for k, column in enumerate(columns):
                        row[column], row[20 + column] = v[k], v[10 + k]
                    file.write(" ".join(map(repr, row)) + "\n")
        model = oracle.Model(simple, ["Si", "H"], {"Si": 2, "H": 0})
        expected = oracle.solve(model, SYMBOLS, X, kt=3000 * KELVIN, form="polynomial")
        for folder, keys in ((simple, {"repulsion": "polynomial"}), (extended, {}), (extended, {"repulsion": "polynomial"})):
            found, charges, _ = self.run_stage("extended", folder, SYMBOLS, (X, 40 * numpy.eye(3)), periodic=False, filling={"temperature": 3000}, **keys)
            self.compare(found, charges, expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
