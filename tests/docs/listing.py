#!/usr/bin/env python3
"""Listings of the documentation are the code: listing.py SOURCE.

A block that says "compiled in PATH" has, word for word, the lines of that file between "// Shown in PAGE:" and "// End of what PAGE
shows."; it fits on a page.
"""

import os
import re
import sys

import blocks
import docblocks

COMPILED_IN = re.compile(r"compiled in ([^\s;]+)")
MOST_LINES = 60


def shown(code, page):
    """The lines of a source file that a page shows; nothing where none are marked."""
    found = re.search(rf"^// Shown in {re.escape(page)}:\n(.*?)\n*^// End of what {re.escape(page)} shows\.$", code, re.S | re.M)
    return found.group(1).strip("\n") + "\n" if found else ""


def check(block, path, code):
    lines = shown(code, block.page)
    if not lines:
        return f"{block.place()}: no lines of {path} are marked as shown here"
    if lines != block.text:
        pairs = zip(lines.splitlines() + [""], block.text.splitlines() + [""])
        other = next(((a, b) for a, b in pairs if a != b), ("more lines", "fewer lines"))
        return f"{block.place()}: {path} has '{other[0]}' where the page has '{other[1]}'; copy the marked lines anew"
    if lines.count("\n") > MOST_LINES:
        return f"{block.place()}: a listing of {lines.count(chr(10))} lines; {MOST_LINES} fit on a page"
    return ""


def listings(root):
    """(block, path, code) of all pages."""
    for page in blocks.pages(root):
        for block in docblocks.blocks_of(root, page):
            found = COMPILED_IN.search(block.what)
            if found:
                with open(os.path.join(root, found.group(1)), encoding="utf-8") as file:
                    yield block, found.group(1), file.read()


if __name__ == "__main__":
    all_of_them = list(listings(sys.argv[1]))
    problems = [p for p in (check(*one) for one in all_of_them) if p]
    if not all_of_them:
        problems.append("no page has a listing")
    for listed, where, text in all_of_them:  # what must not pass
        line = listed.text.splitlines()[1]
        if not check(listed, where, text.replace(line, line + "  ")) or not check(listed, where, text.replace("// Shown in", "// In")):
            problems.append(f"{where}: a changed line, or no marks, pass unseen")
    print("\n".join(problems) or f"{len(all_of_them)} listing(s): the code")
    sys.exit(bool(problems))
