"""Pictures of molecular dynamics: temperature, energies, pressure and volume over time, distribution functions, correlations.

Each function draws one of them on a matplotlib axes; panels(run) says which of them a run has. `plot_run.py RUN` draws these.
"""

import numpy as np

from cambium_curves import columns_with, curve, label, time_axis
from cambium_style import COLOURS, MUTED, SEQUENCE, legend


def plot_temperature(axes, table):
    t, axis = time_axis(table)
    for name, colour in zip(columns_with(table, "K"), COLOURS[1:]):
        curve(axes, t, table[name], colour, name.replace("_", " "))
    axes.set(title="Temperature", xlabel=axis, xlim=(t[0], t[-1]), ylabel="Temperature (K)")
    if len(columns_with(table, "K")) > 1:
        legend(axes)


def plot_energy(axes, table):
    """Changes since the first row, so that terms of very different size share an axis."""
    t, axis = time_axis(table)
    names = columns_with(table, "eV", "eV/atom")
    for name, colour in zip(names, COLOURS):
        curve(axes, t, table[name] - table[name][0], colour, name.replace("_", " "))
    unit = table.units[names[0]] if names else "eV"
    axes.set(title="Energy since the start", xlabel=axis, xlim=(t[0], t[-1]), ylabel=f"change of energy ({unit})")
    legend(axes)


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
        legend(axes)


def plot_volume(axes, table):
    t, axis = time_axis(table)
    curve(axes, t, 1e-3 * table["volume"], COLOURS[4], "volume")
    axes.set(title="Volume", xlabel=axis, xlim=(t[0], t[-1]), ylabel="Volume (nm³)")


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
             xlabel="Distance (Å)", ylabel="g(r)", xlim=(0, rdf.r[-1]))
    axes.set_ylim(bottom=0)
    legend(axes)


def plot_correlation(axes, correlation, title, name_of_axis):
    several = len(correlation.species) > 2
    for species, colour in zip(correlation.species[1:], COLOURS):
        name = f"{species + ', ' if several else ''}D = {correlation.diffusion[species]:.3g} Å²/ps"
        axes.plot(correlation.time, correlation[species], color=colour, label=name)
    axes.axhline(0.0, color=MUTED, linewidth=0.8)
    axes.set(title=title, xlabel="Lag (ps)", ylabel=label(name_of_axis, correlation.unit),
             xlim=(0, correlation.time[-1]))
    legend(axes)


def panels(run):
    """A function that draws on axes for each file, and for each group of columns of thermo.csv, that the run has."""
    if not run.find("thermo.csv"):
        return []
    panels, table = [], run.thermo
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
