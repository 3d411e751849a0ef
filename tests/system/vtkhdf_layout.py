"""A file against the published layout of VTKHDF (VTK's documentation, "VTKHDF format specification", version 2): every group,
attribute and length that the specification asks for, and a moment read as a reader of it would.

    python3 vtkhdf_layout.py FILE     # says what is wrong, or what is in it
"""
import sys

import h5py
import numpy as np

TOPOLOGIES = ("Vertices", "Lines", "Polygons", "Strips")
CORNERS = {1: 1, 3: 2, 5: 3, 9: 4, 12: 8}  # of VTK's cell types: vertex, line, triangle, quadrilateral, hexahedron


class Layout:
    """An open file; `problems` is empty when it follows the specification."""

    def __init__(self, path):
        self.file = h5py.File(path, "r")
        self.problems = []
        self.root = self.file.get("VTKHDF")
        if not isinstance(self.root, h5py.Group):
            self.problems.append("no group VTKHDF")
            return
        self.need(list(self.root.attrs.get("Version", [])) == [2, 0], "Version is not [2, 0]")
        kind = self.root.attrs.get_id("Type").get_type()
        self.need(not kind.is_variable_str() and kind.get_cset() == h5py.h5t.CSET_ASCII, "Type is not ASCII of fixed length")
        self.type = self.root.attrs["Type"].decode()
        self.steps = self.root["Steps"]
        self.count = int(self.steps.attrs["NSteps"])
        self.values = self.steps["Values"][:]
        self.need(self.values.shape == (self.count,), "Steps/Values has not NSteps entries")
        self.need(np.all(np.diff(self.values) > 0), "Steps/Values do not rise")
        {"ImageData": self.image, "UnstructuredGrid": self.mesh, "PolyData": self.poly}[self.type]()

    def need(self, condition, problem):
        if not condition:
            self.problems.append(problem)

    def per_step(self, name, *shape):
        self.need(name in self.steps and self.steps[name].shape == (self.count, *shape), f"Steps/{name} has not the shape {(self.count, *shape)}")

    def arrays(self, part):
        return {name: array for name, array in self.root.get(part, {}).items()}

    def extent(self):
        return np.array(self.root.attrs["WholeExtent"])

    def image(self):
        self.need(self.extent().shape == (6,), "WholeExtent has not six entries")
        for name, length in (("Origin", 3), ("Spacing", 3), ("Direction", 9)):
            value = self.root.attrs[name]
            self.need(value.shape == (length,) and value.dtype == np.float64, f"{name} is not {length} doubles")
        cells = [int(n) for n in self.extent()[1::2] - self.extent()[::2] if n]
        for name, array in self.arrays("CellData").items():
            self.need(array.shape[: 1 + len(cells)] == (self.count, *cells[::-1]), f"CellData/{name} is not [step][z][y][x]")
            self.need(list(self.steps[f"CellDataOffsets/{name}"]) == list(range(self.count)), f"CellDataOffsets/{name} is not 0, 1, ...")

    def mesh(self):
        root = self.root
        points, cells, ids = (int(root[n][0]) for n in ("NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"))
        self.need(root["Points"].shape == (points, 3), "Points is not (NumberOfPoints, 3)")
        self.need(root["Offsets"].shape == (cells + 1,) and root["Offsets"][0] == 0 and root["Offsets"][-1] == ids, "Offsets")
        self.need(root["Connectivity"].shape == (ids,) and root["Connectivity"][:].max() < points, "Connectivity")
        self.need(root["Types"].dtype == np.uint8 and root["Types"].shape == (cells,), "Types is not a byte for each cell")
        self.need(np.array_equal(np.diff(root["Offsets"][:]), [CORNERS[t] for t in root["Types"][:]]), "cells have wrong corners")
        for name in ("PartOffsets", "NumberOfParts", "PointOffsets"):
            self.per_step(name)
        for name in ("CellOffsets", "ConnectivityIdOffsets"):
            self.need(self.steps[name].shape in ((self.count,), (self.count, 1)), f"Steps/{name} has not one entry per step")
        for name, array in self.arrays("CellData").items():
            self.per_step(f"CellDataOffsets/{name}")
            self.need(self.steps[f"CellDataOffsets/{name}"][-1] + cells <= len(array), f"CellData/{name} is short")
        for name, array in self.arrays("PointData").items():
            self.per_step(f"PointDataOffsets/{name}")
            self.need(self.steps[f"PointDataOffsets/{name}"][-1] + points <= len(array), f"PointData/{name} is short")

    def poly(self):
        points = int(self.root["NumberOfPoints"][0])
        for part in TOPOLOGIES:
            group = self.root[part]
            cells, ids = int(group["NumberOfCells"][0]), int(group["NumberOfConnectivityIds"][0])
            self.need(group["Offsets"].shape == (cells + 1,) and group["Connectivity"].shape == (ids,), f"{part} has wrong lengths")
        for name in ("PartOffsets", "NumberOfParts", "PointOffsets"):
            self.per_step(name)
        for name in ("CellOffsets", "ConnectivityIdOffsets"):
            self.per_step(name, 4)
        self.need(self.steps["PointOffsets"][-1] + points <= len(self.root["Points"]), "Points is short")
        for name, array in self.arrays("PointData").items():
            self.per_step(f"PointDataOffsets/{name}")
            self.need(self.steps[f"PointDataOffsets/{name}"][-1] + points <= len(array), f"PointData/{name} is short")

    def cell_data(self, name, step):
        """Of a moment, in the order of VTK's cells: x the fastest."""
        array, first = self.root["CellData"][name], int(self.steps[f"CellDataOffsets/{name}"][step])
        if self.type == "ImageData":
            cells = int(np.prod([n for n in self.extent()[1::2] - self.extent()[::2] if n]))
            return array[first].reshape(cells, *array.shape[1 + np.count_nonzero(self.extent()[1::2]) :])
        return array[first : first + int(self.root["NumberOfCells"][0])]

    def centres(self):
        """Middles of the cells of a grid, in the same order."""
        if self.type == "UnstructuredGrid":
            corners = np.split(self.root["Connectivity"][:], self.root["Offsets"][1:-1])
            return np.array([self.root["Points"][:][c].mean(axis=0) for c in corners])
        cells = np.maximum(self.extent()[1::2] - self.extent()[::2], 1)
        index = np.stack(np.meshgrid(*[np.arange(n) for n in cells[::-1]], indexing="ij")[::-1], -1).reshape(-1, 3)
        return self.root.attrs["Origin"] + self.root.attrs["Spacing"] * (index + 0.5 * (self.extent()[1::2] > 0))

    def points(self, step):
        first = int(self.steps["PointOffsets"][step])
        return self.root["Points"][first : first + int(self.root["NumberOfPoints"][0])]

    def point_data(self, name, step):
        first = int(self.steps[f"PointDataOffsets/{name}"][step])
        return self.root["PointData"][name][first : first + int(self.root["NumberOfPoints"][0])]


if __name__ == "__main__":
    layout = Layout(sys.argv[1])
    print("\n".join(layout.problems) or f"{layout.type}, {layout.count} moments, {list(layout.arrays('CellData')) or list(layout.arrays('PointData'))}")
    sys.exit(bool(layout.problems))
