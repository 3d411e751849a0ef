#!/usr/bin/env python3
"""Time of a step on two ranks whose network is emulated (CAMBIUM_NETWORK), measured and as `cambium plan` says:

    studies/plan_times.py build/bin/cambium --json docs/measured/plan_times.json [--turns 5] [--ranks 2]

The rate of one rank is measured first, on as many cores at once as there will be ranks (each a run of its own); memory bandwidth is `cambium
bench peaks`'s where it is given by --memory (GB/s). Needs a quiet machine with a core for each rank.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile

import measured
import scale_cases as cases

NETWORKS = (("20 us", "2 GB/s"), ("200 us", "1 GB/s"), ("1 ms", "100 MB/s"))
CASES = ("lennard_jones", "silicon", "copper", "convection", "kinetic_1x2v", "kinetic_2x2v")


def step_seconds(page):
    found = re.search(r"^Loop ([0-9.]+) s, [0-9]+ ranks?, ([0-9]+) steps", page, re.M)
    return float(found.group(1)) / int(found.group(2))


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
            rates = [cases.rate(cases.run(given.program, path, 1)) for _ in range(given.turns)]
            rate = statistics.median(rates)
            rows = out["cases"][case] = {"rate_of_one_rank": rate, "networks": {}}
            for latency, bandwidth in NETWORKS:
                machine = cases.write_machine(folder, bandwidth, latency, given.memory)
                plan = cases.planned(given.program, path, machine, [given.ranks], "--rate", f"{rate:.6g}")[0]
                times = [step_seconds(cases.run(given.program, path, given.ranks, f"{latency}, {bandwidth}")) for _ in range(given.turns)]
                took = statistics.median(times)
                error = plan["step_seconds"] / took - 1.0
                rows["networks"][f"{latency}, {bandwidth}"] = {"planned_seconds": plan["step_seconds"], "work_seconds": plan["work_seconds"],
                                                               "measured_seconds": took, "all_turns": times, "error": error}
                out["largest_error"] = max(out["largest_error"], abs(error))
                print(f"{case:15} {latency:>7}, {bandwidth:>9}: planned {1e3 * plan['step_seconds']:.4g} ms, took {1e3 * took:.4g} ms, {100 * error:+.1f} %",
                      flush=True)
    if given.json:
        measured.write(given, out)
    else:
        json.dump(out, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
