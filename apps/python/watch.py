#!/usr/bin/env python3
"""Follows a run while it goes on: curves of its newest table in the terminal, on a page that reloads itself, or both.

    python3 watch.py RUN [--stage NAME] [--show loss,error] [--interval 2] [--once] [--page live.html]

Needs nothing but Python, so that it works where the run is. Reads the tables (training.csv with learning_curve.csv and
validation.csv, thermo.csv) that stages append rows to, and ends with the run.
"""

import argparse
import csv
import html
import math
import os
import re
import shutil
import sys
import time

TABLES = ("training.csv", "thermo.csv")
BESIDE = {"training.csv": ("learning_curve.csv", "validation.csv")}
LOSSES = ("loss", "validation: loss")  # one axis for both
NOT_DRAWN = ("step", "epoch", "time")
HEIGHT = 5  # rows of text of a curve
MOST = 6  # curves of one screen
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille letter, by row and column


def read(path):
    """{column: numbers} of a table that may be growing: its last line counts once it is complete. Empty where there is none."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return {}
    rows = list(csv.reader(text[:text.rfind("\n") + 1].splitlines()))
    rows = [row for row in rows if len(row) == len(rows[0])]
    columns = {}
    for k, name in enumerate(rows[0] if rows else []):
        try:
            columns[name] = [float(row[k]) for row in rows[1:]]
        except ValueError:
            continue
    return columns


def text_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


class Stage:
    """The stage of a run that is followed."""

    def __init__(self, run, folder):
        self.run, self.folder = run, folder
        self.table = next((name for name in TABLES if os.path.exists(os.path.join(folder, name))), None)

    @property
    def name(self):
        return os.path.basename(self.folder)

    def curves(self):
        """{label: (steps, values)}; the losses first, then the other columns, those of validation after the others, the learning rate last."""
        out = {}
        for name in filter(None, (self.table, *BESIDE.get(self.table, ()))):
            columns = read(os.path.join(self.folder, name))
            for column, values in columns.items():
                if column.split(" [")[0] in NOT_DRAWN or column == "training_loss" or "step" not in columns:
                    continue
                label = ("validation: " if name != self.table else "") + column.replace("validation_loss", "loss")
                out[label] = (columns["step"], values)
        return dict(sorted(out.items(), key=lambda curve: (curve[0] not in LOSSES, curve[0].startswith("learning_rate"))))

    def planned(self):
        """Steps that the deck plans for this stage; None where it says no number."""
        kinds, steps = {}, None
        here = False
        for line in text_of(os.path.join(self.run, "deck.resolved.yaml")).splitlines():
            stage = re.match(r"  - (\w+):", line)
            if stage:
                kinds[stage[1]] = kinds.get(stage[1], 0) + 1
                here = self.name == stage[1] + (f"_{kinds[stage[1]]}" if kinds[stage[1]] > 1 else "")
            found = re.match(r"      (?:  schedule: )?steps: (\d+)\s*$", line)
            if here and found:
                steps = int(found[1])
        return steps

    def ended(self):
        return os.path.exists(os.path.join(self.folder, "results.json"))


def newest_stage(run, wanted):
    """The stage whose table changed last, or the one of this name; None while there is none."""
    folders = [run] + [os.path.join(run, name) for name in sorted(os.listdir(run)) if os.path.isdir(os.path.join(run, name))]
    found = [Stage(run if folder != run else os.path.dirname(os.path.abspath(run)), folder) for folder in folders]
    found = [stage for stage in found if stage.table and wanted in ("", stage.name)]
    return max(found, key=lambda stage: os.path.getmtime(os.path.join(stage.folder, stage.table)), default=None)


def run_ended(run):
    """Whether all stages of the deck are done."""
    stages = re.findall(r"^  - \w+:", text_of(os.path.join(run, "deck.resolved.yaml")), re.M)
    return bool(stages) and len(text_of(os.path.join(run, "stages_done.txt")).split()) >= len(stages)


def logarithmic(values):
    return min(values) > 0 and max(values) > 20 * min(values)


def axes_of(name, curves):
    """The finite numbers (steps, values) that the axes of this curve hold: of both losses for each of them."""
    together = [n for n in LOSSES if n in curves] if name in LOSSES else [name]
    points = [(s, v) for n in together for s, v in zip(*curves[n]) if math.isfinite(v)]
    return [s for s, _ in points], [v for _, v in points]


def scaled_axis(values):
    """(scale, lowest, highest, logarithmic?) of the vertical axis: logarithmic where the values are positive and span more than a factor of 20."""
    log = logarithmic(values)
    scale = math.log10 if log else float
    return scale, scale(min(values)), scale(max(values)), log


def drawn(steps, values, width, height, axes=None):
    """Lines of braille letters, one for every two points along and four up, and the ends of the axis."""
    points = [(s, v) for s, v in zip(steps, values) if math.isfinite(v)]
    if not points:
        return None
    all_steps, all_values = axes or ([s for s, _ in points], [v for _, v in points])
    scale, low, high, log = scaled_axis(all_values)
    first, last = min(all_steps), max(max(all_steps), min(all_steps) + 1)
    cells = [[0] * width for _ in range(height)]
    across, up = 2 * width - 1, 4 * height - 1
    places = [((s - first) / (last - first) * across, (high - scale(v)) / (high - low) * up if high > low else up / 2) for s, v in points]
    for (x0, y0), (x1, y1) in zip(places, places[1:] or places):
        parts = max(1, math.ceil(2 * max(abs(x1 - x0), abs(y1 - y0))))
        for k in range(parts + 1):
            x, y = (round(a + (b - a) * k / parts) for a, b in ((x0, x1), (y0, y1)))
            cells[y // 4][x // 2] |= DOTS[y % 4][x % 2]
    ends = [10.0 ** end if log else end for end in (high, low)]
    return ["".join(chr(0x2800 + cell) for cell in row) for row in cells], ends, log


def chosen(curves, show):
    return {name: curve for name, curve in curves.items() if not show or name.split(" [")[0].replace("validation: ", "") in show}


def screen(stage, show, width, speed):
    """The text of one look at a stage."""
    curves = chosen(stage.curves(), show)
    step = max((steps[-1] for steps, _ in curves.values() if steps), default=0)
    planned = stage.planned()
    head = f"{stage.folder}: step {step:.0f}" + (f" of {planned} ({100 * step / planned:.0f} %)" if planned else "")
    if speed and not stage.ended():
        head += f", {speed:.3g} steps/s"
        if planned and planned > step:
            head += f", about {time_text((planned - step) / speed)} left"
    lines = [head + (", ended" if stage.ended() else "")]
    for name, (steps, values) in list(curves.items())[:MOST]:
        picture = drawn(steps, values, max(10, width - 12), HEIGHT, axes_of(name, curves)) if values else None
        bad = [s for s, v in zip(steps, values) if not math.isfinite(v)]
        if not picture:
            lines.append(f"{name}: no finite numbers yet")
            continue
        rows, (high, low), log = picture
        lines.append(f"{name} = {values[-1]:.5g}" + (" (logarithmic)" if log else "") + (f", not finite at step {bad[0]:.0f}" if bad else ""))
        for k, row in enumerate(rows):
            lines.append(f"{high if k == 0 else low:>10.3g} |{row}" if k in (0, HEIGHT - 1) else f"{'':>10} |{row}")
    if show and not curves:
        lines.append(f"no column of this stage is named {', '.join(show)}; it has: {', '.join(stage.curves())}")
    if len(curves) > MOST:
        lines.append(f"and {len(curves) - MOST} more: --show names those to draw")
    return "\n".join(lines)


def time_text(seconds):
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def svg(*lines):
    """Curves (steps, values) as SVG, on the axis that the terminal has; the second one is dashed."""
    lines = [[(s, v) for s, v in zip(*line) if math.isfinite(v)] for line in lines]
    if not any(lines):
        return "<p>no finite numbers yet</p>"
    scale, low, high, log = scaled_axis([v for line in lines for _, v in line])
    steps = [s for line in lines for s, _ in line]
    first, last = min(steps), max(max(steps), min(steps) + 1)
    curves = ""
    for kind, line in zip(("", ' class="second"'), lines):
        points = " ".join(f"{70 + 520 * (s - first) / (last - first):.1f},{20 + (130 * (high - scale(v)) / (high - low) if high > low else 65):.1f}"
                          for s, v in line)
        curves += f'<polyline points="{points}"{kind}/>'
    ends = [10.0 ** end if log else end for end in (high, low)]
    marks = "".join(f'<text x="62" y="{y}" text-anchor="end">{end:.3g}</text>' for y, end in zip((26, 154), ends))
    return (f'<svg viewBox="0 0 600 180" role="img"><path d="M70 20V150H590" class="axis"/>{curves}{marks}'
            f'<text x="70" y="170">{first:.0f}</text><text x="590" y="170" text-anchor="end">step {last:.0f}</text></svg>')


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">{reload}<title>{title}</title>
<style>body{{font:15px sans-serif;margin:1.5em;color:#222831}}main{{display:flex;flex-wrap:wrap;gap:1.5em}}figure{{margin:0;flex:1 1 24em;max-width:40em}}
polyline{{fill:none;stroke:#1f5aa6;stroke-width:1.5}}.second{{stroke:#b5482f;stroke-dasharray:6 3}}.axis{{fill:none;stroke:#6b7280}}text{{font-size:12px;fill:#6b7280}}figcaption{{font-weight:bold}}</style>
<h1>{title}</h1><main>{figures}</main></html>
"""


def write_page(path, stage, show, interval, going):
    """The page, which the browser loads again every `interval` seconds while the run goes on. It appears complete or not at all."""
    figures = ""
    curves = chosen(stage.curves(), show)
    for name, (steps, values) in curves.items():
        second = curves.get(LOSSES[1]) if name == LOSSES[0] else None
        if not values or (name == LOSSES[1] and LOSSES[0] in curves):
            continue
        caption = f"{html.escape(name)} = {values[-1]:.5g}" + (f", of validation (dashed) {second[1][-1]:.5g}" if second and second[1] else "")
        kind = ", logarithmic" if logarithmic(axes_of(name, curves)[1] or [0.0]) else ""
        figures += f"<figure><figcaption>{caption}{kind}</figcaption>{svg(*filter(None, ((steps, values), second)))}</figure>"
    reload = f'<meta http-equiv="refresh" content="{max(1, round(interval))}">' if going else ""
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(PAGE.format(title=html.escape(stage.folder + ("" if going else ", ended")), reload=reload, figures=figures))
    os.replace(path + ".part", path)


class Speed:
    """Steps per second between looks, over the last half minute."""

    def __init__(self):
        self.seen = []

    def of(self, stage):
        steps = max((s[-1] for s, _ in stage.curves().values() if s), default=0)
        now = time.monotonic()
        self.seen = [(t, s) for t, s in self.seen if now - t < 30 and s <= steps] + [(now, steps)]
        (t0, s0), (t1, s1) = self.seen[0], self.seen[-1]
        return (s1 - s0) / (t1 - t0) if t1 > t0 and s1 > s0 else 0.0


def follow(options):
    speed, terminal = Speed(), sys.stdout.isatty()
    while True:
        stage = newest_stage(options.run, options.stage)
        alone = options.stage or (stage and os.path.samefile(stage.folder, options.run))  # one stage is followed, not the run
        over = options.once or run_ended(options.run) or bool(alone and stage and stage.ended())
        if stage:
            text = screen(stage, options.show, min(shutil.get_terminal_size().columns, 120), speed.of(stage))
            if options.page:
                write_page(options.page, stage, options.show, options.interval, not over)
            if terminal:
                print("\x1b[H\x1b[2J" + text, flush=True)
            elif over:
                print(text)
        elif over:
            print(f"no stage of {options.run} has written a table with steps" + (f" in a folder '{options.stage}'" if options.stage else ""))
        if over:
            return 0
        time.sleep(options.interval)


def main():
    parser = argparse.ArgumentParser(description="Follow a run: curves of its newest table.")
    parser.add_argument("run", help="run directory, or the folder of a stage")
    parser.add_argument("--stage", default="", help="folder of the stage; default: the one that wrote last")
    parser.add_argument("--show", default="", help="only these columns, separated by commas")
    parser.add_argument("--interval", type=float, default=2.0, help="seconds between updates")
    parser.add_argument("--once", action="store_true", help="draw once and end")
    parser.add_argument("--page", default="", help="also write a page that reloads itself")
    options = parser.parse_args()
    options.show = [name for name in options.show.split(",") if name]
    if not os.path.isdir(options.run):
        sys.exit(f"there is no folder '{options.run}'; give the run.directory of the deck")
    if not options.interval > 0:
        sys.exit(f"--interval is {options.interval:g}; give a number of seconds above 0")
    try:
        return follow(options)
    except OSError as error:
        sys.exit(f"cannot write the page '{options.page}': {error.strerror}; choose another with --page" if options.page else str(error))
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
