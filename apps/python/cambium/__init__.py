"""Cambium in Python: trained models, interatomic potentials and the files of runs.

>>> import cambium
>>> cambium.Potential("deck.yaml")           # energies, forces, virials; cambium.ase.Cambium is its ASE calculator
>>> cambium.Training({"network": ...})       # a network that is trained on arrays
>>> cambium.Model("runs/x/train/model.h5")   # what it reads and answers, with units
>>> cambium.open("runs/x")                   # the files of a run as arrays

Needs numpy; models and potentials need the library libcambium_train of the same installation, HDF5 files h5py or xarray."""
from ._library import CambiumError
from ._model import FieldInfo, Model
from ._potential import Evaluation, Potential
from ._run import Run
from ._training import Training

__all__ = ["CambiumError", "Evaluation", "FieldInfo", "Model", "Potential", "Run", "Training", "open"]


def open(folder):  # noqa: A001 - cambium.open is its name
    """The files of a run."""
    return Run(folder)
