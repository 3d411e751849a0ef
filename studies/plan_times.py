#!/usr/bin/env python3
"""Time of a step on two ranks whose network is emulated (CAMBIUM_NETWORK), measured and as `cambium plan` says:

    studies/plan_times.py build/bin/cambium --json docs/measured/plan_times.json [--turns 5] [--ranks 2]

In every turn the rate of one rank is measured first, on as many cores at once as there will be ranks (each a run of its own), then each network;
the error is the median of the turns'. Memory bandwidth is that of `cambium bench peaks` where it is given by --memory (GB/s). Needs a quiet
machine with a core for each rank.
"""

import argparse
import concurrent.futures
import json
import statistics
import sys
import tempfile

import measured
import scale_cases as cases

NETWORKS = (("20 us", "2 GB/s"), ("200 us", "1 GB/s"), ("1 ms", "100 MB/s"))
CASES = ("lennard_jones", "silicon", "copper", "convection", "kinetic_1x2v", "kinetic_2x2v")


def step_seconds(found):
    return found.seconds / found.steps


def busy_rate(given, path, folder):
    """The slowest rate of one rank while every core that will have a rank has a run of its own: cores share caches, memory and clock."""
    with concurrent.futures.ThreadPoolExecutor(given.ranks) as pool:
        pages = pool.map(lambda k: cases.run(given.program, path, 1, overrides=[f"run.directory={folder}/alone_{k}"]), range(given.ranks))
        return min(cases.rate(page) for page in pages)


def turn(given, path, folder, network, rate):
    """Planned and measured seconds of a step."""
    latency, bandwidth = network
    machine = cases.write_machine(folder, bandwidth, latency, given.memory)
    plan = cases.planned(given.program, path, machine, [given.ranks], "--rate", f"{rate:.6g}")[0]
    return plan["step_seconds"], step_seconds(cases.run(given.program, path, given.ranks, f"{latency}, {bandwidth}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--memory", type=float, default=10.0)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--longer", type=float, default=10.0, help="times the steps of the counted decks")
    given = parser.parse_args()
    out = {"ranks": given.ranks, "turns": given.turns, "cases": {}, "largest_error": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        for case in given.cases.split(","):
            steps = int(cases.CASES[case][1] * given.longer)
            path = cases.write_deck(case, folder, steps)
            turns = {network: [] for network in NETWORKS}
            for _ in range(given.turns):  # a rate and all networks after each other: a machine has slow minutes
                rate = busy_rate(given, path, folder)
                for network in NETWORKS:
                    turns[network].append(turn(given, path, folder, network, rate))
            rows = out["cases"][case] = {}
            for (latency, bandwidth), took in turns.items():
                error = statistics.median(planned / seconds - 1.0 for planned, seconds in took)
                rows[f"{latency}, {bandwidth}"] = {"planned_and_measured_seconds": took, "error": error}
                out["largest_error"] = max(out["largest_error"], abs(error))
                planned, seconds = (1e3 * statistics.median(column) for column in zip(*took))
                print(f"{case:15} {latency:>7}, {bandwidth:>9}: planned {planned:.4g} ms, took {seconds:.4g} ms, {100 * error:+.1f} %", flush=True)
    if given.json:
        measured.write(given, out)
    else:
        json.dump(out, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
