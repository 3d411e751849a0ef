#!/usr/bin/env python3
"""Nusselt number of three-dimensional convection at Ra 1e5, Pr 0.7 in periodic boxes, by inputs/superres/convection_3d.yaml on
several grids, beside a correlation of measurements in layers of air:

    studies/convection_3d.py build/bin/cambium --json docs/measured/convection_3d.json [--cases 2:32x32x24,4:64x64x24] [KEY=VALUE ...]

A case is the period along x and y, in heights, and the cells. Figures do not depend on the machine's load. KEY=VALUE changes the deck.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import measured

DECK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "superres", "convection_3d.yaml")
STAGE = "stages[0].simulate."
TIMES = {"end_time": 150, "average_from": 50}  # free-fall times


def air(rayleigh):
    """Nusselt number of wide horizontal layers of air: Hollands, Raithby and Konicek 1975, Int. J. Heat Mass Transfer 18, 879-884, a fit to
    measurements within some 5 %."""
    return 1 + 1.44 * max(0, 1 - 1708 / rayleigh) + max(0, (rayleigh / 5830) ** (1 / 3) - 1)


def found(program, folder, case, changes):
    period, cells = case.split(":")
    run = os.path.join(folder, cells)
    keys = [f"{STAGE}{key}={value}" for key, value in TIMES.items()] + [f"{STAGE}cells=[{cells.replace('x', ', ')}]", f"{STAGE}aspect_ratio={period}",
                                                                     STAGE + "output=[]"]
    done = subprocess.run([program, "run", DECK, f"run.directory={run}", *keys, *changes], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{case}: {done.stderr}")
    print(done.stdout, flush=True)
    of_run = measured.results(run)
    names = {"nusselt": "nusselt_number_volume", "nusselt_bottom": "nusselt_number_bottom", "nusselt_top": "nusselt_number_top",
             "nusselt_by_dissipation": "nusselt_viscous", "nusselt_by_thermal_dissipation": "grad_b_2",
             "kinetic_energy": "averages_kinetic_energy"}
    return {**{name: of_run[key].value for name, key in names.items()}, **TIMES, "period": float(period), "changes": changes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", required=True)
    parser.add_argument("--cases", default="2:32x32x24,4:64x64x24")
    parser.add_argument("changes", nargs="*", metavar="KEY=VALUE")
    given = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = {case: found(given.program, folder, case, given.changes) for case in given.cases.split(",")}
    for row in cases.values():
        row["nusselt_over_air"] = row["nusselt"] / air(1e5)
    measured.write(given, {"rayleigh": 1e5, "prandtl": 0.7, "nusselt_of_air": air(1e5), "cases": cases}, rows="cases")


if __name__ == "__main__":
    main()
