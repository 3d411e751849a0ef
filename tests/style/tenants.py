#!/usr/bin/env python3
"""Who lives in core: tenants.py ROOT.

core holds what at least two plugins use. For every folder of core this prints which plugins reach one of its files: by an include, by an include
of what was included, by what the sources beside a header include, and by what calls a kind back (CALLED_BY). Fewer than two is a problem,
unless ALONE gives the reason.
"""

import collections
import os
import sys

import source_tree

#: Folders that fewer than two plugins reach, each with its reason. At most five; none today.
ALONE = {}
#: Interfaces that plugins implement, and what calls them: the stage that a deck names, made by the registry.
CALLED_BY = {
    "core/plugin/task.hpp": ["core/run/run.hpp"],
    "core/plugin/physics.hpp": ["core/run/simulate.hpp", "core/run/trajectory_writers.hpp", "core/run/vtkhdf_writer.hpp"],
    "core/train/kinds/network.hpp": ["core/train/register.hpp"],
}


def reached(root):
    """Folder of core -> the plugins that reach it."""
    paths = [p for p in source_tree.files(root, *source_tree.CPP) if p.split("/")[0] in ("core", "plugins") and "/template/" not in p]
    known = set(paths)
    includes = {p: [name[1:-1] for _, name in source_tree.includes(source_tree.read(root, p)) if name[1:-1] in known] for p in paths}
    beside = collections.defaultdict(list)  # of a header: the sources of its name
    for path in paths:
        if path.endswith(".cpp") and path[:-4] + ".hpp" in known:
            beside[path[:-4] + ".hpp"].append(path)
    found = {os.path.dirname(p): set() for p in paths if p.startswith("core/")}
    for plugin in sorted({p.split("/")[1] for p in paths if p.startswith("plugins/") and p.count("/") > 1}):
        seen, open_ = set(), [p for p in paths if p.startswith(f"plugins/{plugin}/")]
        while open_:
            path = open_.pop()
            if path in seen:
                continue
            seen.add(path)
            open_ += includes[path] + beside[path] + CALLED_BY.get(path, [])
        for path in seen:
            if path.startswith("core/"):
                found[os.path.dirname(path)].add(plugin)
    return found


def check(root, alone=None):
    alone = ALONE if alone is None else alone
    found = reached(root)
    problems = [f"{folder}: reached by {', '.join(sorted(found[folder])) or 'no plugin'}; what serves one plugin lives in it, what serves the "
                "program alone lives with the program" for folder in sorted(found) if len(found[folder]) < 2 and folder not in alone]
    problems += [f"{folder}: has a reason to be alone, and is not" for folder in sorted(alone) if len(found.get(folder, "..")) >= 2]
    if len(alone) > 5:
        problems.append(f"{len(alone)} folders of core are excused; at most five")
    return problems


if __name__ == "__main__":
    for name, plugins in sorted(reached(sys.argv[1]).items()):
        print(f"{name:<34}{len(plugins):>3}  {' '.join(sorted(plugins))}")
    source_tree.report("tenants", check(sys.argv[1]))
