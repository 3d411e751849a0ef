"""The peer of `cambium bench search`: the same networks, weights, batches and steps in eager PyTorch on one thread.

    podlstm_torch.py FILE      prints seconds of processor time and the last epoch's mean loss of every network of FILE as JSON
"""
import json
import sys
import time

import h5py
import numpy as np
import torch

WIDTHS = [0, 16, 32, 48, 64, 80, 96]


class Network(torch.nn.Module):
    """A genome of the space; tensors are taken in order."""

    def __init__(self, genome, tensors):
        super().__init__()
        self.genome, self.tensors, self.used = genome, tensors, 0
        self.layers, self.projections, self.anchors = torch.nn.ModuleList(), torch.nn.ModuleDict(), []
        widths, d = [5], 0
        for layer in range(5):
            width = WIDTHS[genome[d]]
            d += 1
            self.layers.append(self.lstm(widths[-1], width) if width else torch.nn.Identity())
            out = width or widths[-1]
            first = max(0, len(widths) - 2)
            active = []
            for a in range(first, len(widths)):
                if genome[d]:
                    active.append(a)
                    if widths[a] != out:
                        self.projections[f"{layer}_{a}"] = self.dense(widths[a], out)
                d += 1
            self.anchors.append(active)
            widths.append(out)
        self.layers.append(self.lstm(widths[-1], 5))

    def take(self):
        self.used += 1
        return torch.tensor(self.tensors[self.used - 1])

    def lstm(self, size, width):
        cell = torch.nn.LSTM(size, width, batch_first=True)
        with torch.no_grad():
            cell.weight_ih_l0.copy_(self.take().T)
            cell.weight_hh_l0.copy_(self.take().T)
            cell.bias_ih_l0.copy_(self.take())
            cell.bias_hh_l0.zero_()
        cell.bias_hh_l0.requires_grad_(False)  # one bias, as ours
        return cell

    def dense(self, size, width):
        layer = torch.nn.Linear(size, width)
        with torch.no_grad():
            layer.weight.copy_(self.take().T)
            layer.bias.copy_(self.take())
        return layer

    def forward(self, x):
        values = [x]
        for layer in range(5):
            y = self.layers[layer](values[-1])
            if isinstance(y, tuple):
                y = y[0]
            if self.anchors[layer]:
                for a in self.anchors[layer]:
                    key = f"{layer}_{a}"
                    y = y + (self.projections[key](values[a]) if key in self.projections else values[a])
                y = torch.relu(y)
            values.append(y)
        return self.layers[5](values[-1])[0]


def train(group, x, y, orders):
    tensors = [group[k][()] for k in sorted(k for k in group if k != "genome")]
    start = time.process_time()
    net = Network([int(g) for g in group["genome"][()]], tensors)
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)
    for order in orders:
        total = 0.0
        for first in range(0, len(order), 64):
            rows = order[first:first + 64]
            loss = ((net(x[rows]) - y[rows]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * len(rows)
    return time.process_time() - start, total / len(order)


def main():
    torch.set_num_threads(1)
    with h5py.File(sys.argv[1], "r") as file:
        series = file["series"][()]
        n = len(series) - 15
        x = torch.tensor(np.stack([series[i:i + 8] for i in range(n)]))
        y = torch.tensor(np.stack([series[i + 8:i + 16] for i in range(n)]))
        orders = [torch.tensor(file["order"][k][()]) for k in sorted(file["order"])]
        seconds, losses = [], []
        for name in sorted(file["network"]):
            runs = [train(file["network"][name], x, y, orders) for _ in range(int(file.attrs["repeat"]))]
            seconds.append(min(r[0] for r in runs))
            losses.append(runs[0][1])
    print(json.dumps({"seconds": seconds, "loss": losses, "version": "PyTorch " + torch.__version__}))


if __name__ == "__main__":
    main()
