"""Peers of `cambium bench graph` in Python: scipy and PyTorch, one thread each. Answers one line for each line it reads.

    names                             scipy=1.10.1,torch=1.13.1
    load STEM ROWS COLUMNS ENTRIES    the matrix: STEM.start (int64), STEM.column (int32), STEM.value (float64)
    prepare NAME WIDTH f64|f32        ok and the product brought to one number, or why not
    run NAME CALLS                    seconds of one call
"""
import sys
import time

import numpy as np
import scipy
import scipy.sparse
from scipy.sparse import _sparsetools

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None


def factor(rows, width, dtype):
    """The dense matrix that every contestant multiplies by."""
    i, k = np.arange(rows, dtype=np.int64)[:, None], np.arange(width, dtype=np.int64)[None, :]
    return (((i * 37 + k * 101) % 1009) / 1009 - 0.5).astype(dtype)


def projection(out):
    i, k = np.arange(out.shape[0]), np.arange(out.shape[1])
    return float(((i * 31 % 17 - 8) / 8.0) @ (out.astype(np.float64) @ ((k * 13 % 7 - 3) / 3.0)))


class Scipy:
    """The kernel behind csr_matrix @ array, into an array that is there already."""

    def __init__(self, matrix, h):
        self.matrix, self.h = matrix, h
        self.out = np.empty((matrix.shape[0], h.shape[1]), h.dtype)

    def __call__(self):
        self.out.fill(0)
        m = self.matrix
        _sparsetools.csr_matvecs(m.shape[0], m.shape[1], self.h.shape[1], m.indptr, m.indices, m.data, self.h.ravel(), self.out.ravel())
        return self.out


class Torch:
    def __init__(self, matrix, h):
        parts = [torch.from_numpy(x) for x in (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)]
        self.matrix = torch.sparse_csr_tensor(*parts, size=matrix.shape)
        self.h = torch.from_numpy(h)

    def __call__(self):
        return (self.matrix @ self.h).numpy()


def main():
    kinds = {"scipy": (Scipy, scipy.__version__)}
    if torch is not None:
        kinds["torch"] = (Torch, torch.__version__)
    matrix, ready, key, h = None, {}, None, None
    for line in sys.stdin:
        words = line.split()
        if words[0] == "names":
            answer = ",".join(f"{name}={version}" for name, (_, version) in kinds.items())
        elif words[0] == "load":
            shape = int(words[2]), int(words[3])
            start, column, value = (np.fromfile(words[1] + end, t) for end, t in ((".start", "i8"), (".column", "i4"), (".value", "f8")))
            matrix = scipy.sparse.csr_matrix((value, column, start.astype(np.int32)), shape=shape)
            ready, key, h, answer = {}, None, None, "ok"
        elif words[0] == "prepare":
            if key != words[2:]:
                ready, key, h = {}, words[2:], None
                h = factor(matrix.shape[1], int(words[2]), words[3].replace("f64", "float64").replace("f32", "float32"))
            try:
                ready[words[1]] = kinds[words[1]][0](matrix.astype(h.dtype), h)
                answer = f"ok {projection(ready[words[1]]())!r}"
            except (RuntimeError, MemoryError) as error:
                answer = "no, " + str(error).split("\n")[0]
        else:
            call, calls = ready[words[1]], int(words[2])
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            answer = repr((time.perf_counter() - begin) / calls)
        print(answer, flush=True)


if __name__ == "__main__":
    main()
