"""Training of networks on arrays of numpy."""
import ctypes
import json
import os
import tempfile

import numpy as np

from ._library import Opened, arrays_of, call, library
from ._model import Model

METRICS = 32  # room for the numbers of an evaluation; networks have a few


class Training(Opened):
    """A network that is trained step by step on the caller's arrays.

    >>> training = cambium.Training({"network": {"type": "mlp", "layers": [32, 32], "input": "x", "target": "y"},
    ...                              "optimizer": "adamw", "learning_rate": {"type": "constant", "start": 1e-3}})
    >>> for epoch in range(100):
    ...     loss = training.step(x=x, y=y)
    >>> prediction = training.model()(x)

    deck: as a dict, as YAML or as the name of a file. Its keys are `network`, `optimizer`, `learning_rate`, `warm_up`, `clip`, `ema`, `reduce`,
    `seed` and `log_every`, as in the stage `train`, and `steps`, the length of the learning rate schedule, required if the schedule falls over
    the whole training (linear, polynomial, exponential, cosine, wsd). What else the stage has (data sets, loaders, augmentation, validation,
    early stopping, sharding, quantised training, embedding tables, activation checkpointing, start_from, ensembles) a session lacks.
    `cambium doc` lists networks, optimizers and schedules. Arrays
    (samples, ...) have the names of the fields that the network reads; the first call of `step` fits statistics to its samples. Under
    mpirun all processes train one network, each with samples of its own. Calls of several threads wait for each other."""

    def __init__(self, deck):
        text = json.dumps(deck) if isinstance(deck, dict) else os.fspath(deck)
        self._open(library().cambium_train_open, text, library().cambium_train_destroy, collective=True)

    def __reduce__(self):
        raise TypeError("a cambium.Training cannot be copied; save() it, and load() the file in another one")

    def step(self, *, units=None, **named):
        """One step of the optimizer on these samples; the weighted loss before it. `units`: of the arrays by name."""
        given, arrays = arrays_of(named, units)
        loss = ctypes.c_double()
        call(library().cambium_train_step, self._opened(), arrays, len(given), ctypes.byref(loss))
        return loss.value

    def evaluate(self, *, units=None, **named):
        """The network's metrics on these samples, in the order in which the stage `train` prints them, as an array."""
        given, arrays = arrays_of(named, units)
        values = (ctypes.c_double * METRICS)(*[np.nan] * METRICS)
        call(library().cambium_train_evaluate, self._opened(), arrays, len(given), values, METRICS)
        values = np.array(values)
        return values[:1 + np.flatnonzero(~np.isnan(values)).max(initial=-1)]

    @property
    def steps(self):
        """Steps that were taken, those before a loaded checkpoint included."""
        return library().cambium_train_steps(self._opened())

    def save(self, path):
        """A checkpoint, from which `load` continues bit for bit."""
        call(library().cambium_train_save, self._opened(), os.fspath(path).encode())

    def load(self, path):
        """Continues from a checkpoint of `save` or of a stage `train`."""
        call(library().cambium_train_load, self._opened(), os.fspath(path).encode())

    def write_model(self, path):
        """The model file that stages, `cambium predict` and cambium.Model read."""
        call(library().cambium_train_write_model, self._opened(), os.fspath(path).encode())

    def model(self):
        """The network as it is now, as a cambium.Model."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.h5")
            self.write_model(path)
            return Model(path)

    def __repr__(self):
        return f"<cambium.Training after {self.steps} steps>" if self._handle else "<cambium.Training, closed>"
