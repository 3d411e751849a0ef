#!/usr/bin/env python3
"""Draws what a run has learned about the heat flux: the trained kernels over the wave number beside the kinetic waves that they
were trained on, and the damping rates of the fluid that they close beside the kinetic equation's.

    python3 plot_closure.py RUN -o closure.png
"""

import argparse
import json
import sys
from pathlib import Path

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import yaml  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]  # the source tree, or share/cambium of an installation
sys.path[:0] = [str(ROOT / "apps" / "python"), str(ROOT / "python")]
import cambium_io  # noqa: E402
from cambium_style import COLOURS, STYLE, legend  # noqa: E402

HAMMETT_PERKINS = -np.sqrt(8.0 / np.pi)


class Kernels:
    """a(k) and b(k) of a trained heat_flux_kernel: q_k = i a T_k + b u_k for k > 0; a T_k + b u_k for a pointwise one."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.type = file["model"].attrs["type"]
            if self.type != "heat_flux_kernel":
                return
            state = json.loads(file["model/state"][()])
            self.lowest, self.highest = state["lowest"], state["highest"]
            self.pointwise = b"pointwise" in file["model/config"][()]
            weights = file["weights"]
            self.layers = [(weights[f"layers.{n}.w"][()], weights[f"layers.{n}.b"][()]) for n in range(len(weights) // 2)]

    def __call__(self, k):
        half = 0.5 * (self.highest - self.lowest) or 1.0
        y = ((np.clip(k, self.lowest, self.highest) - 0.5 * (self.highest + self.lowest)) / half)[:, None]
        if self.pointwise:
            y = np.zeros_like(y)
        for n, (w, b) in enumerate(self.layers):
            y = y @ w + b
            if n + 1 < len(self.layers):
                y = np.tanh(y)
        return y[:, 0], y[:, 1]


def fluid_root(k, a, b):
    """s = gamma - i omega of the oscillating wave exp(s t + i k x) of the fluid of three moments with q = i a T + b u, T = p - n:
    n' = -i k u, u' = -i k p - i n / k, p' = -3 i k u - i k q."""
    matrix = np.array([[0, -1j * k, 0], [-1j / k, 0, -1j * k], [-k * a, -1j * k * (3.0 + b), k * a]])
    s = np.linalg.eigvals(matrix)
    return s[np.argmin(s.imag)]


def faddeeva(z, n=32):
    """exp(-z^2) erfc(-i z) by J. A. C. Weideman, SIAM J. Numer. Anal. 31, 1497 (1994)."""
    if z.imag < 0:
        return 2.0 * np.exp(-z * z) - faddeeva(-z, n)
    m, scale = 2 * n, np.sqrt(n / np.sqrt(2.0))
    t = scale * np.tan(np.arange(-m + 1, m) * np.pi / (2 * m))
    f = np.concatenate([[0.0], np.exp(-t * t) * (scale**2 + t * t)])
    a = np.real(np.fft.fft(np.fft.fftshift(f)))[1:n + 1][::-1] / (2 * m)
    map_ = (scale + 1j * z) / (scale - 1j * z)
    return 2.0 * np.polyval(a, map_) / (scale - 1j * z) ** 2 + (1.0 / np.sqrt(np.pi)) / (scale - 1j * z)


def kinetic_root(k, start):
    """The least damped Langmuir wave of a Maxwellian: 1 + (1 + z Z(z)) / k^2 = 0 with z = omega / (sqrt(2) k)."""
    z = start / (np.sqrt(2.0) * k)
    for _ in range(50):
        plasma = 1j * np.sqrt(np.pi) * faddeeva(z)
        value, slope = 1.0 + (1.0 + z * plasma) / k**2, (plasma - 2.0 * z * (1.0 + z * plasma)) / k**2
        step = value / slope
        z -= step
        if abs(step) < 1e-13:
            break
    return z * np.sqrt(2.0) * k


def kinetic_roots(wavenumbers):
    """From k = 0.2 on, where Bohm and Gross' frequency is a good first guess, each from the last."""
    grid = np.arange(0.2, max(wavenumbers) + 0.02, 0.01)
    omega, out = 1.0639843 - 5.5107e-5j, []
    for k in grid:
        omega = kinetic_root(k, omega)
        out.append(omega)
    return grid, np.array(out)


def waves(path):
    """Mean a and b of each wave number in a data set, by least squares over its times."""
    with h5py.File(path) as file:
        k, q, t, u = (file[n][()] for n in ("wavenumber", "heat_flux", "temperature", "velocity"))
    out = []
    for one in np.unique(k.round(6)):
        mine = np.isclose(k[:, 0], one, atol=1e-5)
        columns = [np.concatenate([-t[mine, 1], t[mine, 0]]), np.concatenate([u[mine, 0], u[mine, 1]])]
        norm = np.tile(1.0 / np.sqrt((t[mine] ** 2).sum(1) + (u[mine] ** 2).sum(1)), 2)
        right = np.concatenate([q[mine, 0], q[mine, 1]])
        out.append((one, *np.linalg.lstsq(np.array(columns).T * norm[:, None], right * norm, rcond=None)[0]))
    return np.array(out)


def runs(folder):
    """(closure, k, growth rate) of the fluid stages, from the deck and their results."""
    with open(folder / "deck.resolved.yaml") as file:
        stages = yaml.safe_load(file)["stages"]
    out, count = [], 0
    for stage in stages:
        if "simulate" not in stage:
            continue
        count += 1
        fluid, results = stage["simulate"], cambium_io.results_in(folder / ("simulate" if count == 1 else f"simulate_{count}"))
        if fluid.get("physics") == "moment_fluid" and results and "gamma" in results and "k" in fluid.get("parameters", {}):
            out.append((fluid["closure"]["type"], float(fluid["parameters"]["k"]), results["gamma"].value))
    return out


def plot_kernels(axes, kernels, data):
    k = np.linspace(0.5 * kernels.lowest, 1.2 * kernels.highest, 200)
    a, b = kernels(k)
    axes.plot(k, a, color=COLOURS[0], label="a, trained")
    axes.plot(k, b, color=COLOURS[1], label="b, trained")
    for values, colour, name in ((data[:, 1], COLOURS[0], "a"), (data[:, 2], COLOURS[1], "b")):
        axes.plot(data[:, 0], values, "o", color=colour, label=f"{name}, kinetic waves")
    axes.axhline(HAMMETT_PERKINS, color=COLOURS[0], ls=":", label="a, Hammett-Perkins (b = 0)")
    axes.axvspan(kernels.lowest, kernels.highest, color="0.95", zorder=0)
    axes.set(title="Heat flux q = i a T + b u", xlabel="Wave number k λ_D", ylabel="a, b")
    legend(axes)


def plot_rates(axes, kernels, found):
    k, omega = kinetic_roots([max(0.75, kernels.highest)])
    axes.plot(k, omega.imag, color="0.2", lw=2.5, label="kinetic equation")
    a, b = kernels(k)
    for name, colour, pair in (("model", COLOURS[0], (a, b)),
                               ("hammett_perkins", COLOURS[1], (np.full_like(k, HAMMETT_PERKINS), 0 * k)),
                               ("none", COLOURS[2], (0 * k, 0 * k))):
        label = {"model": "trained closure", "hammett_perkins": "Hammett-Perkins", "none": "no heat flux"}[name]
        axes.plot(k, [fluid_root(*each).real for each in zip(k, *pair)], color=colour, ls="--", label=label)
        mine = np.array([(x, y) for closure, x, y in found if closure == name])
        if len(mine):
            axes.plot(*mine.T, "s", color=colour, label=f"{label}, run")
    axes.axvspan(kernels.lowest, kernels.highest, color="0.95", zorder=0)
    axes.set(title="Damping of a Langmuir wave", xlabel="Wave number k λ_D", ylabel="Growth rate (ω_pe)", ylim=(1.15 * omega.imag.min(), 0.03))
    legend(axes)


def draw(folder, output):
    folder = Path(folder)
    kernels = next((m for m in map(Kernels, sorted(folder.glob("*/model.h5"))) if m.type == "heat_flux_kernel" and not m.pointwise), None)
    data = next(iter(sorted(folder.glob("*/heat_flux.h5"))), None)
    if kernels is None or data is None:
        raise FileNotFoundError(f"'{folder}' holds no trained heat_flux_kernel (train/model.h5) with its waves (simulate/heat_flux.h5)")
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
        plot_kernels(left, kernels, waves(data))
        plot_rates(right, kernels, runs(folder))
        figure.tight_layout()
        figure.savefig(output)
        plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description="Draw a learned heat flux and the damping rates that it gives.")
    parser.add_argument("run", help="run directory of a deck such as inputs/kinetic/closure.yaml")
    parser.add_argument("-o", "--output", help="picture to write (default: RUN/closure.png)")
    options = parser.parse_args()
    output = options.output or str(Path(options.run) / "closure.png")
    try:
        draw(options.run, output)
    except FileNotFoundError as error:
        sys.exit(f"plot_closure: {error}")
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
