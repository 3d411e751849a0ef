#!/usr/bin/env python3
"""The linear forecasts of the authors' coefficients of weekly sea-surface temperature as JSON:
podlstm_linear_json.py PROGRAM FOLDER. Runs podlstm_linear.yaml in FOLDER, with CAMBIUM_DATA as the folder of sst/podlstm_anchor.h5; its table and log are read."""

import csv
import json
import os
import re
import subprocess
import sys

import measured
from podlstm_search_json import number, root_mean_square

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    program, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    data = os.path.join(os.environ["CAMBIUM_DATA"], "sst", "podlstm_anchor.h5")
    deck = os.path.join(HERE, "podlstm_linear.yaml")
    said = subprocess.run([program, "run", deck, f"run.directory={folder}", f"stages[0].forecast.data.series.file={data}"], check=True,
                          capture_output=True, text=True).stdout
    with open(os.path.join(folder, "forecast", "scores.csv"), encoding="utf-8") as file:
        methods = [{"method": row["method"], "blocked_r2": number(row["blocked_r2"]), "random_r2": number(row["random_r2"]),
                    "test_r2": number(row["test_r2"]), "test_r2_by_mode": [float(v) for k, v in row.items() if k.startswith("test_r2_mode_")],
                    "rmse_all_leads_degC": root_mean_square([float(v) for k, v in row.items() if k.startswith("rmse_lead_") and v])}
                   for row in csv.DictReader(file)]
    chosen = re.search(r"\(last time\): penalty (\S+), chosen by validation", said)
    print(json.dumps({"methods": methods, "penalty_of_the_last_time": float(chosen.group(1)),
                      "measured": measured.by_program(program, "podlstm_linear_json.py cambium FOLDER")}, indent=2))


if __name__ == "__main__":
    main()
