#!/usr/bin/env python3
"""The shape of folders: folders.py ROOT.

No two folders include each other, directly or around, at any depth: core and plugins, core/io and core/run, core/train/step and
core/train/weights, each with all that lies below. A layer, a plugin, an application has a README; another folder where it needs one, of at most
LINES lines. A plugin registers only what lies in the folders that are named for it, in a file named as the deck names the type. Integrators,
potentials, writers and optimizers declare their keys beside the members, so that a new key is one file.
"""

import collections
import os
import re
import sys

import source_tree

LINES = range(3, 9)  # of the README of a folder below those, heading included
REGISTERED = ("physics", "potentials", "integrators", "tasks", "networks", "datasets", "writers", "models")
TOP = ("core", "plugins", "apps", "bench")
#: Folders of types whose keys stand in the header, after their members.
KEYS_BESIDE_MEMBERS = re.compile(r"(^|/)(integrators|potentials|writers|optimizers)/\w+\.hpp$")


def folder(path):
    return os.path.dirname(path)


def graph(root, depth=99):
    """Which folders a folder includes, each with one line that does. Folders below a depth count as the one that holds them there."""
    def room(path):
        return "/".join(folder(path).split("/")[:depth])

    found = collections.defaultdict(dict)
    for path in source_tree.files(root, *source_tree.CPP):
        if path.split("/")[0] not in TOP or "/template/" in path:
            continue
        for line, name in source_tree.includes(source_tree.read(root, path)):
            target = name[1:-1]
            if name.startswith('"') and target.split("/")[0] in TOP and room(target) != room(path):
                found[room(path)].setdefault(room(target), f"{path}:{line}")
    return found


def cycles_at_any_depth(root):
    """Those of whole trees first; one that is found is not looked for below."""
    for depth in range(1, 6):
        found = cycles(graph(root, depth))
        if found:
            return found
    return []


def cycles(edges):
    """One problem per way around, found by walking depth first."""
    problems, state, way = [], {}, []

    def visit(node):
        state[node] = "open"
        way.append(node)
        for target in sorted(edges.get(node, {})):
            if state.get(target) == "open":
                around = way[way.index(target):] + [target]
                lines = ", ".join(edges[a][b] for a, b in zip(around, around[1:]))
                problems.append(f"folders include each other: {' -> '.join(around)} ({lines})")
            elif target not in state:
                visit(target)
        way.pop()
        state[node] = "done"

    for node in sorted(edges):
        if node not in state:
            visit(node)
    return problems


def check_readmes(root):
    problems, names = [], set()
    for name in map(folder, source_tree.files(root)):
        while name and name.split("/")[0] in TOP and "/template/" not in name + "/":
            names.add(name)
            name = folder(name)
    for name in sorted(names):
        path = f"{name}/README.md"
        if not os.path.exists(os.path.join(root, path)):
            if name.count("/") <= 1 and not name.startswith("bench/"):
                problems.append(f"{name}: no README.md: what lies here, and what it rests on")
        elif not (name.startswith("plugins/") and name.count("/") == 1):
            lines = sum(1 for line in source_tree.read(root, path).split("\n") if line.strip())
            if lines not in LINES:
                problems.append(f"{path}: {lines} lines; three to eight: what lies here, and what it rests on")
    return problems


def check_registered(root):
    """Every type that a plugin registers has a header of its name in one of the folders for types, or is of core (`sparse::`); files that
    register lie at the top of the plugin and are called register*.cpp."""
    problems = []
    for path in source_tree.files(root, ".cpp"):
        if not path.startswith("plugins/") or "/template/" in path:
            continue
        text = source_tree.read(root, path)
        if not re.fullmatch(r"plugins/\w+/register\w*\.cpp", path):
            if re.search(r"registry\s*\.add<", text):
                problems.append(f"{path}: registers a type; that is what register.cpp is for")
            continue
        plugin = folder(path)
        headers = [n[1:-1] for _, n in source_tree.includes(text) if n.startswith(f'"{plugin}/')]
        types = {os.path.basename(h)[:-4]: h for h in headers if h[len(plugin) + 1:].split("/")[0] in REGISTERED}
        for name in re.findall(r'registry\s*\.add<(?!sparse::)[^;]*?>\(\s*"([a-z0-9_]+)"', text):
            if name not in types:
                problems.append(f"{path}: '{name}' lies in no file of that name in {', '.join(REGISTERED)}")
    return problems


def check_keys(root):
    return [f"{path}: describe() is declared here and defined elsewhere; write the keys beside the members"
            for path in source_tree.files(root, ".hpp") if path.split("/")[0] in TOP and KEYS_BESIDE_MEMBERS.search(path)
            and re.search(r"static void describe\([^)]*\);", source_tree.read(root, path))]


if __name__ == "__main__":
    tree = sys.argv[1]
    source_tree.report("folders", cycles_at_any_depth(tree) + check_readmes(tree) + check_registered(tree) + check_keys(tree))
