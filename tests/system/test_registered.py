"""A new type or deck is picked up by the tests that go through all of them."""
# needs: md
import os
import re
import unittest

import program
import registered
from opened_runs import RUNS as OPENED
from physics_runs import PHYSICS

LISTING = """physics
  md                    md              molecular dynamics of particles
  my_physics            my_plugin       one more
"""
DECK = """run: {name: new}
plugins: [md, my_plugin]
sweep: {grid: {}}
"""


class Found(unittest.TestCase):
    def test_a_new_type(self):
        self.assertEqual(registered.types_in(LISTING), {"md": "md", "my_physics": "my_plugin"})

    def test_a_new_deck(self):
        folder = program.fresh("registered")
        before = registered.decks(folder)
        os.mkdir(os.path.join(folder, "my_plugin"))
        path = program.write(os.path.join(folder, "my_plugin", "new.yaml"), DECK)
        self.assertEqual((before, registered.decks(folder)), ({}, {"my_plugin/new": path}))
        self.assertEqual(registered.plugins_of(path), ["md", "my_plugin"])
        self.assertTrue(registered.is_table_of_runs(path))
        self.assertFalse(registered.built(registered.plugins_of(path)))

    def test_decks_are_those_that_the_program_lists(self):
        found = {name for name, path in registered.decks().items() if registered.built(registered.plugins_of(path))}
        self.assertLessEqual(found, set(registered.types("deck")))


class Covered(unittest.TestCase):
    def test_every_physics_restarts(self):
        """On other ranks, after a rank died, at the last step: test_faults, test_killed, test_end."""
        self.assertEqual(set(registered.types("physics")) - set(PHYSICS), set(), "physics without a run in physics_runs.py")

    def test_every_writer_has_its_files_opened(self):
        used = set()
        for deck, overrides in OPENED.values():
            with open(registered.decks()[deck], encoding="utf-8") as file:
                used |= set(re.findall(r"\{type: (\w+)|^ +- +type: (\w+)", file.read(), re.M)) | set(re.findall(r"\{type: (\w+)()", " ".join(overrides)))
        self.assertEqual(set(registered.types("writer")) - {name for pair in used for name in pair}, set(), "writers that no run of opened_runs.py has")


if __name__ == "__main__":
    unittest.main(verbosity=2)
