"""Curves of a sweep: results over the swept keys, and tables of several runs laid over each other."""

import itertools
import sys
import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cambium_curves import label, time_axis  # noqa: E402
from cambium_style import COLOURS, MUTED, STYLE, save  # noqa: E402

MOST_LINES = 12
MOST_PANELS = 12


def short(value):
    """A value of a key as it is written beside a curve."""
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def colours(count):
    return COLOURS[:count] if count <= len(COLOURS) else [plt.get_cmap("viridis")(k / (count - 1)) for k in range(count)]


def is_geometric(values):
    """Whether an axis of these values is better logarithmic."""
    x = np.unique(np.asarray(values, dtype=float)[np.isfinite(values)])
    if len(x) < 3 or x[0] <= 0 or x[-1] / x[0] < 8:
        return False
    return np.ptp(np.diff(np.log(x))) / np.log(x[-1] / x[0]) < np.ptp(np.diff(x)) / (x[-1] - x[0])


def mean_and_error(values):
    """Mean, standard error of the mean and number of finite values."""
    values = values[np.isfinite(values)]
    if not len(values):
        return np.nan, np.nan, 0
    return values.mean(), values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0, len(values)


class Layout:
    """Which key is the axis, which ones make lines, over which ones is averaged."""

    def __init__(self, sweep):
        self.sweep = sweep
        long = [key for key in sweep.keys if len(sweep.values[key]) > 1] or sweep.keys[:1]
        plain = [key for key in long if not sweep.is_seed(key)]
        self.axis = (plain or long)[0]
        self.seeds = [key for key in long if sweep.is_seed(key) and key != self.axis]
        self.others = [] if sweep.zip else [key for key in plain if key != self.axis]

    def lines(self):
        """(label, which runs) of every line."""
        combinations = list(itertools.product(*(self.sweep.values[key] for key in self.others)))
        for values in combinations:
            chosen = np.ones(len(self.sweep), dtype=bool)
            for key, value in zip(self.others, values):
                chosen &= self.sweep.flat(key) == value
            yield ", ".join(f"{key} = {short(value)}" for key, value in zip(self.others, values)), chosen

    def curve(self, name, chosen):
        """(x, mean, standard error) along the axis, of the runs that have the result."""
        along, y = self.sweep.flat(self.axis), self.sweep.flat(name)
        values = list(dict.fromkeys(along[chosen]))
        found = [mean_and_error(y[chosen & (along == value)]) for value in values]
        kept = [k for k, row in enumerate(found) if row[2]]
        x = np.array([values[k] for k in kept]) if self.numeric else np.array([list(self.sweep.values[self.axis]).index(values[k]) for k in kept])
        rows = np.array([found[k][:2] for k in kept]).reshape(len(kept), 2)
        order = np.argsort(x)
        return x[order], rows[order, 0], rows[order, 1]

    @property
    def numeric(self):
        return self.sweep.values[self.axis].dtype.kind == "f"


def dress(axes, layout, sweep):
    """Names, ticks and scale of the horizontal axis."""
    values = sweep.values[layout.axis]
    axes.set_xlabel(label(layout.axis, sweep.units[layout.axis]))
    if not layout.numeric:
        axes.set_xticks(range(len(values)), [short(value) for value in values], rotation=30 if max(map(len, values)) > 8 else 0)
    elif is_geometric(values):
        axes.set_xscale("log")


def panel(axes, sweep, layout, name, last=None):
    """One result over the axis; `last` (last lines beside means) is drawn faint."""
    lines = list(layout.lines())
    kept = lines if len(lines) <= MOST_LINES else [lines[k] for k in np.linspace(0, len(lines) - 1, MOST_LINES).astype(int)]
    for (text, chosen), colour in zip(kept, colours(len(kept))):
        x, y, error = layout.curve(name, chosen)
        style = "none" if name + "_theory" in sweep else "-"  # points on the curve of a theory
        if np.any(error > 0):
            axes.errorbar(x, y, yerr=error, color=colour, marker="o", markersize=4, capsize=3, linestyle=style, label=text)
        else:
            axes.plot(x, y, color=colour, marker="o", markersize=4, linestyle=style, label=text)
        if last:
            x, y, _ = layout.curve(last, chosen)
            axes.plot(x, y, color=colour, marker="x", markersize=4, linewidth=0.8, alpha=0.4)
        if name + "_theory" in sweep:
            x, y, _ = layout.curve(name + "_theory", chosen)
            axes.plot(x, y, color=colour if len(kept) > 1 else MUTED, linestyle="--", linewidth=1.2, zorder=1)
    dress(axes, layout, sweep)
    finite = sweep.flat(name)[np.isfinite(sweep.flat(name))]
    if len(finite) and finite.min() > 0 and finite.max() / finite.min() > 100:
        axes.set_yscale("log")
    title = name[:-5] if name.endswith("_mean") else name
    axes.set_title(textwrap.fill(label(title.replace("_", " "), sweep.units[name]), 34))


def grid_of(count, width=4.4, height=3.0):
    columns = min(3, count)
    rows = -(-count // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False)
    for axes in grid.ravel()[count:]:
        axes.remove()
    return figure, list(grid.ravel()[:count])


def finish(figure, axes, path):
    """The legend of all panels stands below them, off the curves."""
    handles, names = axes.get_legend_handles_labels()
    named = [(handle, name) for handle, name in zip(handles, names) if name]
    columns = max(1, min(len(named), round(figure.get_figwidth() / 3.2)))
    lines = -(-len(named) // columns)
    figure.tight_layout(rect=(0, min(0.3, (0.25 * lines + 0.1) / figure.get_figheight()) if named else 0, 1, 1))
    if named:
        figure.legend(*zip(*named), loc="lower center", ncol=columns, frameon=False)
    save(figure, path)
    plt.close(figure)
    return path


def notes(sweep, names):
    """What the marks of draw_results mean, in words."""
    out = []
    if any(last for _, last in names):
        out.append("circles: mean over the second half of the lines, crosses: last line")
    if any(name + "_theory" in sweep for name, _ in names):
        out.append("dashed: expected (the deck's theory)")
    seeds = Layout(sweep).seeds
    if seeds:
        out.append(f"mean and standard error over {', '.join(seeds)}")
    return "; ".join(out)


def draw_results(sweep, names, path):
    """A picture with a panel for each of the (name, name of the last lines or None)."""
    layout = Layout(sweep)
    with plt.rc_context(STYLE):
        figure, grid = grid_of(len(names))
        for axes, (name, last) in zip(grid, names):
            panel(axes, sweep, layout, name, last)
        return finish(figure, grid[0], path)


def overlay(tables, path):
    """Columns of several tables over their time: (label, cambium_io.Table) each. None where nothing changes."""
    if len(tables) > MOST_LINES:
        tables = [tables[k] for k in np.linspace(0, len(tables) - 1, MOST_LINES).astype(int)]
    shared = [name for name in tables[0][1].names if all(name in table for _, table in tables)]
    names = [name for name in shared if name not in ("step", "time", "epoch") and any(len(t) > 1 and np.ptp(t[name]) > 0 for _, t in tables)]
    if not names:
        return None
    names = names[:MOST_PANELS]
    with plt.rc_context(STYLE):
        figure, grid = grid_of(len(names))
        for axes, name in zip(grid, names):
            for (text, table), colour in zip(tables, colours(len(tables))):
                x, along = time_axis(table) if "time" in table else (table["step"], "step")
                axes.plot(x, table[name], color=colour, linewidth=1.2, label=text)
            axes.set(title=label(name.replace("_", " "), tables[0][1].units[name]), xlabel=along)
            low = min(table[name].min() for _, table in tables)
            if low > 0 and max(table[name].max() for _, table in tables) / low > 1000:
                axes.set_yscale("log")
        return finish(figure, grid[0], path)
