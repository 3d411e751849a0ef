#!/usr/bin/env python3
"""The figures of a finished stage `tune` as JSON: podlstm_tune_json.py RUN. Reads its trials.csv, results.json, the run's resolved deck
and provenance."""

import csv
import json
import os
import re
import statistics
import sys


def main():
    run = sys.argv[1]
    with open(os.path.join(run, "tune", "trials.csv"), encoding="utf-8") as file:
        trials = list(csv.DictReader(file))
    with open(os.path.join(run, "tune", "results.json"), encoding="utf-8") as file:
        found = {result["key"]: result["value"] for result in json.load(file)["results"]}
    keys = list(trials[0])[8:]
    own = sorted((t for t in trials if not t["copy_of"] and t["failed"] == "0"), key=lambda t: float(t["error"]))
    errors = [float(t["error"]) for t in own]
    first = [float(t["error"]) for t in trials if not t["copy_of"] and t["failed"] == "0"][:16]
    out = {"trials": len(trials), "evaluated": len(own), "failed": sum(t["failed"] == "1" for t in trials),
           "ended_early": sum(int(t["steps"]) < max(int(u["steps"]) for u in own) for t in own),
           "least_error": errors[0], "median_error": statistics.median(errors), "median_of_first_16": statistics.median(first),
           "best": {k: own[0][k] for k in keys}, "worst": {k: own[-1][k] for k in keys}, "largest_error": errors[-1],
           "training_seconds": sum(float(t["seconds"]) for t in own)}
    out.update({"search_seconds": found["search_seconds"], "per_hour": found["evaluations_per_hour"], "utilisation": found["utilisation"] / 100.0})
    with open(os.path.join(run, "deck.resolved.yaml"), encoding="utf-8") as file:
        out["deck"] = file.read().replace(os.path.abspath(run), "RUN")  # folders of one machine say nothing
    with open(os.path.join(run, "provenance.yaml"), encoding="utf-8") as file:
        about = dict(re.findall(r"^(\w+): (.+)$", file.read().split("\ndeck:")[0], re.M))
    out["measured"] = {key: about[key] for key in ("git_hash", "date", "compiler", "instruction_set", "kokkos", "mpi", "ranks", "threads_per_rank")}
    out["measured"]["command"] = "cambium run inputs/podlstm/tune.yaml; podlstm_tune_json.py runs/tune"
    out["measured"]["machine"] = "AMD EPYC, 2 cores shared with other work; errors do not depend on the load"
    print(json.dumps(out, indent=2))


if __name__ == "__main__":
    main()
