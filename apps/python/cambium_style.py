"""Colours and settings that all pictures of Cambium share. Chooses no backend, so that notebooks keep theirs."""

from matplotlib.colors import LinearSegmentedColormap

INK, MUTED, GRID = "#222831", "#6b7280", "#e5e7eb"
COLOURS = ["#1f5aa6", "#d1495b", "#2a9d8f", "#e09f3e", "#6d597a"]
SEQUENCE = LinearSegmentedColormap.from_list("cold to hot", ["#1f5aa6", "#8e6c9f", "#d1495b", "#e8963c"])
STYLE = {
    "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.edgecolor": MUTED, "axes.labelcolor": INK, "text.color": INK, "xtick.color": MUTED, "ytick.color": MUTED,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.8,
    "axes.axisbelow": True, "legend.edgecolor": "none", "legend.framealpha": 0.85, "legend.fontsize": 9, "lines.linewidth": 1.5,
    "figure.facecolor": "white", "savefig.dpi": 150,
}
