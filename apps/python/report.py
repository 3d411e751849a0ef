#!/usr/bin/env python3
"""Writes one self-contained HTML page about a run of Cambium: what ran, pictures, timing, warnings, provenance, citations.

    cambium report RUN [-o report.html]
    python3 report.py RUN [-o report.html]

Needs numpy, h5py and matplotlib. The page loads nothing from anywhere: pictures are inside it.
"""

import argparse
import base64
import contextlib
import errno
import html
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cambium_io  # noqa: E402
import cambium_profile  # noqa: E402
import plugin_pictures  # noqa: E402
import report_pictures  # noqa: E402
from cambium_said import say  # noqa: E402

SUMMED_UP = {"thermo.csv", "training.csv", "validation.csv"}
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222831; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #e5e7eb; }
.lead { color: #6b7280; margin-top: .2rem; } .warning { background: #fff4e5; border-left: 4px solid #e09f3e; padding: .4rem .8rem; }
.bad { background: #fdecee; border-left: 4px solid #d1495b; padding: .4rem .8rem; }
table { border-collapse: collapse; font-size: .9rem; margin: .8rem 0; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; overflow-wrap: anywhere; }
tr { border-bottom: 1px solid #f0f1f3; } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { background: #f6f7f9; padding: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem; line-height: 1.35; }
img { max-width: 100%; display: block; margin: 1rem 0; } summary { cursor: pointer; color: #1f5aa6; }
"""


def text_of(path):
    return path.read_text(errors="replace") if path.is_file() else ""


def embedded(path):
    data = base64.b64encode(Path(path).read_bytes()).decode()
    return f'<img alt="{html.escape(Path(path).stem)}" src="data:image/png;base64,{data}">'


def rows(pairs):
    cells = "".join(f"<tr><th>{html.escape(str(a))}</th><td>{html.escape(str(b))}</td></tr>" for a, b in pairs)
    return f"<table>{cells}</table>"


def folded(title, text):
    return f"<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>" if text else ""


def provenance_of(folder):
    """provenance.yaml as a dictionary of texts; `deck` is the resolved deck."""
    head, _, deck = text_of(folder / "provenance.yaml").partition("\ndeck: |\n")
    out = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    out["deck"] = "\n".join(line[2:] for line in deck.splitlines())
    return out


def stages_of(run):
    """Folders of the stages: those that are done in their order, then what began."""
    done = [line for line in text_of(run.path / "stages_done.txt").splitlines() if (run.path / line).is_dir() and line]
    return done + [name for name in run.stages if name not in done and name != "previous"]


def warnings_of(run):
    """Warnings of all stages, each once; of a run that has not ended those in its log."""
    found = [cambium_io.results_in(run.path / stage) for stage in stages_of(run)]
    texts = [warning["text"] for results in found if results is not None for warning in results.warnings]
    if None in found or not found:
        texts += [line[len("warning: "):] for line in text_of(run.path / "log.txt").splitlines() if line.startswith("warning: ")]
    return list(dict.fromkeys(texts))


def summary_of(folder):
    """Lines of a stage's summary; of a committee those of its members; a sentence where there is none."""
    members = [(path, cambium_io.results_in(path)) for path in sorted(folder.glob("model_*")) if path.is_dir()]
    out = [line for path, results in members if results is not None for line in (path.name, *results.summary, "")]
    results = cambium_io.results_in(folder)
    if results is None:
        return [*out, "no results.json: this stage has not ended, or an earlier version of Cambium ran it; its output is in log.txt"]
    return out + results.summary


def table_summary(path):
    """First, last, mean, smallest and largest value of every column that changes."""
    table = cambium_io.Table(path)
    if len(table) < 2:
        return ""
    out = "<table><tr><th></th><th>unit</th>" + "".join(
        f'<th class="number">{name}</th>' for name in ("first", "last", "mean", "smallest", "largest")) + "</tr>"
    for name in table.names:
        x = table[name]
        if name == "step" or x.min() == x.max():
            continue
        numbers = "".join(f'<td class="number">{value:.6g}</td>' for value in (x[0], x[-1], x.mean(), x.min(), x.max()))
        out += f"<tr><th>{html.escape(name)}</th><td>{html.escape(table.units[name])}</td>{numbers}</tr>"
    return out + "</table>"


def table_of_plugin(title, headings, rows):
    """A table whose rows are a name and numbers, as a plugin gives it."""
    head = "".join(f'<th class="number">{html.escape(name)}</th>' for name in headings)
    out = f"<h3>{html.escape(title)}</h3><table><tr><th></th>{head}</tr>"
    for name, *values in rows:
        numbers = "".join(f'<td class="number">{value:.4g}</td>' for value in values)
        out += f"<tr><th>{html.escape(name)}</th>{numbers}</tr>"
    return out + "</table>"


def citations(run):
    """The works of all stages, each once: authors, title, year, doi."""
    found = {}
    members = sorted(run.path.glob("*/model_*/cite.bib"))
    for path in [run.path / "cite.bib"] + [run.path / stage / "cite.bib" for stage in run.stages] + members:
        for entry in re.split(r"\n(?=@)", text_of(path)):
            fields = {key: value.replace("{", "").replace("}", "") for key, value in
                      re.findall(r"(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}", entry)}
            if "title" in fields:
                found[fields["title"]] = fields
    items = []
    for work in sorted(found.values(), key=lambda w: w.get("author", "")):
        doi = work.get("doi")
        link = f' <a href="https://doi.org/{html.escape(doi)}">{html.escape(doi)}</a>' if doi else ""
        where = ", ".join(work[key] for key in ("journal", "year") if key in work)
        items.append(f"<li>{html.escape(work.get('author', ''))}: {html.escape(work['title'])}. {html.escape(where)}.{link}</li>")
    return f"<ul>{''.join(items)}</ul>" if items else "<p>None.</p>"


def stage_section(run, name):
    folder = run.path / name
    out = [f"<h2>{html.escape(name)}</h2>"]
    with tempfile.TemporaryDirectory(prefix="cambium_report_") as scratch:
        pictures, problems = report_pictures.draw_stage(folder, Path(scratch))
        out += [embedded(picture) for picture in pictures]
        out += [embedded(picture) for picture in cambium_profile.draw(folder, Path(scratch) / "profile.png")]
    tables, bad = plugin_pictures.tables(folder)
    out += [f'<p class="warning">{html.escape(problem)}</p>' for problem in problems + bad]
    lines = "\n".join(summary_of(folder))
    out.append(f"<pre>{html.escape(lines)}</pre>")
    out += [table_of_plugin(*table) for table in tables]
    for table in sorted(folder.glob("*.csv")):
        if table.name in SUMMED_UP | plugin_pictures.summaries():
            out.append(f"<h3>{table.stem}</h3>{table_summary(table)}")
    found = sorted(p for pattern in ("*", "*/*", "*/*/*") for p in folder.glob(pattern) if p.is_file())
    files = [(p.relative_to(folder), f"{p.stat().st_size / 1e6:.3g} MB") for p in found]
    out.append(f"<details><summary>{len(files)} files</summary>{rows(files)}</details>")
    return "\n".join(out)


def state(run, stages):
    """One sentence on how far the run came."""
    done = [line for line in text_of(run.path / "stages_done.txt").splitlines() if line.strip()]
    if len(done) >= len(stages) and stages:
        return f'<p class="lead">{"1 stage" if len(done) == 1 else f"{len(done)} stages, all"} finished.</p>'
    return (f'<p class="bad">{len(done)} of {len(stages)} stages that began are finished. '
            f"Continue with: cambium restart {html.escape(str(run.path))}</p>")


def page(run):
    log = text_of(run.path / "log.txt")
    provenance = provenance_of(run.path)
    deck = provenance.pop("deck") or text_of(run.path / "deck.resolved.yaml")
    stages = stages_of(run)
    name = html.escape(run.path.resolve().name)
    body = [f"<h1>{name}</h1>", state(run, stages),
            f'<p class="lead"><code>{html.escape(provenance.get("command_line", ""))}</code></p>']
    body += [f'<p class="warning">{html.escape(text)}</p>' for text in warnings_of(run)]
    body += [stage_section(run, stage) for stage in stages]
    body += ["<h2>To cite</h2>", citations(run), "<h2>Provenance</h2>", rows(provenance.items()),
             folded("the deck with all defaults", deck), folded("the whole log", log)]
    return document(name, body)


def document(title, body):
    """A whole page of these parts; the title is HTML."""
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n")


@contextlib.contextmanager
def room_for_pictures(program):
    """Ends the program with a sentence where the disk of temporary files is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        sys.exit(f"{program}: cannot write pictures into '{tempfile.gettempdir()}': {error.strerror}; make room or set TMPDIR to another folder")


def write_page(output, text):
    """Complete or not at all; what is no file, such as a device, is written into and not replaced."""
    partial = output.with_name(output.name + ".part") if output.is_file() or not output.exists() else output
    try:
        partial.write_text(text)
        if partial != output:
            os.replace(partial, output)
    except OSError as error:
        if partial != output:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
        sys.exit(f"report: cannot write '{output}': {error.strerror or error}; make room or name another location by -o")
    say(f"wrote {output}")


def main():
    parser = argparse.ArgumentParser(description="Write one HTML page about a run.")
    parser.add_argument("run", help="run directory")
    parser.add_argument("-o", "--output", help="page to write (default: RUN/report.html)")
    options = parser.parse_args()
    folder = Path(options.run)
    if not (folder / "provenance.yaml").is_file():
        sys.exit(f"report: '{options.run}' holds no run: there is no provenance.yaml; give the folder named run.directory in the deck")
    output = Path(options.output or folder / "report.html")
    with room_for_pictures("report"):
        text = page(cambium_io.Run(folder))
    write_page(output, text)


if __name__ == "__main__":
    main()
