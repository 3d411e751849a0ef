#!/usr/bin/env python3
"""Writes a page of benchmarks from what `cambium bench all --json` printed: ratios to peers, shares of limits, figures.

    cambium bench all --json | tail -n 1 > all.json
    python3 bench_page.py all.json [-o benchmarks.md]
"""

import argparse
import json
import os
import sys
from pathlib import Path


def shown(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def kind_of(key):
    """In which part of the page a figure stands."""
    if "ratio" in key:
        return "Against a peer, another precision or more ranks (ratio)"
    if "share" in key or "utilisation" in key:
        return "Share of a limit"
    return "Figures"


def section(name, result):
    """One bench: its check first, then ratios, shares and the rest. Tables within a result keep their own keys."""
    flat = {}
    for key, value in result.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{inner}": v for inner, v in value.items() if not isinstance(v, (dict, list))})
        elif not isinstance(value, list):
            flat[key] = value
    words = {key: value for key, value in flat.items() if isinstance(value, str)}
    lines = [f"## {name}"] + [f"- {key}: {value}" for key, value in words.items()]
    groups = {}
    for key, value in flat.items():
        if key not in words:
            groups.setdefault(kind_of(key), []).append((key, value))
    for title in sorted(groups):
        lines += ["", f"| {title} | |", "|---|---|"] + [f"| `{key}` | {shown(value)} |" for key, value in groups[title]]
    return "\n".join(lines)


def page(results):
    measured = results.get("measured", {})
    where = ", ".join(f"{key} {value}" for key, value in measured.items() if key not in ("command",))
    parts = ["# Benchmarks", f"`{measured.get('command', 'cambium bench all --json')}`; {where}.",
             "Peers are timed in the same call, on the same core; what a key means stands in its plugin's README."]
    parts += [section(name, result) for name, result in results.items() if name != "measured"]
    return "\n\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Write a page of benchmarks.")
    parser.add_argument("results", help="file with the last line that `cambium bench all --json` printed")
    parser.add_argument("-o", "--output", default="benchmarks.md")
    options = parser.parse_args()
    try:
        results = json.loads(Path(options.results).read_text().strip().splitlines()[-1])
    except (OSError, IndexError, json.JSONDecodeError) as problem:
        sys.exit(f"bench_page: '{options.results}' does not end with the JSON line of `cambium bench all --json`: {problem}")
    partial = Path(options.output + ".part")
    partial.write_text(page(results))
    os.replace(partial, options.output)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
