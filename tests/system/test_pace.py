"""Potentials of pacemaker beside plain sums over neighbours, their forces beside differences of these; in dynamics, relaxation, sums and labels."""
import glob
import json
import os
import subprocess
import sys
import unittest

import numpy as np

import pace_oracle as oracle
import program

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
import cambium  # noqa: E402

COPPER = os.path.join(program.SOURCE, "inputs", "md", "copper.yace")


def weights(rng, densities):
    return list(rng.uniform(0.05, 0.3, densities) * rng.choice([-1, 1], densities))


def one_species(kind, rng, densities, parameters, npoti, core=(100000.0, 250.0), **keys):
    shapes = [((0,), (1,), (0,), ()), ((0,), (3,), (0,), ()), ((0, 0), (1, 2), (2, 2), ()), ((0, 0), (2, 2), (4, 4), ()),
              ((0, 0, 0), (1, 2, 1), (1, 2, 3), (3,)), ((0, 0, 0), (1, 1, 2), (4, 2, 2), (2,)), ((0, 0, 0, 0), (1, 2, 1, 2), (1, 3, 2, 2), (2, 2)),
              ((0, 0, 0, 0, 0), (1, 1, 1, 2, 2), (1, 1, 2, 1, 1), (0, 2, 1))]
    return {"elements": ["Si"], "E0": [-1.25], "embeddings": [oracle.embedding(npoti, parameters, *core)],
            "bonds": {(0, 0): oracle.bond(kind, rng, 2, 4, 5, 4.7, **keys)},
            "functions": [[oracle.function(0, *s, weights(rng, densities)) for s in shapes]]}


def two_species(rng, inner, prehc):
    def functions(a, densities):
        b = 1 - a
        shapes = [((a,), (2,), (0,), ()), ((b,), (4,), (0,), ()), ((a, b), (1, 2), (1, 1), ()), ((b, b), (2, 1), (2, 2), ()), ((a, b, b), (1, 2, 1), (2, 1, 1), (1,)),
                  ((a, a, b, b), (1, 2, 1, 2), (1, 2, 2, 1), (1, 1)), ((a, b, a, b, b), (1, 1, 2, 1, 1), (1, 1, 1, 0, 1), (1, 1, 1)),
                  ((a, a, b, b, b, a), (1, 2, 1, 2, 1, 1), (1, 1, 1, 1, 1, 1), (1, 1, 1, 1))]
        return [oracle.function(a, *s, weights(rng, densities)) for s in shapes]
    return {"elements": ["Si", "C"], "E0": [-1.5, 0.75],
            "embeddings": [oracle.embedding("FinnisSinclairShiftedScaled", (1, 1, 0.7, 0.5), 9.0, 7.0), oracle.embedding("FinnisSinclair", (1, 1, 0.6, 0.5, -0.2, 1.5))],
            "bonds": {(0, 0): oracle.bond("ChebExpCos", rng, 2, 2, 4, 4.3, 3.2, 0.4, (2.2, 0.7, inner), prehc, 0.6),
                      (0, 1): oracle.bond("SBessel", rng, 2, 2, 5, 3.9, 5.25, 0.01, (2.1, 0.6, inner), prehc, 0.5),
                      (1, 0): oracle.bond("ChebPow", rng, 2, 2, 3, 3.8, 2.5, 0.01, (2.3, 0.8, inner), prehc, 0.5),
                      (1, 1): oracle.bond("ChebLinear", rng, 2, 3, 3, 3.5, 1.0, 0.01, (2.0, 0.5, inner), prehc, 0.7)},
            "functions": [functions(0, 2), functions(1, 3)]}


def models():
    rng = np.random.default_rng(52)
    shifted, plain = "FinnisSinclairShiftedScaled", "FinnisSinclair"
    yield "exponential", one_species("ChebExpCos", rng, 1, (1, 1), plain)
    yield "power", one_species("ChebPow", rng, 2, (1, 1, 1, 0.5), shifted, lam=2.0)
    yield "bessel", one_species("SBessel", rng, 2, (1, 1, 1, 0.5), shifted, inner=(2.0, 0.6, "distance"), prehc=7.0, lambdahc=0.5)
    yield "linear", one_species("ChebLinear", rng, 1, (0.8, 0.75), plain)
    yield "core", one_species("ChebExpCos", rng, 1, (1.3, 0.8), plain, (14.0, 12.0), dcut=0.3, prehc=9.0, lambdahc=0.4)
    yield "nuclei", one_species("SBessel", rng, 2, (1, 1, 1, 0.5), shifted, dcut=1.5, inner=(2.1, 0.9, "zbl"), prehc=0.02)
    yield "two_density", two_species(rng, "density", 4.0)
    yield "two_distance", two_species(rng, "distance", 9.0)


def crystal(model, seed=3):
    rng = np.random.default_rng(seed)
    x = 4.1 * np.array([[0, 0, 0], [0, .5, .5], [.5, 0, .5], [.5, .5, 0], [.25, .25, .25], [.25, .75, .75], [.75, .25, .75], [.75, .75, .25]])
    symbols = [model["elements"][i % 3 % len(model["elements"])] for i in range(8)]
    return symbols, x + rng.uniform(-0.3, 0.3, x.shape), np.array([[4.1, 0, 0], [0.4, 4.1, 0], [-0.3, 0.5, 4.1]])


class Energies(unittest.TestCase):
    def test_energies_forces_and_virials_are_those_of_plain_sums(self):
        folder = program.fresh("pace")
        for name, model in models():
            with self.subTest(name):
                potential = cambium.Potential({"type": "pace", "file": oracle.write(os.path.join(folder, name + ".yace"), model)})
                symbols, x, cell = crystal(model)
                found = potential.evaluate(symbols, x, cell, per_atom=True)
                expected = oracle.energies(model, symbols, x, cell)
                np.testing.assert_allclose(found.energies, expected, rtol=1e-11, atol=1e-11)
                self.assertAlmostEqual(found.energy, expected.sum(), delta=1e-10)
                for i, k in ((0, 1), (3, 0), (6, 2)):
                    def moved(h):
                        y = x.copy()
                        y[i, k] += h
                        return oracle.energies(model, symbols, y, cell).sum()
                    self.assertAlmostEqual(found.forces[i, k], -oracle.slope(moved), delta=1e-7 * np.abs(found.forces).max())
                for a, b in ((0, 0), (1, 2)):
                    def strained(h):
                        strain = np.eye(3)
                        strain[a, b] += h
                        return oracle.energies(model, symbols, x @ strain.T, cell @ strain.T).sum()
                    self.assertAlmostEqual(found.virial[a, b], -oracle.slope(strained), delta=1e-6 * np.abs(found.virial).max())
                np.testing.assert_allclose(found.virials.sum(0), found.virial, atol=1e-9 * np.abs(found.virial).max())

    def test_molecules_and_lone_atoms(self):
        folder = program.fresh("pace_molecules")
        for name, model in models():
            potential = cambium.Potential({"type": "pace", "file": oracle.write(os.path.join(folder, name + ".yace"), model)})
            symbols, x, _ = crystal(model)
            found = potential.evaluate(symbols, x, None, periodic=False)
            self.assertAlmostEqual(found.energy, oracle.energies(model, symbols, x).sum(), delta=1e-10)
            alone = potential.evaluate(symbols[:1], x[:1], None, periodic=False)
            self.assertAlmostEqual(alone.energy, oracle.energies(model, symbols[:1], x[:1]).sum(), delta=1e-12)
            self.assertEqual(np.abs(alone.forces).max(), 0.0)


def stage(folder, keys, ranks=1):
    deck = {"run": {"name": "pace", "seed": 4, "directory": folder}, "plugins": ["md"], "stages": [{"simulate": {"physics": "md", **keys}}]}
    path = program.write(os.path.join(folder, "deck.yaml"), json.dumps(deck))
    # cambium.Potential starts MPI in this process, whose variables would keep mpiexec from starting ranks; os.environ does not hold them.
    done = subprocess.run(program.command("run", path, ranks=ranks), cwd=program.SCRATCH, env=dict(os.environ), capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return cambium.open(folder)["simulate/thermo.csv"]


def copper(**keys):
    return {"structure": {"lattice": {"type": "fcc", "a": 3.63, "cells": [4, 4, 4], "species": ["Cu"]}}, "potential": {"type": "pace", "file": COPPER},
            "initial_temperature": 600, "timestep": 0.002, "steps": 50, "thermo": {"every": 1}, **keys}


class Uses(unittest.TestCase):
    def test_energy_is_kept_with_the_square_of_the_step(self):
        spread = []
        for step in (0.002, 0.004):
            table = stage(program.fresh(f"pace_nve_{step}"), copper(timestep=step, steps=round(0.4 / step)))
            spread.append(np.std(table["conserved"]))
        self.assertGreater(spread[1] / spread[0], 3.4)
        self.assertLess(spread[1] / spread[0], 4.6)

    def test_ranks_agree(self):
        tables = [stage(program.fresh(f"pace_ranks_{n}"), copper(structure={"lattice": {"type": "fcc", "a": 3.63, "cells": [8, 5, 5], "species": ["Cu"]}}, steps=10),
                        ranks=n) for n in (1, 2, 4)]
        for other in tables[1:]:
            np.testing.assert_allclose(other["potential"], tables[0]["potential"], rtol=1e-12)
            np.testing.assert_allclose(other["pressure"], tables[0]["pressure"], rtol=1e-8, atol=1e-4)

    def test_sums_and_relaxation(self):
        pace, zbl = {"type": "pace", "file": COPPER}, {"type": "zbl", "inner": 2.2, "outer": 2.7}
        symbols, x = ["Cu"] * 4, np.array([[0, 0, 0], [0, 1.8, 1.9], [1.8, 0.1, 1.8], [1.9, 1.8, 0]])
        terms = [cambium.Potential(p).evaluate(symbols, x, 3.6 * np.eye(3)) for p in (pace, zbl, {"type": "sum", "terms": [pace, zbl]})]
        self.assertAlmostEqual(terms[2].energy, terms[0].energy + terms[1].energy, delta=1e-10)
        np.testing.assert_allclose(terms[2].forces, terms[0].forces + terms[1].forces, atol=1e-10)
        structure = {"lattice": {"type": "fcc", "a": 3.63, "cells": [4, 4, 4], "species": ["Cu"], "displacement": 0.1}}
        table = stage(program.fresh("pace_relax"), {**copper(structure=structure, steps=400), "initial_temperature": 0,
                                                    "integrator": {"type": "fire", "force_tolerance": 1e-5}})
        perfect = cambium.Potential(pace).evaluate(symbols, 1.815 * np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]), 3.63 * np.eye(3)).energy
        self.assertAlmostEqual(table["potential"][-1] / 64, perfect, delta=1e-7)

    @unittest.skipIf("deepmd" not in os.environ["CAMBIUM_BUILT_PLUGINS"].split(), "labels are a stage of the plugin deepmd")
    def test_labels(self):
        folder = program.fresh("pace_label")
        deck = {"run": {"name": "pace", "directory": folder}, "plugins": ["md", "deepmd"],
                "stages": [{"label": {"structure": {"lattice": {"type": "fcc", "a": 3.61, "cells": [3, 3, 3], "species": ["Cu"]}},
                                      "potential": {"type": "pace", "file": COPPER}, "perturbed": {"frames": 4, "strain": 0.02, "displacement": 0.05}}}]}
        code, out, error = program.run("run", program.write(os.path.join(folder, "deck.yaml"), json.dumps(deck)))
        self.assertEqual(code, 0, out + error)
        found = sorted(glob.glob(os.path.join(folder, "label", "**", "set.000"), recursive=True))
        self.assertTrue(found, out)
        frame = {name: np.load(os.path.join(found[0], name + ".npy")) for name in ("coord", "box", "energy", "force")}
        potential = cambium.Potential({"type": "pace", "file": COPPER})
        at = potential.evaluate(["Cu"] * 108, frame["coord"][0].reshape(-1, 3).astype(float), frame["box"][0].reshape(3, 3).astype(float))
        self.assertAlmostEqual(at.energy, frame["energy"].ravel()[0], delta=1e-3)
        np.testing.assert_allclose(at.forces.ravel(), frame["force"][0], atol=1e-4)

    def test_check_plan_and_doc(self):
        folder = program.fresh("pace_check")
        deck = {"run": {"name": "pace", "directory": folder}, "plugins": ["md"], "stages": [{"simulate": {"physics": "md", **copper()}}]}
        path = program.write(os.path.join(folder, "deck.yaml"), json.dumps(deck))
        code, out, error = program.run("check", path)
        self.assertEqual(code, 0, out + error)
        code, out, error = program.run("plan", path, "--machine", os.path.join(program.SOURCE, "machines", "frontier.yaml"), "--ranks", "4")
        self.assertEqual(code, 0, out + error)
        code, out, error = program.run("doc", "potential", "pace")
        self.assertEqual(code, 0, error)
        self.assertIn(".yace", out)
        missing = json.loads(json.dumps(deck).replace("copper.yace", "none.yace"))
        code, out, error = program.run("check", program.write(os.path.join(folder, "missing.yaml"), json.dumps(missing)))
        self.assertEqual(code, 2)
        self.assertIn("none.yace", out + error)


if __name__ == "__main__":
    unittest.main()
