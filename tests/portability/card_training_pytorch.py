"""The peer of card_training.py: eager PyTorch trains the same networks on the card.

usage: card_training_pytorch.py OUTPUT.json
All samples lie on the card, Adam is fused, products keep full float32 (no TF32); bfloat16 is by autocast. Steps count the
choice of the batch.
"""
import json
import sys
import time

import torch

torch.backends.cuda.matmul.allow_tf32 = False
# name: (inputs, outputs, layers, batch, samples, type, autocast, steps)
CASES = {
    "wide_float32": (256, 256, [1024] * 3, 4096, 8192, torch.float32, False, 200),
    "wide_float64": (256, 256, [1024] * 3, 4096, 8192, torch.float64, False, 100),
    "wide_bfloat16": (256, 256, [1024] * 3, 4096, 8192, torch.float32, True, 200),
    "small_float32": (2, 1, [64, 64], 256, 4096, torch.float32, False, 1000),
}


def network(widths, number):
    layers = []
    for before, behind in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(before, behind), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1]).to("cuda", number)


def steps_per_s(inputs, outputs, layers, batch, samples, number, autocast, steps):
    torch.manual_seed(0)
    net = network([inputs, *layers, outputs], number)
    x = torch.rand(samples, inputs, device="cuda", dtype=number)
    y = torch.rand(samples, outputs, device="cuda", dtype=number)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4, fused=True)

    def step():
        chosen = torch.randint(0, samples, (batch,), device="cuda")
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=autocast):
            loss = torch.nn.functional.mse_loss(net(x[chosen]), y[chosen])
        loss.backward()
        optimizer.step()

    for _ in range(10):
        step()
    torch.cuda.synchronize()
    start = time.time()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return steps / (time.time() - start)


if __name__ == "__main__":
    found = {"torch": torch.__version__, **{name: steps_per_s(*case) for name, case in CASES.items()}}
    print(found)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
