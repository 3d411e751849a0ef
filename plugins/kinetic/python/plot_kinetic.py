#!/usr/bin/env python3
"""Draws a kinetic run of Cambium: energies over time, phase space at several times, moments over space.

    python3 plot_kinetic.py RUN -o picture.png
"""

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]  # the source tree, or share/cambium of an installation
sys.path[:0] = [str(ROOT / "apps" / "python"), str(ROOT / "python")]
import cambium_io  # noqa: E402
import kinetic_io  # noqa: E402
from cambium_style import COLOURS, SEQUENCE, SEQUENTIAL, STYLE, legend  # noqa: E402


def plot_energies(axes, table):
    names = [n for n in ("electric_energy", "magnetic_energy") if n in table and np.any(table[n] > 0)]
    for name, colour in zip(names or ["kinetic_energy"], COLOURS):
        positive = table[name] > 0
        axes.semilogy(table["time"][positive], table[name][positive], color=colour, label=name.replace("_", " "))
    axes.set(title="Energy", xlabel="Time (1/ω)", ylabel="Energy")
    legend(axes)


def plot_conservation(axes, table):
    for name, colour in zip(("total_energy", "particles"), COLOURS):
        axes.plot(table["time"], table[name] / table[name][0] - 1.0, color=colour, label=name.replace("_", " "))
    axes.set(title="Change since the start (relative)", xlabel="Time (1/ω)")
    legend(axes)


def plot_phase_space(figure, axes, path, species):
    f = kinetic_io.Distribution(path, species)
    x, v, values = f.plane("x", "vx", points=4)
    image = axes.pcolormesh(x, v, values.T, cmap=SEQUENTIAL, shading="nearest", rasterized=True, vmin=0.0)
    axes.grid(False)
    axes.set(title=f"{f.name}, t = {f.time:.4g}", xlabel="x", ylabel="v")
    figure.colorbar(image, ax=axes, pad=0.02, label="f")


def plot_lines(axes, conf, name):
    t, x, values = conf.lines(name)
    shown = np.unique(np.linspace(0, len(t) - 1, min(len(t), 5)).round().astype(int))
    for place, k in enumerate(shown):
        axes.plot(x, values[k], color=SEQUENCE(place / max(len(shown) - 1, 1)), label=f"t = {t[k]:.4g}")
    axes.set(title=name, xlabel="x", xlim=(x[0], x[-1]))
    legend(axes)


def draw(folder, output):
    run = cambium_io.Run(folder)
    files = kinetic_io.distributions(folder)
    conf_path = run.find("conf.h5")
    panels = []
    if len(run.thermo) > 1:
        panels += [lambda f, a: plot_energies(a, run.thermo), lambda f, a: plot_conservation(a, run.thermo)]
    if files:
        for species in kinetic_io.Distribution(files[0]).species:
            for path in [files[k] for k in np.unique(np.linspace(0, len(files) - 1, min(len(files), 4)).round().astype(int))]:
                panels.append(lambda f, a, path=path, species=species: plot_phase_space(f, a, path, species))
    if conf_path:
        conf = kinetic_io.Conf(conf_path)
        for name in conf.names():
            if name.endswith("/density") or name in ("field/Ex", "field/Bz"):
                panels.append(lambda f, a, name=name: plot_lines(a, conf, name))
    if not panels:
        raise FileNotFoundError(f"'{folder}' has nothing to draw yet: thermo.csv holds fewer than two rows")
    with plt.rc_context(STYLE):
        columns = min(3, len(panels))
        rows = -(-len(panels) // columns)
        figure, grid = plt.subplots(rows, columns, figsize=(5.2 * columns, 3.4 * rows), squeeze=False)
        for axes in grid.ravel()[len(panels):]:
            axes.remove()
        for panel, axes in zip(panels, grid.ravel()):
            panel(figure, axes)
        figure.tight_layout()
        figure.savefig(output)
        plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description="Draw energies, phase space and moments of a kinetic run.")
    parser.add_argument("run", help="run directory, or the folder of one stage")
    parser.add_argument("-o", "--output", help="picture to write (default: RUN/picture.png)")
    options = parser.parse_args()
    output = options.output or str(Path(options.run) / "picture.png")
    try:
        draw(options.run, output)
    except FileNotFoundError as error:
        sys.exit(f"plot_kinetic: {error}")
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
