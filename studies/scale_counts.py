#!/usr/bin/env python3
"""Messages and bytes of a step and memory of the busiest of 2 to 64 ranks, counted and as `cambium plan` says, for every physics:

    studies/scale_counts.py build/bin/cambium --json docs/measured/scale_counts.json [--ranks 2,4,8] [--cases copper]

Ranks may be more than cores: nothing is timed. Each rank is a node of its own (CAMBIUM_NETWORK without latency), so that what ranks of a node
read in each other's memory counts, too. Memory is the peak of the whole process, of which some 54 MB
are the program's before any deck.
"""

import argparse
import json
import tempfile

import measured
import scale_cases as cases

RANKS = (2, 4, 8, 16, 32, 64)
S = "stages[0].simulate."
# Problems that grow with the ranks, 1, 8 and 64 of them: overrides of a deck.
WEAK = {
    "copper": lambda n: [S + "structure.lattice.cells=" + str([10 * round(n ** (1 / 3))] * 3), S + "steps=5"],
    "convection": lambda n: [S + f"cells=[256, {8 * n}]"],
    "kinetic_2x2v": lambda n: [S + f"domain.cells=[{8 * {1: 1, 8: 4, 64: 8}[n]}, {8 * {1: 1, 8: 2, 64: 8}[n]}]"],
}


def weak_scaling(program, folder):
    """Of the busiest rank: bytes and messages, and the mean of the ranks' work over the busiest one's (pairs of atoms as the run counts them,
    cells as they are cut)."""
    out = {}
    for case, overrides in WEAK.items():
        path, machine = cases.write_deck(case, folder), cases.write_machine(folder)
        for n in (1, 8, 64):
            found = cases.run(program, path, n, overrides=overrides(n))
            plan = cases.planned(program, path, machine, [n], *overrides(n), *cases.RATES.get(case, ()))[0]
            row = {"efficiency_in_work": 1.0 / found["balance"].value if "balance" in found else found.work_items / n / plan["items"]}
            if n > 1:
                row |= {k: v for k, v in cases.counted(found).items() if k != "memory"}
            out.setdefault(case, {})[n] = row
            print(case, n, row, flush=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json")
    parser.add_argument("--ranks", default=",".join(map(str, RANKS)))
    parser.add_argument("--weak", action="store_true", help="also problems that grow with the ranks")
    parser.add_argument("--cases", default=",".join(cases.CASES))
    given = parser.parse_args()
    ranks = [int(n) for n in given.ranks.split(",")]
    out = {"cases": {}, "largest_error_of_sent_bytes": 0.0, "largest_error_of_received_bytes": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        machine = cases.write_machine(folder)
        for case in given.cases.split(","):
            path = cases.write_deck(case, folder)
            plans = {p["ranks"]: p for p in cases.planned(given.program, path, machine, ranks, *cases.RATES.get(case, ()))}
            rows = out["cases"][case] = {}
            for n in ranks:
                if plans[n]["refused"]:
                    rows[n] = {"refused": plans[n]["refused"]}
                    continue
                run = cases.counted(cases.run(given.program, path, n))
                plan = {k: plans[n][k] for k in ("messages", "collectives", "sent", "received", "memory", "items", "parts")}
                rows[n] = {"counted": run, "planned": plan}
                for what in ("sent", "received"):
                    key = f"largest_error_of_{what}_bytes"
                    out[key] = max(out[key], abs(plan[what] / run[what] - 1.0))
                print(case, n, *(f"{k} {run[k]:.5g} ({plan[k]:.5g})" for k in ("messages", "collectives", "sent", "received", "memory")), flush=True)
            if given.json:
                measured.write(given, out)
        if given.weak:
            out["weak_scaling"] = weak_scaling(given.program, folder)
    if given.json:
        measured.write(given, out)
    else:
        print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
