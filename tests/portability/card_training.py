"""How fast an mlp trains by kernels on a card and by the processor of the same machine, and what passes between both memories.

usage: card_training.py PROGRAM FOLDER OUTPUT.json [NAME ...]
Each case runs once in either place, its samples made by the program; that by kernels once more, shorter, under `cambium
profile`, which counts the copies by array. `loss` is the last one printed: both places must agree on it. A run that fails
is said, with the end of its page; the others go on.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import card_rates

WIDE = {"inputs": 256, "outputs": 256, "layers": [1024, 1024, 1024], "batch": 4096, "samples": 8192}
SMALL = {"inputs": 2, "outputs": 1, "layers": [64, 64], "batch": 256, "samples": 4096}
# name: (network and data, precision, steps by kernels, steps on the host)
CASES = {
    "wide_float32": (WIDE, "float32", 200, 8),
    "wide_float64": (WIDE, "float64", 200, 6),
    "wide_bfloat16": (WIDE, "bfloat16", 100, 6),
    "small_float32": (SMALL, "float32", 2000, 2000),
}
RATE = re.compile(r"^([0-9.e+-]+) steps/s, ([0-9.e+-]+) ([kMGT]?)samples/s", re.M)


def deck(shape, precision, compute, steps, place):
    names = [f"x{k}" for k in range(shape["inputs"])]
    target = {f"y{k}": f"sin(2*x{k % len(names)}) + x{(3 * k + 1) % len(names)}" for k in range(shape["outputs"])}
    train = {
        "network": {"type": "mlp", "layers": shape["layers"], "precision": precision, "compute": compute},
        "dataset": {"type": "expression", "samples": shape["samples"], "box": {name: [-1, 1] for name in names},
                    "target": target},
        "batch": shape["batch"], "steps": steps, "optimizer": "adam", "learning_rate": {"type": "constant", "start": 1e-4},
        "log": steps}
    return {"run": {"name": "card_training", "directory": place, "seed": 3}, "stages": [{"train": train}]}


def once(program, verb, folder, name, content):
    path = os.path.join(folder, f"{name}.yaml")
    content["run"]["directory"] = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)
    return card_rates.run([program, verb, path, "--overwrite"], os.path.join(folder, f"{name}.log"))


def result(page, batch, folder, name):
    found = RATE.search(page)
    if not found:
        return {"failed": page.strip().splitlines()[-3:]}
    where = re.search(r"^mlp: computed (.*)$", page, re.M)
    table = os.path.join(folder, name, "train", "training.csv")
    with open(table, encoding="utf-8") as file:
        rows = [line.strip() for line in file if line.strip()]
    return {"steps_per_s": float(found[1]), "samples_per_s": float(found[1]) * batch,
            "computed": where[1] if where else "on the host", "last_row": [rows[0], rows[-1]]}


def timings(page):
    """Seconds of the sections of a training, from its last page."""
    rows = re.findall(r"^\s*(data|gradient|reduce|optimizer)\s+([0-9.e+-]+)", page, re.M)
    return {name: float(seconds) for name, seconds in rows}


def measure(program, folder, name):
    shape, precision, by_kernels, on_host = CASES[name]
    out = {"network": shape, "precision": precision}
    for compute, steps in (("kernels", by_kernels), ("host", on_host)):
        run = f"{name}_{compute}"
        page = once(program, "run", folder, run, deck(shape, precision, compute, steps, folder))
        out[compute] = {"steps": steps, **result(page, shape["batch"], folder, run), "seconds": timings(page)}
    steps = max(2, by_kernels // 20)
    once(program, "profile", folder, f"{name}_profile", deck(shape, precision, "kernels", steps, folder))
    path = os.path.join(folder, f"{name}_profile", "train", "profile.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["ranks"][0]["rows"]
        moved = [row for row in rows if card_rates.COPY.match(row["name"])]
        out["copies"] = {row["name"]: {"calls_per_step": row["calls"] / steps, "bytes_per_step": row["bytes"] / steps}
                         for row in moved}
        rest = sorted((row for row in rows if row not in moved), key=lambda row: -row["seconds"])[:12]
        out["longest"] = [{key: row[key] for key in ("section", "name", "calls", "seconds")} for row in rest]
    return out


def main():
    program, folder, output = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    results = {}
    for name in sys.argv[4:] or CASES:
        results[name] = measure(program, folder, name)
        for place in ("kernels", "host"):
            print(f"{name:16} {place:8} {results[name][place]}", flush=True)
        for array, moved in results[name].get("copies", {}).items():
            print(f"    {array}: {moved['calls_per_step']:.3g} copies, {moved['bytes_per_step']:.4g} bytes a step")
        with open(output, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    sys.exit(any("failed" in result[place] for result in results.values() for place in ("kernels", "host")))


if __name__ == "__main__":
    main()
