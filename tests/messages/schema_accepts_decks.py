#!/usr/bin/env python3
"""The JSON schema that the program writes is a valid one, accepts every deck in inputs/ and refuses a misspelt key:
schema_accepts_decks.py PROGRAM SOURCE."""

import glob
import json
import os
import re
import subprocess
import sys

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"SKIPPED: the JSON schema against the decks: {missing}")
    sys.exit(77)



class Loader(yaml.SafeLoader):
    """Numbers as in YAML 1.2, which decks and editors follow: PyYAML takes 1e-4 for text."""


Loader.add_constructor("!choice", lambda loader, node: loader.construct_sequence(node, deep=True)[0])  # a search may pick any
Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789"))

program, source = sys.argv[1:]
schema = json.loads(subprocess.run([program, "doc", "--schema"], capture_output=True, text=True, check=True).stdout)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
problems = []
decks = sorted(glob.glob(os.path.join(source, "inputs", "*", "*.yaml")))
for path in decks:
    with open(path, encoding="utf-8") as file:
        deck = yaml.load(file, Loader)
    problems += [f"{path}: {'.'.join(map(str, e.absolute_path))}: {e.message[:300]}" for e in validator.iter_errors(deck)]
    deck["stagse"] = []
    if validator.is_valid(deck):
        problems.append(f"{path}: an unknown key is accepted")
if not decks:
    problems.append("there are no decks")
print("\n".join(problems) or f"{len(decks)} decks accepted")
sys.exit(bool(problems))
