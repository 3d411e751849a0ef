"""What pictures of tables share: labels with units, the axis of time, curves with their running mean. Chooses no backend."""

import numpy as np


def unit_of(unit):
    """As people write it."""
    return unit.replace("angstrom", "Å").replace("^2", "²").replace("^3", "³").replace("1/omega", "1/ω").replace("t_ff", "free-fall times")


def label(name, unit=""):
    name, unit = name.replace("_", " "), unit_of(unit)
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
