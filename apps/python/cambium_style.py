"""Colours and settings that all pictures of Cambium share. Chooses no backend, so that notebooks keep theirs."""

import matplotlib.dates
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap

INK, MUTED, GRID, HOLE = "#222831", "#6b7280", "#e5e7eb", "#c9ccd1"  # a hole in a map has no value
COLOURS = ["#1f5aa6", "#d1495b", "#2a9d8f", "#e09f3e", "#6d597a"]
SEQUENCE = LinearSegmentedColormap.from_list("cold to hot", ["#1f5aa6", "#8e6c9f", "#d1495b", "#e8963c"])
STYLE = {
    "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.edgecolor": MUTED, "axes.labelcolor": INK, "text.color": INK, "xtick.color": MUTED, "ytick.color": MUTED,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.8,
    "axes.axisbelow": True, "legend.edgecolor": "none", "legend.framealpha": 0.85, "legend.fontsize": 9, "lines.linewidth": 1.5,
    "figure.facecolor": "white", "savefig.dpi": 150,
}


def srgb(lab):
    """Colours in CIE L*a*b* (D65) as sRGB in 0 to 1, clipped to what a screen shows."""
    lab = np.asarray(lab, dtype=float)
    fy = (lab[:, 0] + 16.0) / 116.0
    f = np.stack([fy + lab[:, 1] / 500.0, fy, fy - lab[:, 2] / 200.0], 1)
    xyz = np.where(f > 6 / 29, f ** 3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * [0.95047, 1.0, 1.08883]
    linear = np.clip(xyz @ np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]]).T, 0.0, 1.0)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def diverging_colours(count=256, dark=32.0, light=97.0):
    """Blue over near white to red: lightness rises to the middle and falls again in even steps, the same on both sides, so that
    equal differences of a value look equally different."""
    t = np.linspace(-1.0, 1.0, count)
    away = np.abs(t)
    chroma = 44.0 * np.sin(0.5 * np.pi * away ** 0.8)  # as much as a screen has of this blue
    hue = np.radians(np.where(t < 0, 280.0, 32.0))
    return srgb(np.stack([light - (light - dark) * away, chroma * np.cos(hue), chroma * np.sin(hue)], 1))


SEQUENTIAL = "viridis"  # evenly spaced to the eye, for what has one sign
DIVERGING = ListedColormap(diverging_colours(), name="cambium_diverging")  # for what has two, with white at zero


def colours_of(low, high, signed=True):
    """Colour map and its ends for values between these: white is zero where both signs count (more than a fiftieth of the
    larger); else one sign, from zero where that is near. `signed` False: zero means nothing, as of a temperature in °C."""
    if not (np.isfinite(low) and np.isfinite(high)):
        return {"cmap": SEQUENTIAL}
    largest = max(abs(low), abs(high)) or 1.0
    if signed and low < 0.0 < high and min(-low, high) > 0.02 * largest:
        return {"cmap": DIVERGING, "vmin": -largest, "vmax": largest}
    if low >= high:
        return {"cmap": SEQUENTIAL, "vmin": low - 0.5 * largest, "vmax": low + 0.5 * largest}
    if signed and -0.02 * largest <= low < 0.5 * high:
        low = 0.0
    return {"cmap": SEQUENTIAL, "vmin": low, "vmax": high}


def legend(axes, **options):
    """A legend beside the axes, where no curve runs."""
    return axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.3, handlelength=1.4, **options)


def capital(text):
    """Text of an axis or a title as all pictures write it: `Temperature (K)`. Symbols stay: x, g(r), pH, R²."""
    first = text.split(" ")[0]
    return text[0].upper() + text[1:] if len(first) > 2 and first.rstrip(",:").isalpha() and first.islower() else text


def tidy(figure):
    """The figure with its words in the one style: a capital at the beginning, units in round brackets."""
    for axes in figure.axes:
        axes.set_xlabel(capital(axes.get_xlabel()))
        axes.set_ylabel(capital(axes.get_ylabel()))
        for place in ("left", "center"):
            if axes.get_title(loc=place) != capital(axes.get_title(loc=place)):
                axes.set_title(capital(axes.get_title(loc=place)), loc=place)
    return figure


def save(figure, path, **options):
    """Writes a picture in the one style."""
    tidy(figure).savefig(path, **options)


def grid_of(panels, width, height, most_columns=3):
    """A figure with so many axes, in rows."""
    import matplotlib.pyplot as plt  # settings alone need no backend

    columns = {1: 1, 2: 2, 4: 2}.get(panels, most_columns)
    rows = -(-panels // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False, layout="constrained")
    for empty in axes.flat[panels:]:
        empty.remove()
    return figure, list(axes.flat[:panels])


def dates(axes, x):
    """Few and short dates, where the axis has such."""
    if getattr(x, "dtype", None) is not None and x.dtype.kind == "M":
        locator = matplotlib.dates.AutoDateLocator()
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(matplotlib.dates.ConciseDateFormatter(locator))
