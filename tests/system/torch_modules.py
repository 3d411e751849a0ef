"""Modules of PyTorch, their archives and data, and their training by PyTorch itself: what test_torch_script.py compares with."""
import os
from typing import Dict, NamedTuple

import numpy as np
import torch


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))

    def forward(self, x):
        return self.layers(x)


class Cnn(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(1, 4, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(4)
        self.classes = torch.nn.Linear(64, 3)

    def forward(self, image):
        y = torch.max_pool2d(torch.relu(self.norm(self.convolution(image))), 2)
        return self.classes(y.flatten(1))


class Lstm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(2, 5, num_layers=2, batch_first=True)
        self.last = torch.nn.Linear(5, 1)

    def forward(self, series):
        states, _ = self.lstm(series)
        return self.last(states[:, -1])


class Answer(NamedTuple):
    mean: torch.Tensor
    variance: torch.Tensor


class Messages(torch.nn.Module):
    """Nodes (batch, nodes, 3) and edges (batch, edges, 2), sender and receiver of each."""

    def __init__(self):
        super().__init__()
        self.message = torch.nn.Linear(6, 8)
        self.update = torch.nn.Linear(11, 4)
        self.out = torch.nn.Linear(4, 2)

    def forward(self, nodes, edges):
        width = nodes.size(2)
        sender = nodes.gather(1, edges[:, :, 0:1].expand(-1, -1, width))
        receiver = nodes.gather(1, edges[:, :, 1:2].expand(-1, -1, width))
        message = torch.tanh(self.message(torch.cat([sender, receiver], 2)))
        got = torch.zeros(nodes.size(0), nodes.size(1), 8, dtype=nodes.dtype)
        got = got.scatter_add(1, edges[:, :, 1:2].expand(-1, -1, 8), message)
        h = torch.tanh(self.update(torch.cat([nodes, got], 2))).sum(1)
        y = self.out(h)
        return Answer(y[:, 0:1], torch.nn.functional.softplus(y[:, 1:2]) + 0.1)


class TwoAnswers(torch.nn.Module):
    """A dictionary whose order is not that of the targets."""

    def __init__(self):
        super().__init__()
        self.far, self.near = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)

    def forward(module, x) -> Dict[str, torch.Tensor]:  # the module need not be called self
        return {"far": module.far(x), "rest": x, "near": module.near(x)}


SAMPLES = 48
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(SAMPLES, 3))
IMAGES = RANDOM.normal(size=(SAMPLES, 1, 8, 8))
SERIES = RANDOM.normal(size=(SAMPLES, 6, 2))
NODES = RANDOM.normal(size=(SAMPLES, 5, 3))
EDGES = RANDOM.integers(0, 5, size=(SAMPLES, 8, 2))

#: Name -> module, loss in the deck, the same in PyTorch, inputs, target.
CASES = {
    "mlp": (Mlp, "mse", torch.nn.MSELoss(), {"x": X}, {"y": np.stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]], 1)}),
    "cnn": (Cnn, "cross_entropy", torch.nn.CrossEntropyLoss(), {"image": IMAGES}, {"label": RANDOM.integers(0, 3, size=SAMPLES)}),
    "lstm": (Lstm, "huber", torch.nn.HuberLoss(), {"series": SERIES}, {"y": 2.0 * SERIES[:, :, 0].sum(1)}),
    "messages": (Messages, "gaussian_nll", torch.nn.GaussianNLLLoss(), {"nodes": NODES, "edges": EDGES}, {"energy": NODES.sum((1, 2))}),
}


def export(name, folder):
    """Path of the archive, whose weights are the same each time."""
    torch.manual_seed(7)
    path = os.path.join(folder, name + ".pt")
    torch.jit.script(CASES[name][0]()).save(path)
    return path


def tensors(name, rows, dtype):
    """Inputs, and the target in the shape that the loss wants."""
    _, loss, _, inputs, target = CASES[name]
    given = [torch.as_tensor(a[rows]) for a in inputs.values()]
    given = [a.to(dtype) if a.is_floating_point() else a for a in given]
    right = torch.as_tensor(next(iter(target.values()))[rows])
    return given, right if loss == "cross_entropy" else right.to(dtype).reshape(len(rows), -1)


def rows_of(step, batch):
    return np.arange(step * batch, (step + 1) * batch) % SAMPLES


class NAdam:
    """torch.optim.NAdam of PyTorch 2: that of 1.13 counts the momentum coefficient of a step twice in the next product."""

    def __init__(self, parameters, rate, betas, psi, eps=1e-8):
        self.parameters, self.rate, self.betas, self.psi, self.eps, self.step_, self.product = parameters, rate, betas, psi, eps, 0, 1.0
        self.means = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self):
        self.step_ += 1
        now, after = (self.betas[0] * (1 - 0.5 * 0.96 ** (t * self.psi)) for t in (self.step_, self.step_ + 1))
        self.product *= now
        for p, (mean, square) in zip(self.parameters, self.means):
            mean.mul_(self.betas[0]).add_(p.grad, alpha=1 - self.betas[0])
            square.mul_(self.betas[1]).addcmul_(p.grad, p.grad, value=1 - self.betas[1])
            below = (square / (1 - self.betas[1] ** self.step_)).sqrt() + self.eps
            p -= self.rate * ((1 - now) / (1 - self.product) * p.grad + after / (1 - self.product * after) * mean) / below


def optimizer_of(name, module, rate):
    """The optimizers of test_torch_script.py, whose decks have the same keys."""
    parameters = list(module.parameters())
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9)
    if name == "rmsprop":
        return torch.optim.RMSprop(parameters, lr=rate, alpha=0.9, eps=1e-6, momentum=0.5, centered=True)
    if name == "nadam":
        return NAdam(parameters, rate, (0.8, 0.99), 0.01)
    if name == "groups":
        biases = [p for n, p in module.named_parameters() if n.endswith("bias")]
        frozen = [p for n, p in module.named_parameters() if n == "layers.0.weight"]
        others = [p for n, p in module.named_parameters() if n == "layers.2.weight"]
        for parameter in frozen:
            parameter.requires_grad_(False)
        return torch.optim.AdamW([{"params": others}, {"params": biases, "lr": 0.3 * rate, "weight_decay": 0.2}], lr=rate, weight_decay=0.1)
    return torch.optim.Adam(parameters, lr=rate)


def train(name, folder, dtype, optimizer, rate, steps, batch, shares=1, decay=None):
    """Losses of PyTorch before each step. With several shares each one is a forward pass of its own, as on so many ranks: batch
    normalisation takes its own means, and running means are averaged."""
    module = torch.jit.load(export(name, folder)).to(dtype)
    for key, buffer in module.named_buffers():
        if key.endswith("num_batches_tracked"):
            buffer.data = buffer.data.to(torch.int64)
    loss_of = CASES[name][2]
    stepper = optimizer_of(optimizer, module, rate)
    losses = []
    for step in range(steps):
        stepper.zero_grad()
        before = [b.clone() for b in module.buffers()]
        sums = [torch.zeros_like(b, dtype=torch.float64) for b in before]
        total = 0.0
        for share in np.array_split(rows_of(step, batch), shares):
            for buffer, start in zip(module.buffers(), before):
                buffer.copy_(start)
            inputs, right = tensors(name, share, dtype)
            answer = module(*inputs)
            loss = loss_of(answer[0], right, answer[1]) if isinstance(answer, tuple) else loss_of(answer, right)
            loss = loss * (len(share) / batch)
            loss.backward()
            total += float(loss)
            for one, buffer in zip(sums, module.buffers()):
                one += buffer.double() * len(share) / batch
        for buffer, one in zip(module.buffers(), sums):
            buffer.copy_(one)
        stepper.step()
        losses.append(total)
    return np.array(losses), module
