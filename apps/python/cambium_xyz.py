"""Reads trajectories in extended XYZ, as the output 'extxyz' writes them, with the words of cambium_io.Trajectory."""

import re

import numpy as np


class XyzTrajectory:
    """Frames are numbered from 0; lengths in Angstrom, times in ps (the number of the frame where the file has none)."""

    def __init__(self, path):
        self.path, self._starts, self.times, self._cells = path, [], [], []
        with open(path, "rb") as file:
            while True:
                start, first = file.tell(), file.readline()
                if not first.strip():
                    break
                count, comment = int(first), file.readline().decode()
                rows = [file.readline() for _ in range(count)]
                if len(rows) < count or not rows[-1].endswith(b"\n"):
                    break  # half a frame of a program that was killed
                time = re.search(r"\bTime=(\S+)", comment)
                self.times.append(float(time.group(1)) if time else float(len(self.times)))
                cell = re.search(r'Lattice="([^"]+)"', comment)
                self._cells.append(np.array(cell.group(1).split(), dtype=float).reshape(3, 3) if cell else None)
                self._starts.append(start)
                if len(self._starts) == 1:
                    self._columns(comment)
                    self.species = np.array([row.split()[self._species].decode() for row in rows])

    def _columns(self, comment):
        parts = re.search(r"Properties=(\S+)", comment)
        words = (parts.group(1) if parts else "species:S:1:pos:R:3").split(":")
        at, places = 0, {}
        for name, count in zip(words[::3], words[2::3]):
            places[name] = at
            at += int(count)
        self._species, self._position = places.get("species", 0), places.get("pos", 1)

    def __len__(self):
        return len(self._starts)

    def position(self, frame):
        with open(self.path, "rb") as file:
            file.seek(self._starts[frame])
            count = int(file.readline())
            file.readline()
            return np.array([file.readline().split()[self._position:self._position + 3] for _ in range(count)], dtype=float)

    def cell(self, frame):
        """Cell vectors as rows; those of the smallest box around the atoms where the file has none."""
        if self._cells[frame] is not None:
            return self._cells[frame]
        return np.diag(np.ptp(self.position(frame), axis=0))
