"""Every deck in inputs/ is checked, and runs at the size of its x-test notes on two ranks."""
import glob
import os
import re
import sys
import unittest

import program

# What the last page of a stage says, and what it leaves behind.
STAGES = {"simulate": ("-steps/s", ["thermo.csv", "thermo.h5"]),
          "density_matrix": ("band energy", ["charges.csv", "submatrices*.csv", "cite.bib"]),
          "local_spectra": ("block columns; band energy", ["train.h5"]),
          "train": ("samples/s", ["training.csv", "training.h5", "model.h5"]),
          "label": ("label: ", ["train/set.000/force.npy", "validation/set.000/energy.npy"]),
          "test": ("RMSE of", ["errors.csv", "parity_0_force.csv", "cite.bib"]),
          "pod": ("orthonormal to", ["pod.h5", "cite.bib"]),
          "tune": ("best: trial", ["journal.h5", "trials.csv", "best.yaml", "best/model.h5", "best/cite.bib", "cite.bib"]),
          "search": ("ensemble of found networks", ["journal.h5", "ensemble.h5", "scores.csv", "forecast.h5", "cite.bib"]),
          "forecast": (r"harmonics \+ ridge", ["scores.csv", "forecast.h5", "cite.bib"]),
          "reconstruct": ("relative divergence", ["scores.csv", "frames.h5"]),
          "molecule_energies": ("mae_coulomb = ", ["scores.csv", "energies.h5", "cite.bib"]),
          "roll_out": ("error_network = ", ["roll_out.csv", "roll_out.h5", "cite.bib"]),
          "spin_up": ("settled at t =", ["spin_up.csv"]),
          "classify_nodes": ("share of nodes that are right", ["scores.csv", "nodes.csv", "cite.bib"]),
          "predict_links": ("held-out links that are found", ["scores.csv", "predictions.csv", "cite.bib"]),
          "predict_affinities": ("pairs never seen", ["scores.csv", "affinities.csv", "cite.bib"]),
          "recommend": ("cosines of items", ["scores.csv", "recommended.csv", "cite.bib"]),
          "judge_clicks": ("records never seen", ["scores.csv", "clicks.csv", "cite.bib"]),
          "embed": ("components, which spread over", ["vectors.h5", "cite.bib"]),
          "neighbours": ("the right one is", ["scores.csv", "neighbours.csv", "pictures.h5", "cite.bib"]),
          "probe": ("share that is right", ["scores.csv", "cite.bib"]),
          "retrieve": ("lists are looked at|of the parameters. runs", ["found.csv", "cite.bib"]),
          "novelty": ("chosen by the encoder:", ["candidates.csv", "chosen.csv", "cite.bib"]),
          "surrogate": ("error of numbers", ["errors.csv"]),
          "structure_boxes": ("simulations/s", ["boxes.h5", "cite.bib"]),
          "find_plumes": ("intersection over union", ["scores.csv", "plumes.h5", "cite.bib"]),
          "infer_cosmology": ("mean absolute error", ["scores.csv", "cosmologies.csv", "cite.bib"]),
          "evaluate": (r"on \d+ samples:", ["evaluation.csv"])}

# A work that a stage of a deck rests on, by its network, potential or learning rate: (deck, stage): key in cite.bib.
CITED = {("copper", "label"): "SuttonChen", ("copper", "train"): "Zhang2018DeePMD", ("copper", "test"): "Zhang2018DeepPotSE",
         ("transformer", "train"): "vaswani2017", ("transformer", "evaluate"): "vaswani2017", ("super_resolution", "train"): "jiang2020",
         ("super_resolution", "reconstruct"): "jiang2020", ("train", "train"): "Hochreiter1997", ("tune", "tune"): "Real2019",
         ("nodes", "train"): "kipf2017", ("recommend", "train"): "he2020", ("recommend", "predict_links"): "shen2021",
         ("clicks", "train"): "naumov2019", ("choices", "train"): "rendle2010", ("choices", "recommend"): "sarwar2001", ("affinity", "train"): "duchi2011", ("affinity", "predict_affinities"): "pahikkala2015",
         ("molecules", "train"): "schutt2021", ("molecules", "molecule_energies"): "rupp2012",
         ("mesh_surrogate", "train"): "pfaff2021", ("mesh_surrogate", "roll_out"): "pfaff2021",
         ("digits_halves", "train"): "oord2018", ("digits_halves", "probe"): "wei2024", ("archive", "neighbours"): "wei2024",
          ("any_sampling", "train"): "loshchilov2017sgdr", ("long_sequences", "train"): "vaswani2017",
          ("patches", "train"): "dosovitskiy2021", ("digits_mugs", "train"): "zhou2022",
         ("structure_growth", "simulate"): "eisenstein1998", ("regression", "train"): "mathuriya2018",
         ("deepcam", "train"): "kurth2018", ("deepcam", "find_plumes"): "huang2013", ("open_catalyst", "train"): "Zhang2018DeepPotSE"}

# A table of runs is run alone here; test_sweep.py runs tables.
ALONE = {"landau_sweep": ["sweep=null"], "digits_table": ["sweep=null"], "long_sequences": ["sweep=null"]}

BUILT = os.environ.get("CAMBIUM_BUILT_PLUGINS", "").split()


def can_run(deck):
    """All plugins of the deck are in this build; decks without a list train core's own networks."""
    with open(deck, encoding="utf-8") as file:
        named = re.search(r"^plugins: \[(.*)\]", file.read(), re.M)
    return all(name.strip() in BUILT for name in named.group(1).split(",")) if named else "deepmd" in BUILT


class Decks(unittest.TestCase):
    def test_every_deck(self):
        decks = [d for d in sorted(glob.glob(os.path.join(program.SOURCE, "inputs", "**", "*.yaml"), recursive=True)) if can_run(d)]
        self.assertGreaterEqual(len(decks), 3)
        for deck in decks:
            with self.subTest(os.path.relpath(deck, program.SOURCE)):
                name = os.path.splitext(os.path.basename(deck))[0]
                folder = program.fresh("deck_" + name)
                code, out, error = program.run("check", deck, "--test-size", f"run.directory={folder}")
                self.assertEqual(code, 0, error)
                self.assertRegex(out, "the deck is sound; nothing was run|the decks of all [0-9]+ runs are sound; nothing was run")
                self.assertEqual(os.listdir(folder), [])
                self.assertNotIn("to its list, plugins:", out)
                code, out, error = program.run("run", deck, "--test-size", f"run.directory={folder}", *ALONE.get(name, []), ranks=2)
                self.assertEqual(code, 0, error)
                self.assertNotRegex(out + error, r"'\w+' is called '\w+' now")  # decks that ship say what things are called today
                self.assertNotIn("judge it by others", out + error)  # no stage judges a model by what it was trained on or chosen by
                for file in ("deck.resolved.yaml", "provenance.yaml", "log.txt"):
                    self.assertTrue(os.path.exists(os.path.join(folder, file)), file)
                for stage, (rate, files) in STAGES.items():
                    place = os.path.join(folder, stage)
                    if os.path.isdir(place):
                        self.assertRegex(out, rate)
                        self.assertRegex(out, f"(?s)-> {re.escape(place)}\n.*\n(Loop|Stage) [0-9.]+ s, 2 ranks.*\npeak memory per rank: "
                                              f".*\nwritten in {re.escape(place)}: ")
                        if (name, stage) in CITED:
                            with open(os.path.join(place, "cite.bib"), encoding="utf-8") as file:
                                self.assertIn("{" + CITED[name, stage], file.read())
                        committee = os.path.join(place, "model_1")
                        place = committee if os.path.isdir(committee) else place
                        for file in files:
                            self.assertTrue(glob.glob(os.path.join(glob.escape(place), file)), file)


if __name__ == "__main__":
    unittest.main(verbosity=2)
