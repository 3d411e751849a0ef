"""Trained models in Python."""
import ctypes
import os

import numpy as np

from ._library import Array, CambiumError, Field, Opened, array_of, arrays_of, call, library


class FieldInfo:
    """What a model reads or answers for one sample: `name`, `unit` ("" for a number) and `shape` (-1: samples may differ)."""

    def __init__(self, name, unit, shape):
        self.name, self.unit, self.shape = name, unit, shape

    def __repr__(self):
        shape = ", ".join(["samples"] + ["any" if extent < 0 else str(extent) for extent in self.shape])
        return f"{self.name} ({shape})" + (f" in {self.unit}" if self.unit else "")


class Model(Opened):
    """A trained network, from a model.h5 of a stage `train`.

    >>> model = cambium.Model("runs/x/train/model.h5")
    >>> y = model(x)                     # one input: an array (samples, ...)
    >>> y = model(radius=r, energy=e)    # several: by their names

    `inputs` and `outputs` list names, units and shapes. Arrays of float64, float32 and integers of 64, 32 and 8 bits are taken as they
    lie in memory; those of other types (float16, bool, uint16, ...) and of the other order of bytes are copied. Masked values are refused.
    The answer is a float64 array (samples, ...), or a dict of arrays by name where there are several outputs."""

    def __init__(self, path):
        self.path = str(path)
        self._open(library().cambium_model_open, self.path, library().cambium_model_close)
        self.inputs = self._fields(library().cambium_model_inputs)
        self.outputs = self._fields(library().cambium_model_outputs)

    def _fields(self, ask):
        count = ctypes.c_int()
        call(ask, self._handle, None, 0, ctypes.byref(count))
        fields = (Field * max(1, count.value))()
        call(ask, self._handle, fields, count.value, ctypes.byref(count))
        return [FieldInfo(f.name.decode(), f.unit.decode(), tuple(f.shape[:f.rank])) for f in fields[:count.value]]

    def __reduce__(self):
        return Model, (os.path.abspath(self.path),)

    def __repr__(self):
        inputs, outputs = ("; ".join(map(repr, side)) for side in (self.inputs, self.outputs))
        return f"<cambium.Model {self.path}: reads {inputs}; answers {outputs}>"

    def _given(self, values, named):
        if values is not None:
            if named or len(self.inputs) != 1:
                names = ", ".join(field.name for field in self.inputs)
                raise CambiumError(f"the model reads {len(self.inputs)} fields; give each by its name: {names}")
            named = {self.inputs[0].name: values}
        known = [field.name for field in self.inputs]
        for name in named:
            if name not in known:
                raise CambiumError(f"the model has no input '{name}'; it reads: {', '.join(known)}")
        return named

    def _room(self, given):
        """Empty arrays for the answers. An extent that samples give is the length of the first axis of theirs that may differ."""
        samples = len(next(iter(given.values()))) if given else 0
        lengths = [given[f.name].shape[1] for f in self.inputs if f.name in given and f.shape and f.shape[0] < 0 and given[f.name].ndim > 1]
        return {f.name: np.empty((samples, *((lengths or [0])[0] if extent < 0 else extent for extent in f.shape))) for f in self.outputs}

    def __call__(self, values=None, *, units=None, **named):
        """The answers to all samples. `units`: of the inputs by name, checked against the model's; left out, they are taken for them."""
        handle = self._opened()
        given, inputs = arrays_of(self._given(values, named), units)
        room = self._room(given)
        outputs = (Array * len(room))(*(array_of(name, None, value) for name, value in room.items()))
        call(library().cambium_model_infer, handle, inputs, len(given), outputs, len(room))
        return room if len(room) > 1 else next(iter(room.values()))
