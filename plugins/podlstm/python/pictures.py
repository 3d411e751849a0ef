"""What `cambium report` draws of modes, forecasts and searches (apps/python/plugin_pictures.py says how)."""

import plot_podlstm


def pictures(folder, scratch):
    """Modes, scores by lead, forecast, maps of the error, rewards and the best network, as far as the stage has them."""
    if not any((folder / name).exists() for name in ("pod.h5", "forecast.h5", "journal.h5")):
        return []
    return sorted(plot_podlstm.draw(folder, scratch))
