"""The chemical potential learned from small crystals: the errors on crystals not seen, the search that starts from it, and what it flags."""
# needs: submatrix
import os
import re
import unittest

import program

STAGE, SETS = "stages[4].density_matrix.", "stages[0].local_spectra.sets"
SMALL = [f"{SETS}[0].frames=40", f"{SETS}[1].frames=2", f"{SETS}[2].frames=8", f"{SETS}[3].frames=1", f"{SETS}[4].frames=8", f"{SETS}[5].frames=1",
         f"{SETS}[5].matrices.tight_binding.lattice.cells=[3, 3, 4]", "stages[1].train.steps=1500", "stages[1].train.validate.every=250",
         STAGE + "matrices.tight_binding.lattice.cells=[3, 3, 3]", STAGE + "matrices.tight_binding.localisation_radius=5"]
AGAIN = """
run: {name: again, seed: 1}
plugins: [submatrix]
stages:
  - density_matrix:
      matrices: {tight_binding: {strain: 0.03, localisation_radius: 5, frame: 1000, lattice: {type: diamond, a: 3.556, cells: [3, 3, 3], species: [C], displacement: 0.08}}}
      krylov_tolerance: 1e-4
"""


def numbers(text, pattern):
    found = re.search(pattern, text)
    assert found, f"no '{pattern}' in\n{text}"
    return [float(x) for x in found.groups()]


class Levels(unittest.TestCase):
    def test_chain(self):
        folder = program.fresh("levels")
        deck = os.path.join(program.SOURCE, "inputs", "submatrix", "diamond_levels.yaml")
        code, out, error = program.run("run", deck, *SMALL, f"run.directory={folder}")
        self.assertEqual(code, 0, error)
        spread = numbers(out, r"test +8 Hamiltonians, 512 block columns; band energy of a column \S+ \+- (\S+) eV, mu \S+ \+- (\S+) eV, smallest gap (\S+) eV")
        evaluations = re.findall(r"  band_energy +(\S+) eV\n  homo +(\S+) eV\n  lumo +(\S+) eV\n  mu +(\S+) eV", out)
        self.assertEqual(len(evaluations), 2)
        for name, errors in zip(("64 atoms", "288 atoms"), evaluations):
            energy, _, _, mu = map(float, errors)
            print(f"{name}: band energy {energy} of {spread[0]} eV, mu {mu} eV in a gap of {spread[2]} eV")
            self.assertLess(energy, 0.15 * spread[0])
            self.assertLess(mu, 0.05 * spread[2])
        off, with_it, without = numbers(out, r"their middle (\S+) eV from mu; (\d+) evaluations of N\(mu\), (\d+) without it")
        print(f"{with_it:.0f} evaluations of N(mu) from the prediction, {without:.0f} without")
        self.assertLess(abs(off), 1.0)
        self.assertLess(with_it, without)
        self.assertIn("; 0 further than", out)

        again = program.write(os.path.join(folder, "again.yaml"), AGAIN)
        model = "stages[0].density_matrix.prediction={model: %s}" % os.path.join(folder, "train", "model.h5")
        page = r"band energy +(\S+) hartree[\s\S]*mu +(\S+) hartree"
        wanted = numbers(out, page)
        plain = program.run("run", again, "run.directory=" + program.fresh("levels_plain"))[1]
        ranks = program.run("run", again, model, "run.directory=" + program.fresh("levels_ranks"), ranks=2)[1]
        for text in (plain, ranks):
            for a, b in zip(numbers(text, page), wanted):
                self.assertAlmostEqual(a, b, delta=1e-8 * abs(b))
        code, hot, error = program.run("run", again, model, "run.directory=" + program.fresh("levels_hot"),
                                       "stages[0].density_matrix.matrices.tight_binding.lattice.displacement=0.25")
        self.assertEqual(code, 0, error)
        self.assertRegex(hot, r"warning: \d+ block columns are not what the model expects: \d+ \(\S+ eV\)")


if __name__ == "__main__":
    unittest.main(verbosity=2)
