"""What `cambium report` and `plot` draw of pairs and clicks (apps/python/plugin_pictures.py says how)."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from cambium_style import COLOURS, MUTED, STYLE

NETWORKS = ("affinity", "dlrm", "factorization_machine", "factors", "mean of")
SCORES = {"pairs": (("concordance", "share of pairs in the right order"), ("mse", "mean squared error")),
          "clicks": (("auc", "area under the curve"), ("log_loss", "log loss")),
          "choices": (("recall", "recall of what users chose"), ("recall_new", "the same of new items"))}


def rows_of(path):
    """Lines of a table by the names of its columns."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def kind(path):
    """'pairs', 'clicks', 'choices' (scores of these stages), 'predictions', or nothing."""
    path = Path(path)
    if path.suffix != ".csv" or not path.exists():
        return None
    with open(path, encoding="utf-8") as file:
        head = file.readline().strip()
    if head.startswith("compound,target,predicted"):
        return "predictions"
    return {"method,concordance,mse,auc": "pairs", "method,auc,log_loss": "clicks", "method,recall,ndcg,recall_new": "choices"}.get(head)


def bars(axis, rows, column, title):
    """One score of all methods; networks in colour, baselines grey."""
    place = np.arange(len(rows))[::-1]
    values = np.nan_to_num([float(row[column]) for row in rows])
    axis.barh(place, values, height=0.6, color=[COLOURS[0] if row["method"].startswith(NETWORKS) else MUTED for row in rows])
    axis.set_yticks(place, [row["method"] for row in rows])
    for y, value in zip(place, values):
        axis.annotate(f"{value:.3f}", (value, y), xytext=(4, 0), textcoords="offset points", va="center")
    axis.set(title=title, xlim=(0, 1.18 * max(values) or 1))
    axis.grid(axis="y", visible=False)


def scores_figure(path):
    """Two scores of every method side by side."""
    rows = rows_of(path)
    left, right = SCORES[kind(path)]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(10.5, 1.1 + 0.4 * len(rows)), layout="constrained", sharey=True)
        bars(axes[0], rows, *left)
        bars(axes[1], rows, *right)
    return figure


def predictions_figure(path):
    """Predicted against measured values of pairs, and what neighbours say of them."""
    rows = rows_of(path)
    predicted, measured, neighbours = (np.array([float(row[name]) for row in rows]) for name in list(rows[0])[2:5])
    low, high = min(measured.min(), predicted.min()), max(measured.max(), predicted.max())
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained", sharey=True)
        for axis, values, title in ((axes[0], predicted, "predicted"), (axes[1], neighbours, "by neighbours")):
            axis.plot([low, high], [low, high], color=MUTED, linewidth=1)
            axis.scatter(measured, values, s=9, color=COLOURS[0], alpha=0.5, linewidths=0)
            axis.set(xlabel=list(rows[0])[3], title=title)
    return figure


def figure_of(path):
    """The function that draws a file, or nothing."""
    return (dict.fromkeys(SCORES, scores_figure) | {"predictions": predictions_figure}).get(kind(path))


def pictures(folder, scratch):
    """Scores of all methods; predicted against measured values."""
    made = []
    for name in ("scores", "affinities"):
        figure = figure_of(Path(folder) / f"{name}.csv")
        if figure is None:
            continue
        drawn = figure(Path(folder) / f"{name}.csv")
        drawn.savefig(Path(scratch) / f"relate_{name}.png", dpi=120, bbox_inches="tight")
        plt.close(drawn)
        made.append(Path(scratch) / f"relate_{name}.png")
    return made


def view(path, names):
    """scores.csv and affinities.csv of the stages of this plugin."""
    figure = figure_of(path)
    if names or figure is None:
        return None
    from cambium_views import Whole

    return Whole(lambda: figure(path))
