#!/usr/bin/env python3
"""The README's picture, from three decks at full size:

    cambium run inputs/md/copper_melting.yaml
    cambium run inputs/kinetic/two_stream.yaml
    cambium run inputs/superres/rayleigh_benard.yaml
    python3 docs/pictures/three_runs.py runs docs/pictures/three_runs.png
"""

import sys
from pathlib import Path

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("apps/python", "plugins/kinetic/python", "plugins/md/python")]
import cambium_io  # noqa: E402
import kinetic_io  # noqa: E402
import plot_kinetic  # noqa: E402
import plot_md  # noqa: E402
from cambium_style import STYLE  # noqa: E402


def draw_copper(axes, run):
    plot_md.plot_rdf(axes, run.rdf, run.thermo)
    axes.set(title="Copper melts: radial distribution")


def draw_beams(figure, axes, folder):
    last = kinetic_io.distributions(folder)[-1]
    plot_kinetic.plot_phase_space(figure, axes, last, kinetic_io.Distribution(last).species[0])
    axes.set(title="Two electron beams trap each other")


def draw_convection(axes, path):
    with h5py.File(path) as file:
        b, x, z = file["tasks/b"][-1], file["scales/x"][:], file["scales/z"][:]
    axes.pcolormesh(x, z, b.T, cmap="RdYlBu_r", vmin=-0.5, vmax=0.5, shading="nearest", rasterized=True)
    axes.set(title="Convection at Ra = 10⁶: buoyancy", xlabel="x", ylabel="z", aspect="equal")
    axes.grid(False)


def main():
    runs, output = Path(sys.argv[1]), sys.argv[2]
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(12, 6.2))
        grid = figure.add_gridspec(2, 2, height_ratios=[1.15, 1])
        draw_copper(figure.add_subplot(grid[0, 0]), cambium_io.Run(runs / "copper_melting"))
        draw_beams(figure, figure.add_subplot(grid[0, 1]), runs / "two_stream" / "simulate")
        draw_convection(figure.add_subplot(grid[1, :]), runs / "rayleigh_benard" / "simulate" / "fields.h5")
        figure.tight_layout()
        figure.savefig(output, dpi=90)


if __name__ == "__main__":
    main()
