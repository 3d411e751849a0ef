"""The form of the notebooks: readable, stripped of outputs, told in text, listed in tutorials/README.md."""
import glob
import json
import os
import re
import unittest

import program

TUTORIALS = os.path.join(program.SOURCE, "tutorials")


class Form(unittest.TestCase):
    def each(self):
        paths = sorted(glob.glob(os.path.join(TUTORIALS, "*.ipynb")))
        self.assertGreaterEqual(len(paths), 1)
        for path in paths:
            with self.subTest(os.path.basename(path)), open(path, encoding="utf-8") as file:
                yield path, json.load(file)

    def test_outputs_are_stripped(self):
        for _, notebook in self.each():
            for number, cell in enumerate(notebook["cells"], 1):
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), f"cell {number} has outputs: clear "
                                     "them all before saving (jupyter nbconvert --clear-output --inplace)")

    def test_format(self):
        """The published layout, 4.5: what every cell has, and ids that differ."""
        for _, notebook in self.each():
            self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 5))
            ids = [cell["id"] for cell in notebook["cells"]]
            self.assertEqual(len(ids), len(set(ids)))
            for cell in notebook["cells"]:
                self.assertRegex(cell["id"], r"^[a-zA-Z0-9-_]{1,64}$")
                self.assertIn(cell["cell_type"], ("code", "markdown"))
                self.assertTrue("".join(cell["source"]).strip())

    def test_nbformat_accepts_them(self):
        try:
            import nbformat
        except ImportError as error:
            print(f"SKIPPED: notebooks checked by nbformat: {error}")
            return
        for path, _ in self.each():
            nbformat.validate(nbformat.read(path, as_version=4))

    def test_they_tell_a_story(self):
        """A title, text between the cells, links that lead somewhere, a last word on what to try next."""
        for path, notebook in self.each():
            texts = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown"]
            self.assertTrue(texts[0].startswith("# "))
            self.assertIn("## What next", texts[-1])
            self.assertGreaterEqual(len(texts), 4)
            for text in texts:
                for target in re.findall(r"\]\(([^)#]+)", text):
                    if not target.startswith("http"):
                        self.assertTrue(os.path.exists(os.path.join(TUTORIALS, target)), f"{os.path.basename(path)}: {target}")

    def test_readme_lists_them(self):
        with open(os.path.join(TUTORIALS, "README.md"), encoding="utf-8") as file:
            text = file.read()
        for path, _ in self.each():
            self.assertIn(f"({os.path.basename(path)})", text)

    def test_a_missing_program_says_what_to_do(self):
        import subprocess
        import sys
        done = subprocess.run([sys.executable, "-c", "import tutorial; tutorial.program()"], cwd=TUTORIALS, capture_output=True,
                              text=True, env={**os.environ, "CAMBIUM": "/nowhere/cambium"})
        self.assertIn(f"FileNotFoundError: there is no program '/nowhere/cambium'; build it with {program.SOURCE}/quickstart, or "
                      "name one in the environment: export CAMBIUM=/path/to/cambium", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
