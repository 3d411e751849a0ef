#!/usr/bin/env bash
# PyTorch 1.13.1 (Debian 1.13.1+dfsg-4), torch.optim.NAdam: foreach=False (the default) and foreach=True.
# The documentation gives one formula (Dozat 2016), and says of foreach only which implementation runs.
# Most would expect both to make the same step, to rounding.
# Seen: the default multiplies the product of momentum coefficients by the present one twice before it corrects the bias of the momentum;
# foreach=True follows the documentation. The first step is 0.7 % shorter, and 20 steps along one gradient end elsewhere in the fourth digit.
# What it means: curves of NAdam from 1.13 are not those of the published method, and change when foreach is switched on or with a newer version.
. "$(dirname "$0")/debian.sh"
packages python3-torch=1.13.1+dfsg-4
cat >nadam.py <<'PYTHON'
import torch


def after(steps, **options):
    weight = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = torch.optim.NAdam([weight], lr=0.01, **options)
    for _ in range(steps):
        weight.grad = torch.ones_like(weight)
        optimizer.step()
    return weight.item()


def documented(steps, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8, decay=4e-3):
    weight, m, v, product = 0.0, 0.0, 0.0, 1.0
    for t in range(1, steps + 1):
        now, following = (beta1 * (1 - 0.5 * 0.96 ** (k * decay)) for k in (t, t + 1))
        product *= now
        m, v = beta1 * m + 1 - beta1, beta2 * v + 1 - beta2
        slope = following * m / (1 - product * following) + (1 - now) / (1 - product)
        weight -= lr * slope / ((v / (1 - beta2**t)) ** 0.5 + eps)
    return weight


for steps in (1, 20):
    print(steps, *(f"{weight:.6f}" for weight in (documented(steps), after(steps, foreach=True), after(steps, foreach=False), after(steps))))
PYTHON
seen "steps documented foreach=True foreach=False default
1 -0.010565 -0.010565 -0.010495 -0.010495
20 -0.171576 -0.171576 -0.171395 -0.171395" "steps documented foreach=True foreach=False default
$(python nadam.py)"
