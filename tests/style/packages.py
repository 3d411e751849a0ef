#!/usr/bin/env python3
"""Lists for packages: packages.py ROOT.

quickstart's list of Debian packages has one requirement per line, its alternatives joined by |. Spack's recipe and the build name the plugins
that have a folder.
"""

import re
import sys

import source_tree

NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")


def faults(script):
    """Lines of the list that apt-get would not understand, with what is wrong."""
    lists = re.findall(r"<<'LIST'\n(.*?)^LIST$", script, re.S | re.M)
    if not lists:
        return ["quickstart: no list of packages between <<'LIST' and LIST"]
    lines = [line for listed in lists for line in listed.splitlines()] + re.findall(r"echo '([^']*\|[^']*)'", script)
    return [
        f"quickstart: '{line}' is not one package name, or several joined by |: give each requirement a line of its own"
        for line in lines
        if not all(NAME.fullmatch(choice) for choice in line.split("|"))
    ]


def plugin_faults(folders, build, recipe):
    """What plugins/CMakeLists.txt and Spack's recipe name that has no folder, and folders that they do not name."""
    chosen = re.search(r"cambium_choose_plugins\(([^)]*)\)", build)
    offered = re.search(r'variant\("plugins".*?values=\(([^)]*)\)', recipe, re.S)
    named = {"plugins/CMakeLists.txt": set(chosen[1].split()) if chosen else set(),
             "Spack's recipe": set(re.findall(r'"(\w+)"', offered[1])) - {"all"} if offered else set()}
    return [f"{place}: {'no' if plugin in folders else 'there is no folder of the'} plugin '{plugin}'"
            for place, names in named.items() for plugin in sorted(names ^ set(folders))]


def main(root):
    folders = {m[1] for path in source_tree.files(root, "register.cpp") if (m := re.fullmatch(r"plugins/(\w+)/register\.cpp", path))}
    found = faults(source_tree.read(root, "quickstart"))
    found += plugin_faults(folders, source_tree.read(root, "plugins/CMakeLists.txt"), source_tree.read(root, "packaging/spack/packages/cambium/package.py"))
    source_tree.report("packages", found)


if __name__ == "__main__":
    main(sys.argv[1])
