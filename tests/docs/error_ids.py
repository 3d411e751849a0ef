#!/usr/bin/env python3
"""docs/errors.md lists every identifier of a message, and no other: error_ids.py ROOT [--write].

An identifier stands as a literal where a KeyError is thrown, species are sought in a model (model_species), or a part of the deck is read (deck::about_key); of one that is thrown
the list has the text, of one that is read what can be said of any text. --write brings the list up to date.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "messages"))
import templates  # noqa: E402

FOLDERS = ("core", "plugins", "apps")
THROWN, READ = re.compile(r"\bKeyError\(\s*\"([^\"]+)\""), re.compile(r"\babout_key\(\s*\"([^\"]+)\"")
SOUGHT = re.compile(r"\bmodel_species\(\s*\"([^\"]+)\"")
FORM = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")
BEGIN, END = "<!-- identifiers -->\n", "<!-- end of identifiers -->\n"


def sources(root):
    for top in FOLDERS:
        for folder, inner, names in os.walk(os.path.join(root, top)):
            inner[:] = sorted(f for f in inner if f not in ("template", "tests", "build"))
            for name in sorted(names):
                if name.endswith((".cpp", ".hpp")):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        yield file.read()


def text_behind(source, at):
    """The literals up to the end of the statement, without the identifier and the key: what the message says."""
    statement = source[at : source.find(";\n", at)]
    texts = [value for is_text, value, _ in templates.tokens(statement) if is_text and templates.fragments(value)]
    return " ".join(" ".join(texts).split())


def used(root):
    """{identifier: text}; the text is empty where only what is read there is known."""
    found = {}
    for source in sources(root):
        for m in READ.finditer(source):
            found.setdefault(m.group(1), set())
        for m in SOUGHT.finditer(source):
            found.setdefault(m.group(1), set()).add("species '{}' is unknown to {}; its species: {}")
        for m in THROWN.finditer(source):
            found.setdefault(m.group(1), set()).add(text_behind(source, m.end()))
    return {name: " / ".join(sorted(t for t in texts if t)) for name, texts in found.items()}


def listed(page):
    return re.findall(r"^- `([^`]+)`", page[page.index(BEGIN) : page.index(END)], re.M)


def lines(found):
    for name, text in sorted(found.items()):
        plain = text.replace("{{", "{").replace("}}", "}").replace("<", "&lt;")
        yield f"- `{name}`: {plain or 'what this key names cannot be read or used'}\n"


if __name__ == "__main__":
    path = os.path.join(sys.argv[1], "docs", "errors.md")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    found = used(sys.argv[1])
    if "--write" in sys.argv:
        page = page[: page.index(BEGIN)] + BEGIN + "".join(lines(found)) + page[page.index(END) :]
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
    problems = [f"'{name}' stands in no list: error_ids.py ROOT --write" for name in sorted(set(found) - set(listed(page)))]
    problems += [f"'{name}' is listed, but no message has it" for name in sorted(set(listed(page)) - set(found))]
    problems += [f"'{name}' is no identifier: small letters, parts joined by dots" for name in sorted(found) if not FORM.fullmatch(name)]
    for text in problems:
        print(f"docs/errors.md: {text}")
    print(f"{len(found)} identifiers, {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)
