#!/usr/bin/env python3
"""clang-tidy's checks of .clang-tidy find nothing in the lowest layers: tidy.py ROOT BUILD [FOLDER...].

Skipped where clang-tidy is not installed (Debian: clang-tidy). Minutes long; folders of your own may be named instead.
"""

import os
import re
import shutil
import subprocess
import sys

import source_tree

FOLDERS = ("core/base", "core/deck")


def warnings(root, build, path):
    done = subprocess.run(["clang-tidy", "-p", build, "--quiet", os.path.join(root, path)], capture_output=True, text=True)
    found = re.findall(r"^(?:\S*?/)?((?:core|plugins|apps)/\S+: (?:warning|error): .*)$", done.stdout, re.M)
    return found if done.returncode in (0, 1) else [f"{path}: clang-tidy ended with {done.returncode}: {done.stderr[-300:]}"]


if __name__ == "__main__":
    if not shutil.which("clang-tidy"):
        print("SKIPPED: clang-tidy's checks: there is no clang-tidy (Debian: apt-get install clang-tidy)")
        sys.exit(77)
    folders = tuple(f.rstrip("/") + "/" for f in sys.argv[3:] or FOLDERS)
    problems = set()
    for source in source_tree.files(sys.argv[1], ".cpp"):
        if source.startswith(folders):
            found = warnings(sys.argv[1], sys.argv[2], source)
            print(f"{source}: {len(found)}", flush=True)
            problems.update(found)
    source_tree.report("tidy", sorted(problems))
