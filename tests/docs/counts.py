#!/usr/bin/env python3
"""How far the project speaks the field's language: counts.py ROOT. Figures, printed; nothing fails by them.

Private words with their standard terms (whole words; strings and comments of C++ apart, pages without the changelog, decks), length of
sentences, comment lines that begin with What, Whether, Where or Of, and the words of README and manuals.
"""

import glob
import os
import re
import subprocess
import sys

import prose

WORDS = {  # standard term: pattern of the private words
    "baseline": r"rivals?",
    "reference implementation": r"peers?",
    "evaluate": r"judg(?:e[sd]?|ing|e?ments?)",
    "stage summary": r"last page",
    "synthetic": r"made[ -]up",
    "correctly classified": r"told (?:right|apart)",
    "positive (of a pair)": r"partners?",
    "residual": r"what \w+ leaves?",
    "lowest error": r"errs? least",
    "values, entries": r"numbers",
    "fraction, local part": r"shares?",
    "replicated": r"whole",
    "sharded": r"divided",
    "snapshot": r"moments?",
    "position": r"places?",
    "prints, reports": r"says?|said|tells?|told",
    "requests, requires": r"asks?|asked",
    "attends to, receives": r"hears?|heard|sees",
    "is sent": r"travels?",
    "assigned": r"dealt|handed out",
    "bitwise identical": r"same bits|bit for bit",
    "GPU": r"cards?",
    "after": r"behind",
    "next to, compared with": r"beside",
    "again": r"anew",
    "fix": r"mends?",
    "that many": r"so many",
    "is stored": r"lies?|stands",
    "continue": r"go(?:es)? on",
    "inspect": r"looks?(?:ed)? at",
}
BEGINS = re.compile(r"^(?:What|Whether|Where|Of)\b")


def listed(root, *patterns):
    found = subprocess.run(["git", "-C", root, "ls-files", *patterns], capture_output=True, text=True)
    if found.returncode == 0:
        return [os.path.join(root, name) for name in found.stdout.split("\n") if name and os.path.exists(os.path.join(root, name))]
    return [path for pattern in patterns for path in glob.glob(os.path.join(root, "**", os.path.basename(pattern)), recursive=True)]


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def parts(text):
    """(strings, comments) of C++; comments are lists of lines."""
    strings, comments, k = [], [], 0
    for match in re.finditer(r'R"(\w*)\((.*?)\)\1"|"((?:\\.|[^"\\\n])*)"|//+<? ?([^\n]*)|/\*(.*?)\*/|\'(?:\\.|[^\'\\])\'', text, re.S):
        strings += [g for g in (match.group(2), match.group(3)) if g]
        comments += (match.group(4) or "").split("\n") if match.group(4) is not None else (match.group(5) or "").split("\n") if match.group(5) else []
    return strings, comments


if __name__ == "__main__":
    root = sys.argv[1]
    code = listed(root, "core/*.cpp", "core/*.hpp", "plugins/*.cpp", "plugins/*.hpp", "apps/*.cpp", "apps/*.hpp")
    strings, comments = [], []
    for path in code:
        s, c = parts(read(path))
        strings += s
        comments += c
    pages = [p for p in listed(root, "*.md") if not re.search(r"/(findings|CHANGELOG|errors)", p[len(root):])]
    texts = {"strings": "\n".join(strings), "comments": "\n".join(comments), "pages": "\n".join(map(read, pages)),
             "decks": "\n".join(map(read, listed(root, "inputs/*.yaml")))}
    print(f"{'instead of':<28}" + "".join(f"{name:>10}" for name in texts))
    for term, pattern in WORDS.items():
        word = re.compile(rf"\b(?:{pattern})\b", re.I)
        print(f"{term:<28}" + "".join(f"{len(word.findall(text)):>10}" for text in texts.values()))
    lines = [line.strip() for line in comments if line.strip()]
    begin = sum(bool(BEGINS.match(line)) for line in lines)
    print(f"\ncomment lines: {len(lines)}; begin with What, Whether, Where or Of: {begin} ({100 * begin / max(1, len(lines)):.1f} %)")

    groups = {"README": ["README.md"], "docs": ["docs/*.md"], "manuals": ["plugins/*/README.md"], "methods": ["plugins/*/method.md"],
              "measured": ["plugins/*/measured.md"]}
    print(f"\n{'pages':<12}{'sentences':>10}{'mean words':>12}{'above 40':>10}{'words':>9}")
    for name, patterns in groups.items():
        paths = [p for p in listed(root, *patterns) if "template" not in p and "errors.md" not in p]
        count, mean, long = prose.figures(paths)
        print(f"{name:<12}{count:>10}{mean:>12.1f}{100 * long:>9.1f}%{sum(map(prose.words_in, paths)):>9}")
    for path in [os.path.join(root, "README.md"), *sorted(p for p in listed(root, "plugins/*/README.md") if "template" not in p and p.count("/") == root.rstrip("/").count("/") + 3)]:
        print(f"{prose.words_in(path):>6} words  {os.path.relpath(path, root)}")
