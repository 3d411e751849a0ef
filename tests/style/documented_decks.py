#!/usr/bin/env python3
"""The decks shown in the documentation are sound: documented_decks.py ROOT PROGRAM.

Every block of YAML in a page that has `stages:` is given to `PROGRAM check`; a block with "..." is an excerpt and passed over.
"""

import os
import re
import subprocess
import sys
import tempfile

import source_tree


def decks(root):
    """(page, text) of every complete deck."""
    for page in source_tree.files(root, ".md"):
        for block in re.findall(r"^```yaml\n(.*?)^```", source_tree.read(root, page), re.S | re.M):
            if re.search(r"^stages:", block, re.M) and "..." not in block:
                yield page, block


def check(program, page, text, folder):
    deck = os.path.join(folder, "deck.yaml")
    with open(deck, "w", encoding="utf-8") as file:
        file.write(text)
    answer = subprocess.run([program, "check", deck], cwd=folder, capture_output=True, text=True)
    return [] if answer.returncode == 0 else [f"{page}: {answer.stderr.strip()}"]


if __name__ == "__main__":
    found = list(decks(sys.argv[1]))
    problems = [] if found else ["no page shows a deck"]
    with tempfile.TemporaryDirectory() as folder:
        for page, text in found:
            problems += check(os.path.abspath(sys.argv[2]), page, text, folder)
    print(f"{len(found)} decks")
    source_tree.report("documented decks", problems)
