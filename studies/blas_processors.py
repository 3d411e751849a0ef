"""The tests that rest on the BLAS (label blas), with OpenBLAS's kernels for several processors and with two threads: which pass.

  python3 studies/blas_processors.py BUILD --json docs/measured/blas_processors.json [--cores Haswell Zen ...] [--ranks 1 2]

A kernel that this machine has no instructions for ends in an illegal instruction: it is left out, by what OpenBLAS says it took."""
import argparse
import json
import os
import subprocess
import sys
import time

import measured

CORES = ["Prescott", "Sandybridge", "Haswell", "Zen", "SkylakeX", "Cooperlake"]
ASK = """
import ctypes, ctypes.util
blas = ctypes.CDLL("libopenblas.so.0")
blas.openblas_get_corename.restype = blas.openblas_get_config.restype = ctypes.c_char_p
print(blas.openblas_get_corename().decode(), "|", blas.openblas_get_config().decode())
"""


def environment(setting, given=()):
    own = dict(os.environ)
    own.update(pair.split("=", 1) for pair in given)
    own.update(setting)
    return own


def tests_of(build, ranks):
    """Name, command, folder, environment and time limit of each test with the label; names of those that are not built."""
    shown = subprocess.run(["ctest", "--test-dir", build, "-L", "^blas$", "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    out, missing = [], []
    for test in json.loads(shown)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if int(properties.get("PROCESSORS", 1)) not in ranks:
            continue
        if not any(word.startswith("/") and os.access(word, os.X_OK) and word.startswith(os.path.abspath(build)) for word in test.get("command", [])):
            missing.append(test["name"])
        else:
            out.append((test["name"], test["command"], properties.get("WORKING_DIRECTORY", build), properties.get("ENVIRONMENT", []),
                        float(properties.get("TIMEOUT", 300))))
    return out, missing


def run(setting, tests):
    passed, failed, skipped, begin = 0, {}, [], time.monotonic()
    for name, command, folder, given, limit in tests:
        try:
            done = subprocess.run(command, cwd=folder, env=environment(setting, given), capture_output=True, text=True, timeout=3 * limit)
            code, text = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            code, text = "timeout", ""
        if code == 77:
            skipped.append(name)
        elif code == 0:
            passed += 1
        else:
            failed[name] = code
            print(f"{setting}: {name}: {code}\n{text[-3000:]}", file=sys.stderr)
    return {"passed": passed, "failed": failed, "skipped": skipped, "seconds": round(time.monotonic() - begin, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--json", default="blas_processors.json")
    parser.add_argument("--cores", nargs="*", default=CORES)
    parser.add_argument("--ranks", nargs="*", type=int, default=[1])
    parser.add_argument("--tests", help="only tests with this in their names", default="")
    parser.add_argument("--without-threads", action="store_true", help="one thread only")
    given = parser.parse_args()
    tests, missing = tests_of(given.build, given.ranks)
    tests = [t for t in tests if given.tests in t[0]]
    out = {"tests": len(tests), "not_built": missing, "ranks": given.ranks, "settings": {}}
    settings = [{"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": "1"} for core in given.cores]
    # Debian's OpenBLAS has OpenMP's threads, so that both must say so.
    if not given.without_threads:
        settings.append({"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"})
    for setting in settings:
        said = subprocess.run([sys.executable, "-c", ASK], env=environment(setting), capture_output=True, text=True)
        core, _, out["blas"] = said.stdout.strip().partition(" | ")
        wanted = setting.get("OPENBLAS_CORETYPE")
        name = wanted or f"{core}, two threads"
        if wanted and core.lower() != wanted.lower():
            out["settings"][name] = {"left_out": f"OpenBLAS took {core or 'nothing'} in its place"}
            continue
        out["settings"][name] = run(setting, tests)
        print(name, {k: v for k, v in out["settings"][name].items() if k != "skipped"}, flush=True)
    failures = sum(len(result.get("failed", {})) for result in out["settings"].values())
    out["check"] = "ok" if failures == 0 else f"{failures} failures"
    out["measured"] = measured.here(" ".join(sys.argv))
    with open(given.json, "w") as file:
        json.dump(out, file, indent=1)
        file.write("\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
