"""Keys and types that had another name: decks, overrides, stored runs and tests' sizes that say so still run, to the same bits, and are
told. Every former name of the program stands in CASES or in a deck of tests/system/former, which is checked alone."""
import glob
import os
import re
import shutil
import unittest

import h5py
import yaml

import program

TRAIN = """
run: {name: net, directory: run, seed: 3}
stages:
  - train:
      KEY: {type: mlp, layers: [6]}
      dataset: {type: expression, samples: 60, box: {x: [-1, 1]}, target: {z: sin(3*x)}}
      hold_out: 0.2
      batch: 10
      steps: 40
      learning_rate: {type: constant, start: 0.01}
      reduce: {mode: ordered, micro_batches: 4}
      checkpoint: {every: 20, keep: 2}
      log_every: 10
x-test:
  "stages[0].train.KEY.layers": [5]
  "stages[0].train.steps": 20
"""
TUNE = """
run: {name: tune, directory: run, seed: 3}
plugins: [podlstm]
stages:
  - tune:
      train:
        KEY: {type: mlp, layers: !choice [[4], [6]]}
        dataset: {type: expression, samples: 60, box: {x: [-1, 1]}, target: {z: sin(3*x)}}
        hold_out: 0.2
        batch: 10
        steps: 20
        learning_rate: {type: constant, start: !choice [0.01, 0.03]}
        validate: {every: 10}
        log_every: 20
      strategy: random
      trials: 4
"""

MD = """
run: {name: argon, directory: run, seed: 3}
plugins: [md]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.3, cells: [2, 2, 2], species: [Ar]}}
      initial_temperature: 100 K
      potential: {type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 5.2}
      integrator: {INTEGRATOR, KEY: 0.05}
      timestep: 0.002
      steps: 20
      thermo: {every: 5}
"""
LABEL = """
run: {name: label, directory: run, seed: 3}
plugins: [md, deepmd]
stages:
  - label:
      structure: {lattice: {type: fcc, a: 5.3, cells: [2, 2, 2], species: [Ar]}}
      potential: {type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 5.2}
      dynamics: [{temperature: [50], frames: 2, every: 2, equilibrate: 4, KEY: 0.05}]
      validation: 0
"""
FIELD = """
run: {name: field, directory: run, seed: 3}
plugins: [podlstm]
stages:
  - KEY: {weeks: 60, latitudes: 6, longitudes: 12}
  - pod:
      field: {files: ["{run}/KEY/field.h5"], array: sst, missing: land}
      modes: 3
"""
CSVR, LANGEVIN = MD.replace("INTEGRATOR", "type: csvr, temperature: 50"), MD.replace("INTEGRATOR", "type: langevin, temperature: 50")
NPT = MD.replace("INTEGRATOR", "type: npt, temperature: 50, pressure: 0, compressibility: 1e-4, interval: 2")
INTEGRATOR = "stages[0].simulate.integrator."

#: (kind, type, key as the reference names it, former name): a deck with KEY for the key's last word, and its place in the deck.
CASES = {("task", "train", "network", "model"): (TRAIN, "stages[0].train."),
         ("task", "tune", "train.network", "model"): (TUNE, "stages[0].tune.train."),
         ("task", "label", "dynamics[].damping", "damping_time"): (LABEL, "stages[0].label.dynamics[0]."),
         ("integrator", "csvr", "damping", "relaxation_time"): (CSVR, INTEGRATOR),
         ("integrator", "langevin", "damping", "damping_time"): (LANGEVIN, INTEGRATOR),
         ("integrator", "npt", "damping", "relaxation_time"): (NPT, INTEGRATOR),
         ("integrator", "npt", "pressure_damping", "pressure_relaxation_time"): (NPT, INTEGRATOR)}
OWNERS = {"tune": "podlstm", "label": "deepmd", "csvr": "md", "langevin": "md", "npt": "md"}


def former_names():
    """All that the reference calls former, as keys of CASES; a former type has no key."""
    found, kind, name = set(), "deck", ""
    _, text, _ = program.run("doc")
    for line in text.splitlines():
        section = re.match(r"### (\w+) `(\w+)`", line)
        kind, name = section.groups() if section else (kind, name)
        row = re.match(r"\| `([^`]+)` \|.*; formerly ((?:`\w+`(?:, )?)+)", line)
        itself = re.search(r"\(plugin `\w+`; formerly ((?:`\w+`(?:, )?)+)\)", line)
        for match, key, words in ((row, row and row.group(1), row and row.group(2)), (itself, "", itself and itself.group(1))):
            if match:
                found |= {(kind, name, key, former) for former in re.findall(r"`(\w+)`", words)}
    return found


def hints(text):
    """[(path in the deck, former name, present one)], one for each time that it is said."""
    return re.findall(r"warning: \S+:\d+:\d+: (\S+): '(\w+)' is called '(\w+)' now", text)


def types_above(deck, path, present):
    """Names that the types on the way to a key of a deck have now; `present`: of those that had another one."""
    names, at = set(), deck
    for step in re.findall(r"\w+|\[\d+\]", path):
        if isinstance(at, dict):
            names |= {str(at[key]) for key in ("type", "physics") if key in at} | {step}
        try:
            at = at[int(step[1:-1])] if step.startswith("[") else at[step]
        except (KeyError, IndexError, TypeError):
            break
    return {present.get(name, name) for name in names}


def owners(path, now, above, known):
    """The keys of `known` that this place of a deck may be: their type stands above it, their last words are its own under either name."""
    either = {(key.split(".")[-1].replace("[]", ""), former) for _, _, key, former in known}
    words = re.sub(r"\[\d+\]", "[]", path).split(".")
    words[-1] = now
    for kind, name, key, former in known:
        parts = key.split(".")
        same = all(a in (b, "<name>") or (a.replace("[]", ""), b.replace("[]", "")) in either for a, b in zip(parts, words[-len(parts):]))
        if name in above and same and len(words) >= len(parts) and former == path.split(".")[-1]:
            yield kind, name, key, former


def results(folder):
    """Every array of the models and every table that a run left, but how long it took."""
    out = {}
    for path in sorted(glob.glob(os.path.join(folder, "run", "**", "*.h5"), recursive=True)):
        if os.path.basename(path) not in ("model.h5", "best.h5"):
            continue
        with h5py.File(path) as file:
            file.visititems(lambda name, item: out.update({(os.path.relpath(path, folder), name): item[()].tobytes()})
                            if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" else None)
    for name in ("validation.csv", "thermo.csv", "*.npy"):
        for path in sorted(glob.glob(os.path.join(folder, "run", "**", name), recursive=True)):
            with open(path, "rb") as file:
                out[os.path.relpath(path, folder)] = file.read()
    return out


def resolved(folder):
    with open(os.path.join(folder, "run", "deck.resolved.yaml")) as file:
        return re.sub(r"\nx-run:.*", "", file.read(), flags=re.S)


class Choices(yaml.SafeLoader):
    """Lists of alternatives of searches are lists here."""


Choices.add_constructor("!choice", yaml.SafeLoader.construct_sequence)


class FormerNames(unittest.TestCase):
    maxDiff = None

    def ran(self, name, text, key, *more, command="run", code=0):
        """The folder of a fresh run of the deck with this key, and what it said."""
        folder = program.fresh("former_" + name)
        program.write(os.path.join(folder, "deck.yaml"), text.replace("KEY", key))
        found, out, error = program.run(command, "deck.yaml", *more, cwd=folder)
        self.assertEqual(found, code, error)
        return folder, out + error

    def built(self):
        plugins = os.environ["CAMBIUM_BUILT_PLUGINS"].split()
        return {case: how for case, how in CASES.items() if OWNERS.get(case[1], "core") in ["core", *plugins]}

    def test_every_former_name_stands_here(self):
        """One warning for each former name of a deck, with its new name; together the decks use all that the program knows."""
        known, plugins = former_names(), os.environ["CAMBIUM_BUILT_PLUGINS"].split()
        found = set(self.built())
        types = {case for case in known if not case[2]}
        present = {former: name for _, name, _, former in types}
        for source in sorted(glob.glob(os.path.join(program.SOURCE, "tests", "system", "former", "*.yaml"))):
            with open(source, encoding="utf-8") as file:
                deck = yaml.load(file, Choices)
            if not set(deck["plugins"]) <= set(plugins):
                continue
            folder = program.fresh("former_" + os.path.basename(source)[:-5])
            shutil.copy(source, os.path.join(folder, "deck.yaml"))
            _, out, error = program.run("check", "deck.yaml", cwd=folder)
            said = hints(out + error)
            self.assertNotIn("unknown key", out + error)
            self.assertEqual(len(said), len({path for path, _, _ in said}), "a warning is there twice: " + out + error)
            for path, former, now in said:
                keys = {case for case in types if case[1] == now and case[3] == former}
                if not keys:
                    self.assertEqual(path.split(".")[-1], former)
                    keys = set(owners(path, now, types_above(deck, path, present), known))
                self.assertTrue(keys, f"{source}: {path} is no former name of the reference")
                found |= keys
        def pairs(keys):  # structs that several types share are declared once
            return {(key.split(".")[-1], former) for _, _, key, former in keys}

        self.assertEqual(pairs(known) - pairs(found), set(), "former names that no deck of this test uses")

    def test_the_same_bits_and_a_hint(self):
        for (_, name, key, former), (text, place) in self.built().items():
            now = key.split(".")[-1]
            new, said = self.ran(name + "_new", text, now)
            self.assertNotIn("is called", said)
            old, said = self.ran(name + "_old", text, former)
            hint = f"{place}{former}: '{former}' is called '{now}' now"
            line = text.replace("KEY", former).splitlines().index(next(x for x in text.splitlines() if " KEY:" in x).replace("KEY", former)) + 1
            self.assertRegex(said, rf"warning: deck\.yaml:{line}:\d+: {re.escape(hint)}")
            self.assertRegex(said, rf"warning \(1 time\): deck\.yaml:{line}:\d+: {re.escape(hint)}")
            self.assertEqual(resolved(old), resolved(new))
            self.assertTrue(results(new))
            self.assertEqual(results(old), results(new))
            _, said = self.ran(name + "_check", text, former, command="check")
            self.assertIn(hint, said)

    def test_overrides_and_sizes_of_tests_under_either_name(self):
        small = ["stages[0].train.{}.layers=[5]", "stages[0].train.steps=20"]
        new, said = self.ran("override_new", TRAIN, "network", *[o.format("network") for o in small])
        self.assertNotIn("is called", said)
        for key in ("network", "model"):
            for word in ("network", "model"):
                given, said = self.ran(f"override_{key}_{word}", TRAIN, key, *[o.format(word) for o in small])
                self.assertEqual(resolved(given), resolved(new))
                self.assertEqual(results(given), results(new))
                self.assertEqual("command line: stages[0].train.model: 'model' is called 'network' now" in said, word == "model", said)
            sized, said = self.ran(f"size_{key}", TRAIN, key, "--test-size")
            self.assertEqual(results(sized), results(new))
            self.assertEqual("'model' is called 'network' now" in said, key == "model")
        _, said = self.ran("both", TRAIN + "", "network", "stages[0].train={network: {type: mlp}, model: {type: mlp}}", code=2)
        self.assertIn("command line: stages[0].train.model: 'model' is called 'network' now, and 'network' is given as well (command line): "
                      "remove one of them", said)

    def test_sweeps_under_either_name(self):
        over, tried = "stages[0].train.{}.layers=[[4], [5]]", ["run.directory=run", "stages[0].train.steps=20"]
        new, said = self.ran("sweep_new", TRAIN, "network", *tried, "--over", over.format("network"), command="sweep")
        self.assertNotIn("is called", said)
        self.assertIn("2 of 2 runs done", said)
        old, said = self.ran("sweep_old", TRAIN, "model", *tried, "--over", over.format("model"), command="sweep")
        self.assertIn("--over: stages[0].train.model: 'model' is called 'network' now", said)
        self.assertRegex(said, r"deck\.yaml:5:\d+: stages\[0\]\.train\.model: 'model' is called 'network' now")
        self.assertEqual(results(old), results(new))
        table = 'sweep: {over: {"stages[0].train.model.layers": [[4], [5]]}}\n'
        within, said = self.ran("sweep_within", TRAIN + table, "network", *tried, command="sweep")
        self.assertRegex(said, r"deck\.yaml:\d+:\d+: sweep\.over: stages\[0\]\.train\.model: 'model' is called 'network' now")
        self.assertEqual(results(within), results(new))
        whole, said = self.ran("sweep_value", TRAIN, "network", *tried, "--over", "stages[0].train=[{model: {type: mlp, width: 4}}]",
                               command="sweep", code=2)
        self.assertIn("stages[0].train.network.width: unknown key", said)

    def test_a_sweep_that_an_older_version_began_goes_on(self):
        words = ["run.directory=run", "stages[0].train.steps=20", "--over", "stages[0].train.network.layers=[[4], [5]]"]
        folder, _ = self.ran("sweep_stored", TRAIN, "network", *words, command="sweep")
        whole = results(folder)
        second, = glob.glob(os.path.join(folder, "run", "002_*"))
        shutil.rmtree(second)
        path = os.path.join(folder, "run", "sweep.yaml")
        with open(path) as file:
            text = file.read()
        self.assertIn("train.network.layers", text)
        program.write(path, text.replace("network", "model"))
        code, out, error = program.run("sweep", "deck.yaml", *words, cwd=folder)
        self.assertEqual(code, 0, error)
        self.assertIn("2 of 2 runs done", out)
        self.assertEqual(results(folder), whole)

    def test_a_run_that_an_older_version_began_goes_on(self):
        whole, _ = self.ran("stored", TRAIN, "network")
        part = program.fresh("former_part")
        shutil.rmtree(part)
        shutil.copytree(whole, part)
        os.remove(os.path.join(part, "run", "train", "restart.40.h5"))
        os.remove(os.path.join(part, "run", "train", "model.h5"))
        os.remove(os.path.join(part, "run", "stages_done.txt"))
        path = os.path.join(part, "run", "deck.resolved.yaml")
        with open(path) as file:
            text = file.read()
        self.assertEqual(text.count("      network:"), 1)
        program.write(path, text.replace("      network:", "      model:"))
        with h5py.File(os.path.join(part, "run", "train", "restart.20.h5"), "r+") as file:
            stored = file["cambium"].attrs["deck"]
            file["cambium"].attrs["deck"] = stored.replace("      network:", "      model:")
        code, out, error = program.run("restart", "run", cwd=part)
        self.assertEqual(code, 0, error)
        self.assertIn("resumed at step 20", out)
        self.assertNotIn("changed:", out)
        self.assertIn("'model' is called 'network' now", out)
        self.assertEqual(results(part), results(whole))

    @unittest.skipUnless("podlstm" in os.environ["CAMBIUM_BUILT_PLUGINS"].split(), "plugin podlstm is not built")
    def test_folders_of_renamed_stages(self):
        """A stage whose type has another name now: its folder follows, in paths of the deck and in runs that an older version began."""
        def mode(folder):
            with h5py.File(os.path.join(folder, "run", "pod", "pod.h5")) as file:
                return file["modes"][()].tobytes()
        new, said = self.ran("folder_new", FIELD, "synthetic_field")
        self.assertNotIn("is called", said)
        old, said = self.ran("folder_old", FIELD, "example_field")
        self.assertIn("'example_field' is called 'synthetic_field' now", said)
        self.assertEqual(resolved(old), resolved(new))
        self.assertEqual(mode(old), mode(new))
        _, said = self.ran("folder_check", FIELD, "example_field", command="check")
        self.assertNotIn("error", said)

        run = os.path.join(new, "run")
        expected = mode(new)
        shutil.rmtree(os.path.join(run, "pod"))
        os.rename(os.path.join(run, "synthetic_field"), os.path.join(run, "example_field"))
        program.write(os.path.join(run, "stages_done.txt"), "example_field\n")
        with open(os.path.join(run, "deck.resolved.yaml")) as file:
            text = file.read()
        program.write(os.path.join(run, "deck.resolved.yaml"), text.replace("synthetic_field", "example_field"))
        code, out, error = program.run("restart", "run", cwd=new)
        self.assertEqual(code, 0, out + error)
        self.assertIn("renamed: the folder of stage 1 was example_field, is synthetic_field", out)
        self.assertNotIn("changed:", out)
        self.assertEqual(mode(new), expected)


if __name__ == "__main__":
    unittest.main()
