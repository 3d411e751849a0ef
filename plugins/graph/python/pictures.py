"""What `cambium report`, `plot` and `movie` draw of graphs and meshes (apps/python/plugin_pictures.py says how)."""

import matplotlib.pyplot as plt
import numpy as np

import cambium_io
import link_pictures
import node_pictures
import node_views
import step_pictures
from cambium_style import COLOURS, STYLE, colours_of, legend


def draw_moments(path, output):
    """Start, two moments between and the end of every quantity."""
    nodes = node_views.NodeFile(path)
    count = len(nodes.times)
    moments = sorted({0, count // 3, 2 * count // 3, count - 1})
    names = nodes.names[:3]
    figure = node_views.moments_figure(nodes, names, moments, {n: colours_of(*nodes.ends(n)) for n in names})
    figure.savefig(output)
    plt.close(figure)


def draw_totals(path, output):
    """Amounts, largest and smallest values over time."""
    table = cambium_io.Table(path)
    time = table["time"]
    totals = [n for n in table.names if n == "total" or n.endswith("_total")]
    ranges = [(n[:-4], n, n[:-4] + "_max") for n in table.names if n.endswith("_min") and n[:-4] + "_max" in table.names]
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.4), layout="constrained")
        for name, colour in zip(totals, COLOURS):
            left.plot(time, table[name], color=colour, label=name.removesuffix("_total"))
        left.set(title="Total", xlabel="t", ylabel="Sum over the nodes" if "total" not in totals else "Integral")
        values = np.concatenate([np.asarray(table[n], dtype=float) for n in totals])
        middle = float(np.mean(values))
        if np.ptp(values) < 1e-9 * abs(middle):  # a straight line: its last digits are no news
            left.set_ylim(middle - 0.05 * abs(middle), middle + 0.05 * abs(middle))
        if len(totals) > 1:
            legend(left)
        for (name, low, high), colour in zip(ranges, COLOURS):
            right.plot(time, table[high], color=colour, label=name)
            right.plot(time, table[low], color=colour, linestyle=":")
        right.set(title="Largest value, and smallest (dotted)", xlabel="t")
        if len(ranges) > 1:
            legend(right)
        figure.savefig(output)
        plt.close(figure)


def pictures_of_nodes(folder, scratch):
    """The nodes at several moments, and the amounts over time."""
    path = folder / "nodes.h5"
    if not path.exists() or not node_views.is_nodes(path):
        return []
    draw_moments(path, scratch / "moments.png")
    made = [scratch / "moments.png"]
    table = folder / "thermo.csv"
    if table.exists() and len(cambium_io.Table(table)["time"]) > 1:
        draw_totals(table, scratch / "totals.png")
        made.append(scratch / "totals.png")
    return made


def pictures(folder, scratch):
    """Nodes over time; how often networks on nodes are right, and which classes they mix up; links found;
    roll-outs beside baselines."""
    return pictures_of_nodes(folder, scratch) + node_pictures.draw(folder, scratch) + link_pictures.draw(folder, scratch) \
        + step_pictures.draw(folder, scratch)


def view(path, names):
    """Files of nodes as their edges or triangles coloured by value; tables of classify_nodes and predict_links."""
    if path.exists() and node_views.is_nodes(path):
        return node_views.NodesView(path, names)
    figure = step_pictures.errors_figure if step_pictures.is_rollout(path) else node_pictures.figure_of(path) or link_pictures.figure_of(path)
    if names or figure is None:
        return None
    from cambium_views import Whole

    return Whole(lambda: figure(path))
