"""What a stage found: the summary that a user reads, the same as data in results.json, and what reads it."""
# needs: md kinetic
import csv
import json
import os
import re
import shutil
import sys
import unittest

import program
import test_sweep

sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
GAS = """
run: {{name: gas, directory: {folder}/gas, seed: 1}}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {{lattice: {{type: fcc, a: 5.719, cells: [3, 3, 3], species: [Ar]}}}}
      initial_temperature: 100 K
      potential: {{type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 6, truncation: shift}}
      timestep: 2 fs
      steps: 20
      thermo: {{every: 2}}
"""
WAVE = test_sweep.DECK.replace("landau", "wave").replace("{end}", "12")


def values(folder):
    with open(os.path.join(folder, "results.json")) as file:
        return json.load(file)


def by_key(found):
    return {result["key"]: result for result in found["results"]}


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("results")
        cls.decks = {name: program.write(os.path.join(cls.folder, name + ".yaml"), text.format(folder=cls.folder))
                     for name, text in (("gas", GAS), ("wave", WAVE))}
        cls.said = {}
        for name, deck in cls.decks.items():
            code, cls.said[name], err = program.run("run", deck)
            assert code == 0, err

    def stage(self, name):
        return os.path.join(self.folder, name, "simulate")

    def test_the_file_is_as_documented(self):
        found = values(self.stage("gas"))
        self.assertEqual(found["version"], 1)
        for key, kind in (("seconds", float), ("ranks", int), ("steps", int), ("items", int), ("item", str), ("memory", (int, float)), ("summary", list),
                          ("files", list), ("warnings", list)):
            self.assertIsInstance(found[key], kind, key)
        self.assertEqual((found["ranks"], found["steps"], found["items"], found["item"]), (1, 20, 108, "atom"))
        keys = [result["key"] for result in found["results"]]
        self.assertEqual(len(set(keys)), len(keys))
        for result in found["results"]:
            self.assertLessEqual(set(result), {"key", "label", "value", "unit", "uncertainty", "remark"})
            self.assertRegex(result["key"], r"^[a-z][a-z0-9_]*$")

    def test_numbers_are_those_of_the_table(self):
        found = by_key(values(self.stage("gas")))
        with open(os.path.join(self.stage("gas"), "thermo.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        mean = sum(float(row["temperature [K]"]) for row in rows) / len(rows)
        self.assertAlmostEqual(found["averages_temperature"]["value"] / mean, 1.0, places=12)
        self.assertEqual(found["averages_temperature"]["unit"], "K")

    def test_the_summary_says_the_same(self):
        found = values(self.stage("wave"))
        gamma, omega = by_key(found)["gamma"], by_key(found)["omega"]
        line = next(line for line in self.said["wave"].splitlines() if line.startswith("growth rate of the field: "))
        self.assertIn(line, found["summary"])
        self.assertTrue(line.startswith(f"growth rate of the field: gamma = {gamma['value']:.6g} +- {gamma['uncertainty']:.2g}, omega = {omega['value']:.6g} "), line)
        self.assertNotEqual(gamma["value"], float(f"{gamma['value']:.6g}"))  # not rounded
        self.assertLess(abs(gamma["value"] + 0.1534), 0.02)

    def test_python_reads_it(self):
        import cambium_io
        results = cambium_io.Run(os.path.join(self.folder, "wave")).results
        self.assertEqual(results["gamma"].value, by_key(values(self.stage("wave")))["gamma"]["value"])
        self.assertGreater(results.seconds, 0.0)

    def test_a_sweep_has_all_digits_and_names_older_runs(self):
        code, out, err = program.run("sweep", self.decks["wave"], "--over", "stages[0].simulate.parameters.k=[0.4, 0.5]", f"run.directory={self.folder}/sweep")
        self.assertEqual(code, 0, out + err)
        where = os.path.join(self.folder, "sweep")
        with open(os.path.join(where, "results.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            found = by_key(values(os.path.join(where, row["folder"], "simulate")))
            self.assertEqual(float(row["gamma"]), found["gamma"]["value"])
            self.assertEqual(float(row["gamma_error"]), found["gamma"]["uncertainty"])
            for column in ("seconds", "total_energy_changed_by", "particles_by", "last_step", "steps_were_begun_again_because", "residual", "r_squared"):
                self.assertIn(column, [name.split(" [")[0] for name in row])  # names of the time when they were read from the log
        os.remove(os.path.join(where, rows[0]["folder"], "simulate", "results.json"))
        code, out, err = program.run("sweep", self.decks["wave"], "--over", "stages[0].simulate.parameters.k=[0.4, 0.5]", f"run.directory={where}")
        self.assertEqual(code, 0, out + err)
        self.assertIn(f"warning: run 1 has no results.json: an earlier version ran it. Only its tables are read; for all its results remove its folder, "
                      f"{rows[0]['folder']}, and call the sweep again", out)
        with open(os.path.join(where, "results.csv"), newline="") as file:
            self.assertEqual([row["gamma"] == "nan" for row in csv.DictReader(file)], [True, False])

    def test_a_report_shows_it_and_says_where_it_is_missing(self):
        where = os.path.join(self.folder, "older")
        shutil.copytree(os.path.join(self.folder, "wave"), where)
        for missing in (False, True):
            if missing:
                os.remove(os.path.join(where, "simulate", "results.json"))
            with self.subTest(missing=missing):
                import report
                import cambium_io
                page = "\n".join(report.summary_of(cambium_io.Run(where).path / "simulate"))
                self.assertEqual("no results.json: " in page, missing)
                self.assertEqual(re.search(r"gamma = -0\.1\d+ \+- ", page) is None, missing)

    def test_a_stage_that_fails_leaves_none(self):
        code, out, err = program.run("run", self.decks["gas"], f"run.directory={self.folder}/failed", "stages[0].simulate.timestep=2 ps")
        self.assertEqual(code, 4, out + err)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "failed", "simulate", "results.json")))


if __name__ == "__main__":
    unittest.main()
