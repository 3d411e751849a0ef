#!/usr/bin/env python3
"""Draws a run of Cambium: loss, metrics and learning rate of a training, and what its plugins know of its files, such as
temperature, energies, pressure and distribution functions of molecular dynamics (plugin_pictures.py says how).

    python3 plot_run.py RUN -o picture.png
"""

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cambium_io  # noqa: E402
import plugin_pictures  # noqa: E402
from cambium_curves import label  # noqa: E402
from cambium_said import say  # noqa: E402
from cambium_style import COLOURS, MUTED, STYLE, legend, save  # noqa: E402


def plot_terms(axes, table, title, names):
    """Each over the steps, on a logarithmic axis. Terms of different units share it: their decay is what counts."""
    for name, colour in zip(names, COLOURS):
        axes.plot(table["step"], table[name], color=colour, label=label(name, table.units[name]))
    axes.set(title=title, xlabel="step", xlim=(0, table["step"][-1]), yscale="log")
    legend(axes)


def training_panels(run):
    """Loss, learning rate and validation, as far as they were written."""
    panels = []
    losses = run.learning_curve if run.find("learning_curve.csv") else None
    if losses is not None and len(losses) > 1:
        panels.append(lambda axes: plot_terms(axes, losses, "Learning curve", ["training_loss", "validation_loss"]))
    table = run.training if run.find("training.csv") else None
    if table is not None and len(table) > 1:
        terms = [name for name in table.names if name not in ("step", "epoch", "learning_rate")]
        panels.append(lambda axes: plot_terms(axes, table, "Training loss", terms))
    held = run.validation if run.find("validation.csv") else None
    if held is not None and len(held) > 1:
        panels.append(lambda axes: plot_terms(axes, held, "Validation", [name for name in held.names if name != "step"]))
    if panels and table is not None and np.min(table["learning_rate"]) > 0:
        panels.append(lambda axes: plot_terms(axes, table, "Learning rate", ["learning_rate"]))
    return panels


def panels_of(run):
    """Functions that draw on axes: of training first, then of each plugin that knows files of the run."""
    return training_panels(run) + plugin_pictures.panels(run)


def draw(run, path):
    """Writes the picture of a run; its format follows from the name."""
    with plt.rc_context(STYLE):
        panels = panels_of(run)
        if not panels:
            raise FileNotFoundError(f"'{run.path}' has no table with two rows of what is drawn here; `cambium report {run.path}` draws "
                                    "what every stage has")
        columns = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
        rows = -(-len(panels) // columns)
        figure = plt.figure(figsize=(5.2 * columns, 3.4 * rows + 0.5))
        grid = figure.add_gridspec(rows, columns)
        for k, panel in enumerate(panels):
            # The last panel takes what is left of its row.
            last = columns if k == len(panels) - 1 else k % columns + 1
            panel(figure.add_subplot(grid[k // columns, k % columns:last]))
        p = run.provenance
        figure.suptitle(Path(run.path).resolve().name, x=0.02, ha="left", fontsize=14, fontweight="bold")
        figure.text(0.98, 0.008, f"Cambium {p['version']}, {p['git_hash']}, {p['date'][:10]}", ha="right", fontsize=7,
                    color=MUTED)
        figure.tight_layout(rect=(0, 0.02, 1, 0.99))
        try:
            save(figure, path)
        except OSError as error:
            sys.exit(f"plot_run: cannot write '{path}': {error.strerror or error}; make room or name another location by -o")
        plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description="Draw thermo output and distribution functions of a Cambium run.")
    parser.add_argument("run", help="run directory, or the folder of one stage")
    parser.add_argument("-o", "--output", help="picture to write (default: RUN/picture.png)")
    options = parser.parse_args()
    output = options.output or str(Path(options.run) / "picture.png")
    try:
        draw(cambium_io.Run(options.run), output)
    except FileNotFoundError as error:
        sys.exit(f"plot_run: {error}")
    say(f"wrote {output}")


if __name__ == "__main__":
    main()
