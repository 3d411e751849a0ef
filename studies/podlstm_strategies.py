#!/usr/bin/env python3
"""Search strategies beside each other: podlstm_strategies.py PROGRAM ANCHOR FOLDER [--trials N] [--seeds N] [--jobs N]
[--strategies NAME ...] [--add RESULT.json].

Searches the SC20 space with the paper's training (20 epochs, batch 64, scaled coefficients, recurrent head) on the authors'
coefficients (ANCHOR, podlstm_anchor.h5), at random and by aging evolution, TPE, PPO, and evolution with successive halving, once per seed,
and prints one JSON object: rewards at equal evaluations and whether they are higher than at random (one-sided Mann-Whitney test,
exact). Trials that halving ends count with the reward that they had; their epochs are given, too. Searches that FOLDER holds
already are not run again; one that was killed goes on. --add takes searches over from an earlier result of the same deck."""

import argparse
import concurrent.futures
import itertools
import json
import os
import statistics
import subprocess

import h5py

DECK = """run: {{name: {name}, seed: {seed}, directory: {run}}}
plugins: [podlstm]
stages:
  - search:
      data:
        series: {{file: {anchor}, train: oisst_weekly_pod/coeff_train, test: oisst_weekly_pod/coeff_test, time: oisst_weekly_pod/week_center_days_since_1800}}
      network: {{head: recurrent, inputs: raw, epochs: 20, patience: 20}}
      strategy: {strategy}
      trials: {trials}
      population: {population}
      sample: {sample}{halving}
      ensemble: {{members: 1, seeds: 1, plain_epochs: 1}}
"""


STRATEGIES = ("evolution", "random", "tpe", "ppo", "evolution_halving")


def deck_of(wanted, strategy, **names):
    halving = "\n      halving: {rungs: 2, keep: 0.5}" if strategy.endswith("_halving") else ""
    return DECK.format(strategy=strategy.removesuffix("_halving"), halving=halving, **{**vars(wanted), **names})


def finished(journal):
    if not os.path.exists(journal):
        return 0
    with h5py.File(journal, "r") as file:
        return len(file["trials"]["reward"]) if "reward" in file["trials"] else 0


def run_one(wanted, strategy, seed):
    name = f"{strategy}_{seed}"
    run = os.path.join(wanted.folder, name)
    journal = os.path.join(run, "search", "journal.h5")
    deck = os.path.join(wanted.folder, name + ".yaml")
    if finished(journal) < wanted.trials:
        with open(deck, "w") as file:
            file.write(deck_of(wanted, strategy, name=name, run=run, seed=seed))
        going = os.path.exists(journal)
        subprocess.run([wanted.program] + (["restart", run] if going else ["run", deck, "--overwrite"]), check=True, stdout=subprocess.DEVNULL)
    with h5py.File(journal, "r") as file:
        trials = {key: file["trials"][key][()] for key in ("reward", "copy_of", "failed", "seconds", "epochs")}
    evaluated = (trials["copy_of"] < 0) & (trials["failed"] == 0)
    return {"strategy": strategy, "seed": seed, "rewards": trials["reward"][evaluated].tolist(), "trials": len(evaluated),
            "epochs": trials["epochs"][evaluated].tolist(), "seconds": float(trials["seconds"].sum())}


def mann_whitney(high, low):
    """Probability, were both alike, of ranks of `high` at least as high as these (all divisions of the values counted)."""
    values = list(high) + list(low)
    ranks = [sum(v < x for v in values) + 0.5 * (sum(v == x for v in values) + 1) for x in values]
    observed = sum(ranks[:len(high)])
    sums = [sum(c) for c in itertools.combinations(ranks, len(high))]
    return sum(s >= observed - 1e-9 for s in sums) / len(sums)


def summary(results, count, measure, key="rewards"):
    by = {s: [measure(r[key][:count]) for r in results if r["strategy"] == s and key in r] for s in STRATEGIES}
    by = {s: v for s, v in by.items() if v}
    out = {s: {"by_seed": v, "mean": statistics.mean(v), "standard_deviation": statistics.stdev(v)} for s, v in by.items()}
    for s in by:
        if s != "random" and "random" in by and key == "rewards":
            out[s]["p_value"] = mann_whitney(by[s], by["random"])
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program"), parser.add_argument("anchor"), parser.add_argument("folder")
    parser.add_argument("--trials", type=int, default=80)
    parser.add_argument("--population", type=int, default=20)
    parser.add_argument("--sample", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=STRATEGIES)
    parser.add_argument("--add")
    wanted = parser.parse_args()
    wanted.folder, wanted.anchor, wanted.program = map(os.path.abspath, (wanted.folder, wanted.anchor, wanted.program))
    os.makedirs(wanted.folder, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(wanted.jobs) as pool:
        jobs = [pool.submit(run_one, wanted, s, seed) for seed in range(1, wanted.seeds + 1) for s in wanted.strategies]
        results = [job.result() for job in jobs]
    if wanted.add:
        with open(wanted.add, encoding="utf-8") as file:
            results += [{"seconds": 0.0, **r} for r in json.load(file)["searches"] if r["seed"] <= wanted.seeds]
    count = min(len(r["rewards"]) for r in results)
    out = {
        "evaluations_compared": count,
        "test": "Mann-Whitney, one-sided (higher than at random), exact",
        "mean_reward": summary(results, count, statistics.mean),
        "median_reward": summary(results, count, statistics.median),
        "best_reward": summary(results, count, max),
        "mean_reward_after_population": summary(results, count, lambda r: statistics.mean(r[wanted.population:])),
        "epochs": summary(results, count, sum, "epochs"),
        "evaluation_seconds": sum(r["seconds"] for r in results),
        "searches": [{k: r[k] for k in ("strategy", "seed", "trials", "epochs") if k in r} | {"evaluated": len(r["rewards"]), "rewards": r["rewards"]} for r in results],
        "deck": deck_of(wanted, "|".join(wanted.strategies), name="NAME", run="RUN", seed="1 to 5", anchor="podlstm_anchor.h5"),
    }
    print(json.dumps(out, indent=2))


if __name__ == "__main__":
    main()
