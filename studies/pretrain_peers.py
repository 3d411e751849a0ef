"""Peers of `cambium bench pretrain`: eager PyTorch and faiss, one thread each. Answers one line of JSON for each line it reads.

    names                                       {"torch": "1.13.1", "faiss": "1.7.3"}
    search ROWS QUERIES STRIDE COLUMNS COUNT LISTS RECALL TURNS     builds faiss's indices; how many lists reach the recall on half of 400 queries,
                                                recall on the other half, seconds to build
    search_turn                                 microseconds of a query: all rows alone and together, inverted lists
    search_answers QUERIES                      numbers that the search by all rows finds
    features FIRST SECOND SAMPLES WIDTH
    loss SCHEME TEMPERATURE CALLS               milliseconds of value and derivatives, both as numbers to compare
    step FILE STEPS                             losses of the first steps of the encoder described there
    step_turn STEPS                             milliseconds of one step
Times are of the processor.
"""
import json
import sys
import time

import numpy as np

try:
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)
except ImportError:
    torch = None
try:
    import faiss

    faiss.omp_set_num_threads(1)
except ImportError:
    faiss = None


def timed(call, calls=1):
    begun = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - begun) / calls


class Search:
    """Inner products with all rows, and inverted lists: as they are, and in bytes with the best compared again."""

    def __init__(self, rows, queries, stride, columns, count, lists, recall, turns):
        read = lambda path: np.ascontiguousarray(np.fromfile(path, np.float32).reshape(-1, int(stride))[:, :int(columns)])
        self.rows, self.queries, self.count = read(rows), read(queries), int(count)
        self.flat = faiss.IndexFlatIP(int(columns))
        self.flat.add(self.rows)
        some = self.queries[np.arange(400) * len(self.queries) // 400] if len(self.queries) > 400 else self.queries
        self.exact = [self.flat.search(some[k::2], self.count)[1] for k in range(2)]
        self.halves = [some[0::2], some[1::2]]
        self.made, self.said = {}, {}
        for name in ("ivf", "ivf_bytes"):
            coarse = faiss.IndexFlatIP(int(columns))
            if name == "ivf":
                index = faiss.IndexIVFFlat(coarse, int(columns), int(lists), faiss.METRIC_INNER_PRODUCT)
            else:
                index = faiss.IndexIVFScalarQuantizer(coarse, int(columns), int(lists), faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
            index.cp.niter, index.cp.max_points_per_centroid = 8, 40
            self.said[f"{name}_build_seconds"] = timed(lambda: (index.train(self.rows), index.add(self.rows)))
            self.made[name] = (index, coarse)
            self.choose(name, index, int(lists), float(recall))

    def found(self, name, queries):
        index = self.made[name][0]
        if name == "ivf":
            return index.search(queries, self.count)[1]
        near = index.search(queries, 4 * self.count + 16)[1]
        again = np.einsum("qkc,qc->qk", self.rows[near], queries)
        again[near < 0] = -2
        order = np.argsort(-again, axis=1)[:, :self.count]
        return np.take_along_axis(near, order, axis=1)

    def recall(self, name, half):
        found, exact = self.found(name, self.halves[half]), self.exact[half]
        return np.array([len(set(f) & set(e)) / self.count for f, e in zip(found, exact)])

    def choose(self, name, index, lists, recall):
        def enough(probes):
            index.nprobe = probes
            r = self.recall(name, 0)
            return r.mean() - r.std(ddof=1) / np.sqrt(len(r)) >= recall

        low, high = 0, 1
        while high < lists and not enough(high):
            low, high = high, min(2 * high, lists)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        index.nprobe = high
        self.said[f"{name}_probes"], self.said[f"{name}_recall"] = high, float(self.recall(name, 1).mean())

    def turn(self):
        one = timed(lambda: [self.flat.search(self.queries[k:k + 1], self.count) for k in range(8)]) / 8
        some = self.queries[:384]
        out = {"flat_one_us": 1e6 * one, "flat_us": 1e6 * timed(lambda: self.flat.search(some, self.count)) / len(some)}
        for name in self.made:
            out[f"{name}_us"] = 1e6 * timed(lambda: self.found(name, self.queries)) / len(self.queries)
        return out


def projection(x):
    k = torch.arange(x.numel(), dtype=torch.int64)
    return float((x.flatten().double() * ((k * 31 % 17).double() - 8) / 8).sum())


class Losses:
    def __init__(self, first, second, samples, width):
        self.x, self.y = (torch.from_numpy(np.fromfile(f, np.float32).reshape(int(samples), int(width))).requires_grad_() for f in (first, second))
        self.u = None

    @staticmethod
    def infonce(x, y, t):
        s, own = x @ y.t() / t, torch.arange(len(x))
        return (F.cross_entropy(s, own) + F.cross_entropy(s.t(), own)) / 2

    def v3(self, x, y, t, inner=0.5, epsilon=1e-14, rho=6.5):
        """FastCLIP's surrogate, whose derivatives take g / (u + epsilon) with u as data; returns it and the objective."""
        s = x @ y.t()
        own, others = s.diagonal(), len(x) - 1
        apart = 1 - torch.eye(len(x))
        g1 = (torch.exp((s - own[:, None]) / t) * apart).sum(1) / others
        g2 = (torch.exp((s - own[None, :]) / t) * apart).sum(0) / others
        with torch.no_grad():
            old = self.u
            u1, u2 = (g1.detach(), g2.detach()) if old is None else ((1 - inner) * old[0] + inner * g1, (1 - inner) * old[1] + inner * g2)
            self.u = (u1, u2)
            objective = t * ((torch.log(u1 + epsilon) + torch.log(u2 + epsilon)).mean() / 2 + rho)
        return t * (g1 / (u1 + epsilon) + g2 / (u2 + epsilon)).mean() / 2, objective

    def call(self, scheme, t):
        self.x.grad = self.y.grad = None
        loss = self.infonce(self.x, self.y, t) if scheme == "infonce" else self.v3(self.x, self.y, t)
        loss, value = loss if isinstance(loss, tuple) else (loss, loss)
        loss.backward()
        return float(value)

    def measure(self, scheme, t, calls):
        self.u = None
        value = self.call(scheme, t)
        derivatives = projection(self.x.grad) + 2 * projection(self.y.grad)
        return {"value": value, "derivatives": derivatives, "ms": 1e3 * timed(lambda: self.call(scheme, t), calls)}


class Step:
    """The same encoder; both views together or one after the other, whichever is faster."""

    def __init__(self, path):
        self.d = json.load(open(path))
        numbers, at, self.w, groups = np.fromfile(self.d["weights_file"], np.float32), 0, {}, {True: [], False: []}
        for info in self.d["weights"]:
            n = int(np.prod(info["shape"]))
            self.w[info["name"]] = torch.from_numpy(numbers[at:at + n].reshape(info["shape"]).copy()).requires_grad_()
            groups[info["decay"]].append(self.w[info["name"]])
            at += n
        self.optimizer = torch.optim.AdamW([{"params": groups[True], "weight_decay": self.d["decay"]}, {"params": groups[False], "weight_decay": 0.0}],
                                           lr=self.d["rate"], betas=(0.9, 0.999), eps=1e-8)
        shape = [self.d["batch"]] + self.d["shape"]
        scale = lambda key: torch.tensor(self.d["state"]["scales"][key], dtype=torch.float32).reshape(1, -1, 1, 1)
        self.mean, self.deviation = scale("mean"), scale("deviation")
        self.views = [torch.from_numpy(np.fromfile(self.d[name], np.float32).reshape(shape)) for name in ("field", "partner")]
        self.together = True

    def conv(self, x, name, stride):
        across, along = self.d["periodic"]
        if across:
            x = F.pad(x, (0, 0, 1, 1), mode="circular")
        if along:
            x = F.pad(x, (1, 1, 0, 0), mode="circular")
        return F.conv2d(x, self.w[name + ".weight"], self.w[name + ".bias"], stride, (0 if across else 1, 0 if along else 1))

    def norm(self, x, name):
        c = x.shape[1]
        groups = next((g for g in (8, 4, 2) if c % g == 0 and c // g >= 4), 1)
        return F.group_norm(x, groups, self.w[name + ".weight"], self.w[name + ".bias"])

    def encode(self, x):
        x, s = (x - self.mean) / self.deviation, 0
        while f"field.down{s}.weight" in self.w:
            x = torch.relu(self.norm(self.conv(x, f"field.down{s}", 2), f"field.norm{s}"))
            x = x + torch.relu(self.norm(self.conv(x, f"field.beside{s}", 1), f"field.norm_beside{s}"))
            s += 1
        return F.normalize(F.linear(x.mean((2, 3)), self.w["field.out.weight"], self.w["field.out.bias"]), dim=1, eps=1e-8)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        x, y = self.encode(torch.cat(self.views)).chunk(2) if self.together else map(self.encode, self.views)
        loss = Losses.infonce(x, y, self.d["temperature"])
        loss.backward()
        self.optimizer.step()
        return float(loss)

    def choose(self):
        times = {}
        for self.together in (True, False):
            self.step()
            times[self.together] = timed(self.step, 5)
        self.together = min(times, key=times.get)


def main():
    search = losses = step = None
    for line in sys.stdin:
        words = line.split()
        try:
            if words[0] == "names":
                kinds = {"torch": torch, "faiss": faiss}
                answer = {name: kind.__version__ for name, kind in kinds.items() if kind is not None}
            elif words[0] == "search":
                search = None
                search = Search(*words[1:])
                answer = search.said
            elif words[0] == "search_turn":
                answer = search.turn()
            elif words[0] == "search_answers":
                answer = search.flat.search(search.queries[:int(words[1])], search.count)[1].flatten().tolist()
            elif words[0] == "features":
                losses, answer = Losses(*words[1:]), {}
            elif words[0] == "loss":
                answer = losses.measure(words[1], float(words[2]), int(words[3]))
            elif words[0] == "step":
                step = Step(words[1])
                answer = {"losses": [step.step() for _ in range(int(words[2]))]}
                step.choose()
            else:
                answer = {"ms": 1e3 * timed(step.step, int(words[1]))}
        except Exception as error:  # whatever it is, the bench goes on without this peer
            answer = {"failed": repr(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
