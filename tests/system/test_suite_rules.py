"""`cambium suite check` against the checker of MLPerf: each key of each benchmark and division damaged in each way, judged as that one judges it."""
import json
import os
import unittest

import compliance_logs
import program


class SuiteRules(unittest.TestCase):
    def test_verdicts_are_those_of_the_checker(self):
        """The table is made by studies/compliance_verdicts.py."""
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "compliance_verdicts.json"), encoding="utf-8") as file:
            verdicts = json.load(file)["verdicts"]
        for name, *campaign in compliance_logs.campaigns():
            with self.subTest(campaign=name):
                folder = program.fresh("suite_rules")
                cases, paths = [], []
                for case, text in compliance_logs.cases(*campaign):
                    cases.append(case)
                    paths.append(program.write(os.path.join(folder, f"{len(paths)}.txt"), text))
                _, out, error = program.run("suite", "check", "--json", *(os.path.basename(path) for path in paths), cwd=folder)
                self.assertEqual(error, "")
                found = [log["failures"] == 0 for log in json.loads(out.strip().splitlines()[-1])["logs"]]
                said = [line for line in out.splitlines() if line.endswith(": logged by the rules of MLPerf HPC 3.0")]
                self.assertEqual(len(said), sum(found))
                expected = {subject: iter(row) for subject, row in verdicts[name].items()}
                wrong = [f"{subject}, {damage}: the checker says {'yes' if yes else 'no'}" for (subject, damage), ours in zip(cases, found)
                         for yes in [next(expected[subject]) == "1"] if yes != ours]
                self.assertEqual(wrong, [])
                self.assertEqual([subject for subject, row in expected.items() if next(row, None) is not None], [])
                self.assertTrue(found[0] and found[1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
