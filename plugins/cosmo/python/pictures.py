"""What `cambium report`, `plot` and `movie` draw of structure growth (apps/python/plugin_pictures.py says how)."""

import h5py
import matplotlib.pyplot as plt
import numpy as np

import cambium_io
from cambium_style import COLOURS, MUTED, STYLE, legend


def is_matter(path):
    """Whether a file is of the output `matter`."""
    if path.suffix != ".h5" or not path.exists():
        return False
    with h5py.File(path) as file:
        return all(name in file for name in ("scale_factor", "power", "lpt", "expected"))


def thick_slice(file, moment):
    """Mean density of the first eighth of the box along z, over the mean of all."""
    counts = file["counts"][moment]
    depth = max(1, counts.shape[2] // 8)
    return counts[:, :, :depth].mean(axis=2) / counts.mean()


def draw_slice(axes, file, moment, low=0.2, high=8.0):
    box = file.attrs["box"]
    shown = axes.imshow(np.clip(thick_slice(file, moment), low, high).T, origin="lower", extent=(0, box, 0, box), cmap="inferno",
                        norm="log", interpolation="nearest")
    shown.set_clim(low, high)
    axes.grid(False)
    axes.set(title=f"a = {file['scale_factor'][moment]:.3g}", xlabel="x (Mpc/h)")
    return shown


def slices_figure(file, moments):
    """Slices at some moments side by side."""
    with plt.rc_context(STYLE):
        figure, row = plt.subplots(1, len(moments), figsize=(3.4 * len(moments) + 0.8, 3.5), squeeze=False, layout="constrained")
        for axes, moment in zip(row[0], moments):
            shown = draw_slice(axes, file, moment)
        row[0][0].set(ylabel="y (Mpc/h)")
        figure.colorbar(shown, ax=row[0], label="density over its mean", shrink=0.85)
    return figure


def spectra_figure(file, moment):
    """Spectra at a moment: the particles, perturbation theory alone, linear theory; and the first two over the last."""
    k, linear = file["k"][:], file["linear"][moment]
    lines = [("particle mesh", file["power"][moment], COLOURS[0]), ("perturbation theory alone", file["lpt"][moment], COLOURS[1])]
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.6), layout="constrained")
        for name, power, colour in lines:
            left.loglog(k, power, color=colour, label=name)
            right.semilogx(k, power / linear, color=colour, label=name)
        left.loglog(k, linear, color=COLOURS[2], label="linear theory, same field")
        left.loglog(k, file["expected"][moment], color=MUTED, linestyle=":", label="mean of many fields")
        left.axhline(file.attrs["shot_noise"], color=MUTED, linewidth=0.8, linestyle="--", label="shot noise")
        left.set(title=f"Power at a = {file['scale_factor'][moment]:.3g}", xlabel="k (h/Mpc)", ylabel="P ((Mpc/h)³)")
        right.axhline(1.0, color=COLOURS[2])
        right.set(title="Over linear theory of the same field", xlabel="k (h/Mpc)")
        legend(left)
    return figure


def draw_growth(table, output):
    """Growth of the largest waves over linear theory, and how uneven matter becomes."""
    a = table["time"]
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.2), layout="constrained")
        left.plot(a, table["growth_over_linear"], color=COLOURS[0])
        left.axhline(1.0, color=MUTED, linewidth=0.8)
        left.set(title="Growth of the largest waves over linear theory", xlabel="Scale factor")
        right.loglog(a, table["deviation"], color=COLOURS[0])
        right.set(title="Deviation of the density on the mesh", xlabel="Scale factor")
        figure.savefig(output)
        plt.close(figure)


def pictures(folder, scratch):
    """Slices over time, spectra at the end, growth."""
    path, table = folder / "matter.h5", folder / "thermo.csv"
    if not is_matter(path):
        return []
    made = []
    with h5py.File(path) as file:
        count = len(file["scale_factor"])
        if "counts" in file and count:
            made.append((slices_figure(file, sorted({0, count // 2, count - 1})), "slices.png"))
        if count:
            made.append((spectra_figure(file, count - 1), "spectra.png"))
        for figure, name in made:
            figure.savefig(scratch / name)
            plt.close(figure)
    paths = [scratch / name for _, name in made]
    if table.exists() and len(cambium_io.Table(table)["time"]) > 1:
        draw_growth(cambium_io.Table(table), scratch / "growth.png")
        paths.append(scratch / "growth.png")
    return paths


class MatterView:
    """Slices (or, where counts were not written or spectra are asked for, spectra) of a file, a moment each."""

    def __init__(self, path, names):
        self.path = path
        with h5py.File(path) as file:
            self.count = len(file["scale_factor"])
            self.slices = "counts" in file and "power" not in names

    def figure(self, frame=None):
        """Of a moment; without one, of several side by side, or of the last one's spectra."""
        with h5py.File(self.path) as file:
            if frame is None:
                several = sorted({0, self.count // 2, self.count - 1})
                return slices_figure(file, several) if self.slices else spectra_figure(file, self.count - 1)
            return slices_figure(file, [frame]) if self.slices else spectra_figure(file, frame)


def view(path, names):
    """matter.h5 as slices; --show power: as spectra."""
    return MatterView(path, names) if is_matter(path) and not set(names or []) - {"counts", "power"} else None
