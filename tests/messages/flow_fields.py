"""Files of the fields of convection, as the tables of messages write them."""


def fields(nt=8, nx=16, nz=8, times=None):
    """An HDF5 file of p, b, u, w by (t, x, z), smooth numbers."""
    block = [[[(a + 2 * b + 3 * c) % 5 / 5 for c in range(nz)] for b in range(nx)] for a in range(nt)]
    out = {"tasks/" + name: block for name in "pbuw"}
    out["scales/sim_time"] = times or [0.5 * k for k in range(nt)]
    out["scales/x"], out["scales/z"] = [2 * k / nx for k in range(nx)], [(k + 0.5) / nz for k in range(nz)]
    return out


def solid(nt=2, nx=16, ny=4, nz=8):
    """The same by (t, x, y, z), with v."""
    out = fields(nt, nx, nz)
    for name in "pbuwv":
        out["tasks/" + name] = [[[[(a + 2 * b + d + 3 * c) % 5 / 5 for c in range(nz)] for d in range(ny)] for b in range(nx)] for a in range(nt)]
    out["scales/y"] = [2 * k / ny for k in range(ny)]
    return out
