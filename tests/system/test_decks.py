"""Every deck in inputs/ is checked, and runs at the size of its x-test notes on two ranks. What a stage must leave behind is what `check` said that it
will write, and what its results.json names; nothing here is listed by stage."""
# needs: md
# cost: 110
# processors: 2
import glob
import json
import os
import re
import sys
import unittest

import program
import registered

# A work that a stage of a deck rests on, by its network, potential or learning rate: (deck, stage): key in cite.bib.
CITED = {("copper", "label"): "SuttonChen", ("copper", "train"): "Zhang2018DeePMD", ("copper", "test"): "Zhang2018DeepPotSE",
         ("transformer", "train"): "vaswani2017", ("transformer", "evaluate"): "vaswani2017", ("super_resolution", "train"): "jiang2020",
         ("super_resolution", "reconstruct"): "jiang2020", ("train", "train"): "Hochreiter1997", ("tune", "tune"): "Real2019",
         ("nodes", "train"): "kipf2017", ("recommend", "train"): "he2020", ("recommend", "predict_links"): "shen2021",
         ("clicks", "train"): "naumov2019", ("choices", "train"): "rendle2010", ("choices", "recommend"): "sarwar2001", ("affinity", "train"): "duchi2011", ("affinity", "predict_affinities"): "pahikkala2015",
         ("molecules", "train"): "schutt2021", ("molecules", "molecule_energies"): "rupp2012",
         ("mesh_surrogate", "train"): "pfaff2021", ("mesh_surrogate", "rollout"): "pfaff2021",
         ("digits_halves", "train"): "oord2018", ("digits_halves", "probe"): "wei2024", ("archive", "neighbours"): "wei2024",
          ("variable_resolution", "train"): "loshchilov2017sgdr", ("long_sequences", "train"): "vaswani2017",
          ("patches", "train"): "dosovitskiy2021", ("digits_mugs", "train"): "zhou2022",
         ("structure_growth", "simulate"): "eisenstein1998", ("regression", "train"): "mathuriya2018",
         ("well", "train"): "li2021fourier", ("well", "score_forecasts"): "ohana2024", ("deepcam", "train"): "kurth2018", ("deepcam", "find_plumes"): "huang2013", ("open_catalyst", "train"): "Zhang2018DeepPotSE"}


def can_run(deck):
    """All plugins of the deck are in this build; decks without a list train networks of the library, and are run by builds that train others, too."""
    return registered.built(registered.plugins_of(deck) or ["deepmd"])


def promises(out):
    """(type, files) of each stage, by the page that `check` prints; of a table of runs, of its first."""
    pages = re.findall(r"^--- stage (\d+) of \d+: (\w+)$((?:\n(?!--- ).*)*)", out, re.M)
    found = []
    for number, stage, page in pages:
        if int(number) <= len(found):
            break
        line = re.search(r"^will write: (.*)$", page, re.M)
        found.append((stage, line[1].split(", ") if line else []))
    return found


class Decks(unittest.TestCase):
    def test_every_deck(self):
        decks = [deck for deck in registered.decks().values() if can_run(deck)]
        self.assertGreaterEqual(len(decks), 3)
        for deck in decks:
            with self.subTest(os.path.relpath(deck, program.SOURCE)):
                name = os.path.splitext(os.path.basename(deck))[0]
                folder = program.fresh("deck_" + name)
                code, out, error = program.run("check", deck, "--test-size", f"run.directory={folder}")
                self.assertEqual(code, 0, error)
                self.assertRegex(out, "the deck is sound; nothing was run|the decks of all [0-9]+ runs are sound; nothing was run")
                stages = promises(out)
                self.assertEqual(os.listdir(folder), [])
                self.assertNotIn("to its list, plugins:", out)
                alone = ["sweep=null"] if registered.is_table_of_runs(deck) else []  # test_sweep.py runs tables
                code, out, error = program.run("run", deck, "--test-size", f"run.directory={folder}", *alone, ranks=2)
                self.assertEqual(code, 0, error)
                self.assertNotRegex(out + error, r"'\w+' is called '\w+' now")  # decks that ship say what things are called today
                self.assertNotIn("evaluate it on others", out + error)  # no stage judges a model by what it was trained on or chosen by
                for file in ("deck.resolved.yaml", "provenance.yaml", "log.txt"):
                    self.assertTrue(os.path.exists(os.path.join(folder, file)), file)
                places = re.findall(r"^--- stage \d+ of \d+: \w+ -> (.+)$", out, re.M)
                self.assertEqual(len(places), len(stages), out)
                first = {stage: place for place, (stage, _) in reversed(list(zip(places, stages)))}
                for place, (stage, promised) in zip(places, stages):
                    self.assertRegex(out, f"(?s)-> {re.escape(place)}\n.*\n(Loop|Stage) [0-9.]+ s, 2 ranks.*\npeak memory per rank: "
                                          f".*\nwritten in {re.escape(place)}: ")
                    self.has_found(place, stage)
                    if (name, stage) in CITED and place == first[stage]:
                        with open(os.path.join(place, "cite.bib"), encoding="utf-8") as file:
                            self.assertIn("{" + CITED[name, stage], file.read())
                    for file in promised:
                        by_chance = (stage, file) == ("label", "validation/")  # of few frames none may be drawn
                        self.assertTrue(by_chance or self.written(place, file), f"{stage} promised {file}")

    def has_found(self, place, stage):
        """Numbers or lines, and files that are there."""
        with open(os.path.join(place, "results.json"), encoding="utf-8") as file:
            found = json.load(file)
        self.assertTrue(found["results"] or found["summary"], stage)
        self.assertEqual(found["ranks"], 2)
        self.assertTrue(found["files"], stage)
        for file in found["files"]:
            self.assertTrue(glob.glob(os.path.join(glob.escape(place), file)), f"{stage} says that it wrote {file}")

    @staticmethod
    def written(place, file):
        """The file itself, or one in the folder of each member of a committee."""
        return glob.glob(os.path.join(glob.escape(place), file)) or glob.glob(os.path.join(glob.escape(place), "model_*", file))

    def test_every_type_of_stage_has_a_deck(self):
        """Of this build, all that need neither another deck's results nor another program (ipi: test_ipi.py)."""
        types = set(registered.types("task"))
        self.assertIn("simulate", types)
        used = set()
        for deck in registered.decks().values():
            with open(deck, encoding="utf-8") as file:
                used |= set(re.findall(r"^  - (\w+):", file.read(), re.M))
        self.assertEqual(types - used - {"ipi"}, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
