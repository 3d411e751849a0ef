#!/usr/bin/env python3
"""Draws what a density_matrix stage left behind: sizes of the submatrices, Mulliken populations, the pattern of D.

  plot_submatrix.py runs/water/density_matrix [picture.png]
"""
import csv
import itertools
import os
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]  # the source tree, or share/cambium of an installation
sys.path[:0] = [str(ROOT / "apps" / "python"), str(ROOT / "python")]
from cambium_style import COLOURS, SEQUENTIAL, STYLE, legend  # noqa: E402


def column(path, name):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    at = [head.split(" ")[0] for head in rows[0]].index(name)
    return np.array([float(row[at]) for row in rows[1:]])


def draw_sizes(axes, path):
    sizes = column(path, "dimension")
    axes.hist(sizes, bins=min(40, max(5, len(set(sizes)))), color=COLOURS[0])
    axes.set_xlabel("Rows of a submatrix")
    axes.set_ylabel("Block columns")
    axes.set_title(f"{len(sizes)} submatrices, mean {sizes.mean():.0f}")


def draw_charges(axes, path):
    number, electrons = column(path, "atomic_number"), column(path, "mulliken_electrons")
    bins = np.linspace(electrons.min() - 1e-9, electrons.max() + 1e-9, 41)
    for z, colour in zip(sorted(set(number)), itertools.cycle(COLOURS)):
        axes.hist(electrons[number == z], bins=bins, alpha=0.8, color=colour, label=f"Z = {z:.0f}" if z else "all atoms")
    axes.set(title=f"{len(electrons)} atoms", xlabel="Mulliken electrons per atom", ylabel="Atoms")
    axes.ticklabel_format(useOffset=False)
    axes.locator_params(axis="x", nbins=5)
    legend(axes)


def draw_pattern(axes, path):
    """Root mean square of every block, in powers of ten; white where a block is left out."""
    import h5py

    with h5py.File(path) as file:
        column, row, sizes, values = (file[n][:] for n in ("column", "row", "block_sizes", "values"))
    length = sizes[row].astype(np.int64) * sizes[column]
    first = np.concatenate([[0], np.cumsum(length)[:-1]])
    square = np.add.reduceat(values ** 2, first) / length
    picture = np.full((len(sizes), len(sizes)), np.nan)
    picture[row, column] = 0.5 * np.log10(np.maximum(square, 1e-300))
    top = np.nanmax(picture)
    image = axes.imshow(picture, cmap=SEQUENTIAL, vmin=max(np.nanmin(picture), top - 8), vmax=top, interpolation="nearest")
    axes.set(title=f"{100 * len(row) / len(sizes) ** 2:.3g} % of the blocks", xlabel="Block column", ylabel="Block row")
    axes.grid(False)
    axes.figure.colorbar(image, ax=axes, label="log₁₀ of a block's root mean square", pad=0.02)


PARTS = (("submatrices.csv", draw_sizes), ("charges.csv", draw_charges), ("density.h5", draw_pattern))


def draw(folder, picture):
    """Writes the picture of a density_matrix stage's folder."""
    parts = [(os.path.join(folder, name), draw) for name, draw in PARTS if os.path.exists(os.path.join(folder, name))]
    if not parts:
        raise FileNotFoundError(f"'{folder}' holds none of submatrices.csv, charges.csv, density.h5; give the folder of a density_matrix stage")
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(parts), figsize=(5 * len(parts), 4), squeeze=False, layout="constrained")
        for (path, draw), place in zip(parts, axes[0]):
            draw(place, path)
        figure.savefig(picture, dpi=150)
        plt.close(figure)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    picture = sys.argv[2] if len(sys.argv) > 2 else os.path.join(folder, "submatrix.png")
    try:
        draw(folder, picture)
    except FileNotFoundError as error:
        sys.exit(f"plot_submatrix: {error}")
    print(f"drawn: {picture}")


if __name__ == "__main__":
    main()
