#!/usr/bin/env python3
"""Runs every `cambium bench`, each in a process of its own, beside its peer where that is installed:

    python3 bench_all.py build/bin/cambium -o all.json      # some ten minutes
    python3 bench_all.py build/bin/cambium -o all.json --quick
    python3 bench_page.py all.json -o benchmarks.md

The file is that of `cambium bench all --json` and is written anew after every bench: one that crashes, is killed or takes longer than
--limit loses its own figures only, and what it said last stands in their place. --quick takes one turn of `cambium bench compare` of each
bench, seconds long and without peers, and leaves out those that have none; its figures say that they run, they are not to be quoted.
"""

import argparse
import json
import os
import subprocess
import sys

def listed(program):
    """What `cambium bench --json` says: its benches, and of those that take part in `bench compare` the words of a turn."""
    said = subprocess.run([program, "bench", "--json"], capture_output=True, text=True, check=True).stdout
    found = last_object(said)
    if not found or "benches" not in found:
        sys.exit(f"bench_all: '{program} bench --json' lists no benches")
    return list(found["benches"]), found.get("turns", {})


def last_object(text):
    """The JSON object in the last line that is one; None where there is none."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except ValueError:
                continue
    return None


def measure(program, name, options, limit):
    """Figures of one bench, or {"failed": why}."""
    try:
        done = subprocess.run([program, "bench", name, *options, "--json"], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"no end within {limit:g} s"}
    figures = last_object(done.stdout)
    if done.returncode == 0 and figures:
        return figures
    said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
    return {"failed": f"{how}: {said}"}


def write(path, results):
    with open(path + ".part", "w") as out:
        json.dump(results, out, indent=2, sort_keys=True)
        out.write("\n")
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program cambium")
    parser.add_argument("-o", "--output", default="bench_all.json")
    parser.add_argument("--quick", action="store_true", help="one turn of seconds of each bench that has one")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for a bench (600)")
    parser.add_argument("--only", nargs="*", default=[], help="names of benches")
    wanted = parser.parse_args()
    results, failed = {}, []
    names, turns = listed(wanted.program)
    for name in names:
        if wanted.only and name not in wanted.only:
            continue
        if wanted.quick and name not in turns:
            print(f"{name}: left out, it has no turn of some seconds", flush=True)
            continue
        figures = measure(wanted.program, name, turns[name] if wanted.quick else [], wanted.limit)
        where = figures.pop("measured", None)
        if where and "measured" not in results:
            results["measured"] = {**where, "command": "bench_all.py" + (" --quick" if wanted.quick else "")}
        results[name] = figures
        write(wanted.output, results)
        print(f"{name}: {figures.get('failed', 'measured')}", flush=True)
        failed += [name] if "failed" in figures else []
    print(f"{len(results) - ('measured' in results)} benches, {len(failed)} failed; written: {wanted.output}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
