"""Atomic cluster expansions as pacemaker's .yace files define them, in numpy: made-up models, and their energies by plain sums over neighbours with scipy's
spherical harmonics. No recursion, no splines; written from the papers (Drautz 2019, Lysogorskiy 2021), for tests."""
import itertools
import math

import numpy as np
from scipy.special import sph_harm

K_COULOMB = 14.399645351950543  # eV Å
ZBL = ((0.18175, 3.19980), (0.50986, 0.94229), (0.28022, 0.40290), (0.02817, 0.20162))
CHARGE = {"H": 1, "C": 6, "Si": 14, "Cu": 29}


def fall(x, end, width):
    """1 below end - width, 0 above end, a polynomial of degree 5 between."""
    if width <= 0:
        return np.where(x <= end, 1.0, 0.0)
    u = np.clip((end - x) / width, 0.0, 1.0)
    return u ** 3 * (10 - 15 * u + 6 * u * u)


def chebyshev(k, x):
    return np.cos(k * np.arccos(np.clip(x, -1, 1)))


def basis(bond, r, count, inner):
    """(count, neighbours)"""
    rc, name, lam = bond["rcut"], bond["radbasename"], bond["radparameters"][0]
    x = r / rc
    if name == "ChebExpCos":
        u = 1 - 2 * (np.exp(-lam * x) - np.exp(-lam)) / (1 - np.exp(-lam))
        g = np.array([np.ones_like(r) if k == 0 else 0.5 - 0.5 * chebyshev(k, u) for k in range(count)])
        g *= 0.5 + 0.5 * np.cos(np.pi * x)
        if bond["dcut"] > 0:
            g *= np.where(r > rc - bond["dcut"], 0.5 + 0.5 * np.cos(np.pi * (r - rc + bond["dcut"]) / bond["dcut"]), 1.0)
    elif name == "ChebPow":
        g = np.array([0.5 - 0.5 * chebyshev(k + 1, 2 * (1 - (1 - x) ** lam) - 1) for k in range(count)])
    elif name == "ChebLinear":
        g = np.array([0.5 - 0.5 * chebyshev(k + 1, 1 - x) for k in range(count)])
    else:
        g, before = [], 1.0
        for n in range(count):
            f = ((-1) ** n * math.sqrt(2) * math.pi / rc ** 1.5 * (n + 1) * (n + 2) / math.hypot(n + 1, n + 2)
                 * (np.sinc((n + 1) * x) + np.sinc((n + 2) * x)))
            if n:
                e = n * n * (n + 2) ** 2 / (4 * (n + 1) ** 4 + 1)
                d = 1 - e / before
                f = (f + math.sqrt(e / before) * g[-1]) / math.sqrt(d)
                before = d
            g.append(f)
        g = np.array(g)
    if inner != "zbl":
        g = g * (r > bond["rcut_in"] - bond["dcut_in"])
    if inner == "distance":
        g = g * (1 - fall(r, bond["rcut_in"], bond["dcut_in"]))
    return g * (r < rc)


def core(bond, r, inner, charges):
    rc = bond["rcut"]
    if inner == "zbl":
        a = 0.46850 / (charges[0] ** 0.23 + charges[1] ** 0.23)
        w = bond["dcut"]

        def screened(d, order):
            phi = [sum(c * (-q / a) ** k * np.exp(-q * d / a) for c, q in ZBL) for k in range(3)]
            return (phi[0] / d, phi[1] / d - phi[0] / d ** 2, phi[2] / d - 2 * phi[1] / d ** 2 + 2 * phi[0] / d ** 3)[order]
        e, e1, e2 = (screened(rc, k) for k in range(3))
        d = np.maximum(r - rc + w, 0)
        shift = -e + w * e1 / 2 - w * w * e2 / 12 + (w * e2 - 3 * e1) / w ** 2 * d ** 3 / 3 + (2 * e1 - w * e2) / w ** 3 * d ** 4 / 4
        return 0.5 * bond["prehc"] * K_COULOMB * charges[0] * charges[1] * (screened(r, 0) + shift) * fall(r, rc, w)
    lr2 = abs(bond["lambdahc"]) * r * r
    out = np.where(lr2 < 50, abs(bond["prehc"]) * np.exp(-lr2) / r * (0.5 + 0.5 * np.cos(np.pi * r / rc)), 0.0)
    return out * fall(r, bond["rcut_in"], bond["dcut_in"]) if inner == "distance" else out


def embed(rho, m, kind):
    a, sign = abs(rho), -1.0 if rho < 0 else 1.0
    if m == 1:
        return rho
    if kind == "FinnisSinclair":
        g = math.exp(-min((1e6 * a) ** 3, 700.0))
        return sign * ((1 - g) * a ** m + 1e6 ** (1 - m) * g * a)
    n = 1 / m
    return sign * ((n ** (n / (1 - n)) * math.exp(-a) + a) ** m - n ** (1 / (1 - n)) * math.exp(-a))


def energy_of_atom(model, mu, types, vectors):
    """vectors: (neighbours, 3) from the atom; types of the neighbours."""
    r = np.linalg.norm(vectors, axis=1)
    unit = vectors / r[:, None]
    azimuth, polar = np.arctan2(unit[:, 1], unit[:, 0]), np.arccos(np.clip(unit[:, 2], -1, 1))
    inner = model["bonds"][mu, mu]["inner_cutoff_type"]
    count = max(b["nradbasemax"] for b in model["bonds"].values())
    sums = {}

    def product_sum(other, n, l, m, rank):
        key = (other, n, l, m, rank == 1)
        if key not in sums:
            bond = model["bonds"][mu, other]
            near = (types == other) & (r < bond["rcut"])
            g = basis(bond, r[near], count, inner)
            if rank == 1:
                sums[key] = g[n - 1].sum()
            elif n > bond["nradmax"] or l > bond["lmax"]:
                sums[key] = 0.0
            else:
                radial = np.array(bond["radcoefficients"][n - 1][l]) @ g[:bond["nradbasemax"]]
                sums[key] = (radial * math.sqrt(4 * math.pi) * sph_harm(m, l, azimuth[near], polar[near])).sum()
        return sums[key]

    e = model["embeddings"][mu]
    rho = np.zeros(e["ndensity"])
    for f in model["functions"][mu]:
        c = np.reshape(f["ctildes"], (f["num_ms_combs"], e["ndensity"]))
        for ms, by_density in zip(np.reshape(f["ms_combs"], (-1, f["rank"])), c):
            rho += by_density * np.prod([product_sum(*factor, f["rank"]) for factor in zip(f["mus"], f["ns"], f["ls"], ms)]).real
    energy = sum(w * embed(x, m, e["npoti"]) for x, w, m in zip(rho, e["FS_parameters"][::2], e["FS_parameters"][1::2]))
    repulsion, closest, width = 0.0, math.inf, 1.0
    for other in range(len(model["elements"])):
        bond = model["bonds"][mu, other]
        near = (types == other) & (r < bond["rcut"])
        if near.any():
            charges = [CHARGE[model["elements"][t]] for t in (mu, other)]
            repulsion += core(bond, r[near], inner, charges).sum()
            distance = r[near].min() - bond["rcut_in"] + bond["dcut_in"]
            if distance < closest:
                closest, width = distance, bond["dcut_in"]
    if inner == "zbl":
        share = fall(width - closest, width, width) if closest < math.inf else 1.0
        return model["E0"][mu] + share * energy + (1 - share) * repulsion
    return model["E0"][mu] + energy * fall(repulsion, e["rho_core_cutoff"], e["drho_core_cutoff"]) + repulsion


def energies(model, symbols, x, cell=None):
    """Of atoms, with all periodic images of a cell, or of a molecule."""
    cutoff = max(b["rcut"] for b in model["bonds"].values())
    mu = np.array([model["elements"].index(s) for s in symbols])
    shifts = np.zeros((1, 3))
    if cell is not None:
        heights = abs(np.linalg.det(cell)) / np.array([np.linalg.norm(np.cross(cell[k - 2], cell[k - 1])) for k in range(3)])
        spread = x @ np.linalg.inv(cell)
        reach = [int(math.ceil(cutoff / h + np.ptp(spread[:, k]))) for k, h in enumerate(heights)]
        shifts = np.array(list(itertools.product(*(range(-n, n + 1) for n in reach)))) @ cell
    out = []
    for i in range(len(x)):
        d = (x[None] + shifts[:, None] - x[i]).reshape(-1, 3)
        r = np.linalg.norm(d, axis=1)
        near = (r < cutoff) & (r > 1e-9)
        out.append(energy_of_atom(model, mu[i], np.tile(mu, len(shifts))[near], d[near]))
    return np.array(out)


def slope(function, h=1e-4):
    """Fourth-order central difference at 0."""
    return (8 * (function(h) - function(-h)) - function(2 * h) + function(-2 * h)) / (12 * h)


def wigner(a, i, b, j, c, k):
    """<a i b j | c k>"""
    if i + j != k or not abs(a - b) <= c <= a + b or abs(i) > a or abs(j) > b or abs(k) > c:
        return 0.0
    f, total = math.factorial, 0.0
    for s in range(a + b - c + 1):
        terms = (a + b - c - s, a - i - s, b + j - s, c - b + i + s, c - a - j + s)
        if min(terms) >= 0:
            total += (-1) ** s / (f(s) * math.prod(f(t) for t in terms))
    return total * math.sqrt((2 * c + 1) * f(a + b - c) * f(a - b + c) * f(b - a + c) / f(a + b + c + 1)
                             * f(a + i) * f(a - i) * f(b + j) * f(b - j) * f(c + k) * f(c - k))


def invariant(ls, inner):
    """Orders m of products and their coefficients: degrees coupled one after the other, the first k + 2 to inner[k]."""
    products = []
    for ms in itertools.product(*(range(-l, l + 1) for l in ls)):
        if sum(ms):
            continue
        c, degree, order = 1.0, ls[0], ms[0]
        for k in range(1, len(ls) - 1):
            c *= wigner(degree, order, ls[k], ms[k], inner[k - 1], order + ms[k])
            degree, order = inner[k - 1], order + ms[k]
        if len(ls) > 1:
            c *= (-1) ** (order % 2) * (degree == ls[-1])
        if c:
            products.append((ms, c))
    return products


def function(mu0, mus, ns, ls, inner, weights):
    """Coefficients of an invariant, one weight for each density."""
    products = invariant(ls, inner)
    return {"mu0": mu0, "rank": len(ls), "ndensity": len(weights), "num_ms_combs": len(products), "mus": list(mus), "ns": list(ns), "ls": list(ls),
            "ms_combs": [m for ms, _ in products for m in ms], "ctildes": [c * w for _, c in products for w in weights]}


def bond(kind, rng, n, l, k, rcut, lam=4.0, dcut=0.01, inner=(0.0, 0.0, "density"), prehc=0.0, lambdahc=1.0):
    return {"nradmax": n, "lmax": l, "nradbasemax": k, "radbasename": kind, "radparameters": [lam],
            "radcoefficients": rng.uniform(-0.6, 0.6, (n, l + 1, k)).tolist(), "prehc": prehc, "lambdahc": lambdahc, "rcut": rcut, "dcut": dcut,
            "rcut_in": inner[0], "dcut_in": inner[1], "inner_cutoff_type": inner[2]}


def embedding(kind, parameters, core_cutoff=100000.0, width=250.0):
    return {"ndensity": len(parameters) // 2, "FS_parameters": list(parameters), "npoti": kind, "rho_core_cutoff": core_cutoff, "drho_core_cutoff": width}


def flow(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(v) for v in value) + "]"
    return value if isinstance(value, str) else repr(float(value)) if isinstance(value, float) else str(value)


def write(path, model):
    """The model as a .yace file in the layout of pacemaker."""
    with open(path, "w") as file:
        file.write(f"elements: {flow(model['elements'])}\nE0: {flow(model['E0'])}\ndeltaSplineBins: 0.001\nembeddings:\n")
        for t, e in enumerate(model["embeddings"]):
            file.write(f"  {t}: {flow(e)}\n")
        file.write("bonds:\n")
        for pair in sorted(model["bonds"]):
            file.write(f"  [{pair[0]}, {pair[1]}]: {flow(model['bonds'][pair])}\n")
        file.write("functions:\n")
        for t, functions in enumerate(model["functions"]):
            file.write(f"  {t}:\n" + "".join(f"    - {flow(f)}\n" for f in functions))
    return path
