"""Descriptors of Deep Potentials in the form with padded neighbour slots, with random networks; complex positions give complex values."""
import itertools

import numpy as np


def silu(x):
    return x / (1 + np.exp(-x))


def silut(threshold):
    e = np.exp(-threshold)
    slope = 1 / (1 + e) + threshold * e / (1 + e) ** 2
    return lambda x: np.where(x.real < threshold, silu(x), np.tanh(slope * (x - threshold)) + silu(threshold))


ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": lambda x: np.where(x.real > 0, x, 0),
    "relu6": lambda x: np.where(x.real > 6, 6, np.where(x.real > 0, x, 0)),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": silu,
    "silut:1.5": silut(1.5),
    "linear": lambda x: x,
}


def random_net(rng, sizes, activation, dt, out):
    layers = []
    for n, m in itertools.pairwise(sizes) if hasattr(itertools, "pairwise") else zip(sizes, sizes[1:]):
        has_dt = dt and m in (n, 2 * n)
        layers.append(dict(w=rng.normal(size=(n, m)) / np.sqrt(n + m) * 2, b=rng.normal(size=m) * 0.5,
                           idt=rng.uniform(0.1, 0.4, m) if has_dt else None, act=activation, resnet=True))
    if out:
        layers.append(dict(w=rng.normal(size=(sizes[-1], out)), b=rng.normal(size=out), idt=None, act="linear",
                           resnet=False))
    return layers


def layer_tree(l):
    return {"@class": "Layer", "@version": 1, "bias": l["b"] is not None, "use_timestep": l["idt"] is not None,
            "activation_function": l["act"], "resnet": l["resnet"], "precision": "float64",
            "@variables": {"w": l["w"], "b": l["b"], "idt": l["idt"]}}


def collection(nets, ntypes, kind, ndim):
    def layers(net):
        return [layer_tree(l) for l in net]

    return {"@class": "NetworkCollection", "@version": 1, "ndim": ndim, "ntypes": ntypes, "network_type": kind,
            "networks": [n and {"@class": "Network", "@version": 1, "layers": layers(n)} for n in nets]}


class Descriptor:
    """One descriptor's numbers: statistics by slot and embedding networks, none where se_e3 uses no pair of types."""

    def __init__(self, rng, c):
        self.c, nt = c, len(c["type_map"])
        kind = c["descriptor"]
        self.radial, self.angles = kind == "se_r", kind == "se_e3"
        comps = 1 if self.radial else 4
        self.one_side = c["one_side"] and not self.angles
        self.types = None
        if kind == "se_e2_a" and c.get("tebd"):
            self.types = random_net(rng, [nt] + c["tebd"], c.get("tebd_activation", "tanh"), c.get("tebd_dt", False), None)
            for l in self.types if not c.get("tebd_bias") else []:
                l["b"] = None
        inputs = 1 + (c["tebd"][-1] * (1 if self.one_side else 2) if self.types else 0)
        self.emb = [random_net(rng, [inputs] + c["neuron"], c["activation"], c.get("emb_dt", False), None)
                    if not self.angles or k % nt <= k // nt else None
                    for k in range(1 if self.types else nt if self.one_side else nt * nt)]
        self.size = c["neuron"][-1] * (1 if self.radial or self.angles else c["axis"]) + (c["tebd"][-1] if self.types else 0)
        avg = np.zeros((nt, comps)) if c.get("zero_mean") else np.pad(rng.uniform(0.05, 0.3, (nt, 1)), ((0, 0), (0, comps - 1)))
        std = rng.uniform(0.2, 0.5, (nt, comps))
        if self.angles:
            std[:] = std[:, 1:2]
        self.davg = np.repeat(avg[:, None, :], sum(c["sel"]), 1)
        self.dstd = np.repeat(std[:, None, :], sum(c["sel"]), 1)

    def tree(self):
        c, nt = self.c, len(self.c["type_map"])
        out = {"@class": "Descriptor", "type": c["descriptor"], "@version": 1, "rcut": c["rcut"],
               "rcut_smth": c["rcut_smth"], "sel": c["sel"], "neuron": c["neuron"], "axis_neuron": c["axis"],
               "type_one_side": c["one_side"], "exclude_types": [], "env_protection": c.get("protection", 0.0),
               "activation_function": c["activation"], "precision": "float64",
               "embeddings": collection(self.emb, nt, "embedding_network", 0 if self.types else 1 if self.one_side else 2),
               "@variables": {"davg": self.davg, "dstd": self.dstd}, "type_map": c["type_map"]}
        if self.types:
            out["type_embedding"] = {"@class": "TypeEmbedNet", "embedding": {"layers": [layer_tree(l) for l in self.types]}}
        return {k: v for k, v in out.items() if k not in ("axis_neuron", "type_one_side")} if self.angles else out

    def values(self, neighbours, ti):
        """Columns of a centre of type ti; `neighbours` are (r, d, type) with d and r possibly complex."""
        c, nt = self.c, len(self.c["type_map"])
        rs, rc, width = cut_offs(c)
        sections = np.cumsum([0] + c["sel"])
        rows, pairs = [], []
        for tj in range(nt):
            near = []
            for r, d, t in neighbours:
                if t == tj and r.real < rc:
                    u = (r - rs) / width
                    u = u if 0 < u.real < 1 else min(max(0, u.real), 1)
                    w = u**3 * (-6 * u * u + 15 * u - 10) + 1
                    q = r + c.get("protection", 0.0)
                    near.append((r.real, w * np.concatenate([[1 / q], d / q**2])[: 1 if self.radial else 4]))
            near.sort(key=lambda e: e[0])
            assert len(near) <= c["sel"][tj], "the reference must not truncate"
            env = np.zeros((c["sel"][tj], 1 if self.radial else 4), complex)
            for k, (_, row) in enumerate(near):
                env[k] = row
            rows.append((env - self.davg[ti, sections[tj]]) / self.dstd[ti, sections[tj]])
        if self.angles:
            for a in range(nt):
                for b in range(a, nt):
                    s = rows[a][:, 1:] @ rows[b][:, 1:].T
                    g = run(self.emb[a + b * nt], s.reshape(-1, 1))
                    pairs.append(s.ravel() @ g / (c["sel"][a] * c["sel"][b]))
            return sum(pairs)
        table = run(self.types, np.eye(nt)) if self.types else None
        for tj in range(nt):
            if self.types:  # empty slots have a type, too
                own = [table[tj]] if self.one_side else [table[tj], table[ti]]
                g = run(self.emb[0], np.concatenate([rows[tj][:, :1], np.tile(np.concatenate(own), (len(rows[tj]), 1))], -1))
            else:
                g = run(self.emb[tj if self.one_side else ti + tj * nt], rows[tj][:, :1])
            pairs.append(g.sum(0) if self.radial else g.T @ rows[tj])
        a = sum(pairs) / sum(c["sel"])
        d = a / 5 if self.radial else (a @ a[: c["axis"]].T).ravel()
        return np.concatenate([d, table[ti]]) if self.types else d

    def vacuum(self, values, ti):
        """TensorFlow leaves the type embedding in the input whose energy is that of the vacuum."""
        out = 0 * values
        if self.types:
            out[-self.c["tebd"][-1] :] = run(self.types, np.eye(len(self.c["type_map"])))[ti]
        return out


class SpeciesDescriptor:
    """se_atten of DeePMD-kit (dpa1 in files; Zhang et al., arXiv 2208.08236), with one list of slots for all types."""

    def __init__(self, rng, c):
        self.c, nt = c, len(c["type_map"])
        self.nnei = sum(c["sel"])
        tebd, width, attn = c["tebd"][-1], c["neuron"][-1], c["attn"]
        self.types = random_net(rng, [nt] + c["tebd"], c.get("tebd_activation", "linear"), False, None)
        for l in self.types if not c.get("tebd_bias") else []:
            l["b"] = None
        self.emb = random_net(rng, [1 + tebd * (1 if c["one_side"] else 2)] + c["neuron"], c["activation"],
                              c.get("emb_dt", False), None)
        matrix = lambda n, m: dict(w=rng.normal(size=(n, m)) / np.sqrt(n) * 2, b=rng.normal(size=m) * 0.5, idt=None, act="none",
                                   resnet=False)
        self.attention = [dict(proj=matrix(width, 3 * attn), out=matrix(attn, width), w=rng.uniform(0.5, 1.5, width),
                               b=rng.normal(size=width) * 0.3) for _ in range(c["attn_layer"])]
        self.size = width * c["axis"] + (tebd if c.get("concat", True) else 0)
        self.davg = np.zeros((nt, self.nnei, 4))
        self.dstd = np.repeat(rng.uniform(0.2, 0.5, (nt, 1, 4)), self.nnei, 1)

    def tree(self):
        c, nt, tebd = self.c, len(self.c["type_map"]), self.c["tebd"][-1]
        keys = {"dotr": c.get("dotr", True), "normalize": c.get("normalize", True),
                "scaling_factor": c.get("scaling_factor", 1.0), "temperature": c.get("temperature")}
        layers = [{**keys, "attention_layer": {**keys, "num_heads": 1, "in_proj": layer_tree(a["proj"]),
                                               "out_proj": layer_tree(a["out"])},
                   "attn_layer_norm": {"@class": "LayerNorm", "eps": 1e-3, "@variables": {"w": a["w"], "b": a["b"]}}}
                  for a in self.attention]
        return {"@class": "Descriptor", "type": "dpa1", "@version": 2, "rcut": c["rcut"], "rcut_smth": c["rcut_smth"],
                "sel": [self.nnei], "ntypes": nt, "neuron": c["neuron"], "axis_neuron": c["axis"], "tebd_dim": tebd,
                "tebd_input_mode": "concat", "attn": c["attn"], "attn_layer": c["attn_layer"], "attn_mask": False,
                "attn_dotr": keys["dotr"], "normalize": keys["normalize"], "scaling_factor": keys["scaling_factor"],
                "temperature": keys["temperature"], "ln_eps": 1e-3, "smooth_type_embedding": c.get("smooth", True),
                "type_one_side": c["one_side"], "concat_output_tebd": c.get("concat", True), "exclude_types": [],
                "env_protection": c.get("protection", 0.0), "activation_function": c["activation"],
                "precision": "float64", "embeddings": collection([self.emb], nt, "embedding_network", 0),
                "type_embedding": {"@class": "TypeEmbedNet", "embedding": {"layers": [layer_tree(l) for l in self.types]}},
                "attention_layers": {"@class": "NeighborGatedAttention", "attention_layers": layers},
                "@variables": {"davg": self.davg, "dstd": self.dstd}}

    def attend(self, a, g, switch, unit):
        """One layer; rows of `g` behind the last neighbour are empty slots, whose switch is 0."""
        c = self.c
        q, k, v = np.split(g @ a["proj"]["w"] + a["proj"]["b"], 3, -1)
        if c.get("normalize", True):
            q, k, v = (x / np.sqrt((x * x).sum(-1, keepdims=True)) for x in (q, k, v))
        scale = c.get("temperature") or (c["attn"] * c.get("scaling_factor", 1.0)) ** -0.5
        weights, both = scale * q @ k.T, np.outer(switch, switch)
        real = np.arange(len(g)) < len(unit)
        if c.get("smooth", True):
            weights = (weights + 20) * both - 20
        else:
            weights = np.where(real[None, :], weights, -np.inf)
        weights = np.exp(weights - weights.real.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        if c.get("smooth", True):
            weights = weights * both
        if c.get("dotr", True):
            padded = np.concatenate([unit, np.zeros((len(g) - len(unit), 3))])
            weights = weights * (padded @ padded.T)
        x = g + (weights * real[:, None]) @ v @ a["out"]["w"] + a["out"]["b"]
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3) * a["w"] + a["b"]

    def values(self, neighbours, ti):
        c = self.c
        rs, rc, width = cut_offs(c)
        table = run(self.types, np.eye(len(c["type_map"])))
        near = sorted([(r.real, r, d, t) for r, d, t in neighbours if r.real < rc], key=lambda e: e[0])
        assert len(near) <= self.nnei, "the reference must not truncate"
        env, switch = np.zeros((self.nnei, 4), complex), np.zeros(self.nnei, complex)
        species = np.zeros((self.nnei, table.shape[1]))
        for n, (_, r, d, t) in enumerate(near):
            u = (r - rs) / width
            u = u if 0 < u.real < 1 else min(max(0, u.real), 1)
            switch[n] = u**3 * (-6 * u * u + 15 * u - 10) + 1
            q = r + c.get("protection", 0.0)
            env[n] = switch[n] * np.concatenate([[1 / q], d / q**2])
            species[n] = table[t]
        env = env / self.dstd[ti]
        unit = env[: len(near), 1:]
        unit = unit / np.sqrt((unit * unit).sum(-1, keepdims=True))
        centre = [] if c["one_side"] else [np.repeat(table[ti : ti + 1], self.nnei, 0)]
        g = run(self.emb, np.concatenate([env[:, :1], species] + centre, -1))
        for layer in self.attention:
            g = self.attend(layer, g, switch, unit)
        a = g.T @ env / self.nnei
        d = (a @ a[: c["axis"]].T).ravel()
        return np.concatenate([d, table[ti]]) if c.get("concat", True) else d

    def vacuum(self, values, ti):
        return 0 * values


def run(net, x):
    for l in net:
        y = ACTIVATIONS[l["act"]](x @ l["w"] + (0 if l["b"] is None else l["b"]))
        if l["idt"] is not None:
            y = y * l["idt"]
        n, m = l["w"].shape
        if l["resnet"] and m == n:
            y = y + x
        elif l["resnet"] and m == 2 * n:
            y = y + np.concatenate([x, x], -1)
        x = y
    return x


def cut_offs(c):
    rs, rc = c["rcut_smth"], c["rcut"]
    if c.get("single_cutoffs"):
        rs, rc = np.float32(rs), np.float32(rc)
        return float(rs), float(rc), float(rc - rs)
    return rs, rc, rc - rs
