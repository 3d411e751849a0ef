#!/usr/bin/env python3
"""A step of training of cosmoflow beside eager PyTorch: cosmoflow_step.py PROGRAM BOXES [--json OUT] [--turns 3].

BOXES: a file of a stage structure_boxes of 32 cells along an edge. Cambium's step is all of one (samples read, boxes turned, statistics where the network
has them, convolutions, layers, Adam); PyTorch's is the same convolutions, maxima and layers on one batch that stays in memory, without turns and statistics.
Both in float32 on one thread, in turns; the fastest of each counts."""

import argparse
import os
import subprocess
import tempfile
import time

import measured

NETWORKS = {"published": {"channels": [16, 32, 64], "pool": "all", "statistics": ""}, "deck": {"channels": [8, 16, 32], "pool": "mean", "statistics": "power"}}
DECK = """run: {{name: step, directory: {folder}/run, seed: 1}}
plugins: [cosmo]
stages:
  - train:
      network: {{type: cosmoflow, channels: {channels}, hidden: [128, 64], pool: {pool}, statistics: '{statistics}'}}
      dataset: {{type: hdf5, files: ["{boxes}"], fields: [{{name: counts}}, {power}{{name: target}}], range: [0, {samples}]}}
      batch: {batch}
      steps: {steps}
      optimizer: {{type: adam}}
      learning_rate: 1e-3
"""


def cambium(program, boxes, network, batch, steps):
    """Seconds of a step."""
    with tempfile.TemporaryDirectory() as folder:
        deck = os.path.join(folder, "deck.yaml")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(DECK.format(folder=folder, boxes=boxes, batch=batch, steps=steps, samples=batch * 10,
                                   power="{name: power}, " if network["statistics"] else "", **network))
        said = subprocess.run([program, "run", deck], check=False, capture_output=True, text=True)
        if said.returncode != 0:
            raise SystemExit(said.stdout + said.stderr)
        found = measured.results(f"{folder}/run", "train")
    return found.seconds / found.steps


def pytorch(torch, network, batch, steps):
    from torch import nn
    layers, before, cells = [], 1, 32
    for channels in network["channels"]:
        layers += [nn.Conv3d(before, channels, 3, padding=1, padding_mode="circular"), nn.LeakyReLU(0.01), nn.MaxPool3d(2)]
        before, cells = channels, cells // 2
    layers += [nn.AdaptiveAvgPool3d(1), nn.Flatten()] if network["pool"] == "mean" else [nn.Flatten()]
    before *= 1 if network["pool"] == "mean" else cells**3
    model = nn.Sequential(*layers, nn.Linear(before, 128), nn.LeakyReLU(0.01), nn.Linear(128, 64), nn.LeakyReLU(0.01), nn.Linear(64, 2), nn.Tanh())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    boxes, right = torch.rand(batch, 1, 32, 32, 32), torch.rand(batch, 2)
    begun = 0.0
    for step in range(steps + 3):
        if step == 3:
            begun = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        ((1.2 * model(torch.log1p(boxes)) - right) ** 2).mean().backward()
        optimizer.step()
    return (time.perf_counter() - begun) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("boxes", type=os.path.abspath)
    parser.add_argument("--json", default="")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=40)
    given = parser.parse_args()
    import torch
    torch.set_num_threads(1)
    rows = []
    for name, network in NETWORKS.items():
        ours, theirs = [], []
        for _ in range(given.turns):
            ours.append(cambium(given.program, given.boxes, network, given.batch, given.steps))
            theirs.append(pytorch(torch, network, given.batch, given.steps))
        rows.append({"network": name, "batch": given.batch, "seconds": min(ours), "pytorch_seconds": min(theirs), "ratio": min(theirs) / min(ours),
                     "all_seconds": ours, "all_pytorch_seconds": theirs})
        print(rows[-1], flush=True)
    measured.write(given, {"pytorch": torch.__version__, "threads": 1, "rows": rows})


if __name__ == "__main__":
    main()
