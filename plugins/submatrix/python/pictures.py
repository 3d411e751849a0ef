"""What `cambium report` draws of density matrices (apps/python/plugin_pictures.py says how)."""

import matplotlib.pyplot as plt

import plot_submatrix
from cambium_style import STYLE


def pictures(folder, scratch):
    """Sizes of the submatrices, populations and the pattern of the density matrix."""
    if not (folder / "submatrices.csv").exists():
        return []
    plot_submatrix.draw(folder, scratch / "picture.png")
    return [scratch / "picture.png"]


def view(path, names):
    """Histograms of submatrices and populations, the pattern of a density matrix."""
    kinds = (("submatrices", ".csv", plot_submatrix.draw_sizes), ("charges", ".csv", plot_submatrix.draw_charges),
             ("density", ".h5", plot_submatrix.draw_pattern), ("energy_density", ".h5", plot_submatrix.draw_pattern))
    for begin, suffix, draw in kinds:
        if not names and path.suffix == suffix and path.stem in (begin, begin + "_up", begin + "_down"):
            from cambium_views import Whole

            return Whole(lambda draw=draw: figure_of(draw, path))
    return None


def figure_of(draw, path):
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(5.6, 4.0), layout="constrained")
        draw(axes, path)
    return figure
