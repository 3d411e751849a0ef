"""What `cambium report` draws of labels for Deep Potentials (apps/python/plugin_pictures.py says how)."""

import matplotlib.pyplot as plt

import cambium_io
import cambium_parity
from cambium_style import COLOURS, MUTED, STYLE, legend

SUMMARIES = ("deviation.csv",)


def deviation_figure(path):
    """How much a committee disagreed on what a label stage sampled, and what of it was labelled."""
    table = cambium_io.Table(path)
    kept = table["kept"] > 0
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7.4, 3.2), layout="constrained")
        for chosen, colour, name in ((~kept, MUTED, "left away"), (kept, COLOURS[0], "labelled")):
            if chosen.any():
                axes.plot(table["step"][chosen], table["deviation"][chosen], ".", color=colour, label=f"{name}: {chosen.sum()}")
        axes.set(title="Disagreement of the committee", xlabel="Configuration", ylabel="Largest deviation of a force (eV/Å)")
        axes.set_ylim(bottom=0.0)
        legend(axes)
    return figure


def parity_figure(path):
    """One parity table of a test stage."""
    what = path.stem.rsplit("_", 1)[-1]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(4.4, 4.0), layout="constrained")
        cambium_parity.plot(axes, path, what.capitalize())
        axes.set_aspect("equal", adjustable="datalim")
    return figure


def view(path, names):
    """Parity tables and the disagreement of a committee."""
    if names or not (path.name == "deviation.csv" or (path.suffix == ".csv" and path.name.startswith("parity_"))):
        return None
    from cambium_views import Whole

    return Whole(lambda: (deviation_figure if path.name == "deviation.csv" else parity_figure)(path))


def pictures(folder, scratch):
    """Disagreement of the committee of a label stage; parity of a test stage is drawn as that of every stage."""
    path = scratch / "picture.png"
    if not (folder / "deviation.csv").exists():
        return []
    figure = deviation_figure(folder / "deviation.csv")
    figure.savefig(path)
    plt.close(figure)
    return [path]
