#!/usr/bin/env python3
"""The drawing of the architecture is true: drawing.py SOURCE.

Its boxes are the folders of core, plugins and apps; a layer of core stands above the layers that it may include; every arrow is an
include that some file really has; it can be read on a light and on a dark page, and a page shows it.
"""

import os
import re
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "style"))
import layers
import source_tree

PICTURE, PAGE = "docs/pictures/architecture.svg", "docs/architecture.md"
SVG = "{http://www.w3.org/2000/svg}"


def folders(root):
    """core/base, plugins/md, apps/c, ...; the templates are no part of the program."""
    return {f"{top}/{name}" for top in ("core", "plugins", "apps") for name in os.listdir(os.path.join(root, top))
            if os.path.isdir(os.path.join(root, top, name)) and (top, name) not in (("plugins", "template"), ("core", "cmake"))
            and not name.startswith(("_", "."))}


def boxes(tree):
    """{folder: (distance from the top, words)} of all groups whose id is a path."""
    return {g.get("id"): (float(g.find(f"{SVG}rect").get("y")), " ".join("".join(t.itertext()) for t in g.iter(f"{SVG}text")))
            for g in tree.iter(f"{SVG}g") if "/" in g.get("id", "")}


def included(root, folder):
    """What the files of a folder include of this tree."""
    return {name[1:-1] for path in source_tree.files(root, *source_tree.CPP) if path.startswith(folder + "/")
            for _, name in source_tree.includes(source_tree.read(root, path)) if name.startswith('"')}


def check(root, drawing):
    tree = xml.fromstring(drawing)
    drawn, real = boxes(tree), folders(root)
    problems = [f"'{name}' is drawn, but there is no such folder" for name in sorted(set(drawn) - real)]
    problems += [f"the folder {name} is not drawn" for name in sorted(real - set(drawn))]
    for name, (_, words) in drawn.items():
        if name not in words and name.split("/")[1] not in words.split():
            problems.append(f"the box of {name} says '{words}'")
    order = [f"core/{layer}" for layer in layers.LAYERS if f"core/{layer}" in drawn]
    for low, high in zip(order, order[1:]):
        if drawn[low][0] <= drawn[high][0]:
            problems.append(f"{high} is drawn below {low}, which it may include")
    arrows = [(a.get("data-from"), a.get("data-to")) for a in tree.iter(f"{SVG}path") if a.get("data-from")]
    for start, end in arrows:
        if not any(path.startswith(end + "/") for path in included(root, start)):
            problems.append(f"an arrow leads from {start} to {end}, but no file there includes one of the other")
    if not arrows:
        problems.append("there are no arrows")
    if "prefers-color-scheme: dark" not in drawing or re.search(r'<(?:text|rect|path)[^>]*\sfill="#', drawing):
        problems.append("colours must follow the page, light or dark: name them in the style")
    if os.path.basename(PICTURE) not in source_tree.read(root, PAGE):
        problems.append(f"{PAGE} does not show it")
    return [f"{PICTURE}: {p}" for p in problems]


def wrong_ones(drawing):
    """Drawings that must not pass, each with a word of what has to be said about it."""
    yield drawing.replace('id="core/deck"', 'id="core/decks"'), "no such folder"
    yield re.sub(r'  <g id="plugins/md">.*?</g>\n', "", drawing, flags=re.S), "plugins/md is not drawn"
    yield re.sub(r'(id="core/base"><rect class="core" x="48" y=")\d+', r"\g<1>0", drawing), "is drawn below"
    yield drawing.replace('data-to="core/run"', 'data-to="plugins/md"'), "an arrow leads from core/train to plugins/md"
    yield drawing.replace(">core/io<", ">core/files<"), "the box of core/io says"
    yield drawing.replace("prefers-color-scheme: dark", "print"), "light or dark"


if __name__ == "__main__":
    source = sys.argv[1]
    text = source_tree.read(source, PICTURE)
    found = check(source, text)
    for changed, word in wrong_ones(text):
        if changed == text or not any(word in p for p in check(source, changed)):
            found.append(f"drawing.py: a drawing in which '{word}' should be said passes")
    print("\n".join(found) or f"{PICTURE}: true")
    sys.exit(bool(found))
