#!/usr/bin/env python3
"""Forecasts with spread of the authors' coefficients of weekly sea-surface temperature as JSON:
podlstm_forecast_json.py PROGRAM FOLDER. Runs podlstm_forecast.yaml in FOLDER, with CAMBIUM_DATA as the folder of sst/podlstm_anchor.h5; its
tables and selections are read."""

import csv
import json
import os
import subprocess
import sys

import measured
from podlstm_search_json import number, root_mean_square

HERE = os.path.dirname(os.path.abspath(__file__))


def rows(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def stage(folder):
    """What one of the two stages has chosen and found."""
    methods = [{"method": row["method"], "blocked_r2": number(row["blocked_r2"]), "test_r2": number(row["test_r2"]),
                "test_r2_by_mode": [float(v) for k, v in row.items() if k.startswith("test_r2_mode_")],
                "rmse_all_leads_degC": root_mean_square([float(v) for k, v in row.items() if k.startswith("rmse_lead_") and v])}
               for row in rows(folder, "scores.csv")]
    by_lead = {}
    for row in rows(folder, "probabilities.csv"):
        scores = by_lead.setdefault(row["forecast"], {"crps": [], "spread": [], "error": [], "coverage_90": []})
        for key, values in scores.items():
            values.append(float(row[key]))
    with open(os.path.join(folder, "selection.json"), encoding="utf-8") as file:
        return {"chosen": json.load(file), "methods": methods, "probabilities_by_lead": by_lead,
                "coverage_90_mean_of_leads": sum(scores["coverage_90"]) / len(scores["coverage_90"])}


def main():
    program, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    data = os.path.join(os.environ["CAMBIUM_DATA"], "sst", "podlstm_anchor.h5")
    deck = os.path.join(HERE, "podlstm_forecast.yaml")
    series = [f"stages[{k}].forecast.data.series.file={data}" for k in range(2)]
    subprocess.run([program, "run", deck, f"run.directory={folder}", *series], check=True, capture_output=True)
    print(json.dumps({"weeks_8": stage(os.path.join(folder, "forecast")), "weeks_12": stage(os.path.join(folder, "forecast_2")),
                      "unit_of_crps": "standard deviations of the coefficients' anomalies in the training years, mean over modes",
                      "measured": measured.by_program(program, "podlstm_forecast_json.py cambium FOLDER")}, indent=2))


if __name__ == "__main__":
    main()
