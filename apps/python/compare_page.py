#!/usr/bin/env python3
"""Writes one self-contained HTML page that compares runs of Cambium: keys of their decks that differ, last pages, curves laid over each other.

    cambium report RUN RUN ... [-o comparison.html]

`cambium report` hands over the differing keys (--differences), which it reads from the resolved decks. Needs numpy, h5py and matplotlib.
"""

import argparse
import html
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cambium_io  # noqa: E402
import report  # noqa: E402
import sweep_curves  # noqa: E402
import sweep_page  # noqa: E402


def names_of(folders):
    """What tells the folders apart: their last words, with more of the path where these are the same."""
    for words in range(1, 20):
        names = ["/".join(Path(folder).resolve().parts[-words:]) for folder in folders]
        if len(set(names)) == len(names):
            return names
    return [str(folder) for folder in folders]


def table_of_keys(names, differences):
    if not differences:
        return "<p>The decks are the same.</p>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    rows = "".join(f"<tr><th>{html.escape(path)}</th>" + "".join(f"<td>{html.escape(value)}</td>" for value in values) + "</tr>"
                   for path, *values in differences)
    return f'<div style="overflow-x: auto"><table><tr><th>key</th>{head}</tr>{rows}</table></div>'


def means(names, tables):
    """Mean over the second half and last value of every column that all tables have."""
    head = "".join(f'<th class="number">{html.escape(name)}</th>' for name in names)
    out = f'<div style="overflow-x: auto"><table><tr><th>mean over the second half</th><th>unit</th>{head}</tr>'
    for column in tables[0].names:
        if column in ("step", "time", "epoch") or not all(column in table for table in tables):
            continue
        values = [np.mean(table[column][len(table) // 2:]) for table in tables]
        cells = "".join(f'<td class="number">{value:.6g}</td>' for value in values)
        out += f"<tr><th>{html.escape(column)}</th><td>{html.escape(tables[0].units[column])}</td>{cells}</tr>"
    return out + "</table></div>"


def page(folders, differences):
    names = names_of(folders)
    runs = [cambium_io.Run(folder) for folder in folders]
    body = ["<h1>Comparison</h1>", f'<p class="lead">{len(runs)} runs: {html.escape(", ".join(names))}.</p>',
            "<h2>Keys that differ</h2>", table_of_keys(names, differences)]
    found = {}
    for name, run in zip(names, runs):
        for table_name, table in sweep_page.tables_of(run.path).items():
            found.setdefault(table_name, []).append((name, table))
    with tempfile.TemporaryDirectory(prefix="cambium_comparison_") as scratch:
        for number, (name, tables) in enumerate(found.items()):
            body.append(f"<h2>{html.escape(name)}</h2>")
            picture = sweep_curves.overlay(tables, Path(scratch) / f"tables_{number}.png")
            if picture:
                body.append(report.embedded(picture))
            body.append(means([name for name, _ in tables], [table for _, table in tables]))
    body.append("<h2>Last pages</h2>")
    for name, run in zip(names, runs):
        for stage in report.stages_of(run):
            body.append(report.folded(f"{name}: {stage}", "\n".join(report.summary_of(run.path / stage))))
    provenance = [report.provenance_of(run.path) for run in runs]
    rows = [[key, *(p.get(key, "") for p in provenance)] for key in provenance[0] if key != "deck"]
    body += ["<h2>Provenance that differs</h2>", table_of_keys(names, [row for row in rows if len(set(row[1:])) > 1])]
    return report.document("Comparison", body)


def main():
    parser = argparse.ArgumentParser(description="Write one HTML page that compares runs.")
    parser.add_argument("runs", nargs="+", help="run directories")
    parser.add_argument("--differences", default="[]", help="JSON: [[key, value in each run ...], ...]")
    parser.add_argument("-o", "--output", default="comparison.html", help="page to write")
    options = parser.parse_args()
    report.write_page(Path(options.output), page([Path(run) for run in options.runs], json.loads(options.differences)))


if __name__ == "__main__":
    main()
