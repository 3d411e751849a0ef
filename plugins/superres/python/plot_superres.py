#!/usr/bin/env python3
"""Draws a convection run: the last field of buoyancy, Nusselt numbers over time, spectra along x.

    python3 plot_superres.py RUN -o picture.png
    python3 plot_superres.py RUN --netcdf fields.nc      # the fields for xarray, with named coordinates
"""

import argparse
import itertools
import sys
from pathlib import Path

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]  # the source tree, or share/cambium of an installation
sys.path[:0] = [str(ROOT / "apps" / "python"), str(ROOT / "python")]
import cambium_io  # noqa: E402
from cambium_style import COLOURS, STYLE, colours_of, legend  # noqa: E402

MEANING = {"E_u": "velocity along x", "E_v": "velocity along y", "E_w": "velocity along z", "E_b": "buoyancy"}


def stage_of(run):
    """The folder that holds thermo.csv: the run's own or that of its first simulation."""
    run = Path(run)
    return run if (run / "thermo.csv").exists() else run / "simulate"


def draw_buoyancy(axes, path):
    with h5py.File(path) as file:
        b, t = file["tasks/b"][-1], file["scales/sim_time"][-1]
        x, z = file["scales/x"][:], file["scales/z"][:]
        section = ""
        if b.ndim == 3:  # in three dimensions a section through the middle
            middle = b.shape[1] // 2
            b, section = b[:, middle], f", y = {file['scales/y'][middle]:.4g}"
    image = axes.pcolormesh(x, z, b.T, shading="nearest", rasterized=True, **colours_of(-0.5, 0.5))
    axes.set(title=f"Buoyancy at t = {t:.4g}{section}", xlabel="x", ylabel="z", aspect="equal")
    axes.grid(False)
    plt.colorbar(image, ax=axes, fraction=0.03, pad=0.02, label="buoyancy")


def draw_heat(axes, table):
    colours = itertools.cycle(COLOURS)
    for name in table.names:
        if name.startswith("nusselt"):
            axes.plot(table["time"], table[name], label=name.replace("nusselt_", ""), color=next(colours))
    axes.set(title="Nusselt number", xlabel="t (free-fall times)", ylabel="Nusselt number")
    legend(axes)


def draw_spectrum(axes, path):
    table = cambium_io.Table(path)
    for name, colour in zip(table.names[1:], COLOURS):
        wave, energy = table["k"][1:], table[name][1:]
        axes.loglog(wave[energy > 0], energy[energy > 0], label=MEANING.get(name, name), color=colour)
    axes.set(title="Spectra along x", xlabel="Wave number (1/H)", ylabel="Spectral density")
    legend(axes)


def draw(stage, output):
    """Writes the picture of a stage's folder that holds fields.h5 and thermo.csv."""
    spectrum = (stage / "spectrum.csv").exists()
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(11, 6), layout="constrained")
        grid = figure.add_gridspec(2, 2)
        draw_buoyancy(figure.add_subplot(grid[0, :]), stage / "fields.h5")
        draw_heat(figure.add_subplot(grid[1, :1] if spectrum else grid[1, :]), cambium_io.Table(stage / "thermo.csv"))
        if spectrum:
            draw_spectrum(figure.add_subplot(grid[1, 1]), stage / "spectrum.csv")
        figure.savefig(output, dpi=150)
        plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run")
    parser.add_argument("-o", "--output", default="convection.png")
    parser.add_argument("--netcdf", help="write the fields to this file instead of drawing")
    arguments = parser.parse_args()
    stage = stage_of(arguments.run)
    if arguments.netcdf:
        cambium_io.open_fields(stage / "fields.h5").to_netcdf(arguments.netcdf)
        return
    draw(stage, arguments.output)
    print(arguments.output)


if __name__ == "__main__":
    main()
