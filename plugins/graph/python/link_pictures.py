"""Pictures of a stage predict_links: scores.csv as bars, predictions.csv as a table of the items of each user."""
import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import node_pictures
from cambium_style import COLOURS, MUTED, STYLE, legend

HEADS = {"method,recall,ndcg,auc,deviation,networks,k": "scores", "user,place,item,score,held_out": "predictions"}


def rows_of(path):
    """The lines of a table as dictionaries."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def scores_figure(path):
    """Recall and NDCG of networks and baselines side by side."""
    rows = rows_of(path)
    place = np.arange(len(rows))[::-1]
    trained = [row["method"].startswith("light_gcn") for row in rows]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(10.0, 1.0 + 0.4 * len(rows)), sharey=True, layout="constrained")
        for axis, name, title in zip(axes, ("recall", "ndcg"), ("Recall", "NDCG")):
            values = [float(row[name]) for row in rows]
            axis.barh(place, values, height=0.6, color=[COLOURS[0] if own else MUTED for own in trained])
            for y, value in zip(place, values):
                axis.annotate(f"{value:.4f}", (value, y), xytext=(5, 0), textcoords="offset points", va="center")
            axis.set(xlabel=f"{title}@{rows[0]['k']}", xlim=(0, 1.2 * max(max(values), 1e-9)))
            axis.grid(axis="y", visible=False)
        axes[0].set_yticks(place, [row["method"] for row in rows])
    return figure


def predictions_figure(path):
    """Scores of the items that users are offered, by place; those that were held out are marked."""
    rows = rows_of(path)
    users = list(dict.fromkeys(row["user"] for row in rows))[:6]
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
        for user, colour in zip(users, COLOURS):
            own = [row for row in rows if row["user"] == user]
            place, score = [int(row["place"]) for row in own], [float(row["score"]) for row in own]
            found = [row["held_out"] == "1" for row in own]
            axis.plot(place, score, color=colour, label=f"user {user}")
            axis.scatter([p for p, f in zip(place, found) if f], [s for s, f in zip(score, found) if f], color=colour, zorder=3)
        axis.set(xlabel="Rank (dots: held-out links)", ylabel="Score")
        legend(axis)
    return figure


def figure_of(path):
    """The function that draws a file, or nothing."""
    path = Path(path)
    if path.suffix != ".csv" or not path.exists():
        return None
    with open(path, encoding="utf-8") as file:
        kind = HEADS.get(file.readline().strip())
    return {"scores": scores_figure, "predictions": predictions_figure}.get(kind)


def draw(folder, scratch):
    """Paths of the pictures of a stage's folder, written into `scratch`."""
    return node_pictures.draw_tables(folder, scratch, "links", ("scores", "predictions"), figure_of)
