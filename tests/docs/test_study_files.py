"""What a study writes with --json: cases that it did not measure stay, each with the call that did. Called as test_study_files.py SOURCE_TREE."""
import argparse
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "studies"))
import measured  # noqa: E402

SAYS = """#!/bin/sh
echo '{{"measured": {{"commit": "{commit}"}}}}'
"""


class Files(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)

    def measure(self, commit, cases, turns=5, rows="cases"):
        program, path = self.folder / "program", self.folder / "figures.json"
        program.write_text(SAYS.format(commit=commit))
        program.chmod(0o755)
        out = {"turns": turns, "cases": {name: {"rate": rate} for name, rate in cases.items()}}
        measured.write(argparse.Namespace(program=str(program), json=str(path)), out, rows)
        return json.loads(path.read_text())

    def test_a_first_call_has_its_own_cases(self):
        found = self.measure("a", {"silicon": 1.0})
        self.assertEqual(found["cases"], {"silicon": {"rate": 1.0}})
        self.assertEqual(found["measured"]["commit"], "a")

    def test_cases_of_other_calls_stay_with_their_commits(self):
        self.measure("a", {"silicon": 1.0, "copper": 2.0, "wave": 3.0}, turns=3)
        found = self.measure("b", {"copper": 4.0})
        self.assertEqual(list(found["cases"]), ["silicon", "copper", "wave"])  # where they stood
        self.assertEqual(found["cases"]["copper"], {"rate": 4.0})
        self.assertEqual(found["measured"]["commit"], "b")
        self.assertEqual(found["cases"]["silicon"]["measured"]["commit"], "a")
        self.assertEqual(found["cases"]["silicon"]["measured"]["turns"], 3)
        last = self.measure("c", {"wave": 5.0, "new": 6.0})
        commits = {name: row.get("measured", last["measured"])["commit"] for name, row in last["cases"].items()}
        self.assertEqual(commits, {"silicon": "a", "copper": "b", "wave": "c", "new": "c"})

    def test_without_rows_the_file_is_replaced(self):
        self.measure("a", {"silicon": 1.0})
        self.assertEqual(list(self.measure("b", {"copper": 4.0}, rows=None)["cases"]), ["copper"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
