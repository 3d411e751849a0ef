"""What `cambium report` draws of convection and its reconstruction (apps/python/plugin_pictures.py says how)."""

import h5py
import matplotlib.pyplot as plt
import numpy as np

import cambium_io
import plot_superres
from cambium_style import DIVERGING, STYLE, colours_of


def methods_of(file):
    """Names of the methods of frames.h5, the data first; files of earlier versions call them otherwise."""
    return file["method" if "method" in file else "methods"].asstr()[:]


def draw_reconstruction(folder, path):
    """One frame of b as the data have it and as every method rebuilds it, and what each gets wrong."""
    with h5py.File(folder / "frames.h5") as file:
        names, b, time = methods_of(file), file["b"][:], file["time"][()]
        x, z = file["x"][:], file["z"][:]
    wrong = b - b[0]
    limit = max(np.abs(wrong[1:]).max(), 1e-12)
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(len(b), 2, figsize=(10.5, 1.55 * len(b) + 0.4), squeeze=False, sharex=True, sharey=True, layout="constrained")
        for name, field, error, row in zip(names, b, wrong, grid):
            left = row[0].pcolormesh(x, z, field.T, shading="nearest", rasterized=True, **colours_of(b[0].min(), b[0].max()))
            row[0].set(ylabel="z", title=f"{name}, t = {time:.4g}" if name == "data" else name)
            right = row[1].pcolormesh(x, z, error.T, cmap=DIVERGING, vmin=-limit, vmax=limit, shading="nearest", rasterized=True)
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


def scores_figure(path):
    """What matters first of the numbers of every method."""
    import cambium_plots

    (_, methods, rows), = tables(path.parent)
    chosen = ("rel_l2_b", "rel_l2_w", "nusselt", "divergence", "spectrum", "seconds")
    columns = {name: values + [np.nan] * (len(methods) - len(values)) for name, *values in rows if name in chosen}
    return cambium_plots.bars_by_row(methods, columns)


def view(path, names):
    """Spectra on logarithmic axes; all else says itself what it is."""
    from cambium_views import Whole

    if path.name == "scores.csv" and (path.parent / "frames.h5").exists() and not names:
        return Whole(lambda: scores_figure(path))
    if path.name != "spectrum.csv" or names:
        return None

    def draw():
        with plt.rc_context(STYLE):
            figure, axes = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
            plot_superres.draw_spectrum(axes, path)
        return figure

    return Whole(draw)


def tables(folder):
    """What the stage reconstruct found: a column for every method, and one of the data where they have the number, too."""
    if not (folder / "frames.h5").exists():
        return []
    table = cambium_io.Table(folder / "scores.csv")
    with h5py.File(folder / "frames.h5") as file:
        methods = list(methods_of(file)[1:])
    truth = {"nusselt": "true_nusselt", "divergence": "true_divergence"}
    rows = [[name, *table[name], *([table[truth[name]][0]] if name in truth else [])]
            for name in table.names if not name.startswith("true_")]
    return [("scores", methods + ["data"], rows)]
