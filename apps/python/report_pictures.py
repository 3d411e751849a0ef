"""Which pictures a stage's files allow: every drawing program of this folder is asked for what it knows."""

import subprocess
import sys
from pathlib import Path

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cambium_io  # noqa: E402
import plot_run  # noqa: E402
import plot_surrogate  # noqa: E402

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


def draw_deviation(folder, path):
    """How much a committee disagreed on what a label stage sampled, and what of it was labelled."""
    table = cambium_io.Table(folder / "deviation.csv")
    kept = table["kept"] > 0
    with plt.rc_context(plot_run.STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 3.2))
        for chosen, colour, name in ((~kept, plot_run.MUTED, "left away"), (kept, plot_run.COLOURS[0], "labelled")):
            if chosen.any():
                axes.plot(table["step"][chosen], table["deviation"][chosen], ".", color=colour, label=f"{name}: {chosen.sum()}")
        axes.set(title="Disagreement of the committee", xlabel="configuration", ylabel="largest deviation of a force (eV/Å)")
        axes.set_ylim(bottom=0.0)
        axes.legend()
        figure.tight_layout()
        figure.savefig(path)
        plt.close(figure)
    return [path]


def draw_parity(folder, path):
    """Parity of energies and forces, one row a system of a test stage."""
    energies = sorted(folder.glob("parity_*_energy.csv"))
    with plt.rc_context(plot_run.STYLE):
        figure, grid = plt.subplots(len(energies), 2, figsize=(8.4, 3.6 * len(energies)), squeeze=False)
        for energy, row in zip(energies, grid):
            plot_surrogate.plot_parity(row[0], energy, "Energy")
            plot_surrogate.plot_parity(row[1], energy.with_name(energy.name.replace("energy", "force")), "Force")
        figure.tight_layout()
        figure.savefig(path)
        plt.close(figure)
    return [path]


def draw_reconstruction(folder, path):
    """One frame of b as the data have it and as every method rebuilds it, and what each gets wrong."""
    with h5py.File(folder / "frames.h5") as file:
        names, b, time = file["methods"].asstr()[:], file["b"][:], file["time"][()]
        x, z = file["x"][:], file["z"][:]
    wrong = b - b[0]
    limit = max(np.abs(wrong[1:]).max(), 1e-12)
    with plt.rc_context(plot_run.STYLE):
        figure, grid = plt.subplots(len(b), 2, figsize=(10.5, 1.55 * len(b) + 0.4), squeeze=False, sharex=True, sharey=True, layout="constrained")
        for name, field, error, row in zip(names, b, wrong, grid):
            left = row[0].pcolormesh(x, z, field.T, cmap="RdYlBu_r", vmin=b[0].min(), vmax=b[0].max(), shading="nearest", rasterized=True)
            row[0].set(ylabel="z", title=f"{name}, t = {time:.4g}" if name == "data" else name)
            right = row[1].pcolormesh(x, z, error.T, cmap="PuOr", vmin=-limit, vmax=limit, shading="nearest", rasterized=True)
            row[1].set(title=f"largest difference {np.abs(error).max():.2g}" if name != "data" else "difference from the data")
        for axes in grid[-1]:
            axes.set(xlabel="x")
        figure.colorbar(left, ax=grid[:, 0], label="buoyancy", shrink=0.6)
        figure.colorbar(right, ax=grid[:, 1], label="difference", shrink=0.6)
        figure.savefig(path)
        plt.close(figure)
    return [path]


def draw_members(folder, scratch):
    """The training curves of a committee's members, whose folders lie in the stage's."""
    pictures, problems = [], []
    for member in sorted(folder.glob("model_*"), key=lambda path: (len(path.name), path.name)):
        if (member / "training.csv").exists():
            some, bad = by_program("plot_run.py", [member, "-o", scratch / f"{member.name}.png"], scratch / f"{member.name}.png")
            pictures += some
            problems += bad
    return pictures, problems


def draw_stage(folder, scratch):
    """(paths of PNG files in the empty folder `scratch`, problems in words) for the folder of one stage."""
    target = scratch / "picture.png"
    if (folder / "model_1").is_dir():
        return draw_members(folder, scratch)
    if (folder / "deviation.csv").exists():
        return draw_deviation(folder, target), []
    if any(folder.glob("parity_*_energy.csv")):
        return draw_parity(folder, target), []
    if (folder / "frames.h5").exists():
        return draw_reconstruction(folder, target), []
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
