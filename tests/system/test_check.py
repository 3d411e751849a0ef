"""What `cambium check` says of decks that work, in which time, and that `cambium run` looks at later stages before the first one begins."""
# needs: md
# cost: 25
import glob
import os
import resource
import unittest

import program
import test_decks

DECK = """
run: {name: argon}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.3, cells: [4, 4, 4], species: [Ar]}}
      potential: {type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 8}
      initial_temperature: 80
      steps: 400
      checkpoint: {every: 200}
      output: [{type: rdf, every: 100, start_step: 300}]
  - simulate:
      physics: md
      structure: {file: "{run}/simulate/restart.400.h5"}
      potential: {type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 8}
      steps: 20
"""


def seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Check(unittest.TestCase):
    def deck(self, name):
        folder = program.fresh("check_" + name)
        path = os.path.join(folder, "deck.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(DECK)
        return path, os.path.join(folder, "run")

    def test_shipped_decks_at_full_size(self):
        decks = [d for d in sorted(glob.glob(os.path.join(program.SOURCE, "inputs", "**", "*.yaml"), recursive=True)) if test_decks.can_run(d)]
        self.assertGreaterEqual(len(decks), 3)
        for deck in decks:
            with self.subTest(os.path.relpath(deck, program.SOURCE)):
                folder = program.fresh("check_shipped")
                before = seconds_of_children()
                code, out, error = program.run("check", deck, f"run.directory={folder}/run")
                self.assertEqual(code, 0, error)
                self.assertLess(seconds_of_children() - before, 5.0)
                self.assertIn("the deck is sound; nothing was run", out)
                self.assertNotIn("no formula of this stage uses", out)
                self.assertEqual(os.listdir(folder), [])

    def test_a_small_field_takes_no_more_memory_than_it_has(self):
        """`buffer` is a limit, not what is taken."""
        import h5py

        if "podlstm" not in os.environ.get("CAMBIUM_BUILT_PLUGINS", "").split():
            self.skipTest("this build has no podlstm")
        folder = program.fresh("check_field")
        path = os.path.join(folder, "field.h5")
        with h5py.File(path, "w") as file:
            for name, values, unit in (("time", [7.0 * k for k in range(20)], "days since 2001-01-01"), ("lat", [-30.0, 0.0, 30.0, 60.0], "degrees_north"),
                                       ("lon", [0.0, 90.0, 180.0, 270.0, 300.0, 330.0], "degrees_east")):
                file[name] = values
                file[name].attrs["units"] = unit
                file[name].make_scale(name)
            file["t"] = [[[k * i + j for j in range(6)] for i in range(4)] for k in range(20)]
            for k, name in enumerate(("time", "lat", "lon")):
                file["t"].dims[k].attach_scale(file[name])
        deck = program.write(os.path.join(folder, "deck.yaml"), f"run: {{name: field, directory: {folder}/run}}\nplugins: [podlstm]\nstages:\n"
                             f"  - pod: {{field: {{files: [{path}], array: t}}, modes: 2}}\n")
        code, out, error = program.run("check", deck)
        self.assertEqual(code, 0, out + error)
        self.assertIn("(snapshots, at most 3.84 kB)", out)  # 20 moments of 24 cells in double precision

    def test_page(self):
        deck, run = self.deck("page")
        code, out, error = program.run("check", deck, "run.directory=" + run)
        self.assertEqual(code, 0, error)
        self.assertIn("will write: thermo.csv, thermo.h5, restart.*.h5, rdf.h5, rdf.csv", out)
        self.assertRegex(out, r"memory: at least [0-9.]+ [kM]B on each of as many ranks as here \(256 atoms [0-9.]+ [kM]B\)")
        self.assertRegex(out, r"time: about [0-9.e+-]+ (s|min) \(400 steps as long as the second one took here, without output\)")
        self.assertIn("memory: not estimated\ntime: not estimated\n", out)  # of the second stage
        self.assertIn(f"not checked:\n  stage 2 (simulate): the initial state: it follows from '{run}/simulate/restart.400.h5', which is still to be "
                      "written\n\nthe deck is sound; nothing was run", out)
        self.assertFalse(os.path.exists(run))

    def test_all_problems_at_once_with_their_places(self):
        deck, run = self.deck("places")
        with open(deck, encoding="utf-8") as file:
            text = file.read().replace("start_step: 300", "start_step: 300, r_max: 11").replace("restart.400", "restart.410")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(text)
        code, _, error = program.run("check", deck, "run.directory=" + run)
        self.assertEqual(code, 2)
        self.assertIn("deck.yaml:12:64: stages[0].simulate.output[0].r_max: rdf: r_max = 11 Å is more than half", error)
        self.assertIn("deck.yaml:15:25: stages[1].simulate.structure.file: stage 1 (simulate) will not write 'restart.410.h5', but one such file "
                      "every 200 steps, up to step 400", error)
        self.assertIn(f"2 problems in {deck}", error)

    def test_run_looks_at_later_stages_first(self):
        deck, run = self.deck("run")
        for ranks in (1, 2):
            code, out, error = program.run("run", deck, "run.directory=" + run, 'stages[1].simulate.structure.file="{run}/simulate/restart.300.h5"',
                                           ranks=ranks)
            self.assertEqual(code, 2, out)
            self.assertIn("will not write 'restart.300.h5'", error)
            self.assertNotIn("--- stage 1", out)
            self.assertFalse(os.path.exists(run))
        code, out, error = program.run("run", deck, "run.directory=" + run, ranks=2)
        self.assertEqual(code, 0, error)

    def test_writers_are_asked_before_the_first_step(self):
        deck, run = self.deck("writers")
        code, out, error = program.run("run", deck, "run.directory=" + run, "stages[0].simulate.output[0].r_max=11", ranks=2)
        self.assertEqual(code, 2)
        self.assertIn("stages[0].simulate.output[0].r_max: rdf: r_max = 11 Å is more than half the smallest width", error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
