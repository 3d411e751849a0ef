"""Runs whose files test_opens.py opens, each made once, and the lines of docs/using/output.md that open them."""
import importlib
import os
import re
import unittest
import warnings

import program

BUILT = os.environ.get("CAMBIUM_BUILT_PLUGINS", "").split()
LIQUID = "[{type: h5md, every: 50, velocities: true, forces: true}, {type: extxyz, every: 50, velocities: true, forces: true}, " \
         "{type: vtkhdf, every: 50}, {type: rdf, every: 50, r_max: 8.0}, {type: msd, every: 50}, {type: vacf, every: 50}]"
PLASMA = "[{type: moments, every: 10}, {type: distribution, every: 20}, {type: points, at: [[0.5], [2.0]], every: 5}, " \
         "{type: heat_flux, modes: [1, 2], every: 10}, {type: vtkhdf, every: 10}]"
# name of a run: (deck, plugins, overrides)
RUNS = {
    "argon": ("md/argon_melt.yaml", "md", [f"stages[0].simulate.output={LIQUID}", "stages[0].simulate.thermo.every=50",
                                           "stages[0].simulate.potential.truncation=shift"]),
    "two_stream": ("kinetic/two_stream.yaml", "kinetic", [f"stages[0].simulate.output={PLASMA}"]),
    "plane": ("kinetic/oblique_2x2v.yaml", "kinetic",
              ["stages[0].simulate.output=[{type: moments, every: 1}, {type: distribution, every: 3}]"]),
    "convection": ("superres/rayleigh_benard.yaml", "superres", []),
    "variable_resolution": ("superres/variable_resolution.yaml", "superres", []),
    "epidemic": ("graph/diffusion.yaml", "graph", []),
    "stirred": ("graph/transport.yaml", "graph", []),
    "verify": ("superres/verify.yaml", "superres", []),
    "coarse_to_fine": ("superres/coarse_to_fine.yaml", "superres", []),
    "search": ("podlstm/search.yaml", "podlstm", []),
    "tune": ("podlstm/tune.yaml", "podlstm deepmd", []),
    "levels": ("submatrix/diamond_levels.yaml", "submatrix", ["stages[4].density_matrix.output=[density, charges, sizes]"]),
    "learning": ("deepmd/active_learning.yaml", "deepmd", []),
    "nodes": ("graph/nodes.yaml", "graph", []),
    "recommend": ("graph/recommend.yaml", "graph", []),
    "affinity": ("relate/affinity.yaml", "relate", []),
    "clicks": ("relate/clicks.yaml", "relate", []),
    "choices": ("relate/choices.yaml", "relate", []),
    "archive": ("pretrain/archive.yaml", "superres pretrain", []),
    "predict": ("train/predict.yaml", "", []),
    "classify": ("train/classify.yaml", "", []),
    "ahead": ("podlstm/ahead.yaml", "podlstm", []),
    "filters": ("assimilate/lorenz96.yaml", "assimilate", []),
    "structure": ("cosmo/structure_growth.yaml", "cosmo", []),
}
folders = {}


def run(name):
    """The folder of a run, which is made once."""
    deck, plugins, overrides = RUNS[name]
    if not set(plugins.split()) <= set(BUILT):
        raise unittest.SkipTest(f"this build has not all of the plugins {plugins}")
    if name not in folders:
        folder = program.fresh("opens_" + name)
        code, out, error = program.run("run", os.path.join(program.SOURCE, "inputs", deck), "--test-size", f"run.directory={folder}",
                                       *overrides)
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
