"""Parity plots of the tables parity*_QUANTITY.csv and of the files parity*.h5, which hold the same, that the stages `test` and `evaluate`
and `cambium deepmd test --parity` write."""

import h5py
import matplotlib.pyplot as plt
import numpy as np

import cambium_io
from cambium_style import COLOURS, MUTED, STYLE, grid_of, save

POINTS = 20000  # of one plot: more take long and look the same


def sides(table):
    """All numbers of a parity table as (reference, predicted, unit), the components one after the other."""
    names = [name for name in table.names if name.startswith("reference")]
    both = [np.concatenate([table[name.replace("reference", side)] for name in names]) for side in ("reference", "predicted")]
    return both[0], both[1], table.units[names[0]]


def quantities(path):
    """Groups of an HDF5 file that hold both sides; none of a file that is not HDF5."""
    if not h5py.is_hdf5(path):
        return []
    with h5py.File(path, "r") as file:
        return [name for name, group in file.items() if isinstance(group, h5py.Group) and {"reference", "predicted"} <= set(group)]


def sides_of_group(path, name):
    """All numbers of a group of a parity file as (reference, predicted, unit)."""
    with h5py.File(path, "r") as file:
        unit = file[name].attrs.get("unit", "")
        return np.ravel(file[name]["reference"]), np.ravel(file[name]["predicted"]), unit.decode() if isinstance(unit, bytes) else str(unit)


def plot(axes, path, what):
    """Prediction over reference of one table, with the error of all of its rows in the title."""
    plot_sides(axes, *sides(cambium_io.Table(path)), what)


def plot_sides(axes, reference, predicted, unit, what):
    """The same of numbers."""
    error = np.sqrt(np.mean((predicted - reference) ** 2))
    ends = [min(reference.min(), predicted.min()), max(reference.max(), predicted.max())]
    some = slice(None, None, -(-len(reference) // POINTS))
    unit = unit.replace("angstrom", "Å")
    scaled = f"{1e3 * error:.3g} m{unit}" if unit.startswith("eV") else f"{error:.3g} {unit}".strip()
    axes.plot(ends, ends, color=MUTED, linewidth=0.8)
    axes.plot(reference[some], predicted[some], ".", markersize=2.5, color=COLOURS[0], alpha=0.5)
    of = f" ({unit})" if unit else ""
    axes.set(title=f"{what}: RMSE {scaled}", xlabel=f"reference{of}", ylabel=f"predicted{of}")


def figure(path, names):
    """Some quantities of a parity file, in a plot each."""
    with plt.rc_context(STYLE):
        made, places = grid_of(len(names), 4.4, 4.0)
        for axes, name in zip(places, names):
            plot_sides(axes, *sides_of_group(path, name), name.capitalize().replace("_", " "))
            axes.set_aspect("equal", adjustable="datalim")
    return made


def tables(folder):
    """{set of tables: {quantity: path}} of a stage's folder: parity_0, parity_1, ... of `test`, parity of `evaluate`."""
    found = {}
    for path in folder.glob("parity*_*.csv"):
        stem, quantity = path.stem.split("_", 1)
        number, _, rest = quantity.partition("_")
        if number.isdigit() and rest:
            stem, quantity = f"{stem}_{number}", rest
        found.setdefault(stem, {})[quantity] = path
    return dict(sorted(found.items(), key=lambda item: (len(item[0]), item[0])))


def draw(folder, path):
    """One row of plots for each set of tables, one column for each quantity; a list of the picture, empty without tables."""
    found = tables(folder)
    columns = sorted({quantity for group in found.values() for quantity in group},
                     key=lambda name: (["energy", "force", "virial"].index(name) if name in ("energy", "force", "virial") else 9, name))
    if not columns:
        return []
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(len(found), len(columns), figsize=(4.2 * len(columns), 3.6 * len(found)), squeeze=False)
        for group, row in zip(found.values(), grid):
            for quantity, axes in zip(columns, row):
                if quantity in group:
                    plot(axes, group[quantity], quantity.capitalize().replace("_", " "))
                else:
                    axes.remove()
        figure.tight_layout()
        save(figure, path)
        plt.close(figure)
    return [path]
