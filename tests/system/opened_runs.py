"""Runs whose files test_opens.py opens, each made once, and the lines of docs/using/output.md that open them."""
import importlib
import os
import re
import unittest
import warnings

import program
import registered

LIQUID = "[{type: h5md, every: 50, velocities: true, forces: true}, {type: extxyz, every: 50, velocities: true, forces: true}, " \
         "{type: vtkhdf, every: 50}, {type: rdf, every: 50, r_max: 8.0}, {type: msd, every: 50}, {type: vacf, every: 50}]"
PLASMA = "[{type: moments, every: 10}, {type: distribution, every: 20}, {type: points, at: [[0.5], [2.0]], every: 5}, " \
         "{type: heat_flux, modes: [1, 2], every: 10}, {type: vtkhdf, every: 10}]"
# name of a run: (deck, overrides); test_registered.py names a writer that none of them has
RUNS = {
    "argon": ("md/argon_melt", [f"stages[0].simulate.output={LIQUID}", "stages[0].simulate.thermo.every=50",
                                           "stages[0].simulate.potential.truncation=shift"]),
    "two_stream": ("kinetic/two_stream", [f"stages[0].simulate.output={PLASMA}"]),
    "plane": ("kinetic/oblique_2x2v", ["stages[0].simulate.output=[{type: moments, every: 1}, {type: distribution, every: 3}]"]),
    "convection": ("superres/rayleigh_benard", []),
    "variable_resolution": ("superres/variable_resolution", []),
    "epidemic": ("graph/diffusion", []),
    "stirred": ("graph/transport", []),
    "verify": ("superres/verify", []),
    "coarse_to_fine": ("superres/coarse_to_fine", []),
    "search": ("podlstm/search", []),
    "tune": ("podlstm/tune", []),
    "levels": ("submatrix/diamond_levels", ["stages[4].density_matrix.output=[density, charges, sizes]"]),
    "learning": ("deepmd/active_learning", []),
    "nodes": ("graph/nodes", []),
    "recommend": ("graph/recommend", []),
    "affinity": ("relate/affinity", []),
    "clicks": ("relate/clicks", []),
    "choices": ("relate/choices", []),
    "archive": ("pretrain/archive", []),
    "predict": ("train/predict", []),
    "classify": ("train/classify", []),
    "ahead": ("podlstm/ahead", []),
    "filters": ("assimilate/lorenz96", []),
    "structure": ("cosmo/structure_growth", []),
}
folders = {}


def run(name):
    """The folder of a run, which is made once."""
    deck, overrides = RUNS[name]
    path = registered.decks()[deck]
    if not registered.built(registered.plugins_of(path)):
        raise unittest.SkipTest(f"this build has not all of the plugins of {deck}")
    if name not in folders:
        folder = program.fresh("opens_" + name)
        code, out, error = program.run("run", path, "--test-size", f"run.directory={folder}", *overrides)
        assert code == 0, out + error
        folders[name] = folder
    return folders[name]


def package(name):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as missing:
        print(f"SKIPPED: files opened by {name}: {missing}")
        raise unittest.SkipTest(str(missing)) from None


def lines_of_the_page():
    """{file: the lines that open it}, from the table of the page."""
    with open(os.path.join(program.SOURCE, "docs", "using", "output.md"), encoding="utf-8") as file:
        section = file.read().split("## The line that opens each file\n")[1].split("\n## ")[0]
    found = {}
    for row in re.findall(r"^\| (`[^|]*`) \|[^|]*\| `([^|]*)` \|$", section, re.M):
        for name in re.findall(r"`([^`]+)`", row[0]):
            found.setdefault(name, []).append(row[1])
    return found


LINES = lines_of_the_page()


def opened(file, name, stage="simulate", line=0):
    """What a line of the page for a file gives, in the folder of a stage of a run."""
    line = LINES[file][line]
    bare = re.sub(r'"[^"]*"', '""', line)
    words = {word: package(word) for word in set(re.findall(r"(?<![\w.])([A-Za-z_]\w*)(?=\.)", bare)) if word != "reader"}
    for word, inner in re.findall(r"(?<![\w.])(\w+)\.(\w+)\.", bare):
        package(f"{word}.{inner}")
    before = os.getcwd()
    os.chdir(os.path.join(run(name), stage))
    try:
        if "; " in line:
            exec(line, words)
            return words["reader"]
        return eval(line, words)
    finally:
        os.chdir(before)
