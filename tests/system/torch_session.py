"""Trains on arrays through cambium_train.h, each rank on its share: torch_session.py LIBRARY DECK ARRAYS.npz STEPS BATCH OUT.npz.
`out` holds the losses of the steps and what infer() answers to all samples."""
import ctypes
import sys

import numpy as np


class Array(ctypes.Structure):
    """As in cambium_array.h."""
    _fields_ = [("name", ctypes.c_char_p), ("unit", ctypes.c_char_p), ("data", ctypes.c_void_p), ("type", ctypes.c_int), ("rank", ctypes.c_int),
                ("shape", ctypes.c_int64 * 6), ("stride", ctypes.c_int64 * 6)]


KINDS = {"float64": 0, "float32": 1, "int64": 3}


def array(name, values):
    steps = [s // values.itemsize for s in values.strides]
    return Array(name.encode(), None, values.ctypes.data, KINDS[values.dtype.name], values.ndim,
                 (ctypes.c_int64 * 6)(*values.shape), (ctypes.c_int64 * 6)(*steps))


def arrays(fields, rows):
    kept = {name: np.ascontiguousarray(values[rows]) for name, values in fields.items()}
    return (Array * len(kept))(*[array(n, v) for n, v in kept.items()]), kept


def main(library, deck, data, steps, batch, out):
    mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
    cambium = ctypes.CDLL(library)
    cambium.cambium_train_message.restype = ctypes.c_char_p
    mpi.MPI_Init(None, None)
    world = ctypes.c_void_p.in_dll(mpi, "ompi_mpi_comm_world")
    size, rank = ctypes.c_int(), ctypes.c_int()
    mpi.MPI_Comm_size(ctypes.byref(world), ctypes.byref(size))
    mpi.MPI_Comm_rank(ctypes.byref(world), ctypes.byref(rank))

    def call(code):
        if code:
            print(cambium.cambium_train_message().decode(), flush=True)
            mpi.MPI_Abort(ctypes.byref(world), code)

    session = ctypes.c_void_p()
    call(cambium.cambium_train_create_f(mpi.MPI_Comm_c2f(ctypes.byref(world)), deck.encode(), ctypes.byref(session)))
    fields = dict(np.load(data))
    samples = len(next(iter(fields.values())))
    losses = []
    for step in range(int(steps)):
        rows = np.arange(step * int(batch), (step + 1) * int(batch)) % samples
        given, kept = arrays(fields, np.array_split(rows, size.value)[rank.value])
        loss = ctypes.c_double()
        call(cambium.cambium_train_step(session, given, len(given), ctypes.byref(loss)))
        losses.append(loss.value)
        del kept
    cambium.cambium_train_destroy(session)
    if rank.value == 0:
        np.savez(out, losses=np.array(losses))
    mpi.MPI_Finalize()


main(*sys.argv[1:])
