#!/usr/bin/env python3
"""Writes oscillator.pt, the module that torch_script.yaml trains. Needs PyTorch 1.13 or older (Debian: python3-torch).

Any torch.nn.Module that torch.jit.script takes will do. The names of forward's arguments are those of fields of the data
set, the first axis of each argument counts samples, and what forward returns is compared with the targets."""
import sys

import torch


class Oscillator(torch.nn.Module):
    """Fourier features of two coordinates, then a gated residual layer."""

    def __init__(self, features: int = 16, width: int = 32):
        super().__init__()
        self.frequencies = torch.nn.Linear(2, features)
        self.first = torch.nn.Linear(2 * features, width)
        self.gate = torch.nn.Linear(2 * features, width)
        self.norm = torch.nn.BatchNorm1d(width)
        self.last = torch.nn.Linear(width, 1)

    def forward(self, input):
        phase = self.frequencies(input)
        x = torch.cat([torch.sin(phase), torch.cos(phase)], 1)
        return self.last(self.norm(torch.tanh(self.first(x)) * torch.sigmoid(self.gate(x))))


torch.manual_seed(1)
torch.jit.script(Oscillator()).save(sys.argv[1] if len(sys.argv) > 1 else "oscillator.pt")
