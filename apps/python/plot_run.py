#!/usr/bin/env python3
"""Draws a run of Cambium: temperature, energies and pressure over time, the radial distribution function; loss, metrics and
learning rate of a training.

    python3 plot_run.py RUN -o picture.png
"""

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cambium_io  # noqa: E402
from cambium_style import COLOURS, GRID, INK, MUTED, SEQUENCE, STYLE  # noqa: E402,F401


def label(name, unit):
    name = name.replace("_", " ")
    unit = unit.replace("angstrom", "Å").replace("^2", "²").replace("^3", "³")
    return f"{name} ({unit})" if unit else name


def columns_with(table, *units):
    """Columns in one of these units."""
    return [name for name in table.names if table.units[name] in units]


def time_axis(table):
    """Times and the label of their axis."""
    if len(table) and np.ptp(table["time"]) > 0:
        return table["time"], label("time", table.units["time"])
    return table["step"], "step"


def curve(axes, x, y, colour, name):
    """A line; a long noisy series is drawn faint with its running mean over a fortieth of its length on top."""
    window = len(y) // 40
    if window < 3:
        axes.plot(x, y, color=colour, label=name)
        return
    axes.plot(x, y, color=colour, alpha=0.25, linewidth=0.8)
    padded = np.concatenate([np.full(window // 2, y[0]), y, np.full(window - 1 - window // 2, y[-1])])
    axes.plot(x, np.convolve(padded, np.full(window, 1.0 / window), "valid"), color=colour, label=name)


def plot_temperature(axes, table):
    t, axis = time_axis(table)
    for name, colour in zip(columns_with(table, "K"), COLOURS[1:]):
        curve(axes, t, table[name], colour, name.replace("_", " "))
    axes.set(title="Temperature", xlabel=axis, xlim=(t[0], t[-1]), ylabel="temperature (K)")
    if len(columns_with(table, "K")) > 1:
        axes.legend()


def plot_energy(axes, table):
    """Changes since the first row, so that terms of very different size share an axis."""
    t, axis = time_axis(table)
    names = columns_with(table, "eV", "eV/atom")
    for name, colour in zip(names, COLOURS):
        curve(axes, t, table[name] - table[name][0], colour, name.replace("_", " "))
    unit = table.units[names[0]] if names else "eV"
    axes.set(title="Energy since the start", xlabel=axis, xlim=(t[0], t[-1]), ylabel=f"change of energy ({unit})")
    axes.legend()


def plot_pressure(axes, table):
    t, axis = time_axis(table)
    names = [name for name in columns_with(table, "bar", "GPa") if name == "pressure"] or columns_with(table, "bar", "GPa")
    scale, unit = 1.0, table.units[names[0]] if names else "bar"
    if unit == "bar" and names and np.max(np.abs(table[names[0]])) >= 5000.0:
        scale, unit = 1e-4, "GPa"
    for name, colour in zip(names, COLOURS[2:]):
        curve(axes, t, scale * table[name], colour, name.replace("_", " "))
    axes.axhline(0.0, color=MUTED, linewidth=0.8)
    axes.set(title="Pressure", xlabel=axis, xlim=(t[0], t[-1]), ylabel=f"pressure ({unit})")
    if len(names) > 1:
        axes.legend()


def plot_volume(axes, table):
    t, axis = time_axis(table)
    curve(axes, t, 1e-3 * table["volume"], COLOURS[4], "volume")
    axes.set(title="Volume", xlabel=axis, xlim=(t[0], t[-1]), ylabel="volume (nm³)")


def mean_temperature(table, first, last):
    """Of the rows between two steps, or None."""
    if "temperature" not in table:
        return None
    inside = (table["step"] >= first) & (table["step"] <= last)
    return float(np.mean(table["temperature"][inside])) if inside.any() else None


def plot_rdf(axes, rdf, table):
    """One pair: its averages over the run from first to last. Several pairs: the last average of each."""
    if len(rdf.pairs) > 1 or len(rdf) == 1:
        for pair, colour in zip(rdf.pairs, COLOURS):
            axes.plot(rdf.r, rdf.g(pair), color=colour, label=pair)
    else:
        shown = np.unique(np.linspace(0, len(rdf) - 1, min(len(rdf), 5)).round().astype(int))
        for place, k in enumerate(shown):
            kelvin = mean_temperature(table, rdf.first_step[k], rdf.last_step[k])
            name = f"{kelvin:.0f} K" if kelvin is not None else f"steps {rdf.first_step[k]:.0f}-{rdf.last_step[k]:.0f}"
            axes.plot(rdf.r, rdf.g(average=k), color=SEQUENCE(place / max(len(shown) - 1, 1)), label=name)
    axes.axhline(1.0, color=MUTED, linewidth=0.8)
    axes.set(title=f"Radial distribution {rdf.pairs[0]}" if len(rdf.pairs) == 1 else "Radial distribution",
             xlabel="distance (Å)", ylabel="g(r)", xlim=(0, rdf.r[-1]))
    axes.set_ylim(bottom=0)
    axes.legend()


def plot_correlation(axes, correlation, title, name_of_axis):
    several = len(correlation.species) > 2
    for species, colour in zip(correlation.species[1:], COLOURS):
        name = f"{species + ', ' if several else ''}D = {correlation.diffusion[species]:.3g} Å²/ps"
        axes.plot(correlation.time, correlation[species], color=colour, label=name)
    axes.axhline(0.0, color=MUTED, linewidth=0.8)
    axes.set(title=title, xlabel="lag (ps)", ylabel=label(name_of_axis, correlation.unit),
             xlim=(0, correlation.time[-1]))
    axes.legend()


def plot_terms(axes, table, title, names):
    """Each over the steps, on a logarithmic axis. Terms of different units share it: their decay is what counts."""
    for name, colour in zip(names, COLOURS):
        axes.plot(table["step"], table[name], color=colour, label=label(name, table.units[name]))
    axes.set(title=title, xlabel="step", xlim=(0, table["step"][-1]), yscale="log")
    axes.legend()


def training_panels(run):
    """Loss, learning rate and validation, as far as they were written."""
    panels = []
    table = run.training if run.find("training.csv") else None
    if table is not None and len(table) > 1:
        terms = [name for name in table.names if name not in ("step", "epoch", "learning_rate")]
        panels.append(lambda axes: plot_terms(axes, table, "Training loss", terms))
    held = run.validation if run.find("validation.csv") else None
    if held is not None and len(held) > 1:
        panels.append(lambda axes: plot_terms(axes, held, "Validation", [name for name in held.names if name != "step"]))
    if panels and table is not None and np.min(table["learning_rate"]) > 0:
        panels.append(lambda axes: plot_terms(axes, table, "Learning rate", ["learning_rate"]))
    return panels


def panels_of(run):
    """A drawing function for each file that the run has."""
    panels = training_panels(run)
    if panels and not run.find("thermo.csv"):
        return panels
    table = run.thermo
    drawn = len(table) > 1
    if drawn and columns_with(table, "K"):
        panels.append(lambda axes: plot_temperature(axes, table))
    if drawn and columns_with(table, "eV", "eV/atom"):
        panels.append(lambda axes: plot_energy(axes, table))
    if drawn and columns_with(table, "bar", "GPa"):
        panels.append(lambda axes: plot_pressure(axes, table))
    if drawn and table.units.get("volume") == "angstrom^3" and np.ptp(table["volume"]) > 1e-3 * table["volume"][0]:
        panels.append(lambda axes: plot_volume(axes, table))
    if run.find("rdf.h5"):
        panels.append(lambda axes: plot_rdf(axes, run.rdf, table))
    if run.find("msd.h5"):
        panels.append(lambda axes: plot_correlation(axes, run.msd, "Mean square displacement", "MSD"))
    if run.find("vacf.h5"):
        panels.append(lambda axes: plot_correlation(axes, run.vacf, "Velocity autocorrelation", "VACF"))
    return panels


def draw(run, path):
    """Writes the picture of a run; its format follows from the name."""
    with plt.rc_context(STYLE):
        panels = panels_of(run)
        if not panels:
            raise FileNotFoundError(f"'{run.path}' has nothing to draw yet: thermo.csv holds fewer than two rows")
        columns = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
        rows = -(-len(panels) // columns)
        figure = plt.figure(figsize=(5.2 * columns, 3.4 * rows + 0.5))
        grid = figure.add_gridspec(rows, columns)
        for k, panel in enumerate(panels):
            # The last panel takes what is left of its row.
            last = columns if k == len(panels) - 1 else k % columns + 1
            panel(figure.add_subplot(grid[k // columns, k % columns:last]))
        p = run.provenance
        figure.suptitle(Path(run.path).resolve().name, x=0.02, ha="left", fontsize=14, fontweight="bold")
        figure.text(0.98, 0.008, f"Cambium {p['version']}, {p['git_hash']}, {p['date'][:10]}", ha="right", fontsize=7,
                    color=MUTED)
        figure.tight_layout(rect=(0, 0.02, 1, 0.99))
        figure.savefig(path)
        plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description="Draw thermo output and distribution functions of a Cambium run.")
    parser.add_argument("run", help="run directory, or the folder of one stage")
    parser.add_argument("-o", "--output", help="picture to write (default: RUN/picture.png)")
    options = parser.parse_args()
    output = options.output or str(Path(options.run) / "picture.png")
    try:
        draw(cambium_io.Run(options.run), output)
    except FileNotFoundError as error:
        sys.exit(f"plot_run: {error}")
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
