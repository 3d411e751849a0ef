"""The C functions of cambium_model.h, cambium_potential.h and cambium_train.h through ctypes."""
import ctypes
import glob
import os
import threading
import weakref

import numpy as np

#: Codes of numpy's types in cambium_array.h.
TYPES = {"float64": 0, "float32": 1, "int64": 3, "int32": 4, "int8": 6, "uint8": 7}


#: Other types of numbers, as the type that holds them all; as data sets in HDF5 are read.
WIDER = {"float16": "float32", "int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64", "bool": "int8"}


class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("unit", ctypes.c_char_p), ("data", ctypes.c_void_p), ("type", ctypes.c_int),
                ("rank", ctypes.c_int), ("shape", ctypes.c_int64 * 6), ("stride", ctypes.c_int64 * 6)]


class Field(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("unit", ctypes.c_char_p), ("rank", ctypes.c_int), ("shape", ctypes.c_int64 * 6)]


class Structure(ctypes.Structure):
    _fields_ = [("atoms", ctypes.c_int64), ("species", ctypes.POINTER(ctypes.c_char_p)), ("positions", ctypes.c_void_p),
                ("cell", ctypes.c_void_p), ("periodic", ctypes.c_int * 3)]


class Results(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("energy", "forces", "virial", "atom_energies", "atom_virials", "deviation")]


class CambiumError(ValueError):
    """What Cambium says of a model, a file or an array."""


def places():
    """Where libcambium_train may lie: beside this installation or build, known to the loader."""
    here = os.path.dirname(os.path.abspath(__file__))
    prefix, source = (os.path.abspath(os.path.join(here, *[".."] * up)) for up in (4, 3))
    found = []
    for folder in (os.path.join(source, "build", "lib"), *(os.path.join(prefix, name) for name in ("lib", "lib64", os.path.join("lib", "*-linux-gnu")))):
        found += sorted(glob.glob(os.path.join(folder, "libcambium_train.so*")))
    return found + ["libcambium_train.so"]


_loaded = None


def library():
    """The library, loaded once. CambiumError where there is none."""
    global _loaded
    if _loaded is None:
        _loaded = _load()
    return _loaded


def _load():
    said = []
    for place in places():
        try:
            lib = ctypes.CDLL(place, mode=ctypes.RTLD_GLOBAL)  # Open MPI loads parts of itself later
        except OSError as error:
            said.append(str(error))
            continue
        pointer, text, whole = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
        lib.cambium_model_open.argtypes = [text, ctypes.POINTER(pointer)]
        lib.cambium_model_close.argtypes = [pointer]
        lib.cambium_model_close.restype = None
        for call in (lib.cambium_model_inputs, lib.cambium_model_outputs):
            call.argtypes = [pointer, ctypes.POINTER(Field), whole, ctypes.POINTER(whole)]
        lib.cambium_model_infer.argtypes = [pointer, ctypes.POINTER(Array), whole, ctypes.POINTER(Array), whole]
        lib.cambium_model_message.restype = text
        lib.cambium_potential_open.argtypes = [text, ctypes.POINTER(pointer)]
        lib.cambium_potential_close.argtypes = [pointer]
        lib.cambium_potential_close.restype = None
        lib.cambium_potential_summary.argtypes = lib.cambium_potential_cutoff.argtypes = [pointer]
        lib.cambium_potential_summary.restype, lib.cambium_potential_cutoff.restype = text, ctypes.c_double
        lib.cambium_potential_is_committee.argtypes = [pointer]
        lib.cambium_potential_evaluate.argtypes = [pointer, ctypes.POINTER(Structure), ctypes.POINTER(Results), ctypes.c_int64]
        lib.cambium_train_open.argtypes = [text, ctypes.POINTER(pointer)]
        lib.cambium_train_destroy.argtypes = [pointer]
        lib.cambium_train_destroy.restype = None
        arrays = [pointer, ctypes.POINTER(Array), whole]
        lib.cambium_train_step.argtypes = [*arrays, ctypes.POINTER(ctypes.c_double)]
        lib.cambium_train_evaluate.argtypes = [*arrays, ctypes.POINTER(ctypes.c_double), whole]
        for call in (lib.cambium_train_save, lib.cambium_train_load, lib.cambium_train_write_model):
            call.argtypes = [pointer, text]
        lib.cambium_train_steps.argtypes, lib.cambium_train_steps.restype = [pointer], ctypes.c_int64
        return lib
    raise CambiumError("libcambium_train was not found; add its folder to LD_LIBRARY_PATH\n" + "\n".join(said))


_one_at_a_time = threading.RLock()  # the library's rule; a collector may close something within a call of its own thread


def call(function, *arguments):
    """CambiumError with the library's words when a function fails. Threads wait for each other."""
    with _one_at_a_time:
        if function(*arguments) != 0:
            raise CambiumError(library().cambium_model_message().decode())


def _free(function, handle):
    with _one_at_a_time:
        function(handle)


class Opened:
    """What the library opened: freed by close(), at the end of a `with`, or with the last reference to it. `collective`: not then, as all
    processes free it together, and their collectors do not."""

    def _open(self, function, text, free, collective=False):
        self._handle = ctypes.c_void_p()
        call(function, text.encode(), ctypes.byref(self._handle))
        self._free = free
        self._collected = None if collective else weakref.finalize(self, _free, free, self._handle)
        if self._collected:
            self._collected.atexit = False  # the library ends by itself, perhaps before

    def _opened(self):
        if not self._handle:
            raise CambiumError(f"the {type(self).__name__.lower()} is closed")
        return self._handle

    def close(self):
        """Frees it; calls after that fail."""
        if not self._handle:
            return
        if self._collected:
            self._collected.detach()
        handle, self._handle = self._handle, ctypes.c_void_p()
        _free(self._free, handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def numbers_of(name, values):
    """What a caller gives as an array whose numbers have this machine's order of bytes and a type that the library has; no copy where they do."""
    values = np.asanyarray(values)  # a variable of netCDF4 becomes a masked array
    masked = np.ma.count_masked(values) if isinstance(values, np.ma.MaskedArray) else 0
    if masked:
        raise CambiumError(f"array '{name}' has {masked} masked values; leave their samples out, or give a number for them: x.filled(number)")
    values = np.asarray(values)
    if values.ndim == 0:
        raise CambiumError(f"array '{name}' is a scalar; give an array whose first axis counts samples")
    values = values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))
    if values.dtype == np.uint64 and values.size and int(values.max()) > np.iinfo(np.int64).max:
        raise CambiumError(f"array '{name}' holds {values.max()}, but integers go up to 2^63 - 1; give float64, or less an offset")
    return values.astype(WIDER[values.dtype.name]) if values.dtype.name in WIDER else values


def arrays_of(named, units):
    """({name: array}, the same for the library) of what a caller gives, with `units` by name. The library's views live as long as the arrays."""
    given = {name: numbers_of(name, values) for name, values in named.items()}
    for name in units or {}:
        if name not in given:
            raise CambiumError(f"units names '{name}', which is not given; the arrays are: {', '.join(given)}")
    return given, (Array * max(1, len(given)))(*(array_of(name, (units or {}).get(name), values) for name, values in given.items()))


def array_of(name, unit, values):
    """A numpy array as the library sees it, without a copy."""
    if values.dtype.name not in TYPES:
        raise CambiumError(f"array '{name}' is of type {values.dtype}; expected one of {', '.join(TYPES)}")
    if not 1 <= values.ndim <= 6:
        raise CambiumError(f"array '{name}' has {values.ndim} axes; give 1 to 6, the first of which counts samples")
    size = values.dtype.itemsize
    if any(stride % size for stride in values.strides):
        raise CambiumError(f"array '{name}' has strides that are no multiples of its numbers; give numpy.ascontiguousarray(x)")
    six = ctypes.c_int64 * 6
    return Array(name.encode(), unit.encode() if unit else None, values.ctypes.data, TYPES[values.dtype.name], values.ndim,
                 six(*values.shape), six(*(stride // size for stride in values.strides)))
