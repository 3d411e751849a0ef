#!/usr/bin/env python3
"""A plugin of another version: refuse.py PROGRAM PLUGIN DECK VERSION PACKAGE.

The version in the plugin's ABI tag is changed byte by byte; the program must refuse it word for word, with exit code 2.
"""

import os
import re
import subprocess
import sys
import tempfile

program, plugin, deck, version, package = sys.argv[1:]
with open(plugin, "rb") as file:
    content = file.read()
tag = re.search(rb"cambium-abi: ([^\0]*)\0", content).group(1).decode()
old = "9" * len(version)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "my_force.cambium.so")
    with open(path, "wb") as file:
        file.write(content.replace(f"Cambium={version};".encode(), f"Cambium={old};".encode()))
    answer = subprocess.run([program, "check", deck, f"plugins=[md, {path}]"], capture_output=True, text=True)

fields = dict(field.split("=", 1) for field in tag.split("; "))
expected = [f"cambium: plugin 'my_force' was built for another Cambium and is not loaded ({path})"]
for name, value in fields.items():
    same = f"  {name}: {value}"
    expected.append(f"  {name}: {old} in the plugin, {value} in this program <- differs" if name == "Cambium" else same)
expected.append(f"Rebuild it: cmake -B build -S <its source> -Dcambium_DIR={package} && cmake --build build")

problems = []
if answer.returncode != 2:
    problems.append(f"exit code {answer.returncode} instead of 2")
if "\n".join(expected) not in answer.stderr:
    problems.append("expected:\n" + "\n".join(expected) + "\nfound:\n" + answer.stderr + answer.stdout)
print("\n".join(problems) or "refused as it should be")
sys.exit(bool(problems))
