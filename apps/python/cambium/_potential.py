"""Interatomic potentials in Python."""
import ctypes
import json
import os

import numpy as np

from ._library import CambiumError, Opened, Results, Structure, call, library


def _plain(value):
    """What JSON does not write of itself: paths, numbers and arrays of numpy."""
    return os.fspath(value) if isinstance(value, os.PathLike) else value.tolist()


class Evaluation:
    """Results of one structure.

    `energy` eV; `forces` (atoms, 3) eV/Å; `virial` (3, 3) eV, W_ab = -sum dE/dr_a r_b, so that the stress is -virial / volume;
    `energies` (atoms) eV and `virials` (atoms, 3, 3) eV with per_atom=True, else None
    (per_atom="energies": only those; some potentials have no virials of atoms); `deviation` {"max", "min", "mean"} eV/Å, the
    standard deviation of forces among a committee of models, None for other potentials."""

    def __init__(self, atoms, per_atom, committee):
        self.energy = 0.0
        self.forces = np.empty((atoms, 3))
        self.virial = np.empty((3, 3))
        self.energies = np.empty(atoms) if per_atom else None
        self.virials = np.empty((atoms, 3, 3)) if per_atom and per_atom != "energies" else None
        self.deviation = None
        self._scalars = np.zeros(4)
        self._committee = committee

    def _pointers(self):
        address = self._scalars.ctypes.data
        there = [address, self.forces.ctypes.data, self.virial.ctypes.data, self.energies.ctypes.data if self.energies is not None else None,
                 self.virials.ctypes.data if self.virials is not None else None, address + 8 if self._committee else None]
        return Results(*there)

    def _finish(self):
        self.energy = float(self._scalars[0])
        if self._committee:
            self.deviation = dict(zip(("max", "min", "mean"), map(float, self._scalars[1:])))
        return self

    def __repr__(self):
        return f"<cambium.Evaluation of {len(self.forces)} atoms: energy {self.energy:.10g} eV>"


class Potential(Opened):
    """An interatomic potential of a deck, of a model file or of keys.

    >>> potential = cambium.Potential("inputs/md/copper_eam.yaml")   # the first `potential` of a deck
    >>> potential = cambium.Potential("runs/x/train/model.dp")       # a Deep Potential
    >>> potential = cambium.Potential({"type": "sutton_chen", "epsilon": 0.012382, "a": 3.61, "c": 39.432, "n": 9, "m": 6, "cutoff": 7})
    >>> potential.evaluate(["Cu"] * 4, positions, cell).forces

    Text that is no file is read as keys. A structure whose energy or forces are not finite, such as one with coincident atoms, is an
    error. Lengths are in Å, energies in eV, forces in eV/Å, virials in eV. `cutoff` is the largest distance of interacting atoms. Calls of
    several threads wait for each other. A copy, also in another process, opens the potential anew."""

    def __init__(self, what):
        self._what = json.dumps(what, default=_plain) if isinstance(what, dict) else os.fspath(what)
        self._open(library().cambium_potential_open, self._what, library().cambium_potential_close)
        self.cutoff = library().cambium_potential_cutoff(self._handle)
        self.committee = bool(library().cambium_potential_is_committee(self._handle))

    def __reduce__(self):
        return Potential, (os.path.abspath(self._what) if os.path.exists(self._what) else self._what,)

    def __repr__(self):
        return f"<cambium.Potential {library().cambium_potential_summary(self._handle).decode()}>"

    def evaluate(self, species, positions, cell=None, periodic=None, per_atom=False):
        """The Evaluation of one structure, with energies and virials of atoms where per_atom (True or "energies"). species: a symbol for each atom; positions (atoms, 3) Å; cell: rows a, b, c in Å, None where
        nothing is periodic; periodic: one truth for all directions or one for each, None for all of a cell that is given."""
        return self.evaluate_many([(species, positions, cell, periodic)], per_atom)[0]

    def evaluate_many(self, structures, per_atom=False):
        """Evaluations of a list of (species, positions, cell, periodic), in one call. ValueError where a structure is periodic without
        a cell."""
        handle = self._opened()
        kept, given, out = [], [], []
        for species, positions, cell, periodic in structures:
            x = np.ascontiguousarray(positions, dtype=float)
            if x.ndim != 2 or x.shape[1] != 3 or len(species) != len(x):
                raise CambiumError(f"positions have the shape {x.shape} beside {len(species)} species; expected ({len(species)}, 3)")
            rows = None if cell is None else np.ascontiguousarray(cell, dtype=float)
            if rows is not None and rows.shape != (3, 3):
                raise CambiumError(f"the cell has the shape {rows.shape}; expected (3, 3), rows a, b, c")
            if periodic is None:
                periodic = rows is not None
            if rows is None and np.any(periodic):
                raise ValueError(f"periodic is {periodic}, but there is no cell; give one, or periodic=False for a molecule")
            symbols = (ctypes.c_char_p * len(x))(*(symbol.encode() for symbol in species))
            flags = (ctypes.c_int * 3)(*(int(bool(flag)) for flag in np.broadcast_to(periodic, 3)))
            kept.append((x, rows, symbols))
            given.append(Structure(len(x), symbols, x.ctypes.data, None if rows is None else rows.ctypes.data, flags))
            out.append(Evaluation(len(x), per_atom, self.committee))
        results = (Results * len(out))(*(one._pointers() for one in out))
        call(library().cambium_potential_evaluate, handle, (Structure * len(given))(*given), results, len(given))
        return [one._finish() for one in out]
