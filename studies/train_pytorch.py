#!/usr/bin/env python3
"""The peer of `cambium bench train`: one Deep Potential trained by eager PyTorch on one thread.

    train_pytorch.py MODEL.dp SYSTEM FRAME [--seconds S]

The same network, loss and optimizer (Adam) on one frame of a deepmd/npy system, as one writes it with autograd: real
neighbours through the networks, batched products, forces by torch.autograd.grad with its graph kept, then backward. Neighbours are
found once and not timed. Prints JSON: milliseconds a step (the fastest, by the clock and of processor time) in float32 and float64, and the forces of the
frame before the first step with their root mean square error.
"""
import argparse
import json
import time

import h5py
import numpy as np
import torch


def arrays(node, file):
    """A model file's tree with its arrays in place of their names."""
    if isinstance(node, dict):
        return {k: ({n: (None if v is None else file[v][()] if isinstance(v, str) else v) for n, v in value.items()}
                    if k == "@variables" else arrays(value, file)) for k, value in node.items()}
    return [arrays(x, file) for x in node] if isinstance(node, list) else node


class Net(torch.nn.Module):
    def __init__(self, tree, dtype):
        super().__init__()
        self.layers = torch.nn.ModuleList()
        for layer in tree["layers"]:
            part = torch.nn.Module()
            for name, value in layer["@variables"].items():
                part.register_parameter(name, None if value is None else torch.nn.Parameter(torch.tensor(value, dtype=dtype)))
            part.hidden, part.residual = layer["activation_function"] == "tanh", layer["resnet"]
            self.layers.append(part)

    def forward(self, x):
        for layer in self.layers:
            y = torch.addmm(layer.b, x, layer.w)
            if layer.hidden:
                y = torch.tanh(y)
            if layer.idt is not None:
                y = y * layer.idt
            if layer.residual and y.shape[1] == x.shape[1]:
                y = y + x
            elif layer.residual and y.shape[1] == 2 * x.shape[1]:
                y = y + torch.cat([x, x], 1)
            x = y
        return x


class Model(torch.nn.Module):
    def __init__(self, tree, dtype):
        super().__init__()
        descriptor, fitting = tree["model"]["descriptor"], tree["model"]["fitting"]
        self.rcut, self.smooth, self.sel = descriptor["rcut"], descriptor["rcut_smth"], descriptor["sel"]
        self.axis, self.dtype = descriptor["axis_neuron"], dtype
        self.davg, self.dstd = (torch.tensor(descriptor["@variables"][k], dtype=torch.float64) for k in ("davg", "dstd"))
        self.bias = torch.tensor(fitting["@variables"]["bias_atom_e"], dtype=torch.float64).reshape(-1)
        self.embedding = torch.nn.ModuleList(Net(n, dtype) for n in descriptor["embeddings"]["networks"])
        self.fitting = torch.nn.ModuleList(Net(n, dtype) for n in fitting["nets"]["networks"])

    def forward(self, x, types, of_type, neighbour, shift, real, real_slots, counts):
        """Energy; atoms by type in of_type; neighbour, shift and real padded to real_slots by type of neighbour."""
        r = x[neighbour] + shift - x[:, None, :]
        r = torch.where(real[..., None], r, torch.ones_like(r))
        length = torch.linalg.norm(r, dim=2)
        u = ((length - self.smooth) / (self.rcut - self.smooth)).clamp(0.0, 1.0)
        w = (u ** 3 * (-6.0 * u ** 2 + 15.0 * u - 10.0) + 1.0) * real
        rows = torch.cat([(w / length)[..., None], (w / length ** 2)[..., None] * r], 2)
        rows = ((rows - self.davg[types][:, :1]) / self.dstd[types][:, :1]).to(self.dtype)
        # Networks see real neighbours only; what the empty slots of the model add is one row for each pair of types.
        rows = rows * real[..., None]
        pair_sum, first = 0.0, 0
        for net, n, slots, count in zip(self.embedding, real_slots, self.sel, counts):
            part, inside = rows[:, first:first + n], real[:, first:first + n]
            values = net(part[..., 0][inside][:, None])
            full = torch.zeros(*part.shape[:2], values.shape[1], dtype=self.dtype).index_put((inside.nonzero(as_tuple=True)), values)
            pair_sum = pair_sum + torch.bmm(full.transpose(1, 2), part)
            empty = (-self.davg[:, 0, :1] / self.dstd[:, 0, :1]).to(self.dtype)
            pad = (net(empty) * empty)[types] * (slots - count).to(self.dtype)[:, None]
            pair_sum = pair_sum + torch.nn.functional.pad(pad[..., None], (0, 3))
            first += n
        a = pair_sum / sum(self.sel)
        d = torch.bmm(a, a[:, :self.axis].transpose(1, 2)).reshape(len(types), -1)
        energy = self.bias[types].sum()
        for net, chosen in zip(self.fitting, of_type):
            energy = energy + net(d[chosen]).sum(dtype=torch.float64)
        return energy


def neighbours(x, box, types, sel, rcut):
    """Lists by type, padded to the most neighbours of any atom: atom numbers, shifts of the image, which slots are real; then
    the numbers of slots, and of real neighbours by atom, for each type."""
    n = len(x)
    slots = sum(sel)
    index, shift, real = np.zeros((n, slots), int), np.zeros((n, slots, 3)), np.zeros((n, slots), bool)
    images = np.array(np.meshgrid(*3 * [[-1, 0, 1]])).reshape(3, -1).T @ box
    for i in range(n):
        d = np.linalg.norm(x[None] + images[:, None] - x[i], axis=2)
        image, j = np.nonzero((d < rcut) & (d > 1e-9))
        first = 0
        for t, most in enumerate(sel):
            mine = np.nonzero(types[j] == t)[0]
            mine = mine[np.argsort(d[image[mine], j[mine]])]
            assert len(mine) <= most
            place = slice(first, first + len(mine))
            index[i, place], shift[i, place], real[i, place] = j[mine], images[image[mine]], True
            first += most
    first = np.concatenate([[0], np.cumsum(sel)])
    counts = [real[:, a:b].sum(1) for a, b in zip(first, first[1:])]
    most = [int(c.max()) for c in counts]
    kept = np.concatenate([np.arange(a, a + m) for a, m in zip(first, most)])
    return (torch.tensor(index[:, kept]), torch.tensor(shift[:, kept]), torch.tensor(real[:, kept]), most,
            [torch.tensor(c) for c in counts])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("system")
    parser.add_argument("frame", type=int)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with h5py.File(options.model) as file:
        tree = arrays(json.loads(file.attrs["json"]), file)
    folder = options.system + "/set.000/"
    x, box, energy, force = (np.load(folder + name + ".npy")[options.frame].astype(float) for name in ("coord", "box", "energy", "force"))
    types = np.loadtxt(options.system + "/type.raw", dtype=int).reshape(-1)
    x, box, force = x.reshape(-1, 3), box.reshape(3, 3), torch.tensor(force.reshape(-1, 3))
    x = x - np.floor(x @ np.linalg.inv(box)) @ box
    descriptor = tree["model"]["descriptor"]
    lists = neighbours(x, box, types, descriptor["sel"], descriptor["rcut"])
    of_type = [torch.tensor(np.nonzero(types == t)[0]) for t in range(len(descriptor["sel"]))]
    out = {"torch": torch.__version__, "threads": 1}
    for name, dtype in (("float32", torch.float32), ("float64", torch.float64)):
        model = Model(tree, dtype)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        position = torch.tensor(x, requires_grad=True)
        best, cpu, steps, end = 1e9, 1e9, 0, time.perf_counter() + options.seconds
        while steps < 4 or time.perf_counter() < end:
            start, start_cpu = time.perf_counter(), time.process_time()
            optimizer.zero_grad()
            e = model(position, torch.tensor(types), of_type, *lists)
            f = -torch.autograd.grad(e, position, create_graph=True)[0]
            loss = 0.02 * (e - energy[()]) ** 2 / len(x) + 1000.0 * ((f - force) ** 2).mean()
            loss.backward()
            optimizer.step()
            best = min(best, time.perf_counter() - start)
            cpu = min(cpu, time.process_time() - start_cpu)
            if steps == 0:
                out[f"force_rmse_{name}"] = float(((f - force) ** 2).mean().sqrt())
                out[f"energy_{name}"] = float(e)
            steps += 1
        out[f"ms_{name}"], out[f"cpu_ms_{name}"] = 1e3 * best, 1e3 * cpu
    print(json.dumps(out))


if __name__ == "__main__":
    main()
