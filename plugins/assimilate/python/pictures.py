"""What `cambium report` draws of filters (apps/python/plugin_pictures.py says how)."""

import h5py
import matplotlib.pyplot as plt
import numpy as np

from cambium_style import DIVERGING, STYLE, colours_of


def filters_of(file):
    """Names of the groups that hold a filter."""
    return [name for name in file if isinstance(file[name], h5py.Group) and "rmse_a" in file[name]]


def series_figure(file):
    """Error and spread of every filter over time, and rank histograms of ensembles."""
    names = filters_of(file)
    ranked = [name for name in names if "rank_histogram" in file[name]]
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(10.5, 5.2 if ranked else 3.0), layout="constrained")
        grid = figure.add_gridspec(2 if ranked else 1, max(1, len(ranked)))
        axes = figure.add_subplot(grid[0, :])
        for k, name in enumerate(names):
            axes.semilogy(file["time"][:], file[name]["rmse_a"][:], color=f"C{k}", lw=0.8, label=name)
            if np.isfinite(file[name]["spread_a"][:]).any():
                axes.semilogy(file["time"][:], file[name]["spread_a"][:], color=f"C{k}", lw=0.8, ls=":")
        axes.set(xlabel="time", ylabel="error (dotted: spread)")
        axes.legend(fontsize="small", ncols=4)
        for k, name in enumerate(ranked):
            counts = file[name]["rank_histogram"][:]
            below = figure.add_subplot(grid[1, k])
            below.bar(np.arange(len(counts)), counts * len(counts) / max(1, counts.sum()), width=1.0, color=f"C{names.index(name)}")
            below.axhline(1.0, color="k", lw=0.6)
            below.set(title=name, xlabel="rank", ylabel="frequency" if k == 0 else None)
    return figure


def fields_figure(file):
    """The last instant: truth with the observed places, what each filter makes of it, and what it gets wrong."""
    x, z = file["x"][:], file["z"][:]
    field = "b" if "b" in file["truth"] else sorted(file["truth"])[0]
    truth = file["truth"][field][:]
    names = filters_of(file)
    seen = file["observations/field"].asstr()[:] == field
    errors = {name: file[name]["analysis"][field][:] - truth for name in names}
    limit = max(1e-12, min(np.abs(error).max() for error in errors.values()))
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(len(names) + 1, 2, figsize=(10.5, 1.5 * len(names) + 2.0), squeeze=False, sharex=True, sharey=True,
                                    layout="constrained")
        colours = colours_of(truth.min(), truth.max())
        left = grid[0, 0].pcolormesh(x, z, truth.T, shading="nearest", rasterized=True, **colours)
        grid[0, 0].set(title=f"truth, {field}", ylabel="z")
        values = {"c": file["observations/value"][:][seen], **colours} if "value" in file["observations"] else {"c": "k"}
        grid[0, 1].scatter(file["observations/x"][:][seen], file["observations/z"][:][seen], s=8, rasterized=True, **values)
        grid[0, 1].set(title=f"{seen.sum()} observed places of {field}")
        for name, row in zip(names, grid[1:]):
            row[0].pcolormesh(x, z, file[name]["analysis"][field][:].T, shading="nearest", rasterized=True, **colours)
            row[0].set(title=name, ylabel="z")
            right = row[1].pcolormesh(x, z, errors[name].T, cmap=DIVERGING, vmin=-limit, vmax=limit, shading="nearest", rasterized=True)
            relative = np.sqrt((errors[name] ** 2).sum() / (truth ** 2).sum())
            row[1].set(title=f"error {100 * relative:.2g} %")
        for axes in grid[-1]:
            axes.set(xlabel="x")
        figure.colorbar(left, ax=grid[:, 0], label=field, shrink=0.6)
        figure.colorbar(right, ax=grid[1:, 1], label="error", shrink=0.6)
    return figure


def figures(path):
    """Error, spread and rank histograms; of models with two dimensions the last analysis, too."""
    with h5py.File(path) as file, plt.rc_context(STYLE):
        out = {"filters.png": series_figure(file)}
        if len(file["z"]) > 1:
            out["fields.png"] = fields_figure(file)
    return out


def pictures(folder, scratch):
    """What figures() draws of a stage assimilate."""
    path = folder / "assimilation.h5"
    if not path.exists():
        return []
    out = []
    for name, figure in figures(path).items():
        out.append(scratch / name)
        figure.savefig(out[-1])
        plt.close(figure)
    return out


def view(path, names):
    """The last analysis beside the truth; of models without a plane the series of every filter."""
    if names or path.name != "assimilation.h5":
        return None
    from cambium_views import Whole

    return Whole(lambda: list(figures(path).values())[-1])
