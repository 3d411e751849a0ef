"""Parity plots of the tables parity*_QUANTITY.csv that the stages `test` and `evaluate` and `cambium deepmd test --parity` write."""

import matplotlib.pyplot as plt
import numpy as np

import cambium_io
from cambium_style import COLOURS, MUTED, STYLE

POINTS = 20000  # of one plot: more take long and look the same


def sides(table):
    """All numbers of a parity table as (reference, predicted, unit), the components one after the other."""
    names = [name for name in table.names if name.startswith("reference")]
    both = [np.concatenate([table[name.replace("reference", side)] for name in names]) for side in ("reference", "predicted")]
    return both[0], both[1], table.units[names[0]]


def plot(axes, path, what):
    """Prediction over reference of one table, with the error of all of its rows in the title."""
    reference, predicted, unit = sides(cambium_io.Table(path))
    error = np.sqrt(np.mean((predicted - reference) ** 2))
    ends = [min(reference.min(), predicted.min()), max(reference.max(), predicted.max())]
    some = slice(None, None, -(-len(reference) // POINTS))
    unit = unit.replace("angstrom", "Å")
    scaled = f"{1e3 * error:.3g} m{unit}" if unit.startswith("eV") else f"{error:.3g} {unit}".strip()
    axes.plot(ends, ends, color=MUTED, linewidth=0.8)
    axes.plot(reference[some], predicted[some], ".", markersize=2.5, color=COLOURS[0], alpha=0.5)
    of = f" ({unit})" if unit else ""
    axes.set(title=f"{what}: RMSE {scaled}", xlabel=f"reference{of}", ylabel=f"predicted{of}")


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
    quantities = sorted({quantity for group in found.values() for quantity in group},
                        key=lambda name: (["energy", "force", "virial"].index(name) if name in ("energy", "force", "virial") else 9, name))
    if not quantities:
        return []
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(len(found), len(quantities), figsize=(4.2 * len(quantities), 3.6 * len(found)), squeeze=False)
        for group, row in zip(found.values(), grid):
            for quantity, axes in zip(quantities, row):
                if quantity in group:
                    plot(axes, group[quantity], quantity.capitalize().replace("_", " "))
                else:
                    axes.remove()
        figure.tight_layout()
        figure.savefig(path)
        plt.close(figure)
    return [path]
