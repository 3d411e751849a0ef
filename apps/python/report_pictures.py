"""The pictures of a stage: those of the plugins that know its files; else what plot_run draws of it; else its parity tables; else every column of its table."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cambium_io  # noqa: E402
import cambium_parity  # noqa: E402
import plot_run  # noqa: E402
import plugin_pictures  # noqa: E402
from cambium_curves import label, time_axis  # noqa: E402
from cambium_style import COLOURS, STYLE, save  # noqa: E402


def draw_columns(table, path):
    """Every column of a table over its time, for stages that nothing else draws."""
    names = [name for name in table.names if name not in ("step", "time") and np.ptp(table[name]) > 0][:12]
    if len(table) < 2 or not names:
        return []
    x, axis = time_axis(table) if "time" in table else (table["step"], "step")
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(lines, columns, figsize=(4.2 * columns, 2.6 * lines), squeeze=False)
        for axes in grid.ravel()[len(names):]:
            axes.remove()
        for name, axes in zip(names, grid.ravel()):
            axes.plot(x, table[name], color=COLOURS[0])
            axes.set(title=label(name, table.units[name]), xlabel=axis)
        figure.tight_layout()
        save(figure, path)
        plt.close(figure)
    return [path]


def by_plot_run(folder, path):
    """(pictures, problems) of plot_run; no pictures where it knows nothing of the folder's own files."""
    if not any((folder / name).exists() for name in ("thermo.csv", "training.csv")):
        return [], []
    try:
        run = cambium_io.Run(folder)
        if not plot_run.panels_of(run):
            return [], []
        plot_run.draw(run, path)
    except Exception as error:
        return [], [f"plot_run could not draw this stage: {error}"]
    return [path], []


def draw_members(folder, scratch):
    """The training curves of a committee's members, whose folders lie in the stage's."""
    pictures, problems = [], []
    for member in sorted(folder.glob("model_*"), key=lambda path: (len(path.name), path.name)):
        some, bad = by_plot_run(member, scratch / f"{member.name}.png")
        pictures += some
        problems += bad
    return pictures, problems


def draw_stage(folder, scratch):
    """(paths of PNG files in the empty folder `scratch`, problems in words) for the folder of one stage."""
    if (folder / "model_1").is_dir():
        return draw_members(folder, scratch)
    target = scratch / "picture.png"
    for pictures, problems in (plugin_pictures.pictures(folder, scratch), by_plot_run(folder, target)):
        if pictures or problems:
            return pictures, problems
    try:
        pictures = cambium_parity.draw(folder, target)
    except Exception as error:
        return [], [f"the parity tables could not be drawn: {error}"]
    if pictures:
        return pictures, []
    if (folder / "thermo.csv").exists():
        return draw_columns(cambium_io.Table(folder / "thermo.csv"), target), []
    return [], []
