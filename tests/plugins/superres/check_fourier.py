#!/usr/bin/env python3
"""The Fourier operator beside a plain one of numpy: the same weights and inputs, values to 1e-10, gradients by differences.

    check_fourier.py WRITE_FOURIER
"""

import math
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: Fourier operator beside numpy: {error}")
    sys.exit(77)

PERIODIC, ZEROS, MIRROR, MIRROR_NODES = 0, 1, 2, 3
erf = np.vectorize(math.erf)


def period(points, ends, padding):
    if ends == PERIODIC:
        return points
    if ends == MIRROR:
        return 2 * points
    if ends == MIRROR_NODES:
        return 2 * (points - 1)
    length = points + math.ceil(padding * points)
    length += length % 2
    while True:
        rest = length
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return length
        length += 2


def continued(field, axis, ends, length):
    if ends == PERIODIC:
        return field
    if ends == MIRROR:
        return np.concatenate([field, np.flip(field, axis)], axis)
    if ends == MIRROR_NODES:
        inside = np.take(field, range(field.shape[axis] - 2, 0, -1), axis)
        return np.concatenate([field, inside], axis)
    pad = [(0, 0)] * field.ndim
    pad[axis] = (0, length - field.shape[axis])
    return np.pad(field, pad)


def spectral(v, weights, case):
    """v (samples, channels, x, z), weights (2, modes along x, along z, in, out)."""
    length = [period(n, e, case["padding"]) for n, e in zip(case["points"], case["ends"])]
    field = v
    for axis in (0, 1):
        field = continued(field, 2 + axis, case["ends"][axis], length[axis])
    mx, mz = case["modes"]
    spectrum = np.fft.rfft2(field)
    out = np.zeros(v.shape[:1] + (weights.shape[4],) + spectrum.shape[2:], complex)
    w = weights[0] + 1j * weights[1]
    for kx in range(-mx, mx):
        out[:, :, kx, :mz] = np.einsum("sik,kio->sok", spectrum[:, :, kx, :mz], w[kx + mx])
    return np.fft.irfft2(out, s=length)[:, :, : v.shape[2], : v.shape[3]]


def filtered(v, w, b, case):
    """The filter beside the modes; w by (offset along x, along z and channel, channel)."""
    half = case["kernel"] // 2
    length = [period(n, e, case["padding"]) for n, e in zip(case["points"], case["ends"])]
    field = v
    for axis in (0, 1):
        field = around(field, 2 + axis, case["ends"][axis], length[axis], half)
    parts = []
    for x in range(case["kernel"]):
        for z in range(case["kernel"]):
            parts.append(field[:, :, x : x + v.shape[2], z : z + v.shape[3]])
    return dense(np.concatenate(parts, 1), w, b)


def around(field, axis, ends, length, half):
    """`half` more places on both sides."""
    n = field.shape[axis]
    if ends == ZEROS:
        pad = [(0, 0)] * field.ndim
        pad[axis] = (half, half)
        return np.pad(field, pad)
    return np.take(continued(field, axis, ends, length), np.arange(-half, n + half) % length, axis)


def dense(v, w, b):
    return np.einsum("sixz,io->soxz", v, w) + b[:, None, None]


def gelu(v):
    return 0.5 * v * (1 + erf(v / math.sqrt(2)))


def operator(x, w, case):
    v = dense(x, w["lift.w"], w["lift.b"])
    for layer in range(case["layers"]):
        name = f"layers.{layer}."
        v = spectral(v, w[name + "modes"], case) + filtered(v, w[name + "w"], w[name + "b"], case)
        if layer + 1 < case["layers"]:
            v = gelu(v)
    return dense(gelu(dense(v, w["project.0.w"], w["project.0.b"])), w["project.1.w"], w["project.1.b"])


def check(name, group):
    case = {key: group.attrs[key] for key in ("points", "modes", "ends", "padding", "layers", "kernel")}
    weights = {k: v[()].astype(float).reshape(v.attrs["shape"]) for k, v in group["weights"].items()}
    plane = tuple(case["points"])
    x = group["x"][()].reshape((2, -1) + plane)
    y = group["y"][()].reshape((2, -1) + plane)
    way = group["way"][()].reshape(y.shape)
    bound, slope = (1e-10, 1e-6) if name.startswith("float64") else (2e-5, 2e-3)
    off = np.abs(operator(x, weights, case) - y).max() / np.abs(y).max()
    print(f"{name}: largest difference of values {off:.2e} of their largest")
    assert off < bound, name
    random = np.random.default_rng(1)
    for key, w in weights.items():
        direction = random.standard_normal(w.shape)
        step = 1e-5
        sides = [np.sum(way * operator(x, {**weights, key: w + s * step * direction}, case)) for s in (1, -1)]
        expected = (sides[0] - sides[1]) / (2 * step)
        found = np.sum(direction * group["gradients"][key][()].astype(float).reshape(w.shape))
        assert abs(found - expected) <= slope * max(1.0, abs(expected)), (name, key, found, expected)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fourier.h5"
        subprocess.run([sys.argv[1], str(path)], check=True)
        with h5py.File(path) as file:
            for name, group in file.items():
                check(name, group)


if __name__ == "__main__":
    main()
