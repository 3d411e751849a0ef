#!/usr/bin/env python3
"""Figures that are older than the code they are figures of.

    measured.py SOURCE

docs/measured/code.yaml says of every file there which code its figures measure. This test fails where a file is missing from that page or the
page names what is not there. It names every file whose code changed after its commit, and a front page that quotes several commits, on lines
that begin with OLDER, which `ctest -R docs.measured -V` shows: a kernel may be changed without measuring everything again, but nobody shall
quote a figure without knowing its age. Exit code 77 where the history is not there.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import yaml


def git(source, *words):
    return subprocess.run(["git", "-C", str(source), *words], capture_output=True, text=True)


def commits_of(figures):
    """Every commit that a file names in a key `commit`, at any depth."""
    if isinstance(figures, dict):
        own = re.findall(r"\b[0-9a-f]{7,40}\b", str(figures.get("commit", "")))
        return own + [c for value in figures.values() for c in commits_of(value)]
    return [c for value in figures for c in commits_of(value)] if isinstance(figures, list) else []


def in_history(source, commit):
    return git(source, "merge-base", "--is-ancestor", commit, "HEAD").returncode == 0


def later_changes(source, commits, paths):
    """Number of commits since the newest of `commits` that touch `paths`; None where none of them is in this history."""
    known = [c for c in commits if in_history(source, c)]
    counts = [len(git(source, "log", "--oneline", "--no-merges", f"{c}..HEAD", "--", *paths).stdout.splitlines()) for c in known]
    return min(counts, default=None)


def complaints(source, page):
    """What is wrong with the page itself."""
    there = {file.stem for file in (source / "docs/measured").glob("*.json")}
    said = [f"docs/measured/{name}.json is missing in docs/measured/code.yaml; name the code that it measures" for name in sorted(there - set(page["files"]))]
    said += [f"docs/measured/code.yaml names {name}.json, which is not there" for name in sorted(set(page["files"]) - there)]
    said += [f"docs/measured/code.yaml: front_page names {name}, which is not there" for name in page.get("front_page", []) if name not in there]
    for name, groups in page["files"].items():
        said += [f"docs/measured/code.yaml: {name} names the group '{g}', which is not there" for g in groups if g not in page["groups"]]
    for group, paths in page["groups"].items():
        said += [f"docs/measured/code.yaml: the group {group} names {p}, which is not there" for p in paths if not (source / p).exists()]
    return said


def front_page(source, page):
    """A line when the front page quotes figures of more than one commit."""
    first = {commits_of(json.loads((source / "docs/measured" / f"{name}.json").read_text()))[0][:7] for name in page.get("front_page", [])}
    return [f"OLDER: the front page quotes figures of {len(first)} commits"] if len(first) > 1 else []


def older(source, page):
    """Lines about the files whose code changed since."""
    for name, groups in sorted(page["files"].items()):
        commits = commits_of(json.loads((source / "docs/measured" / f"{name}.json").read_text()))
        paths = [p for g in groups for p in page["groups"][g]]
        later = later_changes(source, commits, paths)
        if later is None:
            yield f"OLDER: {name}: measured on a commit that is not in this history"
        elif later:
            yield f"OLDER: {name}: {later} later commits touch what it measures"


def main():
    source = Path(sys.argv[1])
    if git(source, "rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        print("SKIPPED: ages of measured figures: this folder holds no whole history")
        return 77
    page = yaml.safe_load((source / "docs/measured/code.yaml").read_text())
    said = complaints(source, page)
    if not said:
        for line in [*older(source, page), *front_page(source, page)]:
            print(line)
    print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
