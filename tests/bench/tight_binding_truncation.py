#!/usr/bin/env python3
"""Errors of tight binding by submatrices: tight_binding_truncation.py TEST_PROGRAM. Runs the long test of the table in the plugin's
README (TEST_PROGRAM is test_tight_binding; ten minutes) and prints one JSON object. Commit and machine are of the folder and the computer on which it runs."""

import datetime
import json
import os
import re
import subprocess
import sys

CASE = "forces and the conservation of energy at eps 1e-4\\, 1e-5 and 1e-6\\, 216 atoms"


def machine():
    with open("/proc/cpuinfo") as file:
        fields = dict(re.findall(r"^(vendor_id|cpu family|model)\s*:\s*(\S+)", file.read(), re.M))
    vendor = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}.get(fields.get("vendor_id"), "unknown")
    return f"{vendor} (family {fields.get('cpu family')}, model {fields.get('model')})"


def main():
    program = sys.argv[1]
    done = subprocess.run([program, CASE], capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(json.dumps({
        "what": "carbon xu, diamond, every coordinate moved by up to 0.1 angstrom at random; forces and energy against one diagonalisation of the same cell "
                "(eps 0), then velocity Verlet: slope of the total energy by least squares, and what is left around the line",
        "rows": rows,
        "check": "ok: all shrink with eps" if done.returncode == 0 else "failed: see the test",
        "measured": {"command": f"tight_binding_truncation.py {os.path.basename(program)}", "commit": commit, "machine": machine(),
                     "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")},
    }, indent=1))


if __name__ == "__main__":
    main()
