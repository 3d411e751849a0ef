"""How fast an mlp trains by kernels on a card and by the processor of the same machine, and what passes between both memories.

usage: card_training.py PROGRAM FOLDER OUTPUT.json [NAME ...]
Each case runs in each place for some steps and for more; the steps between both are timed, so that what a first step starts
does not count. By kernels the samples lie on the card, and so do weights, gradients and the optimizer's states: `steps_per_s` is
of the whole loop. On the host they are made anew for each batch, by formulas: `steps_per_s` is without that section (data),
`with_data` with it. `auto` says which place the rule took. By kernels a case runs twice more under `cambium profile`; what passed
between the memories in the steps that one of them has more is `copies`, by array: the order of the samples once an epoch, and
of the losses what the log needs. HOST_RANKS=N: so many ranks on the host, by mpirun; one where it is not set. All places begin
with the same weights and must agree on `last_row`, but for their numbers of steps. A run that fails is said, with the end of
its page; the others go on.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import card_rates

WIDE = {"inputs": 256, "outputs": 256, "layers": [1024, 1024, 1024], "batch": 4096, "samples": 8192}
SMALL = {"inputs": 2, "outputs": 1, "layers": [64, 64], "batch": 256, "samples": 4096}
BELOW = {**SMALL, "layers": [44, 44]}  # half the work of SMALL: by the rule `auto` leaves it on the host
# name: (network and data, precision, steps by kernels before and while it is timed, the same on the host)
CASES = {
    "wide_float32": (WIDE, "float32", (20, 400), (1, 3)),
    "wide_float64": (WIDE, "float64", (20, 400), (1, 2)),
    "wide_bfloat16": (WIDE, "bfloat16", (20, 400), (1, 2)),
    "small_float32": (SMALL, "float32", (200, 3000), (200, 3000)),
    "small_float64": (SMALL, "float64", (200, 3000), (200, 3000)),
    "below_float32": (BELOW, "float32", (200, 3000), (200, 3000)),
}
PLACES = ("kernels", "host", "auto")
HOST_RANKS = int(os.environ.get("HOST_RANKS", "1"))


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


def once(program, verb, folder, name, content, ranks=1):
    path = os.path.join(folder, f"{name}.yaml")
    content["run"]["directory"] = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)
    words = ["mpirun", "--oversubscribe", "-np", str(ranks)] if ranks > 1 else []
    return card_rates.run(words + [program, verb, path, "--overwrite"], os.path.join(folder, f"{name}.log"))


def timings(page):
    """Seconds of the sections of a training, mean over ranks, and of its loop."""
    rows = re.findall(r"^(data|gradient|reduce|optimizer)\s+[0-9.]+\s+([0-9.]+)", page, re.M)
    loop = re.search(r"^Loop ([0-9.e+-]+) s", page, re.M)
    return {**{name: float(seconds) for name, seconds in rows}, "loop": float(loop[1])} if loop else None


def place(program, folder, name, compute):
    """One case in one place: rates, and ms of a step by section."""
    shape, precision, by_kernels, on_host = CASES[name]
    before, timed = by_kernels if compute == "kernels" else on_host
    ranks = HOST_RANKS if compute == "host" else 1
    run, seconds = f"{name}_{compute}", []
    for steps in (before, before + timed):
        page = once(program, "run", folder, run, deck(shape, precision, compute, steps, folder), ranks)
        seconds.append(timings(page))
        if not seconds[-1]:
            return {"failed": page.strip().splitlines()[-3:]}
    ms = {key: 1e3 * (seconds[1][key] - seconds[0][key]) / timed for key in seconds[1]}
    where = re.search(r"^mlp: computed (.*)$", page, re.M)
    with open(os.path.join(folder, run, "train", "training.csv"), encoding="utf-8") as file:
        rows = [line.strip() for line in file if line.strip()]
    computed = where[1] if where else "on the host"
    resident = "samples are, too" in page
    alone = max(ms["loop"] - (0.0 if resident else ms["data"]), 1e-6)
    return {"computed": computed, "all_on_the_device": resident, "ranks": ranks, "steps": timed, "ms_per_step": ms,
            "first_steps_s": seconds[0]["loop"], "steps_per_s": 1e3 / alone, "samples_per_s": 1e3 * shape["batch"] / alone,
            "with_data": {"steps_per_s": 1e3 / ms["loop"], "samples_per_s": 1e3 * shape["batch"] / ms["loop"]},
            "last_row": [rows[0], rows[-1]]}


def rows_of(program, folder, name, steps):
    """What `cambium profile` counted in so many steps by kernels."""
    shape, precision = CASES[name][:2]
    once(program, "profile", folder, f"{name}_profile", deck(shape, precision, "kernels", steps, folder))
    path = os.path.join(folder, f"{name}_profile", "train", "profile.json")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return json.load(file)["ranks"][0]["rows"]


def measure(program, folder, name):
    shape, precision = CASES[name][:2]
    out = {"network": shape, "precision": precision}
    for compute in PLACES if shape is not WIDE else PLACES[:2]:
        out[compute] = place(program, folder, name, compute)
    few, many = 16, 48  # whole epochs of both sizes
    rows = [rows_of(program, folder, name, steps) for steps in (few, many)]
    if rows[1]:
        before = {row["name"]: row for row in rows[0] if card_rates.COPY.match(row["name"])}
        moved = [row for row in rows[1] if card_rates.COPY.match(row["name"])]
        none = {"calls": 0, "bytes": 0}
        out["copies"] = {row["name"]: {f"{key}_per_step": (row[key] - before.get(row["name"], none)[key]) / (many - few)
                                       for key in ("calls", "bytes")} for row in moved}
        rest = sorted((row for row in rows[1] if row not in moved), key=lambda row: -row["seconds"])[:12]
        out["longest"] = [{key: row[key] for key in ("section", "name", "calls", "seconds")} for row in rest]
    return out


def main():
    program, folder, output = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    for word in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        os.environ.setdefault(word, "1")
    results = {}
    for name in sys.argv[4:] or CASES:
        results[name] = measure(program, folder, name)
        for place in PLACES:
            said = results[name].get(place)
            if not said:
                continue
            text = said.get("failed") or (f"{said['steps_per_s']:.4g} steps/s ({said['with_data']['steps_per_s']:.4g} with the "
                                          f"making of samples); {said['computed']}"
                                          f"{', all on the device' if said['all_on_the_device'] else ''}")
            print(f"{name:16} {place:8} {text}", flush=True)
        for array, moved in results[name].get("copies", {}).items():
            print(f"    {array}: {moved['calls_per_step']:.3g} copies, {moved['bytes_per_step']:.4g} bytes a step")
        with open(output, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    sys.exit(any("failed" in result[place] for result in results.values() for place in PLACES if place in result))


if __name__ == "__main__":
    main()
