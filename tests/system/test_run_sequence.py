"""What people do to run directories, in a random order: nothing of an older run is lost or mixed with a newer one."""
# needs: md
import os
import random
import shutil
import unittest

from run_directories import STAGE, Case, deck, ids, steps_of, table, tree, wait_for


class Sequence(Case):
    """Thirty steps of what people do to run directories, drawn at random. After each, every directory holds what the history of its
    run gives in one go, under one identity, and every older run is where it was put."""

    def setUp(self):
        super().setUp()
        self.dice = random.Random(11)
        self.known = {}    # (kind, seed, steps): table of an undisturbed run
        self.expected = {}  # directory: (kind, seed, steps)
        self.kept = {}     # directory: what its folder `previous` holds

    def reference(self, kind, seed, steps):
        key = (kind, seed, steps)
        if key not in self.known:
            name = "reference_%s_%d_%d" % key
            deck(self.folder, *key, directory=name, name="reference.yaml")
            self.does("run", "reference.yaml")
            self.known[key] = table(self.path(name), kind)
        return self.known[key]

    def drawn(self):
        return self.dice.choice(("md", "md", "train")), self.dice.choice((1, 2)), self.dice.choice((40, 60))

    def used(self):
        return self.dice.choice(sorted(self.expected))

    def written(self, name, kind, seed, steps):
        deck(self.folder, kind, seed, steps, directory=name)

    def begin(self):
        name = f"run{len(self.expected)}"
        self.expected[name] = self.drawn()
        self.written(name, *self.expected[name])
        self.does("run", "deck.yaml")

    def begin_in_used(self):
        name, before = self.used(), None
        before = tree(self.path(name))
        self.written(name, *self.drawn())
        self.assertIn(f"'{name}' holds a run already (", self.does("run", "deck.yaml", code=2))
        self.assertEqual(tree(self.path(name)), before)

    def overwrite(self):
        name = self.used()
        before = {path: data for path, data in tree(self.path(name)).items() if not path.startswith("previous")}
        self.expected[name] = self.drawn()
        self.kept[name] = before
        self.written(name, *self.expected[name])
        self.does("run", "deck.yaml", "--overwrite")

    def overwrite_by_a_bad_deck(self):
        name = self.used()
        before = tree(self.path(name))
        self.written(name, *self.drawn())
        self.does("run", "deck.yaml", "--overwrite", "stages[0].nothing={}", code=2)
        self.assertEqual(tree(self.path(name)), before)

    def prolong(self):
        name = self.used()
        kind, seed, steps = self.expected[name]
        self.expected[name] = (kind, seed, steps + 20)
        self.does("restart", name, f"stages[0].{STAGE[kind]}.steps={steps + 20}")

    def lose_the_last_checkpoint(self):
        name = self.used()
        kind, _, steps = self.expected[name]
        for path in (f"{STAGE[kind]}/restart.{steps}.h5", "stages_done.txt"):
            os.remove(self.path(name, path))
        self.assertIn(f"resumed at step {steps - 20}", self.does("restart", name))

    def copy(self):
        name, copy = self.used(), f"run{len(self.expected)}"
        shutil.copytree(self.path(name), self.path(copy))
        kind, seed, steps = self.expected[name]
        self.expected[copy] = (kind, seed, steps + 20)
        if name in self.kept:
            self.kept[copy] = self.kept[name]
        before = tree(self.path(name))
        self.does("restart", copy, f"stages[0].{STAGE[kind]}.steps={steps + 20}")
        self.assertEqual(tree(self.path(name)), before)

    def two_at_once(self):
        name = f"run{len(self.expected)}"
        self.expected[name] = self.drawn()
        self.written(name, *self.expected[name])
        both = [self.start("run", "deck.yaml") for _ in range(2)]
        said = [process.communicate(timeout=120)[1] for process in both]
        self.assertEqual(sorted(process.returncode for process in both), [0, 2], said)
        self.assertRegex("".join(said), rf"'{name}' (is in use: process \d+ on this machine|holds a run already)")

    def kill(self):
        name = f"run{len(self.expected)}"
        self.expected[name] = kind, _, steps = self.drawn()
        self.written(name, *self.expected[name])
        running = self.start("run", "deck.yaml")
        wait_for(self.path(name), STAGE[kind], 20, running)
        running.kill()
        running.communicate()
        self.assertIn("'%s' holds a run already (" % name, self.does("run", "deck.yaml", code=2))
        out = self.does("restart", name)
        self.assertIn("resumed at step" if os.path.exists(self.path(name, "run.lock")) else "", out)

    def check(self, step, action):
        for name, key in self.expected.items():
            self.assertEqual(table(self.path(name), key[0]), self.reference(*key), f"{name} after step {step}, {action}")
            found = ids(self.path(name))
            self.assertEqual(len(set(found.values())), 1, f"{name} after step {step}, {action}: {found}")
            self.assertEqual(steps_of(self.path(name), STAGE[key[0]])[-1], key[2])
            self.assertFalse(os.path.exists(self.path(name, "run.lock")))
            if name in self.kept:
                self.assertEqual(tree(self.path(name, "previous")), self.kept[name], f"{name} after step {step}, {action}")

    def test_thirty_steps(self):
        actions = [self.begin_in_used, self.overwrite, self.overwrite_by_a_bad_deck, self.prolong, self.lose_the_last_checkpoint, self.copy,
                   self.two_at_once, self.kill]
        self.begin()
        self.check(0, "begin")
        drawn = [self.dice.choice(actions) for _ in range(30 - len(actions))] + actions
        self.dice.shuffle(drawn)
        for step, action in enumerate(drawn, 1):
            action()
            self.check(step, action.__name__)


if __name__ == "__main__":
    unittest.main(verbosity=2)
