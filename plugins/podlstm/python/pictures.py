"""What `cambium report` draws of modes, forecasts and searches (apps/python/plugin_pictures.py says how)."""

import plot_podlstm


def pictures(folder, scratch):
    """Modes, scores by lead, forecast, forecasts ahead as maps, maps of the error, rewards and the best network, as far as the stage has them."""
    if not any((folder / name).exists() for name in ("pod.h5", "forecast.h5", "ahead.nc", "journal.h5")):
        return []
    return sorted(plot_podlstm.draw(folder, scratch))


def view(path, names):
    """Modes beside their coefficients, forecasts beside the truth, forecasts ahead with their spread, scores by lead, rewards of a search."""
    kinds = {"pod.h5": plot_podlstm.modes_figure, "forecast.h5": plot_podlstm.forecast_figure, "ahead.nc": plot_podlstm.ahead_figure,
             "journal.h5": lambda file: plot_podlstm.reward_figure([file.parent])}
    draw = kinds.get(path.name)
    if path.name == "scores.csv" and "test_r2" in path.read_text().split("\n", 1)[0].split(","):
        draw = plot_podlstm.scores_figure
    if names or draw is None or (path.name == "pod.h5" and not plot_podlstm.is_map(path)):
        return None
    from cambium_views import Whole

    return Whole(lambda: draw(path))
