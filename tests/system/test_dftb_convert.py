"""Inputs of DFTB+ become decks: what is converted, that the decks run and give what decks written by hand give, and what is refused, with its line."""
# needs: md submatrix
# cost: 20
import json
import os
import unittest

import dftb_oracle as oracle
import program

GEOMETRY = """3 C
 C H
 1 1 0.05 0.0 0.0
 2 2 -0.69 0.95 0.26
 3 2 1.53 0.21 -0.16
"""
INPUT = """# A comment
Geometry = GenFormat {
%s}
Driver = {}
Hamiltonian = DFTB {
  SCC = Yes; SCCTolerance = 1.0D-9   # two keys in a line
  MaxSCCIterations = 500
  Mixer = Anderson { MixingParameter = 0.1 }
  MaxAngularMomentum { C = "p"
    H = 's' }
  Charge = 0.0
  SpinPolarisation = Colinear {
    UnpairedElectrons = 2
    InitialSpins { AtomSpin { Atoms = 1; SpinPerAtom = 1.5 }
      AtomSpin = { Atoms = {2:-1}
        SpinPerAtom = 0.25 } }
  }
  SpinConstants { ShellResolvedSpin = Yes
    C { -0.031 -0.025
        -0.025 -0.023 }
    H { -0.072 }
  }
  ThirdOrderFull = Yes
  HubbardDerivs { C = -0.1492
    H = -0.1857 }
  HCorrection = Damping { Exponent = 4.05 }
  Dispersion = LennardJones { Parameters {
    C { Distance [AA] = 3.851
        Energy [kcal/mol] = 0.105 }
    H { Distance [AA] = 2.886
        Energy = 0.00007 } } }
  Filling = Fermi { Temperature [Kelvin] = 3000 }
  SlaterKosterFiles = Type2FileNames { Prefix = "set/"
    Separator = "-"
    Suffix = ".skf" }
}
Options { WriteAutotestTag = Yes }
ParserOptions { ParserVersion = 8 }
"""


class DftbConvert(unittest.TestCase):
    def convert(self, name, text, deck="made.yaml", **files):
        run = program.fresh("dftb_convert_" + name)
        oracle.write_set(os.path.join(run, "set"))
        for file, content in files.items():
            program.write(os.path.join(run, file), content)
        path = program.write(os.path.join(run, "dftb_in.hsd"), text)
        code, out, error = program.run("submatrix", "convert-input", path, *([os.path.join(run, deck)] if deck else []))
        return run, code, out, error

    def refused(self, text, *messages):
        _, code, out, error = self.convert("refused", text)
        self.assertNotEqual(code, 0)
        for message in messages:
            self.assertIn(" ".join(message.split()), " ".join((out + error).split()))

    def results(self, deck):
        folder = deck + "_out"
        code, out, error = program.run("run", deck, f"run.directory={folder}")
        self.assertEqual(code, 0, out + error)
        with open(os.path.join(folder, "dftb", "results.json")) as file:
            return {r["key"]: r["value"] for r in json.load(file)["results"]}

    def test_single_point(self):
        run, code, out, error = self.convert("point", INPUT % GEOMETRY)
        self.assertEqual(code, 0, out + error)
        with open(os.path.join(run, "made.yaml")) as file:
            deck = file.read()
        for line in ("# Options.WriteAutotestTag: not taken over, it changes no result.", "structure: {file: \"{deck}/made.gen\", format: gen}", "periodic: false",
                     "shells: {C: p, H: s}", "self_consistent: true", "tolerance: 1e-09", "cycles: 500", "mixing: {type: anderson, parameter: 0.1}",
                     "spin: {unpaired_electrons: 2, constants: {C: [[-0.031, -0.025], [-0.025, -0.023]], H: [[-0.072]]}, initial_atom_spins: [1.5, 0.25, 0.25]}",
                     "hubbard_derivatives: {C: -0.1492, H: -0.1857}", "hydrogen_damping: 4.05", "filling: {type: fermi, temperature: 3000 K}"):
            self.assertIn(line, deck)
        converted = self.results(os.path.join(run, "made.yaml"))
        hand = {"run": {"name": "hand"}, "plugins": ["submatrix"], "stages": [{"dftb": {
            "structure": {"file": os.path.join(run, "made.gen")}, "slater_koster": {"directory": os.path.join(run, "set")}, "shells": {"C": "p", "H": "s"},
            "periodic": False, "spin": {"unpaired_electrons": 2, "constants": {"C": [[-0.031, -0.025], [-0.025, -0.023]], "H": [[-0.072]]}, "initial_spins": {"C": 1.5, "H": 0.25}},
            "hubbard_derivatives": {"C": -0.1492, "H": -0.1857}, "hydrogen_damping": 4.05, "cycles": 500, "filling": {"temperature": 3000},
            # DFTB+'s kcal/mol is 0.0015946683859874898 hartree
            "dispersion": {"lennard_jones": {"C": {"distance": "3.851 angstrom", "energy": 0.105 * 0.0015946683859874898}, "H": {"distance": "2.886 angstrom", "energy": 7e-5}}}}}]}
        wanted = self.results(program.write(os.path.join(run, "hand.yaml"), json.dumps(hand)))
        for key in ("mermin_energy", "spin_energy", "third_order_energy", "dispersion_energy", "magnetisation"):
            self.assertAlmostEqual(converted[key], wanted[key], delta=1e-7, msg=key)

    def test_crystal_and_drivers(self):
        """A periodic geometry of its own file, folded k-points, files named one by one; relaxation and dynamics."""
        cell = GEOMETRY.replace("3 C\n", "3 S\n") + " 0 0 0\n 6 0 0\n 0 6.5 0\n 0 0 7\n"
        text = INPUT % '  <<< "cell.gen"\n'
        text = text.replace("""Type2FileNames { Prefix = "set/"
    Separator = "-"
    Suffix = ".skf" }""", """{ C-C = "set/C-C.skf"
    C-H = set/C-H.skf
    H-C = set/H-C.skf
    H-H = set/H-H.skf }
  KPointsAndWeights = SupercellFolding { 2 0 0
    0 1 0
    0 0 3
    0.5 0.0 0.0 }""")
        run, code, out, error = self.convert("cell", text, **{"cell.gen": cell})
        self.assertEqual(code, 0, out + error)
        with open(os.path.join(run, "made.yaml")) as file:
            deck = file.read()
        self.assertIn("k_points: {grid: [2, 1, 3], shift: [0.5, 0, 0]}", deck)
        self.assertIn(f"file: \"{run}/cell.gen\"", deck)
        self.assertIn("separator: \"-\", suffix: \".skf\"", deck)
        self.assertNotIn("periodic", deck)
        for driver, lines in (("ConjugateGradient { MovedAtoms = 1:-1; MaxForceComponent = 1e-3; MaxSteps = 3 }",
                               ["integrator: {type: fire, force_tolerance: 0.001 hartree/bohr}", "steps: 30"]),
                              ("GeometryOptimization { Optimizer = Rational {}; MaxSteps = 2; Convergence { GradElem = 2e-3 } }",
                               ["integrator: {type: fire, force_tolerance: 0.002 hartree/bohr}", "steps: 20"]),
                              ("VelocityVerlet { Steps = 4; TimeStep [fs] = 0.5; Thermostat = None { InitialTemperature [Kelvin] = 300 } }",
                               ["timestep: 0.5 fs", "steps: 4", "initial_temperature: 300 K"])):
            made = (INPUT % GEOMETRY).replace("Driver = {}", "Driver = " + driver)
            run, code, out, error = self.convert("driver", made)
            self.assertEqual(code, 0, out + error)
            with open(os.path.join(run, "made.yaml")) as file:
                deck = file.read()
            for line in lines:
                self.assertIn(line, deck)
            code, out, error = program.run("run", os.path.join(run, "made.yaml"), f"run.directory={run}/out", "stages[0].simulate.steps=2")
            self.assertEqual(code, 0, out + error)

    def test_refused(self):
        text = INPUT % GEOMETRY
        self.refused(text.replace("Charge = 0.0", "Charge = 0.0\n  Solvation = GeneralizedBorn { }\n  ElectricField { External { } }"),
                     "2 of its keys cannot be converted", "line 17: Hamiltonian.DFTB.Solvation: is not converted",
                     "line 18: Hamiltonian.DFTB.ElectricField: is not converted")
        for old, new, message in (
                ("Geometry = GenFormat {", "Geometry = XyzFormat {", "line 2: Geometry: only GenFormat is converted; write the geometry as a gen file"),
                ("Hamiltonian = DFTB", "Hamiltonian = xTB", "Hamiltonian: 'xtb', only DFTB is converted"),
                ("3 C\n", "C\n", "Geometry.GenFormat: expected the number of atoms and C, S or F first"),
                ("Driver = {}", "Driver = SecondDerivatives { Delta = 1e-4 }", "Driver: secondderivatives is not converted"),
                ("Driver = {}", "Driver = ConjugateGradient { MovedAtoms = 1 }", "fixed atoms are not converted; write them as groups and frozen of the deck"),
                ("Driver = {}", "Driver = ConjugateGradient { LatticeOpt = Yes }", "relaxed cells are not converted"),
                ("Driver = {}", "Driver = VelocityVerlet { TimeStep [fs] = 1 }", "Steps is missing; give the number of steps"),
                ("Driver = {}", "Driver = VelocityVerlet { Steps = 1; TimeStep = 20 }", "TimeStep needs a unit here, such as TimeStep [fs] = 0.5"),
                ("Driver = {}", "Driver = VelocityVerlet { Steps = 1; TimeStep [fs] = 1; Thermostat = Berendsen { Temperature [K] = 300 } }",
                 "only None is converted; choose an integrator of md: nose_hoover, csvr or langevin"),
                ("SCC = Yes", "SCC = Perhaps", "Hamiltonian.DFTB.SCC: 'perhaps', expected Yes or No"),
                ("SCC = Yes", "SCC = Yes; SCC = No", "Hamiltonian.DFTB.SCC: the key is given twice"),
                ("MaxSCCIterations = 500", "MaxSCCIterations = 5.5", "MaxSCCIterations: expected a whole number"),
                ("Charge = 0.0", "Charge = 0.0 1.0", "Charge: expected one number without a unit"),
                ("Charge = 0.0", "Charge = none", "Charge: 'none' is no number"),
                ('C = "p"', 'C = "f"', "MaxAngularMomentum.C: 'f', expected s, p or d"),
                ("Colinear", "NonColinear", "noncolinear is not converted, only Colinear"),
                ("Atoms = 1;", "Atoms = 9;", "names atoms that the geometry does not have"),
                ("AtomSpin { Atoms = 1; SpinPerAtom = 1.5 }", "AllAtomSpins { 1 1 }", "InitialSpins.AllAtomSpins: expected one number for each atom"),
                ("H { -0.072 }", "H { -0.072 -0.01 }", "SpinConstants.H: expected one value, or a square of them"),
                ("ThirdOrderFull", "ThirdOrder", "ThirdOrder: only ThirdOrderFull is converted"),
                ("HubbardDerivs { C = -0.1492\n    H = -0.1857 }", "", "ThirdOrderFull needs HubbardDerivs"),
                ("Damping { Exponent = 4.05 }", "H5 {}", "h5 is not converted, only Damping"),
                ("LennardJones", "DftD3", "dftd3 is not converted, only LennardJones and SlaterKirkwood"),
                ("Fermi {", "MethfesselPaxton {", "give Order, whose default differs between versions of DFTB+"),
                ("Fermi {", "Box {", "Filling: box is not converted"),
                ("[Kelvin]", "[furlong]", "the unit [furlong] is not converted"),
                ('"set/"', '"set/my_"', "Prefix: expected a folder, with / at its end"),
                ("Charge = 0.0", "KPointsAndWeights = SupercellFolding { 1 1 0 0 1 0 0 0 1 0 0 0 }",
                 "SupercellFolding: only three numbers on the diagonal and three shifts are converted"),
                ("Charge = 0.0", "KPointsAndWeights = { 0 0 0 }", "only SupercellFolding and lists kx ky kz weight are converted"),
                ("Charge = 0.0", "ForceEvaluation = dynamics", "ForceEvaluation: only Traditional is converted"),
                ("Charge = 0.0", "+Charge = 0.0", "'+Charge': the signs of merged inputs are not converted; write the merged input"),
                ("Charge = 0.0", "Charge = \"0.0", "a quote (\") is not closed"),
                ("Charge = 0.0", "Charge [e = 0.0", "the bracket in 'Charge [e' is not closed"),
                ("Charge = 0.0", "= 0.0", "expected the name of a key before '='"),
                ("Options {", "} Options {", "a closing brace without an opening one"),
                ("ParserOptions { ParserVersion = 8 }", "ParserOptions {", "the brace of ParserOptions is not closed"),
                ("Driver = {}", "<<+ \"none.hsd\"", "none.hsd to include"),
                ("Driver = {}", "<<+ \"dftb_in.hsd\"", "includes are nested 20 times: does a file include itself?")):
            with self.subTest(new):
                self.assertIn(old, text)
                self.refused(text.replace(old, new, 1), message)
        _, code, out, error = self.convert("printed", text, deck=None)
        self.assertNotEqual(code, 0)
        self.assertIn("holds the geometry itself; name a deck to write, and the geometry is written next to it", " ".join((out + error).split()))
        code, out, error = program.run("submatrix", "convert-input", "/none.hsd", "x.yaml")
        self.assertNotEqual(code, 0)
        self.assertIn("there is no file /none.hsd", out + error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
