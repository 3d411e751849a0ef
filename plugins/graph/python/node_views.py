"""Draws values on the nodes of a graph or on triangles, from the files of the outputs 'node_fields' and 'vtkhdf'."""

import h5py
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.tri import Triangulation

from cambium_style import MUTED, STYLE, colours_of


class NodeFile:
    """nodes.h5, or a VTKHDF file of triangles or edges: places, cells, times, and the values of a moment."""

    def __init__(self, path):
        self.path = path
        with h5py.File(path, "r") as file:
            self.vtk = "VTKHDF" in file
            if self.vtk:
                root = file["VTKHDF"]
                self.points = root["Points"][:]
                self.cells = root["Connectivity"][:].reshape(len(root["Types"]), -1)
                self.times, self.names = root["Steps/Values"][:], sorted(root["PointData"])
            else:
                self.points = np.stack([file[name][:] for name in "xyz"], 1)
                self.cells = file["triangle" if "triangle" in file else "edge"][:]
                self.times, self.names = file["time"][:], list(file.attrs["quantities"])
        self.edges = self.cells.shape[1] == 2

    def values(self, name, moment):
        moment = range(len(self.times))[moment]
        with h5py.File(self.path, "r") as file:
            if not self.vtk:
                return file[name][moment]
            first = file[f"VTKHDF/Steps/PointDataOffsets/{name}"][moment]
            return file[f"VTKHDF/PointData/{name}"][first:first + len(self.points)]

    def ends(self, name):
        """Smallest and largest value of all moments, so that a colour keeps its meaning."""
        with h5py.File(self.path, "r") as file:
            values = file[f"VTKHDF/PointData/{name}" if self.vtk else name]
            step = max(1, len(values) // 50)
            return float(np.nanmin(values[::step])), float(np.nanmax(values[::step]))


def is_nodes(path):
    """Whether a file is one of these."""
    if path.suffix not in (".h5", ".vtkhdf"):
        return False
    with h5py.File(path, "r") as file:
        if "VTKHDF" in file:
            return "PointData" in file["VTKHDF"] and "Connectivity" in file["VTKHDF"]
        return "quantities" in file.attrs and ("triangle" in file or "edge" in file) and "time" in file


def draw_values(axes, nodes, name, moment, colours):
    """Edges and nodes, or triangles, coloured by value; gives back what a colour bar needs."""
    values = nodes.values(name, moment)
    x, y = nodes.points[:, 0], nodes.points[:, 1]
    axes.grid(False)
    if nodes.edges:
        segments = nodes.points[nodes.cells][:, :, :2]
        axes.add_collection(LineCollection(segments, colors=MUTED, linewidths=0.4, alpha=0.35, zorder=1, rasterized=True))
        size = float(np.clip(9000.0 / len(x), 2.0, 90.0))
        drawn = axes.scatter(x, y, c=values, s=size, zorder=2, linewidths=0, rasterized=True, **colours)
    else:
        drawn = axes.tripcolor(Triangulation(x, y, nodes.cells), values, shading="gouraud", rasterized=True, **colours)
    axes.set(xlabel="x", ylabel="y", aspect="equal")
    axes.autoscale_view()
    return drawn


class NodesView:
    """A picture of every moment, a panel for each quantity."""

    def __init__(self, path, names=None):
        self.nodes = NodeFile(path)
        wanted = list(names or self.nodes.names)
        missing = [n for n in wanted if n not in self.nodes.names]
        if missing:
            from cambium_views import NothingToDraw

            raise NothingToDraw(f"holds no '{missing[0]}'; it has {', '.join(self.nodes.names)}")
        self.names = wanted[:4]
        self.colours = {name: colours_of(*self.nodes.ends(name)) for name in self.names}
        self.count = len(self.nodes.times)

    def figure(self, frame=None):
        moments = [self.count - 1 if frame is None else frame]
        return moments_figure(self.nodes, self.names, moments, self.colours)


def moments_figure(nodes, names, moments, colours):
    """A row for each quantity, a column for each moment."""
    wide, high = np.ptp(nodes.points[:, 0]) or 1.0, np.ptp(nodes.points[:, 1]) or 1.0
    width = 4.4 if len(moments) == 1 else 3.3
    height = float(np.clip(0.85 * width * high / wide, 1.2, 4.6)) + 0.5
    rows, columns = (len(names), len(moments)) if len(moments) > 1 else (1, len(names))
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(rows, columns, figsize=(width * columns + 1.0, height * rows), squeeze=False, layout="constrained")
        for k, name in enumerate(names):
            panels = grid[k] if len(moments) > 1 else [grid[0][k]]
            for axes, moment in zip(panels, moments):
                drawn = draw_values(axes, nodes, name, moment, colours[name])
                axes.set_title(f"{name}, t = {nodes.times[moment]:.4g}")
            figure.colorbar(drawn, ax=list(panels), label=name, shrink=0.8)
    return figure
