"""DFTB2 through the program: energies, charges and forces beside a plain oracle and DFTB+'s own tests; ranks; dynamics."""
# needs: md submatrix
import csv
import json
import os
import unittest

import numpy

import dftb_oracle as oracle
import program

BOHR, HARTREE, KELVIN = 0.529177210903, 27.211386245988, 8.617333262e-5 / 27.211386245988
DATA = os.environ.get("CAMBIUM_DATA", "")
BENT = numpy.array([[0.1, 0, 0], [-1.3, 1.8, 0.5], [2.9, 0.4, -0.3], [4.4, 2.8, 0.6], [6.2, 2.0, 1.5]])
CELL = numpy.array([[6.1, 0, 0], [0.7, 5.6, 0], [-0.5, 0.4, 6.4]])


def structure(path, symbols, x, cell):
    """Positions and cell in bohr."""
    with open(path, "w") as file:
        file.write(f"{len(x)}\nLattice=\"{' '.join(repr(float(c) * BOHR) for row in cell for c in row)}\" Properties=species:S:1:pos:R:3 pbc=\"T T T\"\n")
        for s, row in zip(symbols, x):
            file.write(s + " " + " ".join(repr(float(c) * BOHR) for c in row) + "\n")
    return path


class Dftb(unittest.TestCase):
    def single_point(self, name, folder, shells, symbols, x, cell=None, ranks=1, **keys):
        """Results of the stage, and charges and forces (hartree/bohr) by atom."""
        run = program.fresh("dftb_" + name)
        keys = {"periodic": cell is not None, "tolerance": 1e-10, **keys}
        deck = {"run": {"name": name, "directory": run}, "plugins": ["submatrix"],
                "stages": [{"dftb": {"structure": {"file": structure(os.path.join(run, "atoms.extxyz"), symbols, x, 40 * numpy.eye(3) if cell is None else cell)},
                                     "slater_koster": {"directory": folder}, "shells": shells, **keys}}]}
        code, out, error = program.run("run", program.write(os.path.join(run, "deck.yaml"), json.dumps(deck)), ranks=ranks)
        self.assertEqual(code, 0, out + error)
        with open(os.path.join(run, "dftb", "atoms.csv")) as file:
            rows = [[float(c) for c in row] for row in list(csv.reader(file))[1:]]
        with open(os.path.join(run, "dftb", "results.json")) as file:
            found = {r["key"]: r["value"] for r in json.load(file)["results"]}
        return found, numpy.array([row[5] for row in rows]), numpy.array([row[9:12] for row in rows]) * BOHR / HARTREE

    def compare(self, found, charges, expected):
        for key in ("total_energy", "mermin_energy", "second_order_energy", "uncharged_energy", "repulsive_energy"):
            self.assertAlmostEqual(found[key], expected[key], delta=1e-8, msg=key)
        self.assertLess(abs(charges - expected["charges"]).max(), 1e-7)

    def test_molecule(self):
        folder = oracle.write_set(os.path.join(program.fresh("dftb_set"), "set"))
        shells, symbols = {"C": "p", "H": "s", "Si": "d"}, ["C", "H", "Si", "H", "C"]
        model = oracle.Model(folder, ["C", "H", "Si"], {"C": 1, "H": 0, "Si": 2})
        for scc in (False, True):
            for charge in (0.0, 1.0):
                expected = oracle.solve(model, symbols, BENT, scc=scc, charge=charge, kt=8000 * KELVIN)
                found, charges, _ = self.single_point("molecule", folder, shells, symbols, BENT, self_consistent=scc, charge=charge, filling={"temperature": 8000})
                self.compare(found, charges, expected)
        polynomial = oracle.solve(model, symbols, BENT, kt=8000 * KELVIN, form="polynomial")
        for ranks in (1, 2, 4):
            found, charges, forces = self.single_point("polynomial", folder, shells, symbols, BENT, ranks=ranks, filling={"temperature": 8000}, repulsion="polynomial",
                                                       mixing={"type": "broyden"})
            self.compare(found, charges, polynomial)
            first = forces if ranks == 1 else first
            self.assertLess(abs(forces - first).max(), 1e-11)

    def test_crystal(self):
        folder = oracle.write_set(os.path.join(program.fresh("dftb_set"), "set"))
        symbols, x = ["C", "H", "C"], [[0.1, 0, 0], [-1.4, 2.1, 0.5], [2.9, 1.4, 2.3]]
        model = oracle.Model(folder, ["C", "H"], {"C": 1, "H": 0})
        points = [[(i + 0.5) / 2, j, (k + 0.25) / 2] for i in range(2) for j in (0,) for k in range(2)]
        expected = oracle.solve(model, symbols, x, cell=CELL, kt=4000 * KELVIN, k_points=points)
        for ranks in (1, 2):
            found, charges, _ = self.single_point("crystal", folder, {"C": "p", "H": "s"}, symbols, x, cell=CELL, ranks=ranks, filling={"temperature": 4000},
                                                  k_points={"grid": [2, 1, 2], "shift": [0.5, 0, 0.25]})
            self.compare(found, charges, expected)

    @unittest.skipUnless(os.path.isdir(os.path.join(DATA, "dftb")), "SKIPPED: mio files: CAMBIUM_DATA is not set")
    def test_reference(self):
        """What DFTB+ expects of its own tests."""
        mio = os.path.join(DATA, "dftb", "mio")
        tags = {}
        for name in ("CH4", "H3"):
            with open(os.path.join(DATA, "dftb", name, "_autotest.tag")) as file:
                tags[name] = file.read().split(":")
        def numbers(name, tag):
            parts = tags[name]
            at = next(k for k, part in enumerate(parts) if part.split()[-1:] == [tag])
            words = parts[at + 3].split()
            return [float(w) for w in words if w[0] in "-0123456789" and "." in w]
        x = numpy.array(numbers("CH4", "end_coords")).reshape(-1, 3)
        found, charges, forces = self.single_point("ch4", mio, {"C": "p", "H": "s"}, ["C"] + 4 * ["H"], x, self_consistent=False, filling={"temperature": 100},
                                                   derivative_step="0.01 bohr")
        self.assertAlmostEqual(found["mermin_energy"], numbers("CH4", "mermin_energy")[0], delta=1e-8)
        self.assertLess(abs(forces - numpy.array(numbers("CH4", "forces")).reshape(-1, 3)).max(), 1e-7)
        self.assertLess(abs(1.0 - charges[1] - 0.910168139187992), 1e-7)
        x = numpy.array(numbers("H3", "end_coords")).reshape(-1, 3)
        found, charges, forces = self.single_point("h3", mio, {"H": "s"}, 3 * ["H"], x, filling={"temperature": 20}, derivative_step="0.01 bohr")
        self.assertAlmostEqual(found["mermin_energy"], numbers("H3", "mermin_energy")[0], delta=1e-6)
        self.assertLess(abs(forces - numpy.array(numbers("H3", "forces")).reshape(-1, 3)).max(), 1e-7)
        self.assertLess(abs(1.0 - charges - numpy.array(numbers("H3", "orbital_charges"))).max(), 1e-6)

    def test_submatrices(self):
        """Eight molecules of CH4: the dense solver, and submatrices."""
        folder = os.path.join(program.SOURCE, "inputs", "submatrix", "hc")
        molecule = numpy.array([[0, 0, 0], [1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1]]) * 2.08 / 3**0.5
        x = numpy.concatenate([molecule + 8.0 * numpy.array([i, j, k]) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
        x += 0.1 * numpy.random.default_rng(5).uniform(-1, 1, x.shape)
        arguments = (folder, {"C": "p", "H": "s"}, 8 * ["C", "H", "H", "H", "H"], x, 16.0 * numpy.eye(3))
        dense, charges, forces = self.single_point("dense", *arguments, tolerance=1e-7)
        worst = {}
        for eps in (1e-3, 1e-5):
            found, other, slopes = self.single_point("submatrix", *arguments, tolerance=1e-7, solver="submatrix", eps_filter=eps)
            error = 1000 * HARTREE * (found["mermin_energy"] - dense["mermin_energy"]) / 40
            worst[eps] = abs(slopes - forces).max()
            for ranks in (2, 4):
                shared, _, pulls = self.single_point("submatrix", *arguments, ranks=ranks, tolerance=1e-7, solver="submatrix", eps_filter=eps)
                self.assertAlmostEqual(shared["mermin_energy"], found["mermin_energy"], delta=1e-9)
                self.assertLess(abs(pulls - slopes).max(), 1e-8)
            print(f"eps {eps}: energy {error:.4f} meV/atom (estimated {found['energy_error']:.4f}), charges {abs(other - charges).max():.1e}, "
                      f"forces {worst[eps]:.1e} hartree/bohr")
            self.assertLess(abs(error), 1000 * HARTREE * eps)
        self.assertLess(worst[1e-5], 1e-4)

    def test_dynamics(self):
        """The deck: relaxed, then at constant energy on one rank and on two."""
        deck = os.path.join(program.SOURCE, "inputs", "submatrix", "dftb.yaml")
        ends = []
        for ranks in (1, 2):
            run = program.fresh(f"dftb_md_{ranks}")
            code, out, error = program.run("run", deck, f"run.directory={run}", "stages[2].simulate.steps=100", ranks=ranks, cwd=program.SOURCE)
            self.assertEqual(code, 0, out + error)
            with open(os.path.join(run, "simulate_2", "thermo.csv")) as file:
                rows = list(csv.reader(file))
            total = next(k for k, name in enumerate(rows[0]) if name.startswith("conserved"))
            energies = [float(row[total]) for row in rows[1:]]
            print(f"{ranks} ranks: total energy {energies[0]} to {energies[-1]} eV")
            self.assertLess(max(energies) - min(energies), 2e-3)
            ends.append(energies[-1])
        self.assertAlmostEqual(*ends, delta=1e-7)


if __name__ == "__main__":
    unittest.main(verbosity=2)
