"""The liquid of the copper model that ships, beside its teacher's: inputs/deepmd/copper_melt.yaml at its full size."""
import os
import sys
import unittest

import numpy as np

import program

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
import cambium_io  # noqa: E402


class Liquid(unittest.TestCase):
    def test_distribution_functions_agree(self):
        folder = program.fresh("copper_rdf")
        deck = os.path.join(program.SOURCE, "inputs", "deepmd", "copper_melt.yaml")
        code, _, error = program.run("run", deck, f"run.directory={folder}/run", limit=1700)
        self.assertEqual(code, 0, error)
        curves = []
        for stage in sorted(name for name in os.listdir(folder + "/run") if name.startswith("simulate")):
            rdf = cambium_io.Run(os.path.join(folder, "run", stage)).rdf
            curves.append((rdf.r, rdf.g(rdf.pairs[0])))
        trained, teacher = curves
        np.testing.assert_array_equal(trained[0], teacher[0])
        self.assertGreater(np.max(teacher[1]), 2.0)  # both are liquids: a first shell, and no gap behind it
        self.assertGreater(np.min(teacher[1][teacher[0] > 3.0]), 0.3)
        difference = np.max(np.abs(trained[1] - teacher[1]))
        print(f"copper liquid: largest difference of the radial distribution functions {difference:.4f}")
        self.assertLess(difference, 0.1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
