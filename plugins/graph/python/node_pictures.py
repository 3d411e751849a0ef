"""Pictures of a stage classify_nodes: scores.csv as bars, nodes.csv as a table of classes against predicted ones."""
import csv
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]  # the source tree, or share/cambium of an installation
sys.path[:0] = [str(ROOT / "apps" / "python"), str(ROOT / "python")]
from cambium_style import COLOURS, MUTED, SEQUENTIAL, STYLE  # noqa: E402

HEADS = {"method,test,deviation,validation,networks,by_class": "scores", "node,class,predicted": "nodes"}


def kind(path):
    """'scores' or 'nodes' of a table of this stage, else nothing."""
    path = Path(path)
    if path.suffix != ".csv" or not path.exists():
        return None
    with open(path, encoding="utf-8") as file:
        return HEADS.get(file.readline().strip())


def scores_figure(path):
    """Accuracy on test nodes, with the standard deviation over several networks."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(8.2, 0.9 + 0.45 * len(rows)), layout="constrained")
        place = np.arange(len(rows))[::-1]
        share = [100 * float(row["test"]) for row in rows]
        trained = [row["method"].startswith(("gcn", "graph_")) for row in rows]
        axis.barh(place, share, xerr=[100 * float(row["deviation"]) for row in rows], height=0.6,
                  color=[COLOURS[0] if own else MUTED for own in trained])
        axis.set_yticks(place, [row["method"] for row in rows])
        for y, value in zip(place, share):
            axis.annotate(f"{value:.1f}", (value, y), xytext=(6, 0), textcoords="offset points", va="center")
        axis.set(xlabel="Test accuracy (%)", xlim=(0, 108))
        axis.grid(axis="y", visible=False)
    return figure


def nodes_figure(path):
    """How many nodes of each class are taken for which."""
    node, label, predicted = np.loadtxt(path, delimiter=",", skiprows=1, usecols=(0, 1, 2), dtype=int, ndmin=2).T
    classes = int(max(label.max(), predicted.max())) + 1
    table = np.zeros((classes, classes), dtype=int)
    np.add.at(table, (label, predicted), 1)
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(5.4, 4.6), layout="constrained")
        image = axis.imshow(table / np.maximum(table.sum(axis=1, keepdims=True), 1), cmap=SEQUENTIAL, vmin=0, vmax=1)
        axis.grid(False)
        if classes <= 12:
            middle = 0.5 * table.sum(axis=1)
            for i, j in np.ndindex(*table.shape):
                axis.text(j, i, table[i, j], ha="center", va="center", color="white" if table[i, j] > middle[i] else "black", fontsize=8)
        axis.set(xlabel="Predicted class", ylabel="Class", xticks=range(classes), yticks=range(classes))
        figure.colorbar(image, ax=axis, label="share of the class")
    return figure


def figure_of(path):
    """The function that draws a file, or nothing."""
    return {"scores": scores_figure, "nodes": nodes_figure}.get(kind(path))


def draw_tables(folder, scratch, prefix, names, choose):
    """Pictures of the tables NAME.csv of a stage's folder for which choose(path) gives a function that draws them."""
    out = []
    for name in names:
        path = Path(folder) / f"{name}.csv"
        figure = choose(path)
        if figure is None:
            continue
        made = figure(path)
        target = Path(scratch) / f"{prefix}_{name}.png"
        made.savefig(target, dpi=120, bbox_inches="tight")
        plt.close(made)
        out.append(target)
    return out


def draw(folder, scratch):
    """Paths of the pictures of a stage's folder, written into `scratch`."""
    return draw_tables(folder, scratch, "classify", ("scores", "nodes"), figure_of)
