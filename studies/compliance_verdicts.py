#!/usr/bin/env python3
"""Verdicts of MLPerf's own checker on made logs: compliance_verdicts.py LOGGING OUT.

LOGGING is a checkout of github.com/mlcommons/logging. Its compliance checker (usage hpc, ruleset 3.0.0) judges every log that
tests/system/compliance_logs.py makes; OUT, tests/system/compliance_verdicts.json, has a digit for each: 1 where it passes. The test
system.suite_rules holds `cambium suite check` to them. A minute."""

import argparse
import contextlib
import io
import json
import logging
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "system"))
import compliance_logs


def passes(compliance, path):
    compliance.enqueued_configs.clear()
    checker = compliance.make_checker("hpc", "3.0.0", False, False)
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            return bool(compliance.main(path, "hpc_3.0.0/common.yaml", checker)[0])
        except Exception:  # the checker ends with the log's fault: no pass
            return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logging")
    parser.add_argument("out")
    given = parser.parse_args()
    sys.path.insert(0, given.logging)
    from mlperf_logging.compliance_checker import mlp_compliance
    import yaml
    plain_load, read = yaml.load, {}

    def load_once(file, Loader):
        if file.name not in read:
            read[file.name] = plain_load(file, Loader=Loader)
        return read[file.name]
    yaml.load = load_once
    logging.disable(logging.CRITICAL)
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.txt")
        for name, *campaign in compliance_logs.campaigns():
            rows = out[name] = {}
            for (subject, _), text in compliance_logs.cases(*campaign):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                rows[subject] = rows.get(subject, "") + str(int(passes(mlp_compliance, path)))
    with open(given.out, "w", encoding="utf-8") as file:
        json.dump({"checker": "mlcommons/logging, compliance checker, usage hpc, ruleset 3.0.0", "verdicts": out}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
