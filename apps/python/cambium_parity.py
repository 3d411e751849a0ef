"""Parity plots of the tables parity*_QUANTITY.csv and of the files parity*.h5, which hold the same, that the stages `test` and `evaluate`
and `cambium deepmd test --parity` write."""

import h5py
import matplotlib.pyplot as plt
import numpy as np

import cambium_io
from cambium_style import COLOURS, INK, MUTED, STYLE, grid_of, save

POINTS = 20000  # of one plot: more take long and look the same
COMPONENTS = 6  # of one quantity that get a plot each
CLASSES = 30  # of a confusion matrix whose cells can be told apart


def sides(table):
    """All numbers of a parity table as (reference, predicted, unit), the components one after the other."""
    names = [name for name in table.names if name.startswith("reference")]
    both = [np.concatenate([table[name.replace("reference", side)] for name in names]) for side in ("reference", "predicted")]
    return both[0], both[1], table.units[names[0]]


def apart(ranges):
    """Whether numbers between these ends share too little of an axis for one plot: less than a third of all of it for one of them."""
    low, high = np.min(ranges), np.max(ranges)
    return any(3.0 * (b - a) < high - low for a, b in ranges)


def panels_of(path, quantity):
    """{title: (reference, predicted, unit)} of a parity table: one plot, or one for each component where their scales differ."""
    table = cambium_io.Table(path)
    names = [name for name in table.names if name.startswith("reference_")]
    title = quantity.capitalize().replace("_", " ")
    own = {name: (table[name], table[name.replace("reference", "predicted")], table.units[name]) for name in names}
    if 1 < len(names) <= COMPONENTS and apart([(min(r.min(), p.min()), max(r.max(), p.max())) for r, p, _ in own.values()]):
        return {f"{title} {name[len('reference_'):]}": both for name, both in own.items()}
    return {title: sides(table)}


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


def plot_confusion(axes, folder):
    """Confusion matrix of a classifier: of each class of the data, the fraction that was predicted as each class, with the counts."""
    table = cambium_io.Table(folder / "confusion.csv")
    reference, predicted, samples = (np.asarray(table[name]).astype(int) for name in ("reference", "predicted", "samples"))
    classes = len(cambium_io.Table(folder / "classes.csv")["class"])
    counts = np.zeros((classes, classes), int)
    counts[reference, predicted] = samples
    share = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    image = axes.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    for a, b in zip(reference, predicted):
        if classes <= CLASSES // 2:
            axes.text(b, a, counts[a, b], ha="center", va="center", fontsize=8, color="white" if share[a, b] > 0.6 else INK)
    axes.grid(False)
    if classes <= CLASSES // 2:
        axes.set_xticks(range(classes))
        axes.set_yticks(range(classes))
    axes.set(title=f"Confusion matrix: accuracy {np.trace(counts) / max(counts.sum(), 1):.3g}", xlabel="predicted class", ylabel="reference class")
    axes.figure.colorbar(image, ax=axes, label="fraction of the reference class", shrink=0.8)


def draw_confusion(folder, path):
    """The confusion matrix of a stage that evaluated a classifier, as a list of one picture."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(5.4, 4.4))
        plot_confusion(axes, folder)
        figure.tight_layout()
        save(figure, path)
        plt.close(figure)
    return [path]


def draw(folder, path):
    """One row of plots for each set of tables, one column for each quantity or component; a list of the picture, empty without tables."""
    if (folder / "confusion.csv").exists() and (folder / "classes.csv").exists():
        return draw_confusion(folder, path)
    order = ["energy", "force", "virial"]
    rows = []
    for group in tables(folder).values():
        names = sorted(group, key=lambda name: (order.index(name) if name in order else 9, name))
        rows.append({title: both for name in names for title, both in panels_of(group[name], name).items()})
    columns = list(dict.fromkeys(title for row in rows for title in row))
    if not columns:
        return []
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(len(rows), len(columns), figsize=(4.2 * len(columns), 3.6 * len(rows)), squeeze=False)
        for row, places in zip(rows, grid):
            for title, axes in zip(columns, places):
                if title in row:
                    plot_sides(axes, *row[title], title)
                else:
                    axes.remove()
        figure.tight_layout()
        save(figure, path)
        plt.close(figure)
    return [path]
