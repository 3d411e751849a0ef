#!/usr/bin/env python3
"""Pictures of a run of the plugin podlstm, or of one of its stages: plot_podlstm.py RUN [FOLDER OF A SEARCH...]

Writes PNG files into RUN: modes.png (maps and coefficients), scores.png (R2 of all methods by lead), forecast.png (forecast beside
truth), error_map_<lead>.png (root mean square error of the last method on the grid), reward.png (rewards over the search's time; further
folders are drawn beside it) and network.png (the best network's layers and skip connections). Needs numpy, h5py, matplotlib.
"""
import csv
import sys
from pathlib import Path

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

WIDTHS = ["identity", "16", "32", "48", "64", "80", "96"]


def newest(run, name):
    """A file of this folder, else of the last of its stages that has it."""
    found = sorted(Path(run).glob("*/" + name)) + list(Path(run).glob(name))
    return found[-1] if found else None


def save(figure, target, name):
    """Path of the file that it writes."""
    figure.tight_layout()
    figure.savefig(Path(target) / name, dpi=120, bbox_inches="tight")
    plt.close(figure)
    return Path(target) / name


def draw_modes(target, path):
    with h5py.File(path) as file:
        modes, share = file["modes"][()], file["energy_share"][()]
        a, time, training = file["coefficients"][()], file["time"][()], int(file.attrs["training_snapshots"])
    if modes.ndim != 3:
        return []
    figure, axes = plt.subplots(len(modes), 2, figsize=(11, 2.1 * len(modes)), squeeze=False)
    for k, mode in enumerate(modes):
        top = np.nanmax(np.abs(mode))
        axes[k][0].imshow(mode, origin="lower", cmap="RdBu_r", vmin=-top, vmax=top, aspect="auto")
        axes[k][0].set_title(f"mode {k + 1}: {100 * share[k]:.2f} %", fontsize=9)
        axes[k][1].plot(time, a[:, k], lw=0.8)
        axes[k][1].axvline(time[training - 1], color="0.5", lw=0.8)
    axes[-1][1].set_xlabel("time; the line ends training"), axes[-1][0].set_xlabel("column of the grid")
    return [save(figure, target, "modes.png")]


def draw_scores(target, path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axis = plt.subplots(figsize=(7, 4.5))
    for row in rows:
        leads = [float(v) for key, v in row.items() if key.startswith("test_r2_lead_")]
        axis.plot(range(1, len(leads) + 1), leads, "o-", ms=3, label=f"{row['method'].strip()}: {float(row['test_r2']):.3f}")
    axis.set_xlabel("lead"), axis.set_ylabel("test R2, mean of modes"), axis.set_ylim(max(-0.2, axis.get_ylim()[0]), 1.0)
    axis.legend(fontsize=7)
    return [save(figure, target, "scores.png")]


def draw_forecast(target, path, pod):
    with h5py.File(path) as file:
        truth, issued = file["truth"][()], file["issued"][()]
        group = file["forecast"]
        name = max(group, key=lambda n: group[n].attrs["test_r2"])
        forecast = group[name][()]
    leads, modes = truth.shape[1:]
    figure, axes = plt.subplots(modes, 1, figsize=(9, 1.8 * modes), squeeze=False, sharex=True)
    for k in range(modes):
        axes[k][0].plot(issued, truth[:, -1, k], "k", lw=0.9, label="truth")
        axes[k][0].plot(issued, forecast[:, -1, k], "r", lw=0.9, label=f"{name.strip()}, lead {leads}")
    axes[0][0].legend(fontsize=7)
    pictures = [save(figure, target, "forecast.png")]
    if pod is None:
        return pictures
    with h5py.File(pod) as file:
        psi = file["modes"][()]
    if psi.ndim != 3:
        return pictures
    for lead in sorted({0, leads - 1}):
        error = forecast[:, lead] - truth[:, lead]
        grid = np.sqrt(np.einsum("kij,lij,kl->ij", psi, psi, error.T @ error / len(error)))
        figure, axis = plt.subplots(figsize=(8, 4))
        figure.colorbar(axis.imshow(grid, origin="lower", aspect="auto"), label="RMSE within the modes")
        axis.set_title(f"{name.strip()}, lead {lead + 1}", fontsize=9)
        pictures.append(save(figure, target, f"error_map_{lead + 1}.png"))
    return pictures


def draw_reward(target, folders):
    figure, axis = plt.subplots(figsize=(7, 4.5))
    for folder in folders:
        with h5py.File(Path(folder) / "journal.h5") as file:
            trials = file["trials"]
            when, reward, failed = trials["started"][()] + trials["seconds"][()], trials["reward"][()], trials["failed"][()] != 0
        keep = ~failed
        line = axis.plot(when[keep] / 60, np.maximum.accumulate(reward[keep]), label=f"{folder}: best so far")[0]
        axis.plot(when[keep] / 60, reward[keep], ".", ms=3, alpha=0.5, color=line.get_color())
    axis.set_xlabel("time [min]"), axis.set_ylabel("validation R2"), axis.legend(fontsize=7)
    if axis.get_ylim()[1] > 0.0:
        axis.set_ylim(bottom=max(axis.get_ylim()[0], 0.0))
    return [save(figure, target, "reward.png")]


def draw_network(target, folder):
    with h5py.File(Path(folder) / "journal.h5") as file:
        reward, genomes = file["trials/reward"][()], file["trials/genome"][()]
    genome = [int(g) for g in genomes[np.argmax(reward)]]
    figure, axis = plt.subplots(figsize=(4, 7))
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
    pictures = []
    if pod:
        pictures += draw_modes(target, pod)
    if scores:
        pictures += draw_scores(target, scores)
    if forecast:
        pictures += draw_forecast(target, forecast, pod)
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
