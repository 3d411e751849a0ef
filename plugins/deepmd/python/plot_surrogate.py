#!/usr/bin/env python3
"""Draws a run that labels, trains, tests and simulates: learning curve, parity of energies and forces on the last system
tested, and the radial distribution functions of its simulate stages on one pair of axes.

    python3 plot_surrogate.py RUN -o picture.png
"""

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]  # the source tree, or share/cambium of an installation
sys.path[:0] = [str(ROOT / "apps" / "python"), str(ROOT / "python")]
import cambium_io  # noqa: E402
import cambium_parity  # noqa: E402
from cambium_style import COLOURS, STYLE, legend  # noqa: E402


def read_csv(path):
    """Names and columns of a table of numbers."""
    with open(path, encoding="utf-8") as file:
        names = [name.strip() for name in file.readline().split(",")]
    return names, np.atleast_2d(np.genfromtxt(path, delimiter=",", skip_header=1)).T


def plot_learning(axes, path):
    names, columns = read_csv(path)
    for name, values, colour in zip(names[1:], columns[1:], COLOURS):
        if any(word in name for word in ("force", "energy", "virial")) and np.isfinite(values).any():
            axes.semilogy(columns[0], values, color=colour, label=name.replace("angstrom", "Å"))
    axes.set(title="Validation error", xlabel="Step", ylabel="Root mean square error")
    legend(axes)


def plot_rdfs(axes, folders):
    curves = []
    for folder, colour in zip(folders, COLOURS):
        rdf = cambium_io.Run(str(folder)).rdf
        curves.append((rdf.r, rdf.g(rdf.pairs[0])))
        axes.plot(*curves[-1], color=colour, label=folder.name, linestyle="-" if len(curves) == 1 else "--")
    title = "Radial distribution"
    if len(curves) == 2 and len(curves[0][0]) == len(curves[1][0]):
        title += f": largest difference {np.max(np.abs(curves[0][1] - curves[1][1])):.3f}"
    axes.set(title=title, xlabel="Distance (Å)", ylabel="g(r)")
    legend(axes)


def main():
    parser = argparse.ArgumentParser(description="Draw learning curve, parity and distribution functions of a run.")
    parser.add_argument("run", help="run directory")
    parser.add_argument("-o", "--output", help="picture to write (default: RUN/surrogate.png)")
    options = parser.parse_args()
    run = Path(options.run)
    output = options.output or str(run / "surrogate.png")
    panels = []
    for path in sorted(run.glob("train*/validation.csv"))[-1:]:
        panels.append(lambda axes, path=path: plot_learning(axes, path))
    for what in ("energy", "force"):
        for path in sorted(run.glob(f"test*/parity_*_{what}.csv"))[-1:]:
            panels.append(lambda axes, path=path, what=what: cambium_parity.plot(axes, path, what.capitalize()))
    folders = sorted(path.parent for path in run.glob("simulate*/rdf.h5"))
    if folders:
        panels.append(lambda axes: plot_rdfs(axes, folders))
    if not panels:
        sys.exit(f"plot_surrogate: '{run}' has nothing to draw yet")
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(panels), figsize=(4.6 * len(panels), 3.9), squeeze=False)
        for panel, place in zip(panels, axes[0]):
            panel(place)
        figure.tight_layout()
        figure.savefig(output)
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
