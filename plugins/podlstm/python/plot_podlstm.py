#!/usr/bin/env python3
"""Pictures of a run of the plugin podlstm, or of one of its stages: plot_podlstm.py RUN [FOLDER OF A SEARCH...]

Writes PNG files into RUN: modes.png (maps and coefficients), scores.png (R2 of all methods by lead), forecast.png (forecast beside
truth), ahead.png and ahead_maps.png (beyond the last date), error_map_<lead>.png (root mean square error of the last method on the grid), reward.png (rewards over the search's time; further
folders are drawn beside it) and network.png (the best network's layers and skip connections). Needs numpy, h5py, matplotlib.
"""
import csv
import itertools
import sys
from pathlib import Path

import h5py
import matplotlib
import matplotlib.dates
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]  # the source tree, or share/cambium of an installation
sys.path[:0] = [str(ROOT / "apps" / "python"), str(ROOT / "python")]
import cambium_cf  # noqa: E402
from cambium_style import COLOURS, DIVERGING, HOLE, MUTED, SEQUENTIAL, STYLE, legend  # noqa: E402

WIDTHS = ["identity", "16", "32", "48", "64", "80", "96"]


def newest(run, name):
    """A file of this folder, else of the last of its stages that has it."""
    found = sorted(Path(run).glob("*/" + name)) + list(Path(run).glob(name))
    return found[-1] if found else None


def save(figure, target, name):
    """Path of the file that it writes."""
    figure.savefig(Path(target) / name, dpi=120, bbox_inches="tight")
    plt.close(figure)
    return Path(target) / name


def styled(draw):
    """The figure that a function returns, in Cambium's style."""
    def figure(*arguments):
        with plt.rc_context(STYLE):
            return draw(*arguments)

    figure.__doc__ = draw.__doc__
    return figure


@styled
def modes_figure(path):
    """Every mode as a map beside its coefficient; None for fields that are no maps."""
    with h5py.File(path) as file:
        modes, share = file["modes"][()], file["energy_share"][()]
        a, training = file["coefficients"][()], int(file.attrs["training_snapshots"])
    if modes.ndim != 3:
        return None
    when, label = times_of(path, "time")
    grid = Grid(path)
    figure, axes = plt.subplots(len(modes), 2, figsize=(11, 2.1 * len(modes)), squeeze=False, layout="constrained", sharex="col")
    for k, mode in enumerate(modes):
        top = np.nanmax(np.abs(mode))
        image = grid.draw(axes[k][0], mode, cmap=DIVERGING, vmin=-top, vmax=top)
        axes[k][0].set(title=f"mode {k + 1}: {100 * share[k]:.2f} %", ylabel=grid.label[0])
        figure.colorbar(image, ax=axes[k][0], pad=0.02)
        axes[k][1].plot(when, a[:, k], lw=0.9, color=COLOURS[0])
        axes[k][1].axvline(when[training - 1], color=MUTED, lw=0.8)
        axes[k][1].set(ylabel=f"coefficient {k + 1}")
    if when.dtype.kind == "M":
        locator = matplotlib.dates.AutoDateLocator()
        axes[-1][1].xaxis.set_major_locator(locator)
        axes[-1][1].xaxis.set_major_formatter(matplotlib.dates.ConciseDateFormatter(locator))
    axes[-1][0].set(xlabel=grid.label[1])
    axes[-1][1].set(xlabel=f"{label}; the line ends training")
    return figure


def is_map(path):
    with h5py.File(path) as file:
        return file["modes"].ndim == 3


class Grid:
    """Coordinates of the maps of a pod.h5 or ahead.nc, so that north is above and east is right however the file has them."""

    def __init__(self, path, array="modes"):
        file = cambium_cf.open(path)
        names = file[array].dims[1:] if array in file.variables else ()
        with h5py.File(path) as h5:
            shape = h5[array].shape[1:]
        found = [file.coordinate(name) for name in names] or [None, None]
        self.values = [self.rising(v, n) for v, n in zip(found, shape)]
        self.label = [file.label(name) if v is not None else f"{what} of the grid" for name, v, what in zip(names or ("", ""), found, ("row", "column"))]
        self.turned = bool(names) and self.is_longitude(path, names[0]) and not self.is_longitude(path, names[1])
        if self.turned:
            self.values.reverse()
            self.label.reverse()

    @staticmethod
    def rising(values, n):
        """Numbers that rise or fall throughout; else the places, which a mesh needs."""
        if values is None or values.dtype.kind not in "fiu":
            return np.arange(n)
        steps = np.diff(values)
        return values if np.all(steps > 0) or np.all(steps < 0) else np.arange(n)

    @staticmethod
    def is_longitude(path, name):
        with h5py.File(path) as file:
            return cambium_cf.attribute(file[name], "standard_name").endswith("longitude")

    def draw(self, axis, values, **how):
        image = axis.pcolormesh(self.values[1], self.values[0], values.T if self.turned else values, shading="nearest", rasterized=True, **how)
        axis.grid(False)
        axis.set_facecolor(HOLE)
        return image


def times_of(path, name):
    """Dates where numpy has the calendar of a time; else its numbers."""
    file = cambium_cf.open(path)
    return file.coordinate(name), file.label(name)


def draw_modes(target, path):
    figure = modes_figure(path)
    return [save(figure, target, "modes.png")] if figure else []


@styled
def scores_figure(path):
    """R2 of all methods by lead."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axis = plt.subplots(figsize=(8.2, 4.2), layout="constrained")
    for k, row in enumerate(rows):
        leads = [float(v) for key, v in row.items() if key.startswith("test_r2_lead_")]
        axis.plot(range(1, len(leads) + 1), leads, "os^vD"[k // len(COLOURS) % 5] + ("-" if k < len(COLOURS) else "--"), ms=3,
                  color=COLOURS[k % len(COLOURS)], label=f"{row['method'].strip()}: {float(row['test_r2']):.3f}")
    axis.set(xlabel="Lead", ylabel="Test R², mean of modes", ylim=(max(-0.2, axis.get_ylim()[0]), 1.0))
    legend(axis, title="Test R²")
    return figure


def draw_scores(target, path):
    return [save(scores_figure(path), target, "scores.png")]


def best_of(file):
    group = file["forecast"]
    return max(group, key=lambda n: group[n].attrs["test_r2"])


@styled
def forecast_figure(path):
    """The best method at the last lead beside the truth, mode by mode."""
    with h5py.File(path) as file:
        truth, name = file["truth"][()], best_of(file)
        forecast = file["forecast"][name][()]
        interval = [file[bound][:, -1] for bound in ("lower", "upper")] if "lower" in file else None
    leads, modes = truth.shape[1:]
    issued, label = times_of(path, "issued")
    figure, axes = plt.subplots(modes, 1, figsize=(9.6, 1.7 * modes), squeeze=False, sharex=True, layout="constrained")
    for k in range(modes):
        if interval:
            axes[k][0].fill_between(issued, interval[0][:, k], interval[1][:, k], color=COLOURS[0], alpha=0.25, lw=0, label="90 % interval of the ensemble")
        axes[k][0].plot(issued, truth[:, -1, k], color="black", lw=1.0, label="truth")
        axes[k][0].plot(issued, forecast[:, -1, k], color=COLOURS[1], lw=1.2, label=f"{name.strip()}, lead {leads}")
        axes[k][0].set(ylabel=f"mode {k + 1}")
    axes[-1][0].set(xlabel=label)
    legend(axes[0][0])
    return figure


@styled
def error_map_figure(path, pod, lead):
    """Root mean square error of the best method at a lead, on the grid of the modes in `pod`."""
    grid = Grid(pod)
    with h5py.File(pod) as file:
        psi = file["modes"][()]
    with h5py.File(path) as file:
        name = best_of(file)
        error = file["forecast"][name][:, lead] - file["truth"][:, lead]
    size = np.sqrt(np.einsum("kij,lij,kl->ij", psi, psi, error.T @ error / len(error)))
    figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
    figure.colorbar(grid.draw(axis, size, cmap=SEQUENTIAL), label="RMSE within the modes", pad=0.02)
    axis.set(title=f"{name.strip()}, lead {lead + 1}", xlabel=grid.label[1], ylabel=grid.label[0])
    return figure


def map_name(path):
    """The forecast field of an ahead.nc; None where it has coefficients alone."""
    with h5py.File(path) as file:
        return next((name for name in file if name + "_spread" in file and len(file[name].shape) == 3), None)


@styled
def ahead_figure(path):
    """Forecast and spread on the grid at the first and last lead, by their dates; members and 90 % interval where there is no map."""
    name = map_name(path)
    when, _ = times_of(path, "valid_time")
    dates = [str(t)[:10] for t in when]
    if name is None:
        return fan_figure(path)
    grid = Grid(path, name)
    with h5py.File(path) as file:
        maps, spread, unit = file[name][()], file[name + "_spread"][()], cambium_cf.attribute(file[name], "units")
    leads = sorted({0, len(maps) - 1})
    figure, axes = plt.subplots(len(leads), 2, figsize=(11, 2.9 * len(leads)), squeeze=False, layout="constrained")
    for row, h in zip(axes, leads):
        for axis, values, every, word in ((row[0], maps[h], maps, "forecast"), (row[1], spread[h], spread, "standard deviation")):
            image = grid.draw(axis, values, cmap=SEQUENTIAL, vmin=np.nanmin(every), vmax=np.nanmax(every))
            figure.colorbar(image, ax=axis, pad=0.02, label=f"{name} ({unit})")
            axis.set(title=f"{word} for {dates[h]}, lead {h + 1}", xlabel=grid.label[1], ylabel=grid.label[0])
    return figure


@styled
def fan_figure(path):
    """Ensemble of every mode's coefficient, or of every index, beyond the last date."""
    when, label = times_of(path, "valid_time")
    with h5py.File(path) as file:
        panels = {f"mode {k + 1}": file["coefficients"][:, :, k] for k in range(file["coefficients"].shape[2])}
        panels |= {name: array[()] for name, array in file.items() if isinstance(array, h5py.Dataset) and array.ndim == 2}
    figure, axes = plt.subplots(len(panels), 1, figsize=(8.2, 1.8 * len(panels)), squeeze=False, sharex=True, layout="constrained")
    for axis, (name, members) in zip(axes[:, 0], panels.items()):
        low, middle, high = np.quantile(members, [0.05, 0.5, 0.95], axis=0)
        axis.fill_between(when, low, high, color=COLOURS[0], alpha=0.25, lw=0, label="90 % interval")
        axis.plot(when, middle, color=COLOURS[0], marker="o", ms=3, label="median")
        axis.set(ylabel=name)
    legend(axes[0][0])
    axes[-1][0].set(xlabel=label)
    return figure


def draw_ahead(target, path):
    pictures = [save(fan_figure(path), target, "ahead.png")]
    return pictures + [save(ahead_figure(path), target, "ahead_maps.png")] if map_name(path) else pictures


def draw_forecast(target, path, pod):
    pictures = [save(forecast_figure(path), target, "forecast.png")]
    if pod is None:
        return pictures
    with h5py.File(path) as file:
        leads = file["truth"].shape[1]
    if not is_map(pod):
        return pictures
    return pictures + [save(error_map_figure(path, pod, lead), target, f"error_map_{lead + 1}.png") for lead in sorted({0, leads - 1})]


@styled
def reward_figure(folders):
    """Rewards over the time of searches, and the best so far."""
    figure, axis = plt.subplots(figsize=(7.6, 4.0), layout="constrained")
    for folder, colour in zip(folders, itertools.cycle(COLOURS)):
        with h5py.File(Path(folder) / "journal.h5") as file:
            trials = file["trials"]
            when, reward, failed = trials["started"][()] + trials["seconds"][()], trials["reward"][()], trials["failed"][()] != 0
        keep = ~failed
        name = f"{Path(folder).resolve().name}: " if len(folders) > 1 else ""
        axis.plot(when[keep] / 60, np.maximum.accumulate(reward[keep]), color=colour, label=f"{name}best so far")
        axis.plot(when[keep] / 60, reward[keep], ".", ms=4, alpha=0.6, color=colour, label=f"{name}a trial")
    axis.set(xlabel="Time (min)", ylabel="Validation R²")
    legend(axis)
    if axis.get_ylim()[1] > 0.0:
        axis.set_ylim(bottom=max(axis.get_ylim()[0], 0.0))
    return figure


def draw_reward(target, folders):
    return [save(reward_figure(folders), target, "reward.png")]


def draw_network(target, folder):
    with h5py.File(Path(folder) / "journal.h5") as file:
        reward, genomes = file["trials/reward"][()], file["trials/genome"][()]
    genome = [int(g) for g in genomes[np.argmax(reward)]]
    figure, axis = plt.subplots(figsize=(4, 7), layout="constrained")
    axis.axis("off")
    d, names = 0, ["input"]
    skips = []
    for layer in range(5):
        names.append("identity" if genome[d] == 0 else f"{WIDTHS[genome[d]]} cells")
        d += 1
        for anchor in range(max(0, layer - 1), layer + 1):
            if genome[d]:
                skips.append((anchor, layer + 1))
            d += 1
    names.append("head")
    for k, name in enumerate(names):
        axis.text(0, -k, name, ha="center", va="center", bbox={"boxstyle": "round", "fc": "white"})
        if k:
            axis.annotate("", (0, -k + 0.25), (0, -k + 0.75), arrowprops={"arrowstyle": "->"})
    for n, (a, b) in enumerate(skips):
        bend = 0.4 if n % 2 else -0.4
        axis.annotate("", (0.15 * np.sign(bend), -b + 0.3), (0.15 * np.sign(bend), -a), arrowprops={"arrowstyle": "->", "color": "C1", "connectionstyle": f"arc3,rad={bend}"})
    axis.set_xlim(-1, 1), axis.set_ylim(-len(names), 0.5)
    axis.set_title(f"best by validation: R2 {np.max(reward):.4f}", fontsize=9)
    return [save(figure, target, "network.png")]


def draw(run, target, more=()):
    """Paths of the pictures of a run, or of the folder of one stage, written into `target`; `more` are further folders of searches."""
    pod, journal = newest(run, "pod.h5"), newest(run, "journal.h5")
    scores, forecast = newest(run, "scores.csv"), newest(run, "forecast.h5")
    ahead = newest(run, "ahead.nc")
    pictures = []
    if pod:
        pictures += draw_modes(target, pod)
    if scores:
        pictures += draw_scores(target, scores)
    if forecast:
        pictures += draw_forecast(target, forecast, pod)
    if ahead:
        pictures += draw_ahead(target, ahead)
    if journal:
        pictures += draw_reward(target, [journal.parent, *more])
        pictures += draw_network(target, journal.parent)
    return pictures


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for picture in draw(sys.argv[1], sys.argv[1], sys.argv[2:]):
        print(f"wrote: {picture}")


if __name__ == "__main__":
    main()
