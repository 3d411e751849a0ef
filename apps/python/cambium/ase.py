"""Cambium's potentials as a calculator of ASE (atomic simulation environment).

>>> from cambium.ase import Cambium
>>> atoms.calc = Cambium(potential="inputs/md/copper_eam.yaml")
>>> atoms.get_potential_energy(), atoms.get_forces(), atoms.get_stress()   # eV, eV/Å, eV/Å^3

Needs ase and numpy."""
import numpy as np
from ase.calculators.calculator import Calculator, all_changes

from ._potential import Potential


class Cambium(Calculator):
    """ASE calculator of a cambium.Potential.

    potential: a cambium.Potential, or what one is made of: a deck, a model file or a dict of keys.

    Properties and units: energy and free_energy (eV, the same), forces (eV/Å), stress (eV/Å^3, xx, yy, zz, yz, xz, xy, positive under
    tension), energies of atoms (eV) and stresses of atoms (eV/Å^3, divided by the volume of the cell). Stress needs a cell of three
    vectors; as ASE's own calculators, it divides by its volume also where a direction is not periodic. After a calculation with a committee of models, `deviation` holds {"max", "min", "mean"} of the standard
    deviation of forces (eV/Å). Nothing is calculated twice for the same positions, cell, species and periodicity."""

    implemented_properties = ["energy", "free_energy", "forces", "stress", "energies", "stresses"]

    def __init__(self, potential, **kwargs):
        Calculator.__init__(self, **kwargs)
        self.potential = potential if isinstance(potential, Potential) else Potential(potential)
        self.deviation = None
        self.evaluations = 0

    def calculate(self, atoms=None, properties=("energy",), system_changes=all_changes):
        """Fills `results`. `evaluations` counts these calls."""
        Calculator.calculate(self, atoms, properties, system_changes)
        per_atom = True if "stresses" in properties else "energies" if "energies" in properties else False
        pbc = self.atoms.get_pbc()
        found = self.potential.evaluate(self.atoms.get_chemical_symbols(), self.atoms.get_positions(),
                                        self.atoms.cell.array if pbc.any() else None, pbc, per_atom)
        self.evaluations += 1
        self.deviation = found.deviation
        self.results = {"energy": found.energy, "free_energy": found.energy, "forces": found.forces}
        if self.atoms.cell.rank == 3:
            volume = self.atoms.get_volume()
            self.results["stress"] = voigt(-found.virial / volume)
            if found.virials is not None:
                self.results["stresses"] = np.array([voigt(-virial / volume) for virial in found.virials])
        if per_atom:
            self.results["energies"] = found.energies


def voigt(tensor):
    """xx, yy, zz, yz, xz, xy of a symmetric tensor."""
    even = 0.5 * (tensor + tensor.T)
    return np.array([even[0, 0], even[1, 1], even[2, 2], even[1, 2], even[0, 2], even[0, 1]])
