#!/usr/bin/env python3
"""Draws what a density_matrix stage left behind: sizes of the submatrices, Mulliken populations, the pattern of D.

  plot_submatrix.py runs/water/density_matrix [picture.png]
"""
import csv
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def column(path, name):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    at = [head.split(" ")[0] for head in rows[0]].index(name)
    return np.array([float(row[at]) for row in rows[1:]])


def draw_sizes(axes, folder):
    sizes = column(os.path.join(folder, "submatrices.csv"), "dimension")
    axes.hist(sizes, bins=min(40, max(5, len(set(sizes)))), color="#4878a8")
    axes.set_xlabel("rows of a submatrix")
    axes.set_ylabel("block columns")
    axes.set_title(f"{len(sizes)} submatrices, mean {sizes.mean():.0f}")


def draw_charges(axes, folder):
    path = os.path.join(folder, "charges.csv")
    number, electrons = column(path, "atomic_number"), column(path, "mulliken_electrons")
    for z in sorted(set(number)):
        axes.hist(electrons[number == z], bins=30, alpha=0.7, label=f"Z = {z:.0f}")
    axes.set_xlabel("Mulliken electrons per atom")
    axes.legend()


def draw_pattern(axes, folder):
    import h5py

    with h5py.File(os.path.join(folder, "density.h5")) as file:
        axes.plot(file["column"][:], file["row"][:], ",", color="black")
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.set_title("blocks of D")


def draw(folder, picture):
    """Writes the picture of a density_matrix stage's folder."""
    parts = [(name, draw) for name, draw in (("submatrices.csv", draw_sizes), ("charges.csv", draw_charges), ("density.h5", draw_pattern))
             if os.path.exists(os.path.join(folder, name))]
    if not parts:
        raise FileNotFoundError(f"'{folder}' holds none of submatrices.csv, charges.csv, density.h5; give the folder of a density_matrix stage")
    figure, axes = plt.subplots(1, len(parts), figsize=(5 * len(parts), 4), squeeze=False)
    for (_, draw), place in zip(parts, axes[0]):
        draw(place, folder)
    figure.tight_layout()
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
