#!/usr/bin/env python3
"""How long a newcomer waits: a fresh clone without caches, first its picture, then the build of everything.

    first_result.py SOURCE FOLDER [--all] > docs/measured/first_result.json

Packages are installed already (./quickstart install). The first line of figures is `./quickstart`: core, md and the program, the run of its
deck, its pictures; with --all, `./quickstart all` follows in the same clone: every other plugin, training and the tests.
"""

import json
import os
import re
import subprocess
import sys
import time

import measured


def timed(folder, *words):
    """Seconds, and those of every step that quickstart names."""
    environment = dict(os.environ, CCACHE_DISABLE="1")
    start = time.time()
    done = subprocess.run(["./quickstart", *words], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
    steps = {title: int(seconds) for title, seconds in re.findall(r"^== (.*?)(?: in /\S*)?: done in (\d+) s$", done.stdout, re.M)}
    return {"seconds": round(time.time() - start), "steps": steps}


if __name__ == "__main__":
    source, folder = sys.argv[1:3]
    subprocess.run(["git", "clone", "-q", source, folder], check=True)
    commit = subprocess.run(["git", "-C", folder, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    about = measured.here(" ".join(["studies/first_result.py", "SOURCE", "FOLDER", *sys.argv[3:]])) | {"commit": commit}
    out = {"measured": about, "cores": os.cpu_count(), "compiler": compiler, "first_picture": timed(folder)}
    if "--all" in sys.argv:
        out["everything"] = timed(folder, "all")
    print(json.dumps(out, indent=1))
