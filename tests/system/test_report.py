"""`cambium report`: one page that carries everything, and what it says when there is nothing to report on."""
# needs: md superres
# cost: 20
# thorough
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import program

DECK = """
run: {{name: melt, directory: {folder}/run}}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {{lattice: {{type: fcc, a: 5.719, cells: [4, 4, 4], species: [Ar]}}}}
      initial_temperature: 240 K
      potential: {{type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.5125, truncation: smooth}}
      timestep: 5 fs
      steps: 40
      thermo: {{every: 5}}
      output: [{{type: rdf, every: 10, r_max: 8.0}}]
"""
FLOW = """
run: {{name: flow, directory: {folder}/flow}}
plugins: [superres]
stages:
  - simulate: {{physics: rayleigh_benard, rayleigh: 1e5, aspect_ratio: 2, cells: [32, 16], initial: {{noise: 0.1}}, end_time: 2, sample_interval: 0.25,
               thermo: {{every: 5}}, output: [{{type: fields, interval: 0.25}}]}}
  - reconstruct: {{data: "{folder}/flow/simulate/fields.h5", rayleigh: 1e5, ratio: [2, 2, 2]}}
"""
PARITY = """
run: {{name: parity, directory: {folder}/parity, seed: 3}}
plugins: [md, deepmd]
stages:
  - label:
      structure: {{lattice: {{type: fcc, a: 5.3, cells: [2, 2, 2], species: [Ar]}}}}
      potential: {{type: lennard_jones, epsilon: 0.01, sigma: 3.4, cutoff: 5.2}}
      perturbed: {{frames: 4}}
      validation: 0
  - train:
      network: {{type: deep_potential, rcut: 4.5, neuron: [4, 8], axis_neuron: 2, fitting: [8]}}
      dataset: {{type: deepmd_npy, systems: ["{{run}}/label/train"]}}
      batch: 1
      steps: 2
      learning_rate: {{type: constant, start: 1e-3}}
  - test: {{model: "{{run}}/train/model.dp", systems: ["{{run}}/label/train", {folder}/own.xyz]}}
  - evaluate: {{model: "{{run}}/train/model.h5", dataset: {{type: extxyz, files: [{folder}/own.xyz]}}}}
"""
OWN = "".join('2\nLattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3:forces:R:3 energy=%g pbc="T T T"\nAr 0 0 0 0.1 0 0\nAr %g 0 0 -0.1 0 0\n'
              % (-0.1 * r, r) for r in (3.2, 3.6, 4.0))
OUTSIDE = """
import matplotlib.pyplot as plt
import cambium_io

def pictures(folder, scratch):
    figure, axes = plt.subplots()
    axes.plot(cambium_io.Run(folder).thermo["temperature"])
    figure.savefig(scratch / "of_mine.png")
    return [scratch / "of_mine.png"]

def tables(folder):
    return [("found", ["value"], [["size", 1.5]])]
"""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["CAMBIUM_PYTHON"] = sys.executable
        cls.folder = program.fresh("report")
        deck = program.write(os.path.join(cls.folder, "deck.yaml"), DECK.format(folder=cls.folder))
        code, out, err = program.run("run", deck)
        assert code == 0, out + err
        cls.where = os.path.join(cls.folder, "run")
        cls.code, cls.out, cls.err = program.run("report", cls.where)
        with open(os.path.join(cls.where, "report.html")) as page:
            cls.page = page.read()

    def test_page_carries_everything(self):
        self.assertEqual((self.code, self.out), (0, f"wrote {self.where}/report.html\n"), self.err)
        for part in ("1 stage finished", "src=\"data:image/png;base64,", "Loop ", "peak memory per rank",
                     "On the determination of molecular fields", "lennard_jones", "git_hash", "command_line"):
            self.assertIn(part, self.page)
        # Nothing is loaded from elsewhere.
        self.assertEqual(re.findall(r'src="(?!data:)[^"]*"|<link|@import|<script', self.page), [])

    def test_reconstructions_are_drawn_and_scored(self):
        deck = program.write(os.path.join(self.folder, "flow.yaml"), FLOW.format(folder=self.folder))
        code, out, err = program.run("run", deck)
        self.assertEqual(code, 0, out + err)
        where = os.path.join(self.folder, "flow")
        code, _, err = program.run("report", where)
        self.assertEqual(code, 0, err)
        with open(os.path.join(where, "report.html")) as file:
            page = file.read()
        self.assertNotIn("could not draw", page)
        self.assertEqual(page.count('alt="picture"'), 2)
        self.assertIn('<th class="number">linear</th><th class="number">cubic</th><th class="number">data</th>', page)
        with open(os.path.join(where, "reconstruct", "scores.csv")) as file:
            linear = float(file.read().splitlines()[1].split(",")[0])
        self.assertIn(f'<tr><th>rel_l2_p</th><td class="number">{linear:.4g}</td>', page)

    def test_own_frames_become_parity_tables_and_plots(self):
        """Extended XYZ through `test` and `evaluate`: tables with units that agree with each other, and a picture of each stage."""
        import h5py
        deck = program.write(os.path.join(self.folder, "parity.yaml"), PARITY.format(folder=self.folder))
        own = program.write(os.path.join(self.folder, "own.xyz"), OWN)
        code, out, err = program.run("run", deck)
        self.assertEqual(code, 0, out + err)
        where = os.path.join(self.folder, "parity")
        with open(os.path.join(where, "test", "parity_1_force.csv")) as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], ",".join(["frame", "atom"] + [f"{side}_{k} [eV/angstrom]" for side in ("reference", "predicted") for k in "xyz"]))
        self.assertEqual([line.split(",")[:3] for line in lines[1:]],
                         [[str(k), str(i), ("0.1", "-0.1")[i]] for k in range(3) for i in range(2)])
        with h5py.File(os.path.join(where, "test", "parity_1.h5")) as test, h5py.File(os.path.join(where, "evaluate", "parity.h5")) as judged:
            self.assertEqual(sorted(test), ["energy", "force"])
            self.assertEqual(test["energy/reference"].attrs["units"], "eV/atom")
            for name in ("energy", "force"):
                self.assertLess(abs(test[name]["predicted"][:] - judged[name]["predicted"][:]).max(), 1e-6)
                self.assertLess(abs(test[name]["reference"][:] - judged[name]["reference"][:]).max(), 1e-12)
            self.assertEqual(list(judged["force/sample"]), [0, 0, 1, 1, 2, 2])
        tables = os.path.join(self.folder, "tables")
        code, out, err = program.run("deepmd", "test", os.path.join(where, "train", "model.dp"), own, "--parity", tables)
        self.assertEqual(code, 0, out + err)
        for name in ("energy.csv", "force.csv"):
            with open(os.path.join(tables, "parity_" + name)) as one, open(os.path.join(where, "test", "parity_1_" + name)) as two:
                self.assertEqual(one.read(), two.read())
        code, _, err = program.run("report", where)
        self.assertEqual(code, 0, err)
        with open(os.path.join(where, "report.html")) as file:
            page = file.read()
        self.assertNotIn("could not", page)
        parts = re.findall('<h2>(\\w+)</h2>|alt="(picture)"', page)[:6]  # a training of two steps has no curve
        self.assertEqual(parts, [('label', ''), ('train', ''), ('test', ''), ('', 'picture'), ('evaluate', ''), ('', 'picture')])

    def test_reads_both_ways_of_writing_a_work(self):
        """A field per line, and all in one line; braces inside are dropped."""
        sys.path.insert(0, os.path.join(program.SOURCE, "apps", "python"))
        import cambium_io
        import report
        copy = os.path.join(self.folder, "cited")
        os.makedirs(os.path.join(copy, "simulate"), exist_ok=True)
        program.write(os.path.join(copy, "simulate", "cite.bib"),
                      "@article{a, author={Rai, M. M.}, title={Turbulent {DNS}}, journal={J}, year={1991}}\n\n"
                      "@article{b,\n  author = {Jones, J. E.},\n  title = {Fields},\n  year = {1924},\n  doi = {10.1/x}\n}\n")
        self.assertEqual(report.citations(cambium_io.Run(copy)),
                         '<ul><li>Jones, J. E.: Fields. 1924. <a href="https://doi.org/10.1/x">10.1/x</a></li>'
                         "<li>Rai, M. M.: Turbulent DNS. J, 1991.</li></ul>")

    def test_a_plugin_outside_the_tree_draws(self):
        """Its python/pictures.py lies beside its library; one that fails costs its own place only."""
        library = program.fresh("report_plugin")
        os.makedirs(os.path.join(library, "python"))
        program.write(os.path.join(library, "mine.cambium.so"), "")
        pictures = os.path.join(library, "python", "pictures.py")
        page = os.path.join(self.folder, "outside.html")
        try:
            os.environ["CAMBIUM_PLUGIN_PATH"] = library
            for text, expected in ((OUTSIDE, ('alt="of_mine"', "<h3>found</h3>", '<tr><th>size</th><td class="number">1.5</td>')),
                                   ("def pictures(folder, scratch):\n    raise ValueError('no ink')\n",
                                    ("the plugin &#x27;mine&#x27; could not draw this stage: no ink",)),
                                   ("import nowhere_at_all\n", ('alt="picture"',))):
                program.write(pictures, text)
                code, _, err = program.run("report", self.where, "-o", page)
                self.assertEqual(code, 0, err)
                with open(page) as file:
                    found = file.read()
                for part in expected:
                    self.assertIn(part, found)
            self.assertIn("warning: the pictures of plugin 'mine' are left out: No module named 'nowhere_at_all'", err)
        finally:
            del os.environ["CAMBIUM_PLUGIN_PATH"]

    def test_as_it_is_installed(self):
        """share/cambium/python and share/cambium/plugins/NAME/python: the same page, and the programs of plugins."""
        share = os.path.join(program.fresh("report_installed"), "share", "cambium")
        python = os.path.join("apps", "python")
        shutil.copytree(os.path.join(program.SOURCE, python), os.path.join(share, "python"))
        for name in ("md", "deepmd"):
            shutil.copytree(os.path.join(program.SOURCE, "plugins", name, "python"), os.path.join(share, "plugins", name, "python"))
        page = os.path.join(share, "page.html")
        done = subprocess.run([sys.executable, os.path.join(share, "python", "report.py"), self.where, "-o", page], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(page) as file:
            self.assertEqual(file.read(), self.page)
        done = subprocess.run([sys.executable, os.path.join(share, "plugins", "deepmd", "python", "plot_surrogate.py"), self.where],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_names_an_unfinished_run(self):
        copy = os.path.join(self.folder, "unfinished")
        shutil.copytree(self.where, copy, dirs_exist_ok=True)
        open(os.path.join(copy, "stages_done.txt"), "w").close()
        program.run("report", copy, "-o", os.path.join(self.folder, "page.html"))
        with open(os.path.join(self.folder, "page.html")) as page:
            self.assertIn(f"0 of 1 stages that began are finished. Continue with: cambium restart {copy}", page.read())

    def test_refuses_a_folder_without_a_run(self):
        code, _, err = program.run("report", self.folder)
        self.assertEqual((code, err.strip()), (2, f"cambium: '{self.folder}' holds no run: there is no provenance.yaml; give "
                                                  "the folder named run.directory in the deck"))

    def test_says_what_python_lacks(self):
        try:
            os.environ["CAMBIUM_PYTHON"] = "/usr/bin/false"
            code, _, err = program.run("report", self.where)
        finally:
            os.environ["CAMBIUM_PYTHON"] = sys.executable
        self.assertEqual((code, err.strip()), (2, "cambium: no /usr/bin/false with numpy, h5py and matplotlib; install them "
                         "(Debian: python3-h5py python3-matplotlib) or name a Python that has them in CAMBIUM_PYTHON"))

    @unittest.skipUnless(CHROMIUM, "no chromium: the page was not looked at in a browser")
    def test_a_browser_shows_it(self):
        picture = os.path.join(self.folder, "page.png")
        subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--screenshot={picture}",
                        "--window-size=1000,1400", "file://" + os.path.join(self.where, "report.html")],
                       capture_output=True, timeout=120)
        import matplotlib.image
        shown = matplotlib.image.imread(picture)[..., :3]
        self.assertEqual(shown.shape[:2], (1400, 1000))
        self.assertGreater((shown.min(axis=2) < 0.5).mean(), 0.005)  # text and curves, not an empty page


class Comparison(unittest.TestCase):
    def test_two_runs_on_one_page(self):
        os.environ["CAMBIUM_PYTHON"] = sys.executable
        folder = program.fresh("report_comparison")
        deck = program.write(os.path.join(folder, "deck.yaml"), DECK.format(folder=folder))
        for name, steps in (("a", 20), ("b", 40)):
            code, _, err = program.run("run", deck, f"run.directory={folder}/{name}", f"stages[0].simulate.steps={steps}", "run.seed=3")
            self.assertEqual(code, 0, err)
        page = os.path.join(folder, "page.html")
        code, out, err = program.run("report", folder + "/a", folder + "/b", "-o", page)
        self.assertEqual((code, out), (0, f"wrote {page}\n"), err)
        with open(page) as file:
            text = file.read()
        self.assertIn("<tr><th>stages[0].simulate.steps</th><td>20</td><td>40</td></tr>", text)
        self.assertNotIn("run.seed", text.split("Keys that differ")[1].split("<h2>")[0])
        self.assertIn('alt="tables_0"', text)
        self.assertEqual(re.findall(r'src="(?!data:)[^"]*"|<link|@import|<script', text), [])


class BenchPage(unittest.TestCase):
    SCRIPT = os.path.join(program.SOURCE, "apps", "python", "bench_page.py")

    def page(self, text):
        folder = program.fresh("bench_page")
        results = program.write(os.path.join(folder, "all.json"), text)
        output = os.path.join(folder, "page.md")
        done = subprocess.run([sys.executable, self.SCRIPT, results, "-o", output], capture_output=True, text=True)
        if done.returncode:
            return done.returncode, done.stderr.strip(), results
        with open(output) as file:
            return 0, file.read(), results

    def test_parts(self):
        _, page, _ = self.page('a line before\n{"md": {"lj_ratio": 3.84, "check": "ok", "gemm_share": 0.5, "peak": 7}, '
                               '"measured": {"command": "cambium bench all --json", "commit": "abc"}}\n')
        for part in ("`cambium bench all --json`; commit abc.", "## md\n- check: ok", "| `lj_ratio` | 3.84 |",
                     "| Share of a limit | |\n|---|---|\n| `gemm_share` | 0.5 |", "| `peak` | 7 |"):
            self.assertIn(part, page)

    def test_a_bench_that_failed(self):
        _, page, _ = self.page('{"md": {"lj_ratio": 3.84, "check": "ok"}, "kinetic": {"failed": "no cells"}, "measured": {"commit": "abc"}}\n')
        for part in ("| md | ok | 3.84 |  |", "| kinetic | failed | | |", "## kinetic\nFailed: no cells", "| `lj_ratio` | 3.84 |"):
            self.assertIn(part, page)

    def test_a_run_that_was_cut_short(self):
        _, page, _ = self.page('--- md: words\n{"md": {"lj_ratio": 2.0}}\n--- deepmd: words\n{"deepmd": {"us": 31.5}}\n{"train": {"ms"')
        for part in ("## md\n", "## deepmd\n", "| `us` | 31.5 |"):
            self.assertIn(part, page)
        self.assertNotIn("train", page)

    def test_growth(self):
        """Seconds that double twice while the work grows fourfold twice: the power of the size is one half."""
        _, page, _ = self.page('{"a": {"us_100": 1.0, "us_1600": 4.0, "scaling": [{"molecules": 10, "seconds": 2.0, "share": 1.0}, '
                               '{"molecules": 1000, "seconds": 2000.0, "share": 1.0}], "operations": 3}, "measured": {}}\n')
        for part in ("### Growth with size", "| `us` | 100: 1, 1600: 4 | +0.50 |", "| molecules | seconds | share |",
                     "| power of molecules | +1.50 | +0.00 |", "| Figures | |\n|---|---|\n| `operations` | 3 |"):
            self.assertIn(part, page)

    def test_messages(self):
        code, message, path = self.page("not measured")
        self.assertEqual((code, message), (1, f"bench_page: '{path}' is not what `cambium bench all --json` printed: it holds no line "
                                              "with a JSON object"))
        code, _, err = program.run("bench", "all", "steps=3")
        self.assertEqual((code, err.strip()),
                         (2, "cambium: 'steps=3': options belong to one bench; name it instead of all"))


class BenchOptions(unittest.TestCase):
    def test_help_lists_the_options(self):
        for words in (("bench", "lowp", "--help"), ("doc", "bench", "lowp")):
            code, page, err = program.run(*words)
            self.assertEqual((code, err), (0, ""))
            for part in ("## bench lowp", "    cambium bench lowp [--json] [option=value ...]", "| `size` | `4096` | rows and columns of the few-bit matrices |",
                         "| `part` | `all` | what is measured: all, infer, lossy, wire |", "| `fields` | none | HDF5 file"):
                self.assertIn(part, page)
        code, page, _ = program.run("bench", "--help")
        self.assertEqual(code, 0)
        self.assertIn("--json", page)
        self.assertIn("every one of them", page)

    def test_the_list_has_turns_of_known_options(self):
        code, said, _ = program.run("bench", "--json")
        listed = json.loads(said)
        self.assertEqual(code, 0)
        self.assertLessEqual({"commit", "machine", "blas", "date"}, set(listed["measured"]))
        _, pages, _ = program.run("doc", "bench")
        options = {page.split("\n")[0]: set(re.findall(r"^\| `(\w+)` \|", page, re.M)) for page in pages.split("## bench ")[1:]}
        self.assertEqual(set(options), set(listed["benches"]))
        self.assertTrue(listed["turns"])
        for name, words in listed["turns"].items():
            self.assertTrue(words)
            self.assertLessEqual({word.split("=")[0] for word in words}, options[name])


class BenchAll(unittest.TestCase):
    """The script that gives each bench a process of its own, with a program that stands for cambium."""
    FAKE = """#!/usr/bin/env python3
import json, os, signal, sys, time
if sys.argv[1:] == ["bench", "--json"]:
    names = ["md", "crash", "slow", "refused", "kinetic", "long"]
    print(json.dumps({"benches": dict.fromkeys(names, "words"), "turns": {name: ["steps=20"] for name in names[:-1]}}))
elif sys.argv[2] == "crash":
    os.kill(os.getpid(), signal.SIGKILL)
elif sys.argv[2] == "slow":
    time.sleep(60)
elif sys.argv[2] == "refused":
    sys.exit("cambium: there is no data")
else:
    print("a banner")
    print(json.dumps({"options": sys.argv[3:-1], "us_ratio": 2.5, "check": "ok", "measured": {"commit": "abc", "command": "x"}}))
"""

    def test_one_that_fails_keeps_the_others(self):
        folder = program.fresh("bench_all")
        fake = program.write(os.path.join(folder, "fake"), self.FAKE)
        os.chmod(fake, 0o755)
        scripts, output = os.path.join(program.SOURCE, "apps", "python"), os.path.join(folder, "all.json")
        done = subprocess.run([sys.executable, os.path.join(scripts, "bench_all.py"), fake, "-o", output, "--quick", "--limit", "2"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("5 benches, 3 failed", done.stdout)
        self.assertIn("long: left out, it has no turn of some seconds", done.stdout)
        with open(output) as file:
            found = json.load(file)
        self.assertEqual(found["measured"], {"commit": "abc", "command": "bench_all.py --quick"})
        self.assertEqual(found["md"], {"options": ["steps=20"], "us_ratio": 2.5, "check": "ok"})
        self.assertEqual(found["kinetic"]["us_ratio"], 2.5)
        self.assertEqual(found["crash"], {"failed": "signal 9: nothing"})
        self.assertEqual(found["slow"], {"failed": "no end within 2 s"})
        self.assertEqual(found["refused"], {"failed": "exit code 1: cambium: there is no data"})
        page = os.path.join(folder, "page.md")
        subprocess.run([sys.executable, os.path.join(scripts, "bench_page.py"), output, "-o", page], check=True, capture_output=True)
        with open(page) as file:
            text = file.read()
        for part in ("| md | ok | 2.5 |", "| slow | failed |", "Failed: no end within 2 s"):
            self.assertIn(part, text)


if __name__ == "__main__":
    unittest.main()
