"""The project's files, as the style checks see them. Standard library only."""

import os
import re
import sys

IGNORED_FOLDERS = re.compile(r"^(\.git|\.cache|__pycache__|build(-\w+)?|runs|install)$")
IGNORED_FILES = re.compile(r"^(\.git|.*\.pyc)$")
CPP = (".cpp", ".hpp")


def files(root, *suffixes):
    """Paths relative to root, '/'-separated and sorted, of the files with one of the suffixes (all without any)."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not IGNORED_FOLDERS.match(f)]
        for name in names:
            if not IGNORED_FILES.match(name) and (not suffixes or name.endswith(suffixes)):
                found.append(os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/"))
    return sorted(found)


def read(root, path):
    """Text of a file; empty for one that is not text."""
    try:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError:
        return ""


def includes(text):
    """(line number, name) of every #include, quotes or brackets kept: ('"core/base/log.hpp"', '<mpi.h>')."""
    pattern = re.compile(r'^\s*#\s*include\s*("[^"]+"|<[^>]+>)')
    return [(n, m.group(1)) for n, line in enumerate(text.split("\n"), 1) if (m := pattern.match(line))]


def report(title, problems):
    """Prints the problems and ends the program: 1 if there are any."""
    for problem in problems:
        print(problem)
    print(f"{title}: {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)
