"""Tests on real data count as skipped where there are none: every source that looks for CAMBIUM_DATA marks its cases with [data], and
every program that holds such cases asserts nothing and returns 77 without the data, saying what it skipped and why.
Called as skips.py SOURCE_TREE PROGRAM..."""
import os
import pathlib
import subprocess
import sys
import unittest

tree, programs = pathlib.Path(sys.argv[1]), sys.argv[2:]
helpers = {"anchor_file": tree / "tests/plugins/podlstm/stage.hpp",  # headers that look for the data on behalf of the cases
           "gdb1k_file": tree / "tests/plugins/graph/molecules/molecule_case.hpp",
           "real_graph": tree / "tests/plugins/graph/nodes/learning.hpp",
           "relate_data": tree / "tests/plugins/relate/relate_case.hpp"}


def without_data(*command):
    environment = {name: value for name, value in os.environ.items() if name != "CAMBIUM_DATA"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


class Skips(unittest.TestCase):
    def test_cases_are_marked(self):
        unmarked = []
        for source in sorted((tree / "tests").rglob("*.cpp")):
            text = source.read_text()
            if "TEST_CASE" not in text:
                continue
            if 'getenv("CAMBIUM_DATA")' in text or any(name + "(" in text for name in helpers):
                unmarked += [] if "[data]" in text else [str(source.relative_to(tree))]
        self.assertEqual(unmarked, [], "these look for CAMBIUM_DATA and no case has the tag [data]")

    def test_programs_return_77(self):
        self.assertTrue(programs)
        for program in programs:
            with self.subTest(program=os.path.basename(program)):
                run = without_data(program, "[data]~[.]")
                self.assertEqual(run.returncode, 77, run.stdout + run.stderr)
                self.assertTrue([line for line in run.stdout.splitlines() if line.startswith("SKIPPED: ") and "CAMBIUM_DATA" in line], run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
