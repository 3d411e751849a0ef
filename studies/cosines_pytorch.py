"""The peer of the cosines of `cambium bench relate`: a step of SimpleX's loss in eager PyTorch on one thread, rows with sparse gradients and SGD.

    cosines_pytorch.py USERS ITEMS WIDTH BATCH DRAWN TURNS

Prints medians as JSON, in ms of a step (loss, derivatives, rows changed): `bmm_step_ms`, where every choice has DRAWN items of its own, gathered
and multiplied by one batched product, as implementations in PyTorch do; and `shared_step_ms`, where a step's choices share DRAWN items as ours
do, by one matrix product. Choices are drawn at random: sizes are compared, not results."""

import json
import statistics
import sys
import time

import torch
from torch.nn.functional import normalize

MARGIN, BATCHES = 0.0, 8


def median_ms(turns, step, batches):
    seconds = []
    for turn in range(turns + 1):
        begin = time.perf_counter()
        step(*batches[turn % len(batches)])
        seconds.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(seconds[1:])


def main():
    users, items, width, batch, drawn, turns = map(int, sys.argv[1:7])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    of_users, of_items = (torch.nn.Embedding(count, width, sparse=True) for count in (users, items))
    optimizer = torch.optim.SGD([of_users.weight, of_items.weight], lr=0.01)

    def finish(chosen, others):
        optimizer.zero_grad()
        (1 - chosen + torch.relu(others - MARGIN).mean(1)).mean().backward()
        optimizer.step()

    def bmm(user, item, others):
        z = normalize(of_users(user), dim=1)
        finish((z * normalize(of_items(item), dim=1)).sum(1), torch.bmm(normalize(of_items(others), dim=2), z[:, :, None])[:, :, 0])

    def shared(user, item, others):
        z = normalize(of_users(user), dim=1)
        finish((z * normalize(of_items(item), dim=1)).sum(1), z @ normalize(of_items(others), dim=1).T)

    def batches(*shape):
        return [(torch.randint(users, (batch,)), torch.randint(items, (batch,)), torch.randint(items, shape)) for _ in range(BATCHES)]

    print(json.dumps({"version": torch.__version__, "bmm_step_ms": median_ms(turns, bmm, batches(batch, drawn)),
                      "shared_step_ms": median_ms(turns, shared, batches(drawn))}))


if __name__ == "__main__":
    main()
