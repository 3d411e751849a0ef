"""Bad input as a new user would give it: the exact text, and the exit code."""
# needs: md deepmd
import os
import shutil
import unittest

import h5py

import program

DECK = """
run: {name: bad, directory: RUN}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 3.61, cells: [4, 4, 4], species: [Cu]}}
      potential: {type: sutton_chen, element: Cu, cutoff: 5.5}
      steps: 10
"""
STAGE = "stages[0].simulate."


class Messages(unittest.TestCase):
    def setUp(self):
        self.folder = program.fresh("messages_" + self.id().rsplit(".", 1)[1])
        self.deck = program.write(os.path.join(self.folder, "bad.yaml"), DECK.replace("RUN", "out"))

    def fails(self, *overrides, code=2, ranks=1, command="run"):
        done, out, error = program.run(command, "bad.yaml", *overrides, ranks=ranks, cwd=self.folder)
        self.assertEqual(done, code, out + error)
        return error

    def line(self, text):
        with open(self.deck) as file:
            return next(n for n, line in enumerate(file, 1) if text in line)

    def change(self, old, new):
        with open(self.deck) as file:
            text = file.read()
        self.assertIn(old, text)
        program.write(self.deck, text.replace(old, new))

    def test_unknown_key(self):
        self.change("      steps: 10", "      steps: 10\n      timestpe: 1 fs")
        self.assertEqual(self.fails(), f"cambium: bad.yaml:{self.line('timestpe')}:7: stages[0].simulate.timestpe: "
                         "unknown key; did you mean 'timestep'?\n1 problem in bad.yaml\n")

    def test_wrong_type_and_range_at_once(self):
        self.change("      steps: 10", "      steps: ten\n      timestep: -1")
        self.assertEqual(self.fails(), (
            f"cambium: bad.yaml:{self.line('steps')}:14: stages[0].simulate.steps: found 'ten', expected a whole number >= 0\n"
            f"bad.yaml:{self.line('timestep')}:17: stages[0].simulate.timestep: found -1, expected a number > 0 ps\n"
            "2 problems in bad.yaml\n"))

    def test_wrong_unit(self):
        self.assertIn("stages[0].simulate.timestep: found '1 K'", self.fails(STAGE + "timestep=1 K"))

    def test_unknown_potential(self):
        self.assertEqual(self.fails(STAGE + "potential={type: sutton_chn}"), (
            "cambium: command line: stages[0].simulate.potential.type: there is no potential 'sutton_chn'; "
            "did you mean 'sutton_chen'?\n1 problem in command line\n"))

    def test_missing_deck(self):
        code, _, error = program.run("run", "none.yaml", cwd=self.folder)
        self.assertEqual(code, 2)
        self.assertEqual(error, "cambium: cannot read the deck 'none.yaml': give the path of a YAML file, for example "
                         "inputs/md/copper_melting.yaml, or the name of one that came with the program, for example "
                         "md/copper_melting (`cambium list deck` names them)\n")

    def test_unknown_command(self):
        code, _, error = program.run("rnu", "bad.yaml", cwd=self.folder)
        self.assertEqual(code, 2)
        self.assertEqual(error, "cambium: there is no command 'rnu'; did you mean 'run'?\n")

    def test_missing_model(self):
        self.assertEqual(self.fails(STAGE + "potential={type: deep_potential, model: none.dp}"), (
            "cambium: command line: stages[0].simulate.potential.model: model file 'none.dp' does not exist; "
            "model files there: bad.yaml\n"))

    def test_truncated_model(self):
        whole = os.path.join(self.folder, "whole.dp")
        with h5py.File(whole, "w") as file:
            file["numbers"] = list(range(5000))
        with open(whole, "rb") as file:
            start = file.read(20000)
        with open(os.path.join(self.folder, "short.dp"), "wb") as file:
            file.write(start)
        size = os.path.getsize(whole)
        self.assertEqual(self.fails(STAGE + "potential={type: deep_potential, model: short.dp}"), (
            "cambium: command line: stages[0].simulate.potential.model: cannot open 'short.dp': it is truncated (20000 bytes "
            f"found, {size} expected); copy it again from its source or name another file\n"))

    def test_tensorflow_model(self):
        self.assertEqual(self.fails(STAGE + "potential={type: deep_potential, model: graph.pbtxt}"), (
            "cambium: command line: stages[0].simulate.potential.model: graph.pbtxt is a TensorFlow graph as text, which needs the library "
            "that wrote it; DeePMD-kit makes a readable model of it with\n  dp convert-backend graph.pbtxt graph.dp\n"))

    def test_a_model_without_checksum_is_said(self):
        copper = os.path.join(program.SOURCE, "inputs", "deepmd", "models", "copper.dp")
        program.run("deepmd", "compress", copper, "copper.dp", cwd=self.folder)
        use = STAGE + "potential={type: deep_potential, model: copper.dp}"
        note = ("'copper.dp' carries no checksum: another program or an earlier version wrote it, or it was changed since; damage to it would not "
                "be noticed")
        code, out, error = program.run("check", "bad.yaml", use, cwd=self.folder)
        self.assertEqual(code, 0, error)
        self.assertNotIn(note, out)
        self.assertRegex(program.run("deepmd", "show", "copper.dp", cwd=self.folder)[1], r"\nchecksum +agrees with what was written\n")
        with h5py.File(os.path.join(self.folder, "copper.dp"), "r+") as file:  # as a program does that knows nothing of checksums
            file.attrs["json"] = file.attrs["json"]
        code, out, error = program.run("check", "bad.yaml", use, cwd=self.folder)
        self.assertEqual(code, 0, error)
        self.assertIn(note, out)
        self.assertRegex(program.run("deepmd", "show", "copper.dp", cwd=self.folder)[1], r"\nchecksum +none\n")

    def test_cell_too_small_for_ranks(self):
        error = self.fails(STAGE + "ranks=[1, 1, 2]", STAGE + "structure.lattice.cells=[2, 2, 2]", ranks=2)
        self.assertTrue(error.startswith(
            "cambium: command line: stages[0].simulate.ranks: the cell is 7.2 Å wide along c for 2 ranks: a partitioned direction must be at least 13.0 Å wide "
            "(twice the cut-off plus skin of 6.5 Å); use 1 rank along c or a larger cell\n"), error)

    def test_wrong_length_unit(self):
        self.assertTrue(self.fails(STAGE + "structure.lattice.a=0.0361").endswith(
            "stages[0].simulate.structure: 9.8e+07 neighbours per atom would lie within the cut-off and skin of 6.5 Å: the 256 atoms fill "
            "0.003011 Å^3; check the lengths of the structure, which are in Å\n"))

    def test_identifiers(self):
        too_dense = STAGE + "structure.lattice.a=0.0361"
        self.assertTrue(self.fails(too_dense, "--verbose").endswith("which are in Å [md.structure.density]\n"))
        code, _, error = program.run("check", "bad.yaml", too_dense, "--verbose", cwd=self.folder)
        self.assertIn("which are in Å [md.structure.density]\n1 problem", error)

    def test_atoms_at_the_same_place(self):
        program.write(os.path.join(self.folder, "twins.xyz"),
                      '3\nLattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3\nAr 5 1 1\nAr 1 1 1\nAr 1 1 1\n')
        error = self.fails(STAGE + "structure={file: twins.xyz}",
                           STAGE + "potential={type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 8}", code=4)
        self.assertEqual(error, (
            "cambium: numerical failure: step 0: atoms 2 (Ar) and 3 (Ar) are at the same position, 1 1 1 Å, where the force "
            "between them is not defined; remove one of them, or move them apart; "
            f"the state is in {os.path.join('out', 'simulate', 'failed.0.h5')}\n"))
        self.assertTrue(os.path.exists(os.path.join(self.folder, "out", "simulate", "failed.0.h5")))

    def test_atoms_at_the_same_place_of_every_potential(self):
        """A model of the deepmd plugin gives neighbours of the two a force that is no number, too: they are not who is named."""
        copper = os.path.join(program.SOURCE, "inputs", "deepmd", "models", "copper.dp")
        for species, potential in (("Si", "{type: stillinger_weber}"), ("Cu", "{type: sutton_chen, element: Cu, cutoff: 5.5}"),
                                   ("Cu", "{type: zbl, inner: 1, outer: 2}"), ("Cu", f"{{type: deep_potential, model: {copper}}}")):
            program.write(os.path.join(self.folder, "twins.xyz"), (
                '4\nLattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3\n'
                f"{species} 3 1 1\n{species} 1 1 1\n{species} 1 3 1\n{species} 21 1 -19\n"))
            for ranks in (1, 2):
                error = self.fails(STAGE + "structure={file: twins.xyz}", STAGE + "potential=" + potential, STAGE + "skin=0.5", "--overwrite", code=4,
                                   ranks=ranks)
                self.assertIn(f"cambium: numerical failure: step 0: atoms 2 ({species}) and 4 ({species}) are at the same position, 1 1 1 Å, where the force",
                              error)

    def test_force_not_a_number(self):
        program.write(os.path.join(self.folder, "close.xyz"),
                      '2\nLattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3\nAr 1 1 1\nAr 1 1 1.00001\n')
        error = self.fails(STAGE + "structure={file: close.xyz}",
                           STAGE + "potential={type: lennard_jones, epsilon: 1e300, sigma: 3.4, cutoff: 8}", code=4)
        self.assertEqual(error, (
            "cambium: numerical failure: step 0: the force of atom 1 (Ar) on rank 0 is not a finite number: position "
            "1 1 1 Å, force nan nan -inf eV/Å; use a shorter timestep, minimise first, or check for overlapping atoms; "
            f"the state is in {os.path.join('out', 'simulate', 'failed.0.h5')}\n"))

    def test_restart_of_nothing(self):
        code, _, error = program.run("restart", "nowhere", cwd=self.folder)
        self.assertEqual(code, 2)
        self.assertEqual(error, "cambium: 'nowhere' holds no run: there is no deck.resolved.yaml; give the folder named "
                         "run.directory in the deck\n")

    def test_truncated_checkpoint(self):
        program.run("run", "bad.yaml", STAGE + "checkpoint.every=5", cwd=self.folder)
        stage = os.path.join(self.folder, "out", "simulate")
        os.remove(os.path.join(self.folder, "out", "stages_done.txt"))
        path = os.path.join(stage, "restart.10.h5")
        with open(path, "rb") as file:
            half = file.read()[:4000]
        with open(path, "wb") as file:
            file.write(half)
        for name in os.listdir(stage):  # the one before would be used
            if name.startswith("restart.") and name != "restart.10.h5":
                os.remove(os.path.join(stage, name))
        code, _, error = program.run("restart", "out", cwd=self.folder)
        self.assertEqual(code, 2)
        self.assertIn(f"no checkpoint in '{os.path.join('out', 'simulate')}' is intact:\n  restart.10.h5: it was truncated or overwritten, and HDF5 cannot "
                      "open it\nput back a copy of one, or remove them, and the stage begins at step 0 when the run is resumed\n", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
