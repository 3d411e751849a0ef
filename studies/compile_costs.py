#!/usr/bin/env python3
"""What a cold build spends its time on: compile_costs.py BUILD [--every 8] [--json FILE].

Compiles every eighth source of each group again (core, training, every plugin, Torch, tests, tests with Torch), without a cache and into nothing, and
adds up processor seconds, and what g++ says of its phases: reading (parsing), templates (what is instantiated at a source's end), code (optimising and
generating). `empty` is a source without a line, begun with the group's headers that are read once: what each source pays for them. Needs g++ and a
build folder in which everything was built. Processor seconds mean something where nothing else
runs on the machine.
"""

import argparse
import collections
import json
import os
import re
import resource
import shlex
import subprocess
import tempfile

import measured

PHASE = re.compile(r"^ phase (parsing|lang\. deferred|opt and generate)\s*:\s*([\d.]+)", re.M)
NAMES = {"parsing": "reading", "lang. deferred": "templates", "opt and generate": "code"}


def group(output, command):
    top, rest = output.split("/")[:2]
    torch = "cambium_torch_headers.dir" in command
    if "_headers.dir/cmake_pch" in output:
        return "headers read once"
    if top == "tests":
        return "tests with Torch" if torch else "tests"
    if torch:
        return "Torch"
    return "training" if output.startswith("core/train/") else rest if top == "plugins" else top


def sources(build):
    """{group: [(words, folder, source)]} of all compile commands."""
    found = collections.defaultdict(list)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            words = shlex.split(entry["command"])
            words = words[next(k for k, w in enumerate(words) if os.path.basename(w) not in ("ccache", "sccache")):]
            output = words[words.index("-o") + 1]
            found[group(output, entry["command"])].append((words, entry["directory"], words.index(entry["file"])))
    return found


def compiled(words, folder, source, text=None):
    """(processor seconds, {phase: seconds}) of one source, or of another text with its options."""
    with tempfile.TemporaryDirectory() as scratch:
        words = list(words)
        words[words.index("-o") + 1] = os.path.join(scratch, "o.o")
        if text is not None:
            words[source] = os.path.join(scratch, "text.cpp")
            with open(words[source], "w", encoding="utf-8") as file:
                file.write(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*words, "-ftime-report"], cwd=folder, capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            {NAMES[name]: float(seconds) for name, seconds in PHASE.findall(done.stderr)})


def costs(entries, every):
    """Of a group, what was tried scaled up to all."""
    tried = entries[every // 2 % len(entries)::every]
    out = collections.Counter()
    for entry in tried:
        seconds, phases = compiled(*entry)
        out.update({"seconds": seconds, **phases})
    row = {name: round(value * len(entries) / len(tried), 1) for name, value in out.items()}
    words, folder, source = tried[0]
    return {"sources": len(entries), "tried": len(tried), **row, "empty": round(compiled(words, folder, source, "int f() { return 1; }\n")[0], 2)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--json")
    given = parser.parse_args()
    rows = {}
    for name, entries in sorted(sources(os.path.abspath(given.build)).items()):
        rows[name] = costs(entries, 1 if name == "headers read once" else given.every)
        print(name, rows[name], flush=True)
    total = {key: round(sum(row.get(key, 0) for row in rows.values()), 1) for key in ("sources", "seconds", *NAMES.values())}
    print("all", total)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({**rows, "all": total, "measured": measured.here("studies/compile_costs.py BUILD")}, file, indent=1)
            file.write("\n")
