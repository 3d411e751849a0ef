#!/usr/bin/env python3
"""The vision transformer beside a plain one of numpy: the same weights and inputs, values to 1e-10, gradients by differences.

    check_axial.py WRITE_AXIAL
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
    print(f"SKIPPED: vision transformer beside numpy: {error}")
    sys.exit(77)

erf = np.vectorize(math.erf)


def norm(x, w, name):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * w[name + ".scale"] + w[name + ".shift"]


def dense(x, w, name):
    return x @ w[name + ".w"] + w[name + ".b"]


def along(q, k, v, bias, wraps):
    """Attention along the last axis but one of (sample, other axis, head, patch, channel)."""
    n = q.shape[-2]
    step = np.arange(n)[None, :] - np.arange(n)[:, None]
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) + bias[:, step % n if wraps else step + n - 1]
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True) @ v


def attention(x, w, name, case):
    samples, nx, nz, width = x.shape
    heads = case["heads"]
    qkv = dense(x, w, name + "qkv").reshape(samples, nx, nz, 3, heads, width // heads)
    of_x = [qkv[..., k, :, :].transpose(0, 2, 3, 1, 4) for k in range(3)]
    of_z = [qkv[..., k, :, :].transpose(0, 1, 3, 2, 4) for k in range(3)]
    mixed = along(*of_x, w[name + "bias.x"], case["wraps"]).transpose(0, 3, 1, 2, 4)
    mixed = mixed + along(*of_z, w[name + "bias.z"], False).transpose(0, 1, 3, 2, 4)
    return dense(mixed.reshape(x.shape), w, name + "out")


def transformer(planes, w, case):
    samples, channels = planes.shape[:2]
    (px, pz), (nx, nz) = case["patch"], case["points"] // case["patch"]
    patches = planes.reshape(samples, channels, nx, px, nz, pz).transpose(0, 2, 4, 1, 3, 5)
    x = dense(patches.reshape(samples, nx, nz, -1), w, "embed") + w["positions.z"]
    if not case["wraps"]:
        x = x + w["positions.x"][:, None]
    for layer in range(case["layers"]):
        name = f"layers.{layer}."
        x = x + attention(norm(x, w, name + "norm1"), w, name, case)
        inside = dense(norm(x, w, name + "norm2"), w, name + "mlp.0")
        x = x + dense(0.5 * inside * (1 + erf(inside / math.sqrt(2))), w, name + "mlp.1")
    y = dense(norm(x, w, "norm"), w, "project").reshape(samples, nx, nz, -1, px, pz)
    return y.transpose(0, 3, 1, 4, 2, 5).reshape(samples, -1, nx * px, nz * pz)


def check(name, group):
    case = {key: group.attrs[key] for key in ("points", "patch", "wraps", "heads", "layers")}
    weights = {k: v[()].astype(float).reshape(v.attrs["shape"]) for k, v in group["weights"].items()}
    shape = (2, -1) + tuple(case["points"])
    x, y = group["x"][()].reshape(shape), group["y"][()].reshape(shape)
    way = group["way"][()].reshape(y.shape)
    bound, slope = (1e-10, 1e-6) if name.startswith("float64") else (2e-5, 5e-3)
    off = np.abs(transformer(x, weights, case) - y).max() / np.abs(y).max()
    print(f"{name}: largest difference of values {off:.2e} of their largest")
    assert off < bound, name
    random = np.random.default_rng(1)
    for key, w in weights.items():
        direction = random.standard_normal(w.shape)
        step = 1e-5
        sides = [np.sum(way * transformer(x, {**weights, key: w + s * step * direction}, case)) for s in (1, -1)]
        expected = (sides[0] - sides[1]) / (2 * step)
        found = np.sum(direction * group["gradients"][key][()].astype(float).reshape(w.shape))
        assert abs(found - expected) <= slope * max(1.0, abs(expected)), (name, key, found, expected)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "axial.h5"
        subprocess.run([sys.argv[1], str(path)], check=True)
        with h5py.File(path) as file:
            for name, group in file.items():
                check(name, group)


if __name__ == "__main__":
    main()
