"""What `cambium report` draws of labels and tests of Deep Potentials (apps/python/plugin_pictures.py says how)."""

import matplotlib.pyplot as plt

import cambium_io
import plot_surrogate
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


def draw_parity(folder, path):
    """Parity of energies and forces, one row a system of a test stage."""
    energies = sorted(folder.glob("parity_*_energy.csv"))
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(len(energies), 2, figsize=(8.4, 3.6 * len(energies)), squeeze=False)
        for energy, row in zip(energies, grid):
            plot_surrogate.plot_parity(row[0], energy, "Energy")
            plot_surrogate.plot_parity(row[1], energy.with_name(energy.name.replace("energy", "force")), "Force")
        figure.tight_layout()
        figure.savefig(path)
        plt.close(figure)


def pictures(folder, scratch):
    """Disagreement of the committee of a label stage, or parity of a test stage."""
    path = scratch / "picture.png"
    if (folder / "deviation.csv").exists():
        draw_deviation(folder, path)
    elif any(folder.glob("parity_*_energy.csv")):
        draw_parity(folder, path)
    else:
        return []
    return [path]
