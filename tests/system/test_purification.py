"""Purification and submatrices through the program: the true error of both beside exact levels, ranks, and the study at a small size."""
# needs: submatrix
# cost: 20
# thorough
import json
import os
import subprocess
import sys
import unittest

import numpy

import program

MEV = 27211.386245988


def levels(atoms, functions, gap, hopping, scale):
    """Of the ring, by the band structure of its two-atom cell, as plainly as possible: couplings t1 q^n and t2 q^n to atoms 2 n + 1 bonds away."""
    q = numpy.exp(-1 / scale)
    t1, t2 = hopping + gap * (1 + q) / 4, hopping - gap * (1 + q) / 4
    reach = next(n for n in range(1000) if q**n < 1e-6)
    k = 2 * numpy.pi * numpy.arange(atoms // 2) / (atoms // 2)
    f = abs(sum(q**n * (t1 * numpy.exp(1j * k * n) + t2 * numpy.exp(-1j * k * (n + 1))) for n in range(reach)))
    side = (t1 + t2) / (1 - q)
    out = [f, -f]
    for other in range(1, functions):
        out += [(-side if other % 2 else side) + sign * f / 2 for sign in (1, -1)]
    return numpy.sort(numpy.concatenate(out))


class Purification(unittest.TestCase):
    def run_ring(self, name, atoms, gap, ranks=1, **keys):
        run = program.fresh("purification_" + name)
        deck = {"run": {"name": name, "directory": run}, "plugins": ["submatrix"],
                "stages": [{"density_matrix": {"matrices": {"ring": {"atoms": atoms, "functions": 3, "gap": gap, "range": 0.7}}, **keys}}]}
        code, out, error = program.run("run", program.write(os.path.join(run, "deck.yaml"), json.dumps(deck)), ranks=ranks)
        self.assertEqual(code, 0, out + error)
        with open(os.path.join(run, "density_matrix", "results.json")) as file:
            return {r["key"]: r["value"] for r in json.load(file)["results"]}, out + error

    def test_true_error(self):
        for gap in (0.2, 0.02):
            e = levels(240, 3, gap, 0.3, 0.7)
            exact, pairs = 2 * e[:360].sum(), 360
            for polynomial in ("trs4", "canonical"):
                for threshold in (1e-3, 1e-5, 1e-8):
                    found, said = self.run_ring(polynomial, 240, gap, method="purification", polynomial=polynomial, eps_filter=threshold)
                    error = MEV * (found["band_energy"] - exact) / 240
                    self.assertAlmostEqual(found["error"], error, delta=1e-6)
                    self.assertLess(abs(error), 1e5 * threshold)
                    self.assertLess(abs(found["electrons"] - 2 * pairs), 1e3 * threshold)
                    self.assertLess(found["idempotency"], 20 * threshold)
                    self.assertIn("iterations", said)
                self.assertGreater(found["mu"], e[pairs - 1])
                self.assertLess(found["mu"], e[pairs])
                self.assertLessEqual(found["gap"], e[pairs] - e[pairs - 1] + 1e-9)
                for ranks in (2, 4):
                    shared, _ = self.run_ring(polynomial, 240, gap, ranks=ranks, method="purification", polynomial=polynomial, eps_filter=1e-6, threshold=1e-5)
                    alone, _ = self.run_ring(polynomial, 240, gap, method="purification", polynomial=polynomial, eps_filter=1e-6, threshold=1e-5)
                    self.assertAlmostEqual(shared["band_energy"], alone["band_energy"], delta=1e-10)
                    self.assertEqual(shared["products"], alone["products"])
        found, _ = self.run_ring("submatrix", 240, 0.2, eps_filter=1e-4)
        self.assertLessEqual(abs(found["error"] - found["error_estimate"]), found["error_margin"])  # each atom couples to every other one alone

    def test_spins(self):
        """Both channels of four triplet O2, with one mu and with two."""
        deck = os.path.join(program.SOURCE, "inputs", "submatrix", "oxygen_spin.yaml")
        for keys in ([], ["stages[0].density_matrix.magnetisation=8"]):
            found = {}
            for method in ("submatrix", "purification"):
                for ranks in (1, 2):
                    run = os.path.join(program.fresh("purification_spins"), "run")
                    code, out, error = program.run("run", deck, f"run.directory={run}", f"stages[0].density_matrix.method={method}", *keys,
                                                   "stages[0].density_matrix.eps_filter=1e-8", ranks=ranks, cwd=program.SOURCE)
                    self.assertEqual(code, 0, out + error)
                    self.assertNotIn("warning", out + error)
                    with open(os.path.join(run, "density_matrix", "results.json")) as file:
                        found[method] = {r["key"]: r["value"] for r in json.load(file)["results"]}
            for key in ("band_energy", "electrons", "magnetisation"):
                self.assertAlmostEqual(found["purification"][key], found["submatrix"][key], delta=1e-7)
            self.assertAlmostEqual(found["purification"]["magnetisation"], 8, delta=1e-7)

    def test_no_gap(self):
        _, said = self.run_ring("metal", 240, 0.0, method="purification", threshold=1e-9)
        self.assertIn("there is no gap at 720 electrons; write method: submatrix with a temperature (temperature: 1000 K)", said)

    def test_study(self):
        folder = program.fresh("purification_study")
        path = os.path.join(folder, "purification.json")
        done = subprocess.run([sys.executable, os.path.join(program.SOURCE, "studies", "purification.py"), program.PROGRAM, "--json", path, "--atoms", "60",
                               "--repeat", "1", "--eps", "1e-2,1e-4"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(path) as file:
            found = json.load(file)
        self.assertTrue(found["check"].startswith("ok"), found["check"])
        print(done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
