"""Pictures of what cambium_io reads. Each function returns a matplotlib figure, to be shown in a notebook or saved; nothing is
written and no backend chosen. They are reached as `run.thermo.plot()`, `run.trajectory.plot()`, `cambium_io.plot(run.fields)`.
"""

import matplotlib.pyplot as plt
import numpy as np

from cambium_curves import label
from cambium_style import COLOURS, MUTED, STYLE


def table(data, names=None):
    """Columns of a thermo.csv, training.csv or validation.csv over time (or steps), one panel for each unit; the terms of a
    training on a logarithmic axis."""
    across = "time" if "time" in data and len(data) > 1 and np.ptp(data["time"]) > 0 else "step"
    training = "learning_rate" in data or "epoch" in data or across not in data
    across = across if across in data else data.names[0]
    wanted = names or [n for n in data.names if n not in ("step", "time", "epoch", across)]
    groups = {}
    for name in wanted:
        groups.setdefault((data.units[name], name if training and name == "learning_rate" else ""), []).append(name)
    with plt.rc_context(STYLE):
        columns = min(len(groups), 3)
        figure, panels = plt.subplots(-(-len(groups) // columns), columns, squeeze=False, layout="constrained",
                                      figsize=(4.8 * columns, 3.0 * -(-len(groups) // columns)))
        for axes, ((unit, _), group) in zip(panels.flat, groups.items()):
            for k, name in enumerate(group):
                axes.plot(data[across], data[name], color=COLOURS[k % len(COLOURS)], label=label(name), linestyle=("-", "--", ":")[k // len(COLOURS) % 3])
            axes.set(xlabel=label(across, data.units[across]), ylabel=label(group[0] if len(group) == 1 else "value", unit))
            if training and all(np.all(data[name] > 0) for name in group):
                axes.set_yscale("log")
            if len(group) > 1:
                axes.legend()
        for axes in panels.flat[len(groups):]:
            axes.set_axis_off()
    return figure


def trajectory(data, frames=None):
    """Particles seen along the third axis, at the first and the last frame or at those named; colours by species, the size of a
    marker by depth, the cell as a line."""
    frames = [0, len(data) - 1] if frames is None else frames
    frames = list(dict.fromkeys(range(len(data))[k] for k in frames))
    kinds = list(dict.fromkeys(data.species))
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, len(frames), squeeze=False, layout="constrained", figsize=(4.6 * len(frames), 4.6))
        for axes, frame in zip(panels.flat, frames):
            place, cell = data.position(frame), data.cell(frame)
            order = np.argsort(place[:, 2])
            depth = (place[:, 2] - place[:, 2].min()) / max(np.ptp(place[:, 2]), 1e-12)
            corners = np.array([[0, 0, 0], cell[0], cell[0] + cell[1], cell[1], [0, 0, 0]])
            axes.plot(corners[:, 0], corners[:, 1], color=MUTED, linewidth=0.8)
            for k, kind in enumerate(kinds):
                mine = order[data.species[order] == kind]
                axes.scatter(place[mine, 0], place[mine, 1], s=6 + 24 * depth[mine], color=COLOURS[k % len(COLOURS)], label=kind,
                             linewidths=0.2, edgecolors="white")
            axes.set(title=f"{data.times[frame]:g} ps", xlabel="x (Å)", ylabel="y (Å)", aspect="equal")
            axes.grid(False)
        panels.flat[0].legend(loc="upper right")
    return figure


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
            both = values.min() < 0 < values.max()
            limit = np.abs(values).max() if both else None
            shown = axes.pcolormesh(x, z, values, cmap="RdBu_r" if both else "viridis", vmin=-limit if both else None, vmax=limit)
            axes.set(title=f"{name} at t = {t[frame]:g}", xlabel="x", ylabel="z", aspect="equal")
            axes.grid(False)
            figure.colorbar(shown, ax=axes)
        for axes in panels.flat[len(names):]:
            axes.set_axis_off()
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
        axes.legend()
    return figure


def correlation(data):
    """Each species over the lag, with its diffusion coefficient."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
        for k, species in enumerate(data.species):
            axes.plot(data.time, data[species], color=COLOURS[k % len(COLOURS)], label=f"{species}, D = {data.diffusion[species]:.3g} Å²/ps")
        axes.axhline(0.0, color=MUTED, linewidth=0.8)
        axes.set(xlabel="lag (ps)", ylabel=label(data.name, data.unit), xlim=(0, data.time[-1]))
        axes.legend()
    return figure
