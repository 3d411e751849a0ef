#!/usr/bin/env python3
"""Every C++ file is as clang-format 14 leaves it: format.py ROOT. Skipped, saying so, where another release or none is installed."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

import source_tree

RELEASE = "14"  # releases differ in what they do


def program():
    """clang-format of the right release, or None."""
    for name in (f"clang-format-{RELEASE}", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {RELEASE}\.", said):
                return name
    return None


def unformatted(root, command, paths):
    done = subprocess.run([command, "--dry-run", "-Werror", *paths], capture_output=True, text=True, cwd=root)
    return sorted(set(re.findall(r"^(\S+?):\d+:\d+: error: code should be clang-formatted", done.stderr, re.M)))


if __name__ == "__main__":
    command = program()
    if not command:
        print(f"SKIPPED: format of the code: there is no clang-format {RELEASE} (Debian: apt-get install clang-format-{RELEASE})")
        sys.exit(77)
    root = sys.argv[1]
    paths = [p for p in source_tree.files(root, ".cpp", ".hpp", ".c", ".h") if p.split("/")[0] in ("core", "plugins", "apps", "tests", "studies")]
    parts = [paths[k:k + 40] for k in range(0, len(paths), 40)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [p for part in pool.map(lambda part: unformatted(root, command, part), parts) for p in part]
    source_tree.report("format", [f"{p}: clang-format -i {p}" for p in found])
