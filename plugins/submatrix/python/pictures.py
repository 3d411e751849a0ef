"""What `cambium report` draws of density matrices (apps/python/plugin_pictures.py says how)."""

import plot_submatrix


def pictures(folder, scratch):
    """Sizes of the submatrices, populations and the pattern of the density matrix."""
    if not (folder / "submatrices.csv").exists():
        return []
    plot_submatrix.draw(folder, scratch / "picture.png")
    return [scratch / "picture.png"]
