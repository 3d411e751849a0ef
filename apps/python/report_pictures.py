"""Which pictures a stage's files allow: every drawing program of this folder is asked for what it knows."""

import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cambium_io  # noqa: E402
import plot_run  # noqa: E402

HERE = Path(__file__).resolve().parent


def is_field(folder):
    return (folder / "fields.h5").exists() and (folder / "thermo.csv").exists()


def is_kinetic(folder):
    return (folder / "conf.h5").exists() or any(folder.glob("distribution*.h5"))


def is_density(folder):
    return (folder / "submatrices.csv").exists()


def is_reduced(folder):
    return any((folder / name).exists() for name in ("pod.h5", "forecast.h5", "journal.h5"))


def is_molecular(folder):
    """Files that plot_run knows: temperatures, energies in eV, distribution functions, training curves."""
    if any((folder / name).exists() for name in ("rdf.h5", "msd.h5", "vacf.h5", "training.csv")):
        return True
    if not (folder / "thermo.csv").exists():
        return False
    return bool(plot_run.columns_with(cambium_io.Table(folder / "thermo.csv"), "K", "eV", "bar"))


def draw_columns(table, path):
    """Every column of a table over its time, for stages that no other program draws."""
    names = [name for name in table.names if name not in ("step", "time") and np.ptp(table[name]) > 0][:12]
    if len(table) < 2 or not names:
        return []
    x, axis = plot_run.time_axis(table) if "time" in table else (table["step"], "step")
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    with plt.rc_context(plot_run.STYLE):
        figure, grid = plt.subplots(lines, columns, figsize=(4.2 * columns, 2.6 * lines), squeeze=False)
        for axes in grid.ravel()[len(names):]:
            axes.remove()
        for name, axes in zip(names, grid.ravel()):
            axes.plot(x, table[name], color=plot_run.COLOURS[0])
            axes.set(title=plot_run.label(name, table.units[name]), xlabel=axis)
        figure.tight_layout()
        figure.savefig(path)
        plt.close(figure)
    return [path]


def by_program(program, arguments, pattern):
    """(pictures, problems) of a drawing program of this folder."""
    done = subprocess.run([sys.executable, str(HERE / program), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return [], [f"{program} could not draw this stage: {reason}"]
    return sorted(pattern.parent.glob(pattern.name)), []


def draw_stage(folder, scratch):
    """(paths of PNG files in the empty folder `scratch`, problems in words) for the folder of one stage."""
    target = scratch / "picture.png"
    if is_field(folder):
        return by_program("plot_superres.py", [folder, "-o", target], target)
    if is_kinetic(folder):
        return by_program("plot_kinetic.py", [folder, "-o", target], target)
    if is_density(folder):
        return by_program("plot_submatrix.py", [folder, target], target)
    if is_reduced(folder):
        # It looks for stages inside a run and writes its pictures there.
        (scratch / folder.name).symlink_to(folder.resolve())
        return by_program("plot_podlstm.py", [scratch], scratch / "*.png")
    if is_molecular(folder):
        plain = cambium_io.Run(folder)
        plain_panels = plot_run.panels_of(plain)
        return (by_program("plot_run.py", [folder, "-o", target], target)) if plain_panels else ([], [])
    if (folder / "thermo.csv").exists():
        return draw_columns(cambium_io.Table(folder / "thermo.csv"), target), []
    return [], []
