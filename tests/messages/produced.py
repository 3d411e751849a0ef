#!/usr/bin/env python3
"""Every message of the program stands word for word in a test: produced.py ROOT [FOLDER].

A message counts as tested when one test file (or one folder of tables) holds all of its fixed pieces; the tests that hold it
then compare it with what the program said. FOLDER (core, plugins/deepmd, ...) restricts the list.
"""

import ast
import os
import sys

import templates


def strings(path, text):
    """All string constants of a test, blanks collapsed."""
    if path.endswith(".py"):
        found = [n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    elif path.endswith((".cpp", ".hpp", ".c")):
        found = [value for is_text, value, _ in templates.tokens(text) if is_text]
    else:
        found = [text]
    return "\0".join(" ".join(s.split()) for s in found)


def tested(root):
    """One text per test file."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder, _, names in os.walk(os.path.join(root, "tests")):
        for name in names:
            path = os.path.join(folder, name)
            ours = folder == here and name in ("templates.py", "produced.py", "untested.txt")
            if name.endswith((".py", ".cpp", ".hpp", ".c", ".yaml")) and not ours:
                with open(path, encoding="utf-8") as file:
                    yield strings(path, file.read())


def untested(root, folder=""):
    corpora = list(tested(root))
    seen = set()
    for path, line, template in templates.of_tree(root):
        pieces = templates.fragments(template)
        if template in seen or not path.startswith(folder):
            continue
        seen.add(template)
        if not any(all(piece in corpus for piece in pieces) for corpus in corpora):
            yield path, line, template


if __name__ == "__main__":
    root, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    missing = list(untested(root, folder))
    for path, line, template in missing:
        print(f"{path}:{line}: {' '.join(template.split())}")
    total = len({t for p, _, t in templates.of_tree(root) if p.startswith(folder)})
    print(f"{total - len(missing)} of {total} messages stand in a test, {len(missing)} do not")
