#!/usr/bin/env bash
# SciPy 1.10.1, scipy.io.mmread: symmetric Matrix Market files whose entries stand in both triangles.
# The format's report: of a symmetric matrix only entries on or below the diagonal are stored, of a skew-symmetric one only those below it.
# Most would expect a file that breaks the rule to be refused, or its upper entries to be dropped.
# Seen: entries (2, 1) and (1, 2) are mirrored and added, which doubles every off-diagonal element of a symmetric matrix that was dumped
# whole under the header "symmetric"; a skew-symmetric matrix keeps its diagonal, so that A + A^T is not 0. No message. (Counts that do not
# match are refused: the checks are there, but for this one.)
# What it means: after reading a foreign symmetric file ask whether its entries lie in one triangle.
. "$(dirname "$0")/debian.sh"
packages python3-scipy=1.10.1-2
cat >case.py <<'PY'
import io
import scipy.io

def read(symmetry, entries):
    text = f"%%MatrixMarket matrix coordinate real {symmetry}\n2 2 {len(entries)}\n" + "".join(f"{e}\n" for e in entries)
    return scipy.io.mmread(io.BytesIO(text.encode())).toarray().tolist()

print("symmetric, whole:", read("symmetric", ["1 1 2", "2 1 0.5", "1 2 0.5", "2 2 2"]))
print("skew-symmetric with a diagonal:", read("skew-symmetric", ["1 1 1.5", "2 1 4"]))
PY
seen "symmetric, whole: [[2.0, 1.0], [1.0, 2.0]]
skew-symmetric with a diagonal: [[1.5, -4.0], [4.0, 0.0]]" "$(python case.py)"
