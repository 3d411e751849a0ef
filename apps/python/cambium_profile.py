"""The picture of profile.json: what the time of every rank went into, and the longest kernels under the roofs of the machine."""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from cambium_style import COLOURS, STYLE, legend, save  # noqa: E402

CLASSES = ("matrix", "elementwise", "reduction", "transcendental", "movement", "communication", "files", "host", "idle")
COLOUR_OF = dict(zip(CLASSES, ("#1f5aa6", "#2a9d8f", "#8ac6bd", "#e09f3e", "#8d6bb0", "#d1495b", "#7a5c3e", "#b8bec8", "#e8eaee")))
MARKED = 8  # kernels with a name beside the point


def seconds_of(rank):
    """{class: seconds}, idle time among them."""
    out = dict.fromkeys(CLASSES, 0.0)
    for row in rank["rows"]:
        out[row["class"]] += row["seconds"]
    out["idle"] = rank["idle_seconds"]
    return out


def draw_classes(axes, ranks):
    for k, name in enumerate(CLASSES):
        before = [sum(list(seconds_of(rank).values())[:k]) for rank in ranks]
        own = [seconds_of(rank)[name] for rank in ranks]
        if max(own) > 0.0:
            axes.barh(range(len(ranks)), own, left=before, color=COLOUR_OF[name], label=name)
    axes.set(xlabel="time (s)", ylabel="rank", yticks=range(len(ranks)) if len(ranks) < 20 else axes.get_yticks())
    axes.invert_yaxis()
    legend(axes, fontsize="small")


def points_of(ranks):
    """[(operations per byte, Gflop/s, seconds, name)] of what has both, over all ranks."""
    sums = {}
    for rank in ranks:
        for row in rank["rows"]:
            if row["flops"] > 0.0 and row["bytes"] > 0.0 and row["seconds"] > 0.0:
                found = sums.setdefault(row["name"] + (" (float)" if row["bytes_of_a_number"] == 4 else ""), [0.0, 0.0, 0.0])
                for k, key in enumerate(("flops", "bytes", "seconds")):
                    found[k] += row[key]
    points = [(flops / size, 1e-9 * flops / seconds, seconds, name) for name, (flops, size, seconds) in sums.items()]
    return sorted(points, key=lambda point: -point[2])


def draw_roofs(axes, peaks, points):
    low, high = (min(p[0] for p in points) / 4, max(p[0] for p in points) * 4) if points else (0.05, 200)
    intensity = [low * (high / low) ** (k / 100) for k in range(101)]
    memory = peaks["memory_bytes"]
    for key, text, style in (("matrix_float_flops", "matrix, float", "-"), ("matrix_double_flops", "matrix, double", "--"),
                             ("vector_double_flops", "vector, double", ":")):
        axes.plot(intensity, [1e-9 * min(peaks[key], memory * x) for x in intensity], style, color="0.4", label=text)
    for key, text in (("network_bytes", "messages"), ("files_bytes", "files")):
        if peaks[key] > 0.0:
            axes.plot(intensity, [1e-9 * min(peaks["matrix_float_flops"], peaks[key] * x) for x in intensity], "-" if text == "messages" else "--", color="0.8", label=text)
    largest = max((point[2] for point in points), default=1.0)
    for k, (x, y, seconds, name) in enumerate(points):
        axes.scatter([x], [y], s=20 + 180 * seconds / largest, color=COLOURS[k % len(COLOURS)], label=name if k < MARKED else None)
    axes.set(xscale="log", yscale="log", xlabel="operations for each byte", ylabel="Gflop/s of a rank")
    legend(axes, fontsize="small")


def draw(folder, path):
    """[path] when the folder of a stage holds profile.json, else []."""
    source = Path(folder) / "profile.json"
    if not source.is_file():
        return []
    profile = json.loads(source.read_text())
    ranks = profile["ranks"]
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(12.5, max(3.4, 0.3 * len(ranks))), layout="constrained")
        draw_classes(left, ranks)
        draw_roofs(right, profile["peaks_of_a_rank"], points_of(ranks))
        save(figure, path)
        plt.close(figure)
    return [path]
