#!/usr/bin/env python3
"""The figures of a finished search as JSON: podlstm_search_json.py RUN. RUN is the run directory of a deck whose last stage is
`search`, such as podlstm_sst.yaml; its results, table, journal and provenance are read."""

import csv
import json
import os
import re
import sys

import h5py


def number(text):
    return float(text) if text else None


def root_mean_square(values):
    return (sum(x * x for x in values) / len(values)) ** 0.5 if values else None


def main():
    run = sys.argv[1]
    stage = os.path.join(run, "search")
    with open(os.path.join(stage, "results.json")) as file:
        found = {result["key"]: result for result in json.load(file)["results"]}
    with open(os.path.join(stage, "scores.csv")) as file:
        methods = [{"method": row["method"].strip(), "blocked_r2": number(row["blocked_r2"]), "random_r2": number(row["random_r2"]),
                    "test_r2": number(row["test_r2"]), "test_r2_variance_weighted": number(row["test_r2_variance_weighted"]),
                    "test_r2_by_mode": [float(v) for k, v in row.items() if k.startswith("test_r2_mode_")],
                    "rmse_all_leads_degC": root_mean_square([float(v) for k, v in row.items() if k.startswith("rmse_lead_") and v])}
                   for row in csv.DictReader(file)]
    with h5py.File(os.path.join(stage, "journal.h5"), "r") as file:
        trials, chosen = file["trials"], file["selection"].attrs
        evaluated = int((trials["copy_of"][()] < 0).sum())
        out = {"trials": len(trials["reward"]), "evaluated": evaluated, "best_validation_r2": float(trials["reward"][()].max()),
               "linear_share": float(chosen["linear_share"]), "validation_r2": float(chosen["validation_r2"]),
               "test_r2": float(chosen["test_r2"]), "test_evaluations": int(chosen["test_evaluations"]), "methods": methods,
               "evaluation_seconds": float(trials["seconds"][()].sum()),
               "seconds_from_first_to_last_trial": float((trials["started"][()] + trials["seconds"][()]).max())}
    if "best_network_test_r2" in found:
        out["best_network"] = {"genome": found["best_network_test_r2"]["remark"], "seeds": int(found["best_network_seeds"]["value"]),
                               "test_r2_mean": found["best_network_test_r2"]["value"], "standard_deviation": found["best_network_deviation"]["value"]}
    out.update({"search_seconds": found["search_seconds"]["value"], "evaluations_per_hour": found["evaluations_per_hour"]["value"],
                "utilisation": found["utilisation"]["value"] / 100.0})
    facts = {"persistence": 0.478, "harmonics (3)": 0.657, "ridge": 0.878, "VAR(4)": 0.887, "harmonics + ridge": 0.897}
    worst = max(abs(m["test_r2"] - facts[m["method"]]) for m in methods if m["method"] in facts)
    out["check"] = f"{'ok' if worst < 0.003 else 'WRONG'}: baselines differ from the reference scores of the same coefficients by {worst:.4f} at most"
    with open(os.path.join(run, "deck.resolved.yaml")) as file:
        out["deck"] = re.sub(r"(file|directory): \S*/", r"\1: ", file.read())  # folders of one machine say nothing
    with open(os.path.join(run, "provenance.yaml")) as file:
        about = dict(re.findall(r"^(\w+): (.+)$", file.read().split("\ndeck:")[0], re.M))
    out["measured"] = {key: about[key] for key in ("git_hash", "date", "compiler", "instruction_set", "kokkos", "mpi", "hdf5", "ranks", "threads_per_rank")}
    print(json.dumps(out, indent=2))


if __name__ == "__main__":
    main()
