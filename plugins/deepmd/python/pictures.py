"""What `cambium report` draws of labels for Deep Potentials (apps/python/plugin_pictures.py says how)."""

import matplotlib.pyplot as plt

import cambium_io
from cambium_style import COLOURS, MUTED, STYLE

SUMMARIES = ("deviation.csv",)


def draw_deviation(folder, path):
    """How much a committee disagreed on what a label stage sampled, and what of it was labelled."""
    table = cambium_io.Table(folder / "deviation.csv")
    kept = table["kept"] > 0
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 3.2))
        for chosen, colour, name in ((~kept, MUTED, "left away"), (kept, COLOURS[0], "labelled")):
            if chosen.any():
                axes.plot(table["step"][chosen], table["deviation"][chosen], ".", color=colour, label=f"{name}: {chosen.sum()}")
        axes.set(title="Disagreement of the committee", xlabel="configuration", ylabel="largest deviation of a force (eV/Å)")
        axes.set_ylim(bottom=0.0)
        axes.legend()
        figure.tight_layout()
        figure.savefig(path)
        plt.close(figure)


def pictures(folder, scratch):
    """Disagreement of the committee of a label stage; parity of a test stage is drawn as that of every stage."""
    path = scratch / "picture.png"
    if not (folder / "deviation.csv").exists():
        return []
    draw_deviation(folder, path)
    return [path]
