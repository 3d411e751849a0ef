"""Reads results.json, which every stage of Cambium writes: what it found, in full precision.

    import cambium_results
    found = cambium_results.results_in("runs/landau/simulate")
    found["gamma"].value, found["gamma"].uncertainty, found.seconds

cambium_io.Run(FOLDER).results is the same. Needs nothing but Python.
"""

import json
from collections import namedtuple
from pathlib import Path

Result = namedtuple("Result", "value unit uncertainty label remark")


class Results(dict):
    """What a stage found: its results.json as {key: Result}, and `seconds`, `steps` (None without), `ranks`, `work_items` and `item`, `memory` (bytes),
    `summary` (lines), `files`, `warnings` ([{"text", "count"}])."""

    def __init__(self, path):
        with open(path) as file:
            found = json.load(file)
        nan = float("nan")
        for entry in found.pop("results"):
            value, error = entry["value"], entry.get("uncertainty")
            self[entry["key"]] = Result(nan if value is None else value, entry["unit"], error, entry["label"], entry.get("remark", ""))
        self.steps, self.work_items = None, found.pop("items")
        self.__dict__.update(found)


def results_in(folder):
    """Results of a stage; None where it has none: it is under way, it failed, or an earlier version ran it."""
    path = Path(folder) / "results.json"
    return Results(path) if path.is_file() else None
