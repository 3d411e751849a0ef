"""Epochs of a two-layer graph convolution network in eager PyTorch, with sparse features, for `cambium bench graph_epoch`.

graph_pytorch.py FILE [--seconds S]: FILE holds the matrices (rows as in a compressed sparse matrix), labels, training nodes and first
weights that Cambium wrote. Prints JSON: ms of the fastest epoch (dropout 0.5, Adam), and the losses of the first epochs without dropout.
Every product is torch.sparse.mm; whichever of the layouts coo and csr this PyTorch multiplies faster is taken for each matrix, and
backward passes use transposes that were made beforehand.
"""
import argparse
import json
import time

import h5py
import numpy as np
import torch

torch.set_num_threads(1)


def rows(group):
    """Shape, row of every entry, column, value, first entries of rows."""
    start, column, value = group["start"][()], group["column"][()], group["value"][()].astype(np.float32)
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return (len(start) - 1, int(group.attrs["columns"])), row, column, value


class Sparse:
    """A matrix and its transpose; values may be replaced (dropout), in the order of the rows."""

    def __init__(self, shape, row, column, value, layout):
        self.layout, self.shape = layout, shape
        self.value = torch.tensor(value)
        turn = np.lexsort((row, column))
        self.turn = torch.tensor(turn)
        self.forward = self.pattern(shape, row, column)
        self.backward = self.pattern(shape[::-1], column[turn], row[turn])

    def pattern(self, shape, row, column):
        start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
        return torch.tensor(np.stack([row, column]).astype(np.int64)), torch.tensor(start.astype(np.int64)), torch.tensor(column.astype(np.int64)), shape

    def made(self, pattern, value):
        index, start, column, shape = pattern
        if self.layout == "csr":
            return torch.sparse_csr_tensor(start, column, value, shape)
        out = torch.sparse_coo_tensor(index, value, shape)
        return out._coalesced_(True)

    def pair(self, value=None):
        value = self.value if value is None else value
        return self.made(self.forward, value), self.made(self.backward, value[self.turn])


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, transposed, h):
        ctx.transposed = transposed
        return torch.sparse.mm(a, h)

    @staticmethod
    def backward(ctx, g):
        return None, None, torch.sparse.mm(ctx.transposed, g.contiguous())


def quickest(matrix, width):
    """The layout that multiplies faster."""
    best = (float("inf"), None)
    for layout in ("coo", "csr"):
        try:
            made = Sparse(*matrix, layout)
            a, _ = made.pair()
            h = torch.ones(matrix[0][1], width)
            torch.sparse.mm(a, h)
            begun = time.perf_counter()
            for _ in range(3):
                torch.sparse.mm(a, h)
            best = min(best, (time.perf_counter() - begun, layout))
        except RuntimeError:
            continue
    return best[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--seconds", type=float, default=4.0)
    given = parser.parse_args()
    with h5py.File(given.file) as file:
        a, x = rows(file["matrix"]), rows(file["features"])
        labels, nodes = torch.tensor(file["labels"][()].astype(np.int64)), torch.tensor(file["nodes"][()].astype(np.int64))
        first = [file["weights/%d" % k][()].astype(np.float32) for k in range(2)]
        epochs = int(file.attrs["epochs"])
    layouts = [quickest(a, first[0].shape[1]), quickest(x, first[0].shape[1])]
    spread, features = Sparse(*a, layouts[0]), Sparse(*x, layouts[1])
    pair, plain = spread.pair(), features.pair()
    target = labels[nodes]

    def start():
        w = [torch.tensor(k, requires_grad=True) for k in first]
        return w, torch.optim.Adam([{"params": w[:1], "weight_decay": 5e-4}, {"params": w[1:]}], lr=0.01)

    def epoch(w, optimizer, rate):
        optimizer.zero_grad(set_to_none=True)
        read = features.pair(torch.nn.functional.dropout(features.value, rate)) if rate else plain
        h = torch.relu(Product.apply(*pair, Product.apply(*read, w[0])))
        h = torch.nn.functional.dropout(h, rate) if rate else h
        z = Product.apply(*pair, h @ w[1])
        loss = torch.nn.functional.cross_entropy(z[nodes], target)
        loss.backward()
        optimizer.step()
        return loss

    w, optimizer = start()
    losses = [epoch(w, optimizer, 0.0).item() for _ in range(epochs)]
    w, optimizer = start()
    best, end = float("inf"), time.perf_counter() + given.seconds
    count = 0
    while count < 5 or time.perf_counter() < end:
        begun, begun_cpu = time.perf_counter(), time.process_time()
        epoch(w, optimizer, 0.5)
        best = min(best, time.process_time() - begun_cpu)
        count += 1
    print(json.dumps({"ms": 1e3 * best, "losses": losses, "torch": torch.__version__, "layouts": layouts, "epochs": count}))


if __name__ == "__main__":
    main()
