#!/usr/bin/env python3
"""How short a step of each physics may be on two ranks (METG(50 %) of a step): the size of the system falls until less than half of the
ranks' time is work.

    studies/step_sizes.py build/bin/cambium --json docs/measured/step_sizes.json [--turns 5] [--cases lennard_jones,convection]

Efficiency is the time of a step on one rank over ranks times that on all of them, medians of the turns, which alternate. Needs a quiet
machine with a core for each rank. `smallest` interpolates as METG does: linearly in the efficiency between the last size that has it and the next.
"""

import argparse
import json
import math
import statistics
import sys
import tempfile

import measured
import plan_times
import scale_cases as cases

CELLS = "stages[0].simulate.structure.lattice.cells=[{0}, {0}, {0}]"
# Key of the size, sizes from large to small.
SIZES = {
    "lennard_jones": (CELLS, (16, 12, 8, 6, 5, 4)),
    "silicon": (CELLS, (12, 8, 6, 4, 3, 2)),
    "copper": (CELLS, (16, 10, 8, 6, 5, 4)),
    "convection": ("stages[0].simulate.cells=[{0}, {1}]", ((256, 128), (128, 64), (64, 32), (32, 16), (16, 8))),
    "kinetic_1x2v": ("stages[0].simulate.domain.cells=[{0}]", (256, 128, 64, 32, 16, 8, 4)),
    "kinetic_2x2v": ("stages[0].simulate.domain.cells=[{0}, {0}]", (32, 16, 8, 4)),
}


def smallest(points, efficiency):
    """Seconds of a step, from (seconds, efficiency) of falling sizes; None where no size is efficient enough."""
    best = None
    for k, (seconds, e) in enumerate(points):
        if e < efficiency:
            continue
        grain = seconds
        if k + 1 < len(points) and points[k + 1][1] < efficiency:
            after, lower = points[k + 1]
            grain = min(grain, seconds + (e - efficiency) / (e - lower) * (after - seconds))
        best = grain if best is None else min(best, grain)
    return best


def step_seconds(program, path, ranks, *overrides):
    return plan_times.step_seconds(cases.run(program, path, ranks, "", overrides))


def enough_steps(program, path, override, seconds):
    """An override of the steps, so that one rank needs so long: the page gives seconds to a thousandth."""
    steps = 100
    while (each := step_seconds(program, path, 1, override, f"stages[0].simulate.steps={steps}")) * steps < 0.05 * seconds:
        steps *= 10
    return f"stages[0].simulate.steps={max(20, math.ceil(seconds / each))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--efficiency", type=float, default=0.5)
    parser.add_argument("--seconds", type=float, default=0.4, help="that one rank works in each run")
    parser.add_argument("--cases", default=",".join(SIZES))
    given = parser.parse_args()
    out = {"ranks": given.ranks, "turns": given.turns, "efficiency": given.efficiency, "cases": {}}
    with tempfile.TemporaryDirectory() as folder:
        for case in given.cases.split(","):
            path = cases.write_deck(case, folder)
            key, sizes = SIZES[case]
            rows = []
            for size in sizes:
                override = key.format(*(size if isinstance(size, tuple) else (size,)))
                turns = {1: [], given.ranks: []}
                try:
                    steps = enough_steps(given.program, path, override, given.seconds)
                    for _ in range(given.turns):
                        for ranks, times in turns.items():
                            times.append(step_seconds(given.program, path, ranks, override, steps))
                except RuntimeError as error:  # too small for its cutoff or for its ranks
                    print(f"{case:15} {override}: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
                    break
                one, all_ranks = (statistics.median(times) for times in turns.values())
                rows.append({"size": size, "seconds_one_rank": one, "seconds": all_ranks, "efficiency": one / (given.ranks * all_ranks)})
                print(f"{case:15} {str(size):>12}: {1e6 * all_ranks:10.1f} us a step, {100 * rows[-1]['efficiency']:5.1f} %", file=sys.stderr, flush=True)
            least = smallest([(row["seconds"], row["efficiency"]) for row in rows], given.efficiency)
            out["cases"][case] = {"smallest_step_us": None if least is None else 1e6 * least, "sizes": rows}
    if given.json:
        measured.write(given, out)
    else:
        json.dump(out, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
