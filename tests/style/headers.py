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


def folder_of(file, root, build):
    """Where a source lies; a file that joins others lies in the build, in the folder of its target's CMakeLists.txt."""
    inner = os.path.relpath(file, build)
    return os.path.dirname(file) if inner.startswith("..") else os.path.join(root, inner.split("/CMakeFiles/")[0])


def flags_by_folder(root, build):
    """Compiler and flags of one source file of every target that has some in a folder."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        while os.path.basename(words[0]) in ("ccache", "sccache", "distcc"):
            words = words[1:]
        for k in [k for k, word in enumerate(words) if word == "-include"][::-1]:  # precompiled headers would bring what is missing
            del words[k:k + 2]
        cut = words.index("-o")
        target = words[cut + 1].split(".dir/")[0]
        found.setdefault(folder_of(entry["file"], root, build), {}).setdefault(target, (words[:cut], entry["directory"]))
    return found


def nearest(folders, root, header):
    """Flags of the folder of the header, or of the one that shares most of its path, and of those above it: files that are joined stand
    there."""
    wanted = os.path.join(root, os.path.dirname(header))
    best = max(folders, key=lambda f: (len(os.path.commonpath([f, wanted])), -len(f)))
    return {target: flags for folder in sorted(folders, key=len) if f"{best}/".startswith(f"{folder}/") for target, flags in folders[folder].items()}


def fault(root, folders, header):
    """What is wrong with a header for all targets near by, those with Torch and those without, or nothing."""
    line = f'#include "{header}"\n'
    for words, directory in nearest(folders, root, header).values():
        done = subprocess.run([*words, "-fsyntax-only", "-x", "c++", "-"], input=line, capture_output=True, text=True, cwd=directory)
        if done.returncode == 0:
            return None
    first = next((t for t in done.stderr.split("\n") if "error" in t), done.stderr[:200])
    return f"{header} does not compile alone: {first}"


if __name__ == "__main__":
    root, build = sys.argv[1:3]
    if not os.path.exists(os.path.join(build, "compile_commands.json")):
        print("SKIPPED: headers alone: the build wrote no compile_commands.json")
        sys.exit(77)
    tops = ("core/", "plugins/", "apps/")
    names = source_tree.files(root, ".hpp") if "--all" in sys.argv else touched(root)[:MOST]
    names = [n for n in names if n.startswith(tops) and "/template/" not in n and "lammps_fmt" not in n]
    folders = flags_by_folder(root, build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [f for f in pool.map(lambda n: fault(root, folders, n), names) if f]
    source_tree.report(f"headers alone ({len(names)})", found)
