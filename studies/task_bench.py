#!/usr/bin/env python3
"""Efficiency over the length of tasks, for every pattern and way to run it: task_bench.py PROGRAM [--ranks 2] [--picture FILE.png] [key=value...].

Calls `cambium bench task_bench --json` (options as key=value), prints its object with the block `measured`, and draws its curves with the
line of the efficiency that METG asks for. With --draw FILE.json a stored object is drawn and nothing is measured. --starpu PROGRAM calls
build/bin/task_bench_starpu, too: with its MPI library on the ranks, and on one rank with a worker for each; the smaller METG of both counts.
"""

import argparse
import json
import subprocess

import measured

COLOURS = {"messages": "#555555", "bulk_synchronous": "#aaaaaa", "tasks": "#1f77b4", "tasks_by_messages": "#9ecae1", "schedule": "#d95f02", "starpu": "#2ca02c"}


def parts(name):
    """("stencil_1d", "tasks") of "stencil_1d_tasks"; the longest back end that ends the name."""
    back_end = max((b for b in COLOURS if name.endswith("_" + b)), key=len)
    return name[:-len(back_end) - 1], back_end


def draw(figures, picture, efficiency):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    curves = figures["measured_curves"]
    patterns = list(dict.fromkeys(parts(name)[0] for name in curves))
    figure, axes = plt.subplots(1, len(patterns), figsize=(1.5 + 3.4 * len(patterns), 3.6), sharey=True, squeeze=False)
    for axis, pattern in zip(axes[0], patterns):
        for name, curve in curves.items():
            if parts(name)[0] == pattern:
                axis.semilogx(curve["granularity_us"], [100 * e for e in curve["efficiency"]], ".-", color=COLOURS[parts(name)[1]],
                              label=parts(name)[1].replace("_", " "))
        axis.axhline(100 * efficiency, color="0.7", lw=0.8, zorder=0)
        axis.set(title=pattern, xlabel="Length of a task (µs)", ylim=(0, 105))
    axes[0][0].set_ylabel("Efficiency (%)")
    axes[0][-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5))
    figure.tight_layout()
    figure.savefig(picture, dpi=150)


def last_object(command):
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().splitlines()[-1])


def add_starpu(figures, program, ranks):
    """Figures of StarPU beside those of the tasks, and what share of them these are."""
    binds = {n: ["mpirun", "--bind-to", "core" if n > 1 else "none", "-np", str(n), program] for n in (ranks, 1)}
    by_ranks = {n: last_object([*command, f"workers={ranks // n}"]) for n, command in binds.items()}
    for pattern in [name[: -len("_starpu")] for name in by_ranks[1]["measured_curves"]]:
        key = f"{pattern}_starpu_metg_us"
        grains = {n: object[key] for n, object in by_ranks.items() if object[key] is not None}
        if not grains:
            continue
        best = min(grains, key=grains.get)
        figures[key] = grains[best]
        figures[f"{pattern}_starpu_ranks"] = best
        figures["measured_curves"][f"{pattern}_starpu"] = by_ranks[best]["measured_curves"][f"{pattern}_starpu"]
        if isinstance(figures.get(f"{pattern}_tasks_metg_us"), float):
            figures[f"{pattern}_tasks_over_starpu_ratio"] = figures[f"{pattern}_tasks_metg_us"] / grains[best]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?")
    parser.add_argument("options", nargs="*")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--picture")
    parser.add_argument("--draw")
    parser.add_argument("--starpu", metavar="PROGRAM")
    wanted = parser.parse_intermixed_args()
    if wanted.draw:
        with open(wanted.draw) as file:
            figures = json.load(file)
    else:
        command = ["mpirun", "--bind-to", "core", "-np", str(wanted.ranks), wanted.program, "bench", "task_bench", "--json", *wanted.options]
        figures = last_object(command)
        if wanted.starpu:
            add_starpu(figures, wanted.starpu, wanted.ranks)
        peer = ["--starpu task_bench_starpu"] if wanted.starpu else []
        words = " ".join(["studies/task_bench.py", "PROGRAM", f"--ranks {wanted.ranks}", *peer, *wanted.options])
        figures["measured"] = measured.by_program(wanted.program, words, ranks=wanted.ranks)
        print(json.dumps(figures, indent=1))
    if wanted.picture:
        given = dict(option.split("=", 1) for option in wanted.options)
        draw(figures, wanted.picture, float(given.get("efficiency", 0.5)))


if __name__ == "__main__":
    main()
