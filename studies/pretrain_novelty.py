#!/usr/bin/env python3
"""Does the encoder choose better runs than chance? Ten draws of what is known, a surrogate's error behind three ways to choose, and a paired test:

    studies/pretrain_novelty.py build/bin/cambium --json docs/measured/pretrain_novelty.json [--draws 10]

Convection is simulated once for every candidate (Rayleigh x Prandtl numbers) and for runs of a test that nobody knows. In each draw a few candidates
are known, an encoder learns fields beside parameters, and further runs are chosen among the rest: by the encoder, by gaps in the parameters, by
chance. The surrogate of inputs/pretrain/archive.yaml is fitted before and after. Differences to chance are tested by Wilcoxon's signed ranks.
"""

import argparse
import itertools
import json
import os
import random
import statistics
import tempfile

import encoder_runs
import measured

RAYLEIGH = (1e5, 2e5, 4e5, 8e5, 1.6e6, 3.2e6)
PRANDTL = (0.5, 0.7, 1, 1.4, 2)
TEST = ((1.3e5, 1.7), (1.5e5, 0.6), (3e5, 1.2), (6e5, 0.8), (1.2e6, 1.6), (2.4e6, 0.6), (2.8e6, 1.1), (5e5, 1.8))
SIMULATION = """
run: {{name: made}}
plugins: [superres]
stages:
  - simulate:
      physics: rayleigh_benard
      rayleigh: {rayleigh}
      prandtl: {prandtl}
      aspect_ratio: 4
      cells: {cells}
      initial: {{noise: 0.1, seed: 1}}
      end_time: {end}
      sample_interval: 0.5
      output: [{{type: fields, interval: 0.5}}]
"""
DRAW = """
run: {{name: draw, seed: {seed}}}
plugins: [pretrain]
stages:
  - train:
      network:
        type: field_encoder
        channels: [16, 32]
        width: 32
        positive: parameters
        augment: {{shift: [0], reflect: [{{axis: 0, odd: [1]}}], noise: 0.05}}
        loss: {{scheme: v3, inner_rate: {{min: 0.8, epochs: 10}}, temperature: {{start: 0.1}}}}
      dataset: &known {known}
      batch: 32
      epochs: {epochs}
      optimizer: {{type: adamw, weight_decay: 0.01}}
      learning_rate: {{type: cosine, start: 1e-3, stop: 1e-5}}
  - select_runs:
      model: "{{run}}/train/model.h5"
      archive: *known
      candidates: {{prandtl: {prandtl}, rayleigh: {rayleigh}}}
      choose: {all}
"""
JUDGE = """
run: {{name: judge}}
plugins: [pretrain]
stages:
  - surrogate:
      archive: {known}
      runs: {runs}
      test: {test}
"""


def archive(files, runs, first):
    return ("{type: field_archive, files: [%s], fields: [b, u, w], parameters: {prandtl: %s, rayleigh: %s}, times: [%g, 1000]}" %
            (", ".join(files[run] for run in runs), [run[1] for run in runs], [run[0] for run in runs], first))


def written(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def simulated(program, folder, cells, end):
    """Files of all candidates and of the test; those that are there already are kept."""
    files = {}
    for rayleigh, prandtl in [*itertools.product(RAYLEIGH, PRANDTL), *TEST]:
        where = os.path.join(folder, f"ra{rayleigh:g}_pr{prandtl:g}")
        files[rayleigh, prandtl] = os.path.join(where, "simulate", "fields.h5")
        if not os.path.exists(files[rayleigh, prandtl]):
            deck = written(os.path.join(folder, "made.yaml"), SIMULATION.format(rayleigh=rayleigh, prandtl=prandtl, cells=cells, end=end))
            encoder_runs.run(program, deck, where)
    return files


def made(path, files, runs):
    return written(path, "file,prandtl,rayleigh\n" + "".join(f"{files[run]},{run[1]},{run[0]}\n" for run in runs))


def chosen(folder, known, count):
    """The first new ones of each way to choose; one that is known already tells nothing."""
    out = {}
    for row in encoder_runs.rows(folder, "select_runs", "chosen.csv"):
        run = min(itertools.product(RAYLEIGH, PRANDTL), key=lambda r: abs(r[0] - float(row["rayleigh"])) / r[0] + abs(r[1] - float(row["prandtl"])))
        name = {"the encoder": "novelty", "gaps in the parameters": "gaps"}.get(row["method"])
        if name and run not in known and len(out.setdefault(name, [])) < count:
            out[name].append(run)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--json")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--known", type=int, default=5)
    parser.add_argument("--choose", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--cells", default="[32, 16]")
    parser.add_argument("--end", type=float, default=30)
    parser.add_argument("--first", type=float, default=10, help="time from which moments are taken")
    parser.add_argument("--simulations", help="folder in which simulations are kept")
    given = parser.parse_args()
    errors = {}
    with tempfile.TemporaryDirectory() as folder:
        files = simulated(given.program, given.simulations or folder, given.cells, given.end)
        for draw in range(1, given.draws + 1):
            all_runs = list(itertools.product(RAYLEIGH, PRANDTL))
            known = sorted(random.Random(draw).sample(all_runs, given.known))
            text = archive(files, known, given.first)
            deck = written(os.path.join(folder, "draw.yaml"), DRAW.format(seed=draw, known=text, epochs=given.epochs, prandtl=list(PRANDTL),
                                                                           rayleigh=list(RAYLEIGH), all=len(all_runs)))
            picks = chosen(encoder_runs.run(given.program, deck, os.path.join(folder, "draw")), known, given.choose)
            picks["chance"] = random.Random(1000 + draw).sample([run for run in all_runs if run not in known], given.choose)
            tables = {name: made(os.path.join(folder, name + ".csv"), files, runs) for name, runs in picks.items()}
            deck = written(os.path.join(folder, "judge.yaml"), JUDGE.format(
                known=text, runs="{" + ", ".join(f"{name}: {path}" for name, path in tables.items()) + "}", test=archive(files, TEST, given.first)))
            for row in encoder_runs.rows(encoder_runs.run(given.program, deck, os.path.join(folder, "judge")), "surrogate", "errors.csv"):
                errors.setdefault(row["archive"], []).append(float(row["error"]))
            print(draw, {name: round(values[-1], 4) for name, values in errors.items()}, flush=True)
    from scipy.stats import wilcoxon
    tests = {f"{a} against {b}": {"mean_difference": statistics.mean(x - y for x, y in zip(errors[a], errors[b])),
                                  "smaller_in": sum(x < y for x, y in zip(errors[a], errors[b])),
                                  "p": float(wilcoxon(errors[a], errors[b]).pvalue)}
             for a, b in (("novelty", "chance"), ("gaps", "chance"), ("novelty", "gaps"))}
    print(json.dumps(tests, indent=1))
    if given.json:
        command = "studies/pretrain_novelty.py build/bin/cambium --json docs/measured/pretrain_novelty.json"
        what = (f"error of a surrogate of {len(TEST)} runs that nobody knows, in units of each number's deviation: before, and after {given.choose} further runs of convection "
                f"({given.cells} cells) chosen among {len(RAYLEIGH) * len(PRANDTL) - given.known} by the encoder (novelty), by gaps in the parameters, by chance; "
                f"{given.known} known runs, {given.draws} draws of them; p of Wilcoxon's signed ranks, two-sided")
        with open(given.json, "w") as file:
            json.dump({"what": what, "errors": errors, "tests": tests, "measured": measured.by_program(given.program, command)}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
