"""What `cambium report`, `plot` and `movie` draw of kinetic stages (apps/python/plugin_pictures.py says how)."""

import re

import matplotlib.pyplot as plt
import numpy as np

import kinetic_io
import plot_kinetic
from cambium_style import STYLE, colours_of


def pictures(folder, scratch):
    """Energies, phase space and moments."""
    if not (folder / "conf.h5").exists() and not any(folder.glob("distribution*.h5")):
        return []
    plot_kinetic.draw(folder, scratch / "picture.png")
    return [scratch / "picture.png"]


class PhaseSpace:
    """The distribution functions of all species, from their expansions; the moments of a movie are the files of one run."""

    def __init__(self, path, names):
        self.files = kinetic_io.distributions(path.parent)
        self.files = [file for file in self.files if file.parent == path.parent]
        self.count, self.own = len(self.files), self.files.index(path)
        self.series = path.parent / "distribution.<step>.h5"
        first = kinetic_io.Distribution(path)
        if names:
            from cambium_views import names_among
            names_among(first.species, names)
        dims = first.grid.names
        planes = [("x", "vx")] + ([("vx", "vy")] if "vy" in dims else [])
        self.panels = [(species, *plane) for species in names or first.species for plane in planes]
        self.ends = {}

    def limits(self, panel):
        """Of all files of the run, so that colours keep their meaning."""
        if panel not in self.ends:
            values = [kinetic_io.Distribution(file, panel[0]).plane(*panel[1:], points=2)[2] for file in self.files]
            self.ends[panel] = min(v.min() for v in values), max(v.max() for v in values)
        return self.ends[panel]

    def figure(self, frame=None):
        path = self.files[self.own if frame is None else frame]
        with plt.rc_context(STYLE):
            figure, grid = plt.subplots(1, len(self.panels), squeeze=False, layout="constrained", figsize=(5.0 * len(self.panels), 3.7))
            for panel, axes in zip(self.panels, grid.flat):
                f = kinetic_io.Distribution(path, panel[0])
                a, b, values = f.plane(*panel[1:], points=4)
                ends = self.limits(panel) if frame is not None else (values.min(), values.max())
                image = axes.pcolormesh(a, b, values.T, shading="nearest", rasterized=True, **colours_of(0.0, max(ends[1], 1e-300)))
                others = [n for n in f.grid.names if n not in panel[1:]]
                of = f"f, mean over {', '.join(others)}" if others else "f"
                axes.set(title=panel[0], xlabel=panel[1], ylabel=panel[2])
                axes.grid(False)
                figure.colorbar(image, ax=axes, label=of, pad=0.02)
            figure.suptitle(f"t = {f.time:.4g}", x=0.01, ha="left", fontsize=11, fontweight="bold")
        return figure


class Waves:
    """heat_flux.h5: amplitudes of the waves that a network is trained on, over time."""

    count = 1

    def __init__(self, path):
        import cambium_cf
        self.file = cambium_cf.open(path)

    def figure(self, frame=None):
        from cambium_style import COLOURS, SEQUENCE, legend
        time, wave = self.file.coordinate("time"), self.file["wavenumber"][:, 0].round(6)
        with plt.rc_context(STYLE):
            figure, grid = plt.subplots(1, 3, layout="constrained", figsize=(14, 3.4))
            for axes, name in zip(grid, ("temperature", "velocity", "heat_flux")):
                size = np.hypot(*self.file[name][:].T)
                kinds = np.unique(wave)
                for k, one in enumerate(kinds):
                    colour = COLOURS[k % len(COLOURS)] if len(kinds) <= len(COLOURS) else SEQUENCE(k / (len(kinds) - 1))
                    axes.semilogy(time[wave == one], size[wave == one], color=colour, label=f"k λ = {one:.3g}")
                axes.set(xlabel=self.file.label("time"), ylabel=f"size of the wave of {name.replace('_', ' ')}")
            legend(grid[-1])
        return figure


def view(path, names):
    """Phase space of distribution.<step>.h5, the waves of heat_flux.h5."""
    if re.fullmatch(r"distribution\.\d+\.h5", path.name):
        return PhaseSpace(path, names)
    return Waves(path) if path.name == "heat_flux.h5" and not names else None
