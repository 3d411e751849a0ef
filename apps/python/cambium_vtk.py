"""Reads VTKHDF files, as the output 'vtkhdf' writes them, with h5py: grids as fields over their axes, particles as a trajectory."""

import h5py
import numpy as np


class Points:
    """Particles of a PolyData file, with the words of cambium_io.Trajectory."""

    def __init__(self, path):
        self.path = path
        with h5py.File(path, "r") as file:
            root = file["VTKHDF"]
            self.times = root["Steps/Values"][:]
            self._offsets, self._count = root["Steps/PointOffsets"][:], int(root["NumberOfPoints"][0])
            names = [n.decode() if isinstance(n, bytes) else n for n in file.attrs["species"]]
            self.species = np.array(names)[root["PointData/type"][:]]

    def __len__(self):
        return len(self.times)

    def _rows(self, name, first, count):
        with h5py.File(self.path, "r") as file:
            return file["VTKHDF"][name][first:first + count]

    def position(self, frame):
        return self._rows("Points", self._offsets[frame], self._count)

    def cell(self, frame):
        return self._rows("FieldData/cell", range(len(self))[frame], 1).reshape(3, 3)


class Grid:
    """Fields on the cells of a grid of one to three dimensions; vectors by their components, as b_x."""

    def __init__(self, path):
        self.path, self.sources = path, {}
        with h5py.File(path, "r") as file:
            root = file["VTKHDF"]
            self.times = root["Steps/Values"][:]
            self.labels = [a.decode() if isinstance(a, bytes) else a for a in file.attrs["axes"]]
            self.axes = [0.5 * (f[1:] + f[:-1]) for f in self._faces(root)][:len(self.labels)]
            cells = [len(a) for a in self.axes]
            for name, item in root["CellData"].items():
                components = item.size // max(len(self.times) * int(np.prod(cells)), 1)
                unit = item.attrs.get("unit", "")
                for c in range(components):
                    self.sources[name if components == 1 else f"{name}_{'xyz'[c]}"] = (name, c, components, unit)

    def _faces(self, root):
        if "Types" in root:  # corners of a rectangular mesh
            return [np.unique(root["Points"][:, k]) for k in range(3)]
        low, high = root.attrs["WholeExtent"][0::2], root.attrs["WholeExtent"][1::2]
        return [root.attrs["Origin"][k] + root.attrs["Spacing"][k] * np.arange(low[k], high[k] + 1) for k in range(3)]

    @property
    def names(self):
        """Those whose values differ at the last moment."""
        last = len(self.times) - 1
        return [n for n in self.sources if last >= 0 and np.ptp(self.values(n, last)) > 0]

    def values(self, name, frame):
        """[first axis][second axis], the middle plane of three."""
        source, component, components, _ = self.sources[name]
        cells = int(np.prod([len(a) for a in self.axes]))
        with h5py.File(self.path, "r") as file:
            item = file["VTKHDF/CellData"][source]
            rows = item[frame] if "Types" not in file["VTKHDF"] else item[frame * cells:(frame + 1) * cells]
        values = np.asarray(rows, dtype=float).reshape(*[len(a) for a in self.axes[::-1]], components)[..., component].T
        return values[..., values.shape[2] // 2] if values.ndim == 3 else values

    def fields(self, names):
        from cambium_cf import with_unit
        from cambium_views import Field

        return [Field(n, with_unit(n.replace("_", " "), self.sources[n][3]), self.axes[:2], self.labels[:2],
                      lambda k, n=n: self.values(n, k)) for n in names]


def open(path):  # noqa: A001: as h5py names it
    with h5py.File(path, "r") as file:
        kind = file["VTKHDF"].attrs["Type"]
    return Points(path) if kind in (b"PolyData", "PolyData") else Grid(path)
