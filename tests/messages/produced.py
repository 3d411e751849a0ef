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
        whole = " ".join(template.split())  # a text that is no format may hold braces of its own
        if not any(whole in corpus or all(piece in corpus for piece in pieces) for corpus in corpora):
            yield path, line, template


def excused(root):
    """{first words: reason} of untested.txt."""
    with open(os.path.join(root, "tests", "messages", "untested.txt"), encoding="utf-8") as file:
        rows = [line.split("|") for line in file if line.strip() and not line.startswith("#")]
    return {words.strip(): reason.strip() for words, reason in rows}


if __name__ == "__main__":
    root = sys.argv[1]
    check = "--check" in sys.argv
    folder = next((word for word in sys.argv[2:] if not word.startswith("-")), "")
    missing = list(untested(root, folder))
    reasons = excused(root)
    used = set()
    wrong = 0
    for path, line, template in missing:
        text = " ".join(template.split())
        excuse = next((words for words in reasons if text.startswith(words)), None)
        used.add(excuse)
        if excuse is None or not check:
            print(f"{path}:{line}: {text}")
            wrong += excuse is None
    for words in sorted(set(reasons) - used) if not folder else []:
        print(f"untested.txt: '{words}' stands in a test now, or nowhere: take the line out")
        wrong += 1
    total = len({t for p, _, t in templates.of_tree(root) if p.startswith(folder)})
    print(f"{total - len(missing)} of {total} messages stand in a test, {len(missing) - wrong} are excused in untested.txt, {wrong} problem(s)")
    sys.exit(1 if check and wrong else 0)
