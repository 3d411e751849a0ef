"""Pictures of a stage rollout: errors of every way to go on over time, and the first run's states beside the truth."""
import h5py
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.tri import Triangulation

import cambium_io
from cambium_style import COLOURS, MUTED, STYLE, colours_of, legend


def is_rollout(path):
    """Whether a file is the table of this stage."""
    if path.name != "rollout.csv" or not path.exists():
        return False
    return any(name.startswith("error_") for name in cambium_io.Table(path).names)


def errors_figure(path):
    """Root mean square errors over time; beside them those of the whole amount."""
    table = cambium_io.Table(path)
    ways = [name.removeprefix("error_") for name in table.names if name.startswith("error_")]
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.6), layout="constrained")
        others = iter(COLOURS[1:] * 3)
        for way in ways:
            own = way == "network"
            colour = COLOURS[0] if own else MUTED if way == "persistence" else next(others)
            for axes, kind in ((left, "error"), (right, "amount")):
                values = np.asarray(table[f"{kind}_{way}"], dtype=float)
                axes.plot(table["time"], np.where(values > 0, values, np.nan), color=colour, linewidth=2.2 if own else 1.4, label=way)
        left.set(title="Error of the nodes' values", xlabel="t", yscale="log")
        right.set(title="Error of the amount", xlabel="t", yscale="log")
        legend(left)
    return figure


def states_figure(path):
    """The truth, the network's states and what parts them, at four moments of the first run; nothing without triangles."""
    with h5py.File(path, "r") as file:
        if "triangle" not in file:
            return None
        place, triangle, time = file["place"][:], file["triangle"][:], file["time"][:]
        truth, network = file["truth"][:, :, 0], file["network"][:, :, 0]
    moments = sorted({0, len(time) // 3, 2 * len(time) // 3, len(time) - 1})
    mesh = Triangulation(place[:, 0], place[:, 1], triangle)
    shown = colours_of(float(truth.min()), float(truth.max()))
    most = max(float(np.abs(network - truth).max()), 1e-12)
    wide, high = np.ptp(place[:, 0]) or 1.0, np.ptp(place[:, 1]) or 1.0
    height = float(np.clip(2.6 * high / wide, 0.9, 3.5)) + 0.35
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(3, len(moments), figsize=(2.9 * len(moments) + 1.0, 3 * height), squeeze=False, layout="constrained")
        for row, (name, values, colours) in enumerate((("truth", truth, shown), ("network", network, shown),
                                                       ("difference", network - truth, colours_of(-most, most)))):
            for axes, moment in zip(grid[row], moments):
                drawn = axes.tripcolor(mesh, values[moment], shading="gouraud", rasterized=True, **colours)
                axes.set(aspect="equal", xticks=[], yticks=[], title=f"{name}, t = {time[moment]:.4g}")
                axes.grid(False)
            figure.colorbar(drawn, ax=list(grid[row]), shrink=0.9)
    return figure


def draw(folder, scratch):
    """Paths of the pictures of a stage's folder, written into `scratch`."""
    if not is_rollout(folder / "rollout.csv"):
        return []
    out = []
    for name, made in (("errors", errors_figure(folder / "rollout.csv")), ("states", states_figure(folder / "rollout.h5"))):
        if made is not None:
            out.append(scratch / f"rollout_{name}.png")
            made.savefig(out[-1])
            plt.close(made)
    return out
