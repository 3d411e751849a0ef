"""What `cambium report` draws of kinetic stages (apps/python/plugin_pictures.py says how)."""

import plot_kinetic


def pictures(folder, scratch):
    """Energies, phase space and moments."""
    if not (folder / "conf.h5").exists() and not any(folder.glob("distribution*.h5")):
        return []
    plot_kinetic.draw(folder, scratch / "picture.png")
    return [scratch / "picture.png"]
