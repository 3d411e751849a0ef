"""What `cambium report` draws of convection and its reconstruction (apps/python/plugin_pictures.py says how)."""

import h5py
import matplotlib.pyplot as plt
import numpy as np

import cambium_io
import plot_superres
from cambium_style import STYLE


def draw_reconstruction(folder, path):
    """One frame of b as the data have it and as every method rebuilds it, and what each gets wrong."""
    with h5py.File(folder / "frames.h5") as file:
        names, b, time = file["methods"].asstr()[:], file["b"][:], file["time"][()]
        x, z = file["x"][:], file["z"][:]
    wrong = b - b[0]
    limit = max(np.abs(wrong[1:]).max(), 1e-12)
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(len(b), 2, figsize=(10.5, 1.55 * len(b) + 0.4), squeeze=False, sharex=True, sharey=True, layout="constrained")
        for name, field, error, row in zip(names, b, wrong, grid):
            left = row[0].pcolormesh(x, z, field.T, cmap="RdYlBu_r", vmin=b[0].min(), vmax=b[0].max(), shading="nearest", rasterized=True)
            row[0].set(ylabel="z", title=f"{name}, t = {time:.4g}" if name == "data" else name)
            right = row[1].pcolormesh(x, z, error.T, cmap="PuOr", vmin=-limit, vmax=limit, shading="nearest", rasterized=True)
            row[1].set(title=f"largest difference {np.abs(error).max():.2g}" if name != "data" else "difference from the data")
        for axes in grid[-1]:
            axes.set(xlabel="x")
        figure.colorbar(left, ax=grid[:, 0], label="buoyancy", shrink=0.6)
        figure.colorbar(right, ax=grid[:, 1], label="difference", shrink=0.6)
        figure.savefig(path)
        plt.close(figure)


def pictures(folder, scratch):
    """What every method made of a frame, of a stage reconstruct; of a simulation the last buoyancy, Nusselt numbers, spectra."""
    path = scratch / "picture.png"
    if (folder / "frames.h5").exists():
        draw_reconstruction(folder, path)
    elif (folder / "fields.h5").exists() and (folder / "thermo.csv").exists():
        plot_superres.draw(folder, path)
    else:
        return []
    return [path]


def tables(folder):
    """What the stage reconstruct found: a column for every method, and one of the data where they have the number, too."""
    if not (folder / "frames.h5").exists():
        return []
    table = cambium_io.Table(folder / "scores.csv")
    with h5py.File(folder / "frames.h5") as file:
        methods = list(file["methods"].asstr()[1:])
    truth = {"nusselt": "true_nusselt", "divergence": "true_divergence"}
    rows = [[name, *table[name], *([table[truth[name]][0]] if name in truth else [])]
            for name in table.names if not name.startswith("true_")]
    return [("scores", methods + ["data"], rows)]
