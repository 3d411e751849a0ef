#!/usr/bin/env python3
"""What the program tells of a plugin outside its tree: lookups.py PROGRAM LIBRARY DECK. Its folder is in CAMBIUM_PLUGIN_PATH, or a deck
names it."""

import json
import os
import subprocess
import sys
import tempfile

program, library, deck = sys.argv[1:]


def said(*words, path=os.path.dirname(library), code=0):
    done = subprocess.run([program, *words], capture_output=True, text=True, env={**os.environ, "CAMBIUM_PLUGIN_PATH": path})
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout, done.stderr


def types_of(schema):
    """Every word that a schema allows for a type of potential."""
    return schema.count('"my_force"')


listed, _ = said("list", "potential")
assert "  my_force" in listed, listed
page, _ = said("doc", "potential", "my_force")
assert "depth" in page and "eV" in page, page
schema, _ = said("doc", "--schema")
json.loads(schema)
assert types_of(schema) > 0, "the schema does not know my_force"
assert "my_force" not in said("list", "potential", path="")[0]
_, error = said("doc", "potential", "my_force", path="", code=2)
assert "there is no potential 'my_force'" in error, error

with tempfile.TemporaryDirectory() as folder:
    by_path = os.path.join(folder, "deck.yaml")
    with open(deck) as one, open(by_path, "w") as two:
        two.write(one.read().replace("plugins: [md, my_force]", f"plugins: [md, {library}]"))
    assert "  my_force" in said("list", "potential", "--deck", by_path, path="")[0]
    assert types_of(said("doc", "--schema", "--deck", by_path, path="")[0]) > 0
    said("check", by_path, "--test-size", path="")
    # One that cannot be loaded keeps nobody from the rest, and is no part of what goes into a file.
    with open(os.path.join(folder, "torn.cambium.so"), "wb") as torn:
        torn.write(open(library, "rb").read()[:3000])
    schema, error = said("doc", "--schema", path=f"{os.path.dirname(library)}:{folder}")
    json.loads(schema)
    assert types_of(schema) > 0 and "warning: plugin 'torn' is cut short" in error, error
print("known to list, doc, schema and check")
