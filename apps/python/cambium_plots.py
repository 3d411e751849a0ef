"""Pictures of what cambium_io reads. Each function returns a matplotlib figure, to be shown in a notebook or saved; nothing is
written and no backend chosen. They are reached as `run.thermo.plot()`, `run.trajectory.plot()`, `cambium_io.plot(run.fields)`.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D

from cambium_curves import label, unit_of
from cambium_style import COLOURS, MUTED, STYLE, colours_of, legend


def shared_label(names, unit):
    """The words with which all names begin, and the unit; the unit alone where they have none in common."""
    words = [name.replace("_", " ").split(" ") for name in names]
    shared = [w[0] for w in zip(*words) if len(set(w)) == 1] if len(names) > 1 else words[0]
    if len(names) > 1 and any(w[:len(shared)] != shared for w in words):
        shared = []
    return label(" ".join(shared), unit) if shared else unit_of(unit)


def table(data, names=None):
    """Columns of a thermo.csv, training.csv or validation.csv over time (or steps), one panel for each unit and, of those without
    one, for each first word of their names, or for both losses of a learning curve; the terms of a training on a logarithmic axis."""
    across = "time" if "time" in data and len(data) > 1 and np.ptp(data["time"]) > 0 else "step"
    training = "learning_rate" in data or "epoch" in data or across not in data
    across = across if across in data else data.names[0]
    wanted = names or [n for n in data.names if n not in ("step", "time", "epoch", across)]
    groups = {}
    for name in wanted:
        word = "loss" if name in ("training_loss", "validation_loss") else name.replace("_", " ").split(" ")[0]
        groups.setdefault((data.units[name], "" if data.units[name] else word), []).append(name)
    with plt.rc_context(STYLE):
        columns = {1: 1, 2: 2, 4: 2}.get(len(groups), 3)
        figure, panels = plt.subplots(-(-len(groups) // columns), columns, squeeze=False, layout="constrained",
                                      figsize=(5.4 * columns, 3.0 * -(-len(groups) // columns)))
        for axes, ((unit, _), group) in zip(panels.flat, groups.items()):
            for k, name in enumerate(group):
                axes.plot(data[across], data[name], color=COLOURS[k % len(COLOURS)], label=label(name), linestyle=("-", "--", ":")[k // len(COLOURS) % 3])
            axes.set(xlabel=label(across, data.units[across]), ylabel=shared_label(group, unit))
            ends = [f(data[name][np.isfinite(data[name])], initial=sign * np.inf) for name in group for f, sign in ((np.min, 1), (np.max, -1))]
            if training and min(ends) > 0 and max(ends) > 3 * min(ends):
                axes.set_yscale("log")
            if len(group) > 1:
                legend(axes)
        for axes in panels.flat[len(groups):]:
            axes.set_axis_off()
    return figure


def points(data, names):
    """Columns over the first one, a panel and a dot for each number."""
    first = data.names[0]
    with plt.rc_context(STYLE):
        columns = min(len(names), 3)
        figure, panels = plt.subplots(-(-len(names) // columns), columns, squeeze=False, layout="constrained",
                                      figsize=(4.2 * columns, 3.2 * -(-len(names) // columns)))
        for axes, name in zip(panels.flat, names):
            axes.plot(data[first], data[name], ".", color=COLOURS[0], markersize=4)
            axes.set(xlabel=label(first, data.units[first]), ylabel=label(name, data.units[name]))
        for axes in panels.flat[len(names):]:
            axes.set_axis_off()
    return figure


def trajectory(data, frames=None):
    """Particles seen along the third axis, at the first and the last frame or at those named; colours by species, those behind
    smaller and paler, the cell as a line."""
    frames = [0, len(data) - 1] if frames is None else frames
    frames = list(dict.fromkeys(range(len(data))[k] for k in frames))
    kinds = list(dict.fromkeys(data.species))
    colour = {kind: np.array(to_rgb(COLOURS[k % len(COLOURS)])) for k, kind in enumerate(kinds)}
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, len(frames), squeeze=False, layout="constrained", figsize=(4.4 * len(frames) + 0.8, 4.4))
        for axes, frame in zip(panels.flat, frames):
            place, cell = data.position(frame), data.cell(frame)
            order = np.argsort(place[:, 2])
            depth = ((place[:, 2] - place[:, 2].min()) / max(np.ptp(place[:, 2]), 1e-12))[order]
            corners = np.array([[0, 0, 0], cell[0], cell[0] + cell[1], cell[1], [0, 0, 0]])
            axes.plot(corners[:, 0], corners[:, 1], color=MUTED, linewidth=0.8)
            near = np.array([colour[kind] for kind in data.species[order]])
            pale = 1.0 - (0.35 + 0.65 * depth[:, None]) * (1.0 - near)
            width = 150.0 / max(len(place), 1) ** (1 / 3)  # points: atoms of a row nearly touch
            axes.scatter(place[order, 0], place[order, 1], s=(width * (0.6 + 0.4 * depth)) ** 2, color=pale, linewidths=0.3, edgecolors="white")
            for k in range(2):
                room = 0.09 * np.ptp(corners[:, k])
                (axes.set_xlim, axes.set_ylim)[k](corners[:, k].min() - room, corners[:, k].max() + room)
            axes.set(title=f"{data.times[frame]:g} ps", xlabel="x (Å)", ylabel="y (Å)", aspect="equal")
            axes.grid(False)
        marks = [Line2D([], [], marker="o", linestyle="", color=colour[kind], label=kind) for kind in kinds]
        legend(panels.flat[-1], handles=marks)
    return figure


MEANING = {"p": "pressure", "b": "buoyancy", "u": "velocity along x", "w": "velocity along z"}


def fields(data, names=None, frame=-1):
    """Each field over x and z at one frame, the last by default."""
    names = names or [n for n in data if n not in ("t", "x", "z")]
    x, z, t = (np.asarray(data[n]) for n in ("x", "z", "t"))
    with plt.rc_context(STYLE):
        columns = min(len(names), 2)
        figure, panels = plt.subplots(-(-len(names) // columns), columns, squeeze=False, layout="constrained",
                                      figsize=(5.6 * columns, 2.6 * -(-len(names) // columns)))
        for axes, name in zip(panels.flat, names):
            values = np.asarray(data[name])[frame].T
            shown = axes.pcolormesh(x, z, values, rasterized=True, **colours_of(values.min(), values.max()))
            axes.set(title=f"{name} at t = {t[frame]:g}", xlabel="x", ylabel="z", aspect="equal")
            axes.grid(False)
            figure.colorbar(shown, ax=axes, label=MEANING.get(name, name), pad=0.02)
        for axes in panels.flat[len(names):]:
            axes.set_axis_off()
    return figure


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def bars(values, units):
    """Numbers by their names, a panel for each unit; on a logarithmic axis where they span more than two powers of ten."""
    groups = {}
    for name, value in values.items():
        if np.isfinite(value):
            groups.setdefault(units[name], []).append((name, value))
    tall = max(len(group) for group in groups.values())
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, len(groups), squeeze=False, layout="constrained", figsize=(5.0 * len(groups), 0.8 + 0.32 * tall))
        for axes, (unit, group) in zip(panels.flat, groups.items()):
            names, numbers = zip(*group)
            drawn = axes.barh(range(len(names)), numbers, color=COLOURS[0], height=0.65)
            axes.bar_label(drawn, [f" {value:.4g}" for value in numbers], fontsize=8, color=MUTED)
            if min(numbers) > 0 and max(numbers) > 100 * min(numbers):
                axes.set_xscale("log")
            axes.set_yticks(range(len(names)), [label(name) for name in names])
            axes.set(xlabel=unit_of(unit) or "value", ylim=(len(names) - 0.4, -0.6))
            axes.margins(x=0.18)
            axes.grid(False, axis="y")
    return figure


def bars_by_row(rows, columns):
    """A panel for each column, with a bar for each named row; all panels share the names. `columns`: {heading: numbers}, a unit in
    brackets or parentheses at the end of a heading."""
    count, rows = len(columns), ["/".join(row.split("/")[-2:]) for row in rows]  # the end of a path tells what it is
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, count, squeeze=False, sharey=True, layout="constrained", figsize=(2.0 + 2.6 * count, 1.0 + 0.34 * len(rows)))
        for axes, (heading, values) in zip(panels.flat, columns.items()):
            name, _, unit = heading.replace("[", "(").partition(" (")
            drawn = axes.barh(range(len(rows)), np.nan_to_num(values), color=COLOURS[0], height=0.65)
            axes.bar_label(drawn, [f" {value:.3g}" if np.isfinite(value) else "" for value in values], fontsize=8, color=MUTED)
            axes.set_yticks(range(len(rows)), rows)
            axes.set(xlabel=label(name, unit.rstrip(")]")), ylim=(len(rows) - 0.4, -0.6))
            axes.margins(x=0.28)
            axes.grid(False, axis="y")
    return figure


def rdf(data):
    """The last average of each pair."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
        for k, pair in enumerate(data.pairs):
            axes.plot(data.r, data.g(pair), color=COLOURS[k % len(COLOURS)], label=pair)
        axes.axhline(1.0, color=MUTED, linewidth=0.8)
        axes.set(xlabel="distance (Å)", ylabel="g(r)", xlim=(0, data.r[-1]))
        axes.set_ylim(bottom=0)
        legend(axes)
    return figure


def correlation(data):
    """Each species over the lag, with its diffusion coefficient."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
        for k, species in enumerate(data.species):
            axes.plot(data.time, data[species], color=COLOURS[k % len(COLOURS)], label=f"{species}, D = {data.diffusion[species]:.3g} Å²/ps")
        axes.axhline(0.0, color=MUTED, linewidth=0.8)
        axes.set(xlabel="lag (ps)", ylabel=label(data.name, data.unit), xlim=(0, data.time[-1]))
        legend(axes)
    return figure
