"""The block `measured` of a file in docs/measured: who took the figures, where and with which libraries."""

import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path


def by_program(program, command, ranks=1):
    """What the program cambium says about itself and the machine; the command is that of the script which measured."""
    said = subprocess.run([program, "bench", "--json"], capture_output=True, text=True, check=True).stdout
    return {**json.loads(said.strip().splitlines()[-1])["measured"], "command": command, "ranks": ranks}


def machine():
    with open("/proc/cpuinfo") as file:
        fields = dict(re.findall(r"^(vendor_id|cpu family|model)\s*:\s*(\S+)", file.read(), re.M))
    vendor = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}.get(fields.get("vendor_id"), "unknown")
    return f"{vendor} (family {fields.get('cpu family')}, model {fields.get('model')})"


def here(command):
    """Where the program is a test, which tells nothing of itself: commit of the folder, machine and date."""
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {"command": command, "commit": commit, "machine": machine(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}


def results(run, stage="simulate"):
    """What a stage of a run found (cambium_results.Results): results.json in its folder."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "apps" / "python"))
    import cambium_results
    return cambium_results.Results(Path(run) / stage / "results.json")


def kept(path, rows):
    """The rows of an earlier file, each with the block of the call that took it, without which a row would seem to be of the newest call."""
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        before = json.load(file)
    own = {**before["measured"], **{key: value for key, value in before.items() if key not in (rows, "measured")}}
    return {name: {"measured": own, **row} for name, row in before.get(rows, {}).items()}


def write(given, out, rows=None):
    """The figures of a study, with the block, into the file of its option --json. Where `rows` names a dictionary of cases, those that this
    call did not measure stay as the file has them."""
    out["measured"] = by_program(given.program, " ".join(sys.argv))
    if rows:
        out[rows] = {**kept(given.json, rows), **out[rows]}
    with open(given.json, "w") as file:
        json.dump(out, file, indent=1)
        file.write("\n")
