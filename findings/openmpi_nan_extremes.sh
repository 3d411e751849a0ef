#!/usr/bin/env bash
# Open MPI 4.1.4 and mpi4py 3.1.4 (Debian 4.1.4-3+b1, 3.1.4-2+b2): MPI_MAX and MPI_MIN where one rank's value is NaN.
# The standard says nothing of NaN. Most would expect either NaN, or the maximum of the other ranks' values.
# Seen: NaN only where rank 0 has it. Otherwise the NaN is dropped, and with it finite values of other ranks: of 1, 2, NaN, 4 the maximum is 2.
# All ranks get the same number.
# What it means: a solver that takes the largest error or speed of all ranks by MPI_MAX goes on with a plausible, wrong number after one rank
# has failed. Reduce a flag beside it, or use an operation of your own.
. "$(dirname "$0")/debian.sh"
packages python3-mpi4py=3.1.4-2+b2 openmpi-bin=4.1.4-3+b1 python3-numpy=1:1.24.2-1+deb12u1
cat >extremes.py <<'PYTHON'
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
for broken in range(comm.size):
    value, found = np.array([np.nan if comm.rank == broken else comm.rank + 1.0]), []
    for operation in (MPI.MAX, MPI.MIN):
        result = np.empty(1)
        comm.Allreduce(value, result, operation)
        found.append(result[0])
    on_ranks, values = comm.gather(tuple(map(str, found))), comm.gather(value[0])
    if comm.rank == 0:
        print(f"{values}: max {found[0]}, min {found[1]}, {'the same' if len(set(on_ranks)) == 1 else 'not the same'} on all ranks", flush=True)
PYTHON
libraries=$root/usr/lib/x86_64-linux-gnu
export OPAL_PREFIX=$root/usr PATH=$root/usr/bin:$PATH LD_LIBRARY_PATH=$libraries:$libraries/openmpi/lib:$libraries/blas:$libraries/lapack
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PYTHONHOME=$root/usr PYTHONPATH=$root/usr/lib/python3/dist-packages
ln -sf orterun "$root/usr/bin/mpirun"
seen "[nan, 2.0, 3.0, 4.0]: max nan, min nan, the same on all ranks
[1.0, nan, 3.0, 4.0]: max 4.0, min 1.0, the same on all ranks
[1.0, 2.0, nan, 4.0]: max 2.0, min 1.0, the same on all ranks
[1.0, 2.0, 3.0, nan]: max 3.0, min 1.0, the same on all ranks" "$(mpirun --oversubscribe -np 4 "$root/usr/bin/python3.11" extremes.py 2>&1)"
