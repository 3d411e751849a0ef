"""The peer of `cambium bench relate`: the same sizes in eager PyTorch on one thread, EmbeddingBag with sparse gradients and Adagrad.

    relate_pytorch.py COLUMNS ROWS WIDTH BATCH LOOKUP_ROWS LOOKUP_WIDTH TURNS

Prints medians as JSON: rows looked up per second, and ms of a step of a DLRM with 13 numbers, layers 64 below and above, whose layers keep
their weights. Rows and records are drawn at random: sizes are compared, not results."""

import json
import statistics
import sys
import time

import torch


def median_seconds(turns, call):
    seconds = []
    for turn in range(turns):
        begin = time.perf_counter()
        call(turn)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def named_rows(batch, columns, rows):
    """Few rows are named often, as in the records of the bench."""
    return [(torch.rand(batch) ** 2 * rows).long() for _ in range(columns)]


def main():
    columns, rows, width, batch, lookup_rows, lookup_width, turns = map(int, sys.argv[1:8])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    offsets = torch.arange(batch)
    tables = [torch.nn.EmbeddingBag(lookup_rows, lookup_width, mode="sum") for _ in range(columns)]
    even = [[torch.randint(0, lookup_rows, (batch,)) for _ in range(columns)] for _ in range(8)]
    with torch.no_grad():
        looked_up = median_seconds(turns, lambda turn: [table(ids, offsets) for table, ids in zip(tables, even[turn % 8])])
    tables = [torch.nn.EmbeddingBag(rows, width, mode="sum", sparse=True) for _ in range(columns)]
    bottom = torch.nn.Sequential(torch.nn.Linear(13, 64), torch.nn.ReLU(), torch.nn.Linear(64, width), torch.nn.ReLU())
    pairs = (columns + 1) * columns // 2
    top = torch.nn.Sequential(torch.nn.Linear(width + pairs, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    i, j = torch.tril_indices(columns + 1, columns + 1, -1)
    optimizer = torch.optim.Adagrad([table.weight for table in tables], lr=0.01)
    batches = [(torch.randn(batch, 13), named_rows(batch, columns, rows), torch.randint(0, 2, (batch,)).float()) for _ in range(8)]

    def step(turn):
        numbers, ids, clicked = batches[turn % len(batches)]
        for part in (optimizer, bottom, top):
            part.zero_grad()
        z = torch.stack([bottom(numbers), *[table(rows, offsets) for table, rows in zip(tables, ids)]], dim=1)
        products = torch.bmm(z, z.transpose(1, 2))[:, i, j]
        torch.nn.functional.binary_cross_entropy_with_logits(top(torch.cat([z[:, 0], products], dim=1))[:, 0], clicked).backward()
        optimizer.step()

    print(json.dumps({"version": torch.__version__, "lookup_rows_per_s": columns * batch / looked_up, "dlrm_step_ms": 1e3 * median_seconds(turns, step)}))


if __name__ == "__main__":
    main()
