#!/usr/bin/env python3
"""How the pages read: prose.py ROOT. Words and sentences of README, manuals and user pages, printed; nothing fails by style.

A sentence ends at . ! or ? before a blank, or with its paragraph or list item. Code, tables, links' targets and headings are no
sentences. README has at most 450 words and a manual of a plugin 700: those two are held, because they are what a newcomer reads.
"""

import glob
import os
import re
import sys

README, MANUAL = 450, 700


def sentences(text):
    """Lists of words."""
    text = re.sub(r"^```.*?^```", "\n\n", text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.S)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)", text)
    for block in blocks:
        block = block.strip()
        if not block or block.startswith(("#", "|")):
            continue
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(block.split())):
            words = [w for w in re.findall(r"\S+", sentence) if re.search(r"\w", w)]
            if len(words) > 1:
                yield words


def figures(paths):
    lengths = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lengths += [len(words) for words in sentences(file.read())]
    return len(lengths), sum(lengths) / len(lengths), sum(n > 40 for n in lengths) / len(lengths)


def words_in(path):
    with open(path, encoding="utf-8") as file:
        return len(file.read().split())


if __name__ == "__main__":
    root = sys.argv[1]

    def at(*parts):
        return sorted(glob.glob(os.path.join(root, *parts)))

    groups = {"README": at("README.md"), "docs/using": at("docs", "using", "*.md"), "docs/developing": at("docs", "developing", "*.md"),
              **{f"plugins: {name}": [p for p in at("plugins", "*", name) if "template" not in p] for name in ("README.md", "method.md", "measured.md")}}
    print(f"{'pages':<24}{'sentences':>10}{'mean words':>12}{'above 40':>10}")
    for name, paths in groups.items():
        count, mean, long = figures(paths)
        print(f"{name:<24}{count:>10}{mean:>12.1f}{100 * long:>9.1f}%")
    problems = [f"README.md has {n} words (at most {README})" for n in [words_in(os.path.join(root, "README.md"))] if n > README]
    for path in groups["plugins: README.md"]:
        if words_in(path) > MANUAL:
            problems.append(f"{os.path.relpath(path, root)} has {words_in(path)} words (at most {MANUAL}); move figures to measured.md, equations to method.md")
    print("\n".join(problems + [f"prose: {len(problems)} problem(s)"]))
    sys.exit(bool(problems))
