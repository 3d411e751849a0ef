#!/usr/bin/env python3
"""Writes one self-contained HTML page about a sweep of Cambium: curves over the swept keys, every run with its state, what failed and why.

    cambium report SWEEP [-o report.html]
    python3 sweep_page.py SWEEP [-o report.html]

Needs numpy, h5py and matplotlib, and the results that `cambium sweep` and `cambium report` collect.
"""

import argparse
import html
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cambium_io  # noqa: E402
import cambium_sweep  # noqa: E402
import report  # noqa: E402
import sweep_curves  # noqa: E402

# What a run costs, apart from what it found.
COST = ("seconds",)


def tables_of(folder):
    """thermo.csv, else training.csv, of every stage of a run that has one with two lines: {stage/name: Table}."""
    found = {}
    for stage in cambium_io.Run(folder).stages if folder.is_dir() else []:
        for name in ("thermo.csv", "training.csv"):
            path = folder / stage / name
            if path.is_file():
                table = cambium_io.Table(path)
                if len(table) > 1:
                    found[f"{stage}/{name}"] = table
                break
    return found


def sorted_names(sweep):
    """((name, its last-line twin or None) of what changes, names that do not change, names of costs), theory first."""
    results = [name for name in sweep.names if name != "exit_code" and not name.endswith("_theory")]
    costs = [name for name in results if name.endswith(COST)]
    pairs, same = [], []
    for name in results:
        if name in costs or (name.endswith("_last") and name[:-5] + "_mean" in sweep):
            continue
        values = sweep.flat(name)
        values = values[np.isfinite(values)]
        twin = name[:-5] + "_last" if name.endswith("_mean") and name[:-5] + "_last" in sweep else None
        changes = len(values) > 1 and np.ptp(values) > 1e-6 * np.abs(values).max()
        (pairs if changes or name + "_theory" in sweep else same).append((name, twin))
    pairs.sort(key=lambda pair: (pair[0] + "_theory" not in sweep, pair[0].endswith("_mean")))
    return pairs, [name for name, _ in same], costs


def run_row(sweep, k, columns):
    run = sweep.runs[k]
    folder = html.escape(run["folder"])
    cells = [f'<td class="number">{k + 1}</td>']
    cells += [f'<td class="number">{html.escape(sweep_curves.short(sweep.flat(key)[k]))}</td>' for key in sweep.keys]
    state = run["state"] if run["state"] != "failed" else f"failed ({run['exit_code']})"
    cells.append(f"<td>{html.escape(state)}</td>")
    for name in columns:
        value = sweep.flat(name)[k]
        cells.append(f'<td class="number">{value:.5g}</td>' if np.isfinite(value) else "<td></td>")
    return f"<tr>{''.join(cells)}<td><code>{folder}</code></td></tr>"


def heading(sweep, name):
    unit = sweep.units[name]
    return html.escape(f"{name.replace('_', ' ')} [{unit}]" if unit else name.replace("_", " "))


def table_of_runs(sweep, columns):
    heads = ["run"] + [heading(sweep, key) for key in sweep.keys] + ["state"] + [heading(sweep, name) for name in columns] + ["folder"]
    return ('<div style="overflow-x: auto"><table><tr>' + "".join(f"<th>{text}</th>" for text in heads) + "</tr>" +
            "".join(run_row(sweep, k, columns) for k in range(len(sweep))) + "</table></div>")


def failures(sweep):
    out = []
    for k, run in enumerate(sweep.runs):
        if run["state"] == "failed":
            values = ", ".join(f"{key} = {sweep_curves.short(sweep.flat(key)[k])}" for key in sweep.keys)
            out.append(f'<p class="bad">Run {k + 1} ({html.escape(values)}) failed with exit code {run["exit_code"]}: '
                       f'{html.escape(run["reason"])}</p>')
    return out


def state(sweep):
    count = {word: sum(run["state"] == word for run in sweep.runs) for word in ("done", "failed", "begun", "missing")}
    over = " × ".join(f"{key} ({len(sweep.values[key])})" for key in sweep.keys) if not sweep.zip else " with ".join(sweep.keys)
    parts = [f"{number} {word}" for word, number in count.items() if number]
    return f'<p class="lead">{len(sweep)} runs over {html.escape(over)}: {", ".join(parts)}.</p>'


def curves(sweep, pairs, scratch):
    """Pictures of at most a dozen panels each."""
    out, size = [], sweep_curves.MOST_PANELS
    for k in range(0, len(pairs), size):
        part = pairs[k:k + size]
        picture = report.embedded(sweep_curves.draw_results(sweep, part, scratch / f"results_{k // size + 1}.png"))
        out.append(narrow(picture, len(part)))
    note = sweep_curves.notes(sweep, pairs)
    return out + ([f'<p class="lead">{html.escape(note[0].upper() + note[1:])}.</p>'] if note else [])


def narrow(picture, panels):
    """A single panel is as wide as one of three."""
    return picture.replace("<img ", f'<img style="width: {min(100, 34 * panels)}%" ', 1)


def overlays(sweep, scratch):
    """The tables of all runs over their time, one picture per stage."""
    out, found = [], {}
    for k in range(len(sweep)):
        values = ", ".join(f"{key} = {sweep_curves.short(sweep.flat(key)[k])}" for key in sweep.keys)
        for name, table in tables_of(sweep.folder(k)).items():
            found.setdefault(name, []).append((values, table))
    for number, (name, tables) in enumerate(found.items()):
        picture = sweep_curves.overlay(tables, scratch / f"tables_{number}.png")
        if picture:
            out += [f"<h3>{html.escape(name)}</h3>", report.embedded(picture)]
    return out


def warnings(sweep):
    """Warnings of the runs, each once, with the runs that gave it."""
    found = {}
    for k in range(len(sweep)):
        for text in report.warnings_of(cambium_io.Run(sweep.folder(k))) if sweep.folder(k).is_dir() else []:
            found.setdefault(text, set()).add(k + 1)
    return [f'<p class="warning">Run {", ".join(map(str, sorted(runs)))}: {html.escape(text)}</p>' for text, runs in found.items()]


def page(sweep):
    name = html.escape(sweep.path.resolve().name)
    pairs, same, costs = sorted_names(sweep)
    body = [f"<h1>{name}</h1>", state(sweep), f'<p class="lead"><code>{html.escape(sweep.command)}</code></p>', *failures(sweep)]
    with tempfile.TemporaryDirectory(prefix="cambium_sweep_") as scratch:
        scratch = Path(scratch)
        if pairs:
            body += ["<h2>Results over the swept keys</h2>", *curves(sweep, pairs, scratch)]
        over_time = overlays(sweep, scratch)
        if over_time:
            body += ["<h2>Runs over their time</h2>", *over_time]
        body += ["<h2>Runs</h2>", table_of_runs(sweep, [name for name, _ in pairs if not name.endswith("_mean")][:6] + costs)]
        if any(np.isfinite(sweep.flat(cost)).sum() > 1 for cost in costs):
            body += ["<h2>What the runs cost</h2>", *curves(sweep, [(cost, None) for cost in costs], scratch)]
    if same:
        body.append(f"<p>The same in all runs, or known of one alone: {html.escape(', '.join(same))}.</p>")
    done = [k for k in range(len(sweep)) if (sweep.folder(k) / "provenance.yaml").is_file()]
    body += [*warnings(sweep), "<h2>Data</h2>",
             "<p><code>results.csv</code> has a line for each run; <code>results.h5</code> has arrays over the keys: "
             f"<code>xarray.open_dataset(\"{html.escape(str(sweep.path))}/results.h5\")</code>.</p>"]
    if done:
        run = cambium_io.Run(sweep.folder(done[0]))
        provenance = report.provenance_of(run.path)
        deck = provenance.pop("deck")
        body += ["<h2>To cite</h2>", report.citations(run), "<h2>Provenance</h2>", report.rows(provenance.items()),
                 report.folded(f"the deck of run {done[0] + 1} with all defaults", deck)]
    return report.document(name, body)


def main():
    parser = argparse.ArgumentParser(description="Write one HTML page about a sweep.")
    parser.add_argument("sweep", help="folder of the sweep")
    parser.add_argument("-o", "--output", help="page to write (default: SWEEP/report.html)")
    options = parser.parse_args()
    output = Path(options.output or Path(options.sweep) / "report.html")
    try:
        with report.room_for_pictures("sweep_page"):
            text = page(cambium_sweep.Sweep(options.sweep))
    except FileNotFoundError as error:
        sys.exit(f"sweep_page: {error}")
    report.write_page(output, text)


if __name__ == "__main__":
    main()
