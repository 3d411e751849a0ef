#!/usr/bin/env python3
"""Questions that a newcomer asks are answered by the site's own search in its first three hits: search.py SOURCE SITE.

The index is the site's (js/search_index.js) and so is the ranking (js/rank.js), which Node runs here (Debian: nodejs).
"""

import json
import os
import shutil
import subprocess
import sys

FIRST = 3
QUESTIONS = {  # what is asked: begins of pages one of which must be among the first hits
    "how do I use gradient accumulation": ["using/training.html#batches"],
    "where is the baseline": ["using/training.html#baselines"],
    "how do I restart with another time step": ["using/restart.html"],
    "which units has pressure": ["using/decks.html#units"],
    "how do I checkpoint asynchronously": ["using/restart.html#checkpoints"],
    "mini-batch size": ["using/training.html#batches"],
    "overfitting": ["using/training.html#overfitting"],
    "confidence interval": ["using/output.html", "using/sweeps.html"],
    "transfer learning": ["using/training.html#transfer-learning"],
    "use a trained model in Python": ["using/predict.html"],
    "run on many GPUs": ["using/clusters.html#gpus"],
    "read a LAMMPS data file": ["using/data.html#structures"],
    "lennard_jones": ["reference/deck/potential.html#lennard_jones"],
}
ASK = """
globalThis.window = {};
const fs = require("fs"), site = process.argv[1];
eval(fs.readFileSync(site + "/js/search_index.js", "utf8"));
const { rank } = require(site + "/js/rank.js");
const out = JSON.parse(process.argv[2]).map((q) => rank(window.cambium_index, q, 12).map((f) => f.section.p));
console.log(JSON.stringify(out));
"""

if __name__ == "__main__":
    site = os.path.abspath(sys.argv[2])
    node = shutil.which("node") or shutil.which("nodejs")
    if not node or not os.path.exists(os.path.join(site, "js", "search_index.js")):
        print("the search is not asked: there is no Node, or the site is not built")
        sys.exit(77)
    asked = list(QUESTIONS)
    found = json.loads(subprocess.run([node, "-e", ASK, site, json.dumps([*asked, "zzzqqq"])], capture_output=True, text=True, check=True).stdout)
    wrong = 0
    for question, hits in zip(asked, found):
        at = next((k for k, hit in enumerate(hits) if any(hit.startswith(page) for page in QUESTIONS[question])), None)
        good = at is not None and at < FIRST
        wrong += not good
        print(f"{question}: " + (f"hit {at + 1}, {hits[at]}" if good else f"NOT among the first {FIRST}: {hits[:5]}"))
    if found[-1]:
        wrong += 1
        print(f"a word that is nowhere is found: {found[-1][:3]}")
    print(f"search: {wrong} problem(s)")
    sys.exit(bool(wrong))
