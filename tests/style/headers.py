#!/usr/bin/env python3
"""Every header compiles alone: headers.py ROOT BUILD [--all].

Half an hour of a core for all of them (the test style.headers_all, labelled long); by default those that the newest commits or the
working tree touched. Flags are those of a source file near by, from compile_commands.json.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

import source_tree

NEWEST = 5  # commits
MOST = 60  # headers without --all


def touched(root):
    """Headers of the newest commits and of the working tree; all where there is no history."""
    told = subprocess.run(["git", "-C", root, "log", f"-{NEWEST}", "--name-only", "--diff-filter=AMR", "--format="], capture_output=True, text=True)
    changed = subprocess.run(["git", "-C", root, "diff", "--name-only", "HEAD"], capture_output=True, text=True)
    names = dict.fromkeys((changed.stdout + told.stdout).split())
    return [n for n in names if n.endswith(".hpp") and os.path.exists(os.path.join(root, n))]


def flags_by_folder(build):
    """Compiler and flags of one source file of each folder."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        while os.path.basename(words[0]) in ("ccache", "sccache", "distcc"):
            words = words[1:]
        cut = words.index("-o")
        found.setdefault(os.path.dirname(entry["file"]), (words[:cut], entry["directory"]))
    return found


def nearest(folders, root, header):
    """Flags of the folder of the header, or of the one that shares most of its path."""
    wanted = os.path.join(root, os.path.dirname(header))
    best = max(folders, key=lambda f: (len(os.path.commonpath([f, wanted])), -len(f)))
    return folders[best]


def fault(root, folders, header):
    words, directory = nearest(folders, root, header)
    line = f'#include "{header}"\n'
    done = subprocess.run([*words, "-fsyntax-only", "-x", "c++", "-"], input=line, capture_output=True, text=True, cwd=directory)
    first = next((t for t in done.stderr.split("\n") if "error" in t), done.stderr[:200])
    return f"{header} does not compile alone: {first}" if done.returncode else None


if __name__ == "__main__":
    root, build = sys.argv[1:3]
    if not os.path.exists(os.path.join(build, "compile_commands.json")):
        print("SKIPPED: headers alone: the build wrote no compile_commands.json")
        sys.exit(77)
    tops = ("core/", "plugins/", "apps/")
    names = source_tree.files(root, ".hpp") if "--all" in sys.argv else touched(root)[:MOST]
    names = [n for n in names if n.startswith(tops) and "/template/" not in n and "lammps_fmt" not in n]
    folders = flags_by_folder(build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [f for f in pool.map(lambda n: fault(root, folders, n), names) if f]
    source_tree.report(f"headers alone ({len(names)})", found)
