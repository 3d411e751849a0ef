#!/usr/bin/env bash
# OpenBLAS 0.3.21 and the reference BLAS 3.11 (Debian 0.3.21+ds-4, 3.11.0-2): arguments that hold NaN.
# The functions are specified by formulas. Most would expect both libraries to agree whether a NaN reaches the result.
# Seen: dscal with a factor of 0 gives NaN by the reference and 0 by OpenBLAS, also for infinity. dtrsm with a NaN on the diagonal and zeros on the
# right gives 0 by the reference and NaN by OpenBLAS. idamax of (1, NaN, 3) is 3 by the reference and 2 by OpenBLAS. dgemm and dgemv agree.
# What it means: a program that finds its failures by looking for NaN finds them with one library and goes on with the other. `beta = 0` in a step
# of one's own should set, not scale.
. "$(dirname "$0")/debian.sh"
packages libopenblas0-pthread=0.3.21+ds-4 libblas3=3.11.0-2 python3-numpy=1:1.24.2-1+deb12u1
cat >nan.py <<'PYTHON'
import ctypes
import glob
import sys

import numpy as np

whole, real, at = (lambda n: ctypes.byref(ctypes.c_int(n))), (lambda x: ctypes.byref(ctypes.c_double(x))), (lambda a: a.ctypes.data_as(ctypes.c_void_p))
for name, path in (("reference", "blas/libblas.so.3"), ("OpenBLAS", "openblas-pthread/libblas.so.3")):
    blas = ctypes.CDLL(glob.glob(f"{sys.argv[1]}/usr/lib/*/{path}")[0])
    x = np.array([np.nan, np.inf, 1.0])
    blas.dscal_(whole(3), real(0.0), at(x), whole(1))
    largest = blas.idamax_(whole(3), at(np.array([1.0, np.nan, 3.0])), whole(1))
    triangle, right = np.array([[np.nan, 0.0], [0.0, 1.0]]), np.zeros((2, 2))
    blas.dtrsm_(b"L", b"L", b"N", b"N", whole(2), whole(2), real(1.0), at(triangle), whole(2), at(right), whole(2))
    product = np.zeros((2, 2))
    blas.dgemm_(b"N", b"N", whole(2), whole(2), whole(2), real(1.0), at(triangle), whole(2), at(np.zeros((2, 2))), whole(2), real(0.0), at(product), whole(2))
    print(f"{name}: 0 * (nan, inf, 1) = {x.tolist()}, largest of (1, nan, 3) is number {largest}, "
          f"triangle with nan, zeros on the right: {'nan' if np.isnan(right).any() else 'zeros'}, product: {'nan' if np.isnan(product).any() else 'zeros'}")
PYTHON
seen "reference: 0 * (nan, inf, 1) = [nan, nan, 0.0], largest of (1, nan, 3) is number 3, triangle with nan, zeros on the right: zeros, product: nan
OpenBLAS: 0 * (nan, inf, 1) = [0.0, 0.0, 0.0], largest of (1, nan, 3) is number 2, triangle with nan, zeros on the right: nan, product: nan" "$(OPENBLAS_NUM_THREADS=1 python nan.py "$root")"
