#!/usr/bin/env python3
"""Writes a page of benchmarks from what `cambium bench all --json` printed: an overview, then for each bench its check, ratios to
peers, shares of limits, how the cost grows with the size of the work, and the other figures.

    cambium bench all --json > all.log
    python3 bench_page.py all.log [-o benchmarks.md]

Reads the last line, one JSON object. Where a run was cut short, the lines that each bench left are put together instead. Several
files are put together, too: docs/measured/*.json of single benches, for example.
"""

import argparse
import json
import math
import os
import re
import sys
from pathlib import Path

RATIO, SHARE, GROWTH, FIGURES = ("Against a reference implementation, another precision or more ranks (ratio)", "Share of a limit",
                                 "Growth with size", "Figures")
SIZES = ("molecules", "atoms", "cells", "points", "samples", "size", "batch", "n")
SIZED = re.compile(r"^(?P<base>.+?)_b?(?P<size>\d{2,}|[1-9])$")


def shown(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def kind_of(key):
    """In which part of the page a figure stands."""
    words = re.split(r"[_.]", key)
    if "ratio" in words or "speedup" in words:
        return RATIO
    if "share" in words or "utilisation" in words:
        return SHARE
    return FIGURES


def power(sizes, values):
    """Exponent p of value ~ size^p between the smallest and the largest size, as text."""
    if min(*sizes, *values) <= 0 or sizes[0] == sizes[-1]:
        return ""
    return f"{math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0]):+.2f}"


def by_size(flat):
    """Figures whose keys end in a size, name_1536 and name_12288: {name: [(size, value), ...]}, and the keys used."""
    groups = {}
    for key, value in flat.items():
        match = SIZED.match(key)
        if match and number(value):
            groups.setdefault(match["base"], []).append((int(match["size"]), value, key))
    groups = {base: sorted(rows) for base, rows in groups.items() if len(rows) > 1}
    return groups, {key for rows in groups.values() for _, _, key in rows}


def table(rows):
    """A list of objects as a table; a last row gives the power of the size with which each column grows."""
    names = [name for name in rows[0] if all(number(row.get(name)) for row in rows)]
    sizes = [name for name in SIZES if name in names]
    names.sort(key=lambda name: name not in sizes[:1])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(shown(row[name]) for name in names) + " |" for row in rows]
    if sizes and len(rows) > 1:
        rows = sorted(rows, key=lambda row: row[sizes[0]])
        size = [row[sizes[0]] for row in rows]
        lines.append(f"| power of {sizes[0]} | " + " | ".join(power(size, [row[name] for row in rows]) for name in names[1:]) + " |")
    return lines


def growth(groups, tables):
    """Lines of the part on growth."""
    lines = []
    if groups:
        lines += ["| figure | at each size | power of the size |", "|---|---|---|"]
    for base, rows in groups.items():
        sizes, values = [row[0] for row in rows], [row[1] for row in rows]
        cells = ", ".join(f"{size}: {shown(value)}" for size, value in zip(sizes, values))
        lines.append(f"| `{base}` | {cells} | {power(sizes, values)} |")
    for name, rows in tables.items():
        lines += ["", f"`{name}`", ""] + table(rows)
    return lines


def parts_of(result):
    """One bench's figures: words, tables (lists of objects) and the rest, tables within a result flattened."""
    flat, tables = {}, {}
    for key, value in result.items():
        if isinstance(value, dict) and key != "measured":
            flat.update({f"{key}.{inner}": v for inner, v in value.items() if not isinstance(v, (dict, list))})
        elif isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            tables[key] = value
        elif not isinstance(value, (list, dict)):
            flat[key] = value
    words = {key: flat.pop(key) for key in [k for k, v in flat.items() if isinstance(v, str)]}
    return words, flat, tables


def section(name, result):
    """One bench: its check first, then ratios, shares, growth and the rest."""
    if "failed" in result:
        return f"## {name}\nFailed: {result['failed']}"
    words, flat, tables = parts_of(result)
    lines = [f"## {name}"] + [f"- {key}: {value}" for key, value in words.items()]
    groups, used = by_size({key: value for key, value in flat.items() if kind_of(key) == FIGURES})
    chapters = {title: [] for title in (RATIO, SHARE, GROWTH, FIGURES)}
    for key, value in flat.items():
        if key not in used:
            chapters[kind_of(key)].append(f"| `{key}` | {shown(value)} |")
    for title, rows in chapters.items():
        if title == GROWTH and (groups or tables):
            lines += ["", f"### {GROWTH}"] + growth(groups, tables)
        elif rows:
            lines += ["", f"| {title} | |", "|---|---|"] + rows
    if isinstance(result.get("measured"), dict):
        lines += ["", where(result["measured"])]
    return "\n".join(lines)


def overview(results):
    """A row per bench: whether its check holds, its ratios and shares from the least to the largest."""
    lines = ["| Bench | Check | Ratios | Shares of a limit |", "|---|---|---|---|"]
    for name, result in results.items():
        if "failed" in result:
            lines.append(f"| {name} | failed | | |")
            continue
        words, flat, _ = parts_of(result)
        cells = []
        for title in (RATIO, SHARE):
            values = [v for key, v in flat.items() if kind_of(key) == title and number(v) and "." not in key]
            ends = sorted({shown(float(min(values))), shown(float(max(values)))}, key=float) if values else []
            cells.append(" to ".join(ends))
        lines.append(f"| {name} | {words.get('check', 'none').split(':')[0]} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def where(measured):
    rest = ", ".join(f"{key} {value}" for key, value in measured.items() if key != "command")
    return f"`{measured.get('command', 'cambium bench all --json')}`; {rest}."


def page(results):
    results = dict(results)
    measured = results.pop("measured", None)
    parts = ["# Benchmarks"] + ([where(measured)] if measured else [])
    parts += ["Reference implementations are timed in the same call, on the same core; the plugin's README explains the keys. A power of the "
              "size is taken between the smallest and the largest.", overview(results)]
    return "\n\n".join(parts + [section(name, result) for name, result in results.items()]) + "\n"


def objects(text):
    """The JSON objects among the lines of a log, in order; a file that is one object counts as one."""
    try:
        whole = json.loads(text)
        return [whole] if isinstance(whole, dict) else []
    except json.JSONDecodeError:
        pass
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:  # the line on which a run was killed
                continue
    return found


def read(path):
    """Results by bench. The last object holds all when the run came to its end, else the lines before are put together."""
    found = objects(Path(path).read_text())
    if not found:
        raise ValueError("it holds no line with a JSON object")
    last = found[-1]
    if "measured" not in last:
        return {name: result for line in found for name, result in line.items()}
    if all(isinstance(value, dict) for value in last.values()):
        return last
    return {Path(path).stem: last}  # a single bench


def main():
    parser = argparse.ArgumentParser(description="Write a page of benchmarks.")
    parser.add_argument("results", nargs="+", help="what `cambium bench all --json` printed, or files of single benches")
    parser.add_argument("-o", "--output", default="benchmarks.md")
    options = parser.parse_args()
    results = {}
    for path in options.results:
        try:
            results.update(read(path))
        except (OSError, ValueError) as problem:
            sys.exit(f"bench_page: '{path}' is not what `cambium bench all --json` printed: {problem}")
    partial = Path(options.output + ".part")
    partial.write_text(page(results))
    os.replace(partial, options.output)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
