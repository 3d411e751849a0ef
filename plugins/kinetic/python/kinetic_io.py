"""Reads the output of Cambium's kinetic physics and evaluates its expansions on finer grids.

    import kinetic_io
    f = kinetic_io.Distribution("runs/two_stream/simulate/distribution.1000.h5", "electron")
    x, v, values = f.plane("x", "vx", points=3)       # three points per cell and dimension, the other dimensions averaged
    conf = kinetic_io.Conf("runs/two_stream/simulate/conf.h5")
    t, x, density = conf.lines("electron/density")    # density[time][point], along x

A cell's function is the sum over modes k of c_k prod_d psi_n(xi_d), n = exponents[k][d], where psi_n = sqrt((2n+1)/2) P_n are the
normalised Legendre polynomials of the logical coordinate xi in [-1, 1]. Needs numpy and h5py.
"""

from pathlib import Path

import h5py
import numpy as np

AXES = ["x", "y", "z"]


def psi(n, xi):
    """Normalised Legendre polynomial."""
    return np.sqrt(0.5 * (2 * n + 1)) * np.polynomial.legendre.legval(xi, [0] * n + [1])


def inner_points(points):
    """Logical coordinates of evenly spaced points inside a cell."""
    return (2 * np.arange(points) + 1) / points - 1


class Grid:
    """Ends, cells and faces between cells of every dimension: configuration space, then velocity space."""

    def __init__(self, attributes):
        self.cdim, self.vdim = int(attributes["cdim"]), int(attributes["vdim"])
        self.lower, self.upper, self.cells = attributes["lower"][:], attributes["upper"][:], attributes["cells"][:]
        self.exponents = np.reshape(attributes["exponents"], (-1, self.cdim + self.vdim))  # [mode][dimension], in one row
        self.names = AXES[: self.cdim] + ["v" + a for a in AXES[: self.vdim]]
        # Stored where the cells of a velocity dimension have different widths.
        self.edges = [attributes["edges_" + name][:] if "edges_" + name in attributes else np.linspace(*ends)
                      for name, ends in zip(self.names, zip(self.lower, self.upper, np.add(self.cells, 1)))]

    def points(self, dimension, points):
        """Coordinates of `points` points in each cell of a dimension."""
        edges = self.edges[dimension]
        centres, widths = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)
        return (centres[:, None] + 0.5 * widths[:, None] * inner_points(points)[None, :]).ravel()


class Distribution:
    """The distribution function of one species in a file distribution.<step>.h5, or in the group 'physics' of a checkpoint."""

    def __init__(self, path, species=None):
        with h5py.File(path, "r") as file:
            root = file["physics"] if "physics" in file else file
            self.species = [name for name in root if isinstance(root[name], h5py.Group) and "f" in root[name]]
            self.name = species or self.species[0]
            data = root[self.name]["f"]
            self.grid = Grid(data.attrs)
            self.coefficients = data[:].reshape(*self.grid.cells, -1)
            self.time = float(file.attrs["time"]) if "time" in file.attrs else None

    def plane(self, first, second, points=3):
        """Coordinates along two dimensions and the mean of f over the others: x, v, f[x][v]."""
        grid = self.grid
        a, b = grid.names.index(first), grid.names.index(second)
        kept = [k for k, e in enumerate(grid.exponents) if all(n == 0 for d, n in enumerate(e) if d not in (a, b))]
        others = tuple(d for d in range(len(grid.names)) if d not in (a, b))
        coefficients = self.coefficients[..., kept]
        for d in reversed(others):
            coefficients = np.average(coefficients, axis=d, weights=np.diff(grid.edges[d]))
        if a > b:
            coefficients = coefficients.swapaxes(0, 1)
        scale = np.sqrt(0.5) ** len(others)
        xi = inner_points(points)
        values = np.zeros((grid.cells[a], points, grid.cells[b], points))
        for place, k in enumerate(kept):
            shape = np.outer(psi(grid.exponents[k][a], xi), psi(grid.exponents[k][b], xi))
            values += scale * coefficients[:, None, :, None, place] * shape[None, :, None, :]
        return grid.points(a, points), grid.points(b, points), values.reshape(grid.cells[a] * points, -1)


class Conf:
    """Moments and fields over configuration space (conf.h5): names() and lines(name)."""

    def __init__(self, path):
        self.path = Path(path)
        with h5py.File(path, "r") as file:
            self.grid = Grid(file.attrs)
            self.exponents = np.reshape(file.attrs["conf_exponents"], (-1, self.grid.cdim))
            self.time, self.step = file["time"][:], file["step"][:]

    def names(self):
        found = []
        with h5py.File(self.path, "r") as file:
            file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) and "/" in name and item.ndim == 3 else None)
        return found

    def lines(self, name, points=3):
        """Times, coordinates along x, values[time][point], averaged over the other dimensions."""
        with h5py.File(self.path, "r") as file:
            data = file[name][:]
        cells = self.grid.cells[: self.grid.cdim]
        data = data.reshape(len(self.time), *cells, -1)
        kept = [k for k, e in enumerate(self.exponents) if not any(e[1:])]
        data = data[..., kept].mean(axis=tuple(range(2, 1 + self.grid.cdim)))
        xi, scale = inner_points(points), np.sqrt(0.5) ** (self.grid.cdim - 1)
        values = sum(scale * data[:, :, None, place] * psi(self.exponents[k][0], xi) for place, k in enumerate(kept))
        return self.time, self.grid.points(0, points), values.reshape(len(self.time), -1)

    def dataset(self, points=3):
        """Everything as an xarray.Dataset over t and x; the other dimensions are averaged. Names as in names(), "/" becomes "_"."""
        import xarray

        fields = {name.replace("/", "_"): self.lines(name, points) for name in self.names()}
        return xarray.Dataset({name: (("t", "x"), values) for name, (_, _, values) in fields.items()},
                              coords={"t": self.time, "x": self.grid.points(0, points)})


def distributions(folder):
    """Files distribution.<step>.h5 of a run, by step."""
    found = {int(p.name.split(".")[1]): p for p in Path(folder).rglob("distribution.*.h5")}
    return [found[step] for step in sorted(found)]
