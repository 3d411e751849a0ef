"""What `cambium report` and `plot` draw of encoders (apps/python/plugin_pictures.py says how)."""

import csv

import matplotlib.pyplot as plt
import numpy as np

from cambium_style import COLOURS, MUTED, STYLE, legend
from neighbour_pictures import neighbours_figure

HEADS = {"method,nearest,among_ten,mean_place,asked": "neighbours",
         "method,neighbours,linear,few_nearest,few_nearest_deviation,few_linear,few_linear_deviation": "probe"}


def kind(path):
    """'neighbours' or 'probe' of a table of these stages, 'chosen' of a stage select_runs, else nothing."""
    if path.suffix != ".csv" or not path.exists():
        return None
    with open(path, encoding="utf-8") as file:
        head = file.readline().strip()
    return "chosen" if head.startswith("method,order,") and head.endswith(",distance") else HEADS.get(head)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def bars(axis, rows, column, title, deviation=None):
    """One bar for each method, the encoder's in colour."""
    place = np.arange(len(rows))[::-1]
    share = [100 * float(row[column]) for row in rows]
    spread = [100 * float(row[deviation]) for row in rows] if deviation else None
    axis.barh(place, share, xerr=spread, height=0.6, color=[COLOURS[0] if row["method"] == "encoder" else MUTED for row in rows])
    axis.set_yticks(place, [row["method"] for row in rows])
    axis.set(title=title, xlabel="%", xlim=(0, 100))


def scores_figure(path):
    """How often each way to compare is right."""
    rows = rows_of(path)
    columns = ([("nearest", "The nearest is right", None), ("among_ten", "A right one is among ten", None)]
               if kind(path) == "neighbours" else
               [("neighbours", "Neighbours, all labels", None), ("linear", "Linear, all labels", None),
                ("few_nearest", "Nearest, few labels", "few_nearest_deviation"), ("few_linear", "Linear, few labels", "few_linear_deviation")])
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(columns), figsize=(4.2 * len(columns), 0.9 + 0.45 * len(rows)), sharey=True, layout="constrained")
        for axis, (column, title, deviation) in zip(axes, columns):
            bars(axis, rows, column, title, deviation)
    return figure


def chosen_figure(path):
    """Chosen runs in the plane of the first two parameters, or along the only one, by method."""
    rows = rows_of(path)
    names = [name for name in rows[0] if name not in ("method", "order", "distance")]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        for k, (method, colour) in enumerate(zip(methods, COLOURS)):
            mine = [row for row in rows if row["method"] == method]
            x = [float(row[names[0]]) for row in mine]
            y = [float(row[names[1]]) for row in mine] if len(names) > 1 else [k] * len(mine)
            axis.scatter(x, y, color=colour, label=method)
            for row, at_x, at_y in zip(mine, x, y):
                axis.annotate(row["order"], (at_x, at_y), xytext=(4, 4), textcoords="offset points", fontsize=8)
        values = [float(row[names[0]]) for row in rows]
        if min(values) > 0 and max(values) > 10 * min(values):
            axis.set_xscale("log")
        axis.set(xlabel=names[0], title="Runs to make next, in the order of choice")
        if len(names) > 1:
            axis.set_ylabel(names[1])
        else:
            axis.set_yticks([])
        legend(axis)
    return figure


def is_pictures(path):
    """Whether an HDF5 file holds queries beside their neighbours."""
    if path.name != "pictures.h5" or not path.exists():
        return False
    import h5py

    with h5py.File(path, "r") as file:
        return "field" in file and "method" in file["field"].attrs


def figure_of(path):
    """The figure of one file of these stages, or nothing."""
    if is_pictures(path):
        return neighbours_figure(path)
    found = kind(path)
    if found is None:
        return None
    return chosen_figure(path) if found == "chosen" else scores_figure(path)


def pictures(folder, scratch):
    """Scores, neighbours, chosen runs."""
    made = []
    for name in ("scores.csv", "pictures.h5", "chosen.csv"):
        figure = figure_of(folder / name)
        if figure is None:
            continue
        made.append(scratch / (name.split(".")[0] + ".png"))
        figure.savefig(made[-1])
        plt.close(figure)
    return made


def view(path, names):
    """Files of these stages by themselves, for `cambium plot`."""
    if names or not (is_pictures(path) or kind(path)):
        return None
    from cambium_views import Whole

    return Whole(lambda: figure_of(path))
