"""DFTB written as plainly as possible, in numpy, to compare with: Slater-Koster files, H and S, repulsion, charges, k-points. Hartree and bohr."""
import itertools
import math
import os

import numpy
from scipy.linalg import eigh
from scipy.optimize import root
from scipy.special import erfc

COLUMNS = {(2, 2): (0, 1, 2), (1, 2): (3, 4), (1, 1): (5, 6), (0, 2): (7,), (0, 1): (8,), (0, 0): (9,)}


def words(line):
    out = []
    for word in line.replace(",", " ").split():
        times, star, value = word.partition("*")
        out += [float(value)] * int(times) if star else [float(word)]
    return out


class File:
    def __init__(self, path, same):
        with open(path) as file:
            lines = file.read().splitlines()
        self.step, self.n = map(float, lines[0].replace(",", " ").split()[:2])
        self.n = int(self.n) - 1
        at = 1
        if same:
            v = words(lines[1])
            self.onsite, self.hubbard, self.electrons = v[2::-1], v[6:3:-1], v[9:6:-1]
            at = 2
        v = words(lines[at])
        self.poly, self.poly_cut = v[1:9], v[9]
        self.rows = numpy.array([words(line)[:20] for line in lines[at + 1:at + 1 + self.n]])
        self.spline = None
        for k, line in enumerate(lines):
            if line.strip() == "Spline":
                count = int(words(lines[k + 1])[0])
                self.head = words(lines[k + 2])
                self.spline = [words(line) for line in lines[k + 3:k + 3 + count]]

    def at(self, r):
        """Neville's scheme through eight rows; the tail ends one bohr behind the last row."""
        n, h, end = self.n, self.step, self.n * self.step
        if r >= end + 1:
            return numpy.zeros(20)
        if r >= end:
            y, e = self.rows[n - 1], 1e-3
            low, high = self.neville(n - 8, end - e), self.neville(n - 8, end + e)
            low2, high2 = self.neville(n - 8, end - 2 * e), self.neville(n - 8, end + 2 * e)
            d1 = (8 * (high - low) - (high2 - low2)) / (12 * e)
            d2 = (16 * (high + low) - (high2 + low2) - 30 * y) / (12 * e * e)
            # a quintic with these values at 0 and zeros at 1
            x = r - end
            m = numpy.array([[1, 1, 1], [3, 4, 5], [6, 12, 20]])
            c = numpy.linalg.solve(m, -numpy.array([y + d1 + d2 / 2, d1 + d2, d2]))
            return y + d1 * x + d2 / 2 * x**2 + c[0] * x**3 + c[1] * x**4 + c[2] * x**5
        last = max(8, min(n, int(r / h) + 4))
        return self.neville(last - 8, r)

    def neville(self, first, r):
        x = [(first + k + 1) * self.step for k in range(8)]
        p = [self.rows[first + k] for k in range(8)]
        for m in range(1, 8):
            p = [((r - x[i + m]) * p[i] + (x[i] - r) * p[i + 1]) / (x[i] - x[i + m]) for i in range(8 - m)]
        return p[0]

    def repulsion(self, r, form="automatic"):
        if form == "none":
            return 0.0
        if self.spline is None or form == "polynomial":
            return sum(c * (self.poly_cut - r)**(k + 2) for k, c in enumerate(self.poly)) if r < self.poly_cut else 0.0
        if r < self.spline[0][0]:
            return math.exp(-self.head[0] * r + self.head[1]) + self.head[2]
        for row in self.spline:
            if row[0] <= r < row[1]:
                return sum(c * (r - row[0])**k for k, c in enumerate(row[2:]))
        return 0.0


def d_functions(x):
    """xy, yz, zx, x2-y2, 3z2-r2 at unit vectors, up to one factor."""
    a, b, c = x.T
    s3 = math.sqrt(3)
    return numpy.array([s3 * a * b, s3 * b * c, s3 * c * a, s3 / 2 * (a * a - b * b), c * c - (a * a + b * b) / 2]).T


def turned_d(n):
    """Two d shells: functions along the bond are fitted by those of the axes at random points, so there is no table to be wrong."""
    n = numpy.array(n, float)
    side = numpy.cross(n, [1.0, 0, 0] if abs(n[0]) < 0.6 else [0, 1, 0])
    side /= numpy.linalg.norm(side)
    frame = numpy.array([numpy.cross(side, n), side, n])
    points = numpy.random.default_rng(3).normal(size=(60, 3))
    points /= numpy.linalg.norm(points, axis=1)[:, None]
    turn = numpy.linalg.lstsq(d_functions(points @ frame.T), d_functions(points), rcond=None)[0].T  # functions of the axes by those of the bond
    kinds = ((4,), (1, 2), (0, 3))
    return [[tuple(sum(turn[i, k] * turn[j, k] for k in kind) for kind in kinds) for j in range(5)] for i in range(5)]


def angular(la, lb, n):
    """Table of Slater and Koster: rows and columns are functions, entries coefficients of sigma, pi, delta. d: xy, yz, zx, x2-y2, 3z2-r2."""
    l, m, n = n
    s3 = math.sqrt(3)
    if (la, lb) == (0, 0):
        return [[(1,)]]
    if (la, lb) == (0, 1):
        return [[(l,), (m,), (n,)]]
    if (la, lb) == (1, 1):
        c = (l, m, n)
        return [[(c[i] * c[j], (i == j) - c[i] * c[j]) for j in range(3)] for i in range(3)]
    if (la, lb) == (0, 2):
        return [[(s3 * l * m,), (s3 * m * n,), (s3 * n * l,), (s3 / 2 * (l * l - m * m),), (n * n - (l * l + m * m) / 2,)]]
    if (la, lb) == (1, 2):
        d, z = l * l - m * m, n * n - (l * l + m * m) / 2
        return [[(s3 * l * l * m, m * (1 - 2 * l * l)), (s3 * l * m * n, -2 * l * m * n), (s3 * l * l * n, n * (1 - 2 * l * l)),
                 (s3 / 2 * l * d, l * (1 - d)), (l * z, -s3 * l * n * n)],
                [(s3 * m * m * l, l * (1 - 2 * m * m)), (s3 * m * m * n, n * (1 - 2 * m * m)), (s3 * l * m * n, -2 * l * m * n),
                 (s3 / 2 * m * d, -m * (1 + d)), (m * z, -s3 * m * n * n)],
                [(s3 * l * m * n, -2 * l * m * n), (s3 * n * n * m, m * (1 - 2 * n * n)), (s3 * n * n * l, l * (1 - 2 * n * n)),
                 (s3 / 2 * n * d, -n * d), (n * z, s3 * n * (l * l + m * m))]]
    return turned_d((l, m, n))


class Model:
    def __init__(self, folder, symbols, highest, separator="-"):
        self.file = {(a, b): File(os.path.join(folder, f"{a}{separator}{b}.skf"), a == b) for a in symbols for b in symbols}
        self.highest = highest

    def size(self, a):
        return (self.highest[a] + 1)**2

    def block(self, a, b, d):
        """H and S of atoms a and b = a + d."""
        r = math.sqrt(sum(c * c for c in d))
        n = [c / r for c in d]
        out = numpy.zeros((2, self.size(a), self.size(b)))
        for la in range(self.highest[a] + 1):
            for lb in range(self.highest[b] + 1):
                low, high = min(la, lb), max(la, lb)
                v = self.file[(a, b) if la <= lb else (b, a)].at(r)
                table = angular(low, high, n)
                for i in range(2 * low + 1):
                    for j in range(2 * high + 1):
                        for k in range(2):
                            value = sum(c * v[10 * k + column] for c, column in zip(table[i][j], COLUMNS[low, high]))
                            if la <= lb:
                                out[k, la * la + i, lb * lb + j] = value
                            else:
                                out[k, la * la + j, lb * lb + i] = (-1)**(la + lb) * value
        return out


def short(r, a, b):
    a, b = 3.2 * a, 3.2 * b
    if abs(a - b) < 1e-6:
        return math.exp(-a * r) * (1 / r + 11 / 16 * a + 3 / 16 * a * a * r + a**3 * r * r / 48)
    def half(t, u):
        return math.exp(-t * r) * (u**4 * t / (2 * (t * t - u * u)**2) - (u**6 - 3 * u**4 * t * t) / (r * (t * t - u * u)**3))
    return half(a, b) + half(b, a)


def images(cell, reach):
    if cell is None:
        return [(0, 0, 0)]
    heights = 1 / numpy.linalg.norm(numpy.linalg.inv(cell), axis=0)
    return list(itertools.product(*(range(-int(reach / h) - 1, int(reach / h) + 2) for h in heights)))


def damped(r, a, b, zeta):
    return short(r, a, b) * math.exp(-((a + b) / 2)**zeta * r * r)


def third_matrix(x, symbols, hubbard, derivatives, cell, zeta):
    """Gamma_ab of the third order: slopes of gamma by differences of the Hubbard parameter of a, apart from where both are equal."""
    n, h = len(x), 1e-3
    out = numpy.zeros((n, n))
    for i in range(n):
        for j in range(n):
            own, other = hubbard[symbols[i]], hubbard[symbols[j]]
            part = damped if zeta > 0 and "H" in (symbols[i], symbols[j]) else lambda r, a, b, _: short(r, a, b)
            for cells in images(cell, 35):
                d = x[j] - x[i] + (numpy.array(cells) @ cell if cell is not None else 0)
                r = numpy.linalg.norm(d)
                if r < 1e-9:
                    out[i, j] += 0.5 * derivatives[symbols[i]]
                elif r < 35:
                    if own == other:  # both move, each by half of the slope
                        def f(u):
                            return part(r, own + u, own + u, zeta) / 2
                    else:
                        def f(u):
                            return part(r, own + u, other, zeta)
                    out[i, j] -= derivatives[symbols[i]] * (8 * (f(h) - f(-h)) - f(2 * h) + f(-2 * h)) / (12 * h)
    return out


def gamma_matrix(x, hubbard, cell, hydrogen=None, zeta=0.0):
    n = len(x)
    out = numpy.zeros((n, n))
    volume = abs(numpy.linalg.det(cell)) if cell is not None else 0
    alpha = 2.0 / volume**(1 / 3) if cell is not None else 0
    near = images(cell, 35)
    for i in range(n):
        for j in range(n):
            for cells in near:
                d = x[j] - x[i] + (numpy.array(cells) @ cell if cell is not None else 0)
                r = numpy.linalg.norm(d)
                if r < 1e-9:
                    out[i, j] += hubbard[i]
                    continue
                part = damped(r, hubbard[i], hubbard[j], zeta) if zeta > 0 and (hydrogen[i] or hydrogen[j]) else short(r, hubbard[i], hubbard[j])
                if cell is None:
                    out[i, j] += 1 / r - part
                    continue
                if r < 35:
                    out[i, j] -= part
                out[i, j] += erfc(alpha * r) / r
            if cell is not None:
                out[i, j] -= math.pi / (volume * alpha**2) + (2 * alpha / math.sqrt(math.pi) if i == j else 0)
                g = 2 * math.pi * numpy.linalg.inv(cell).T
                m = [int(12 * alpha * numpy.linalg.norm(a) / 6.28) + 1 for a in cell]
                for k in itertools.product(*(range(-one, one + 1) for one in m)):
                    k = numpy.array(k) @ g
                    k2 = k @ k
                    if 1e-12 < k2 < (12 * alpha)**2:
                        out[i, j] += 4 * math.pi / volume * math.exp(-k2 / (4 * alpha**2)) / k2 * math.cos(k @ (x[j] - x[i]))
    return out


def fermi(levels, weights, electrons, kt):
    low, high = levels.min() - 1, levels.max() + 1
    for _ in range(200):
        mu = (low + high) / 2
        f = 1 / (1 + numpy.exp(numpy.clip((levels - mu) / kt, -600, 600)))
        count = 2 * (weights[:, None] * f).sum()
        low, high = (mu, high) if count < electrons else (low, mu)
    g = numpy.clip(f, 1e-300, 1)
    h = numpy.clip(1 - f, 1e-300, 1)
    return f, mu, 2 * kt * (weights[:, None] * (f * numpy.log(g) + (1 - f) * numpy.log(h))).sum()


def cubic(third, q):
    return (q**2) @ third @ q / 3


def cubic_potential(third, q):
    """By differences, which are exact for a cubic."""
    out, step = [], 0.1
    for k in range(len(q)):
        d = numpy.zeros(len(q))
        d[k] = step
        near, far = (cubic(third, q + n * d) - cubic(third, q - n * d) for n in (1, 2))
        out.append((8 * near - far) / (12 * step))
    return numpy.array(out)


def integrals(model, symbols, x, cell, form="automatic"):
    """H and S by lattice vector, and the repulsive energy."""
    first = numpy.cumsum([0] + [model.size(a) for a in symbols])
    size, shifts = first[-1], images(cell, 12)
    h, s, repulsive = {}, {}, 0.0
    for cells in shifts:
        hh, ss = numpy.zeros((size, size)), numpy.zeros((size, size))
        for i, a in enumerate(symbols):
            for j, b in enumerate(symbols):
                d = x[j] - x[i] + (numpy.array(cells) @ cell if cell is not None else 0)
                part = (slice(first[i], first[i + 1]), slice(first[j], first[j + 1]))
                r = numpy.linalg.norm(d)
                if r < 1e-9:
                    own = model.file[a, a].onsite
                    hh[part] = numpy.diag([own[int(math.sqrt(k))] for k in range(model.size(a))])
                    ss[part] = numpy.eye(model.size(a))
                else:
                    hh[part], ss[part] = model.block(a, b, d)
                    repulsive += model.file[a, b].repulsion(r, form) / 2
        h[cells], s[cells] = hh, ss
    return h, s, repulsive


def solve(model, symbols, x, cell=None, charge=0.0, scc=True, kt=1e-8, k_points=((0, 0, 0),), form="automatic", tolerance=1e-9, derivatives=None, zeta=0.0):
    """Energies and charges."""
    x = numpy.array(x, float)
    cell = None if cell is None else numpy.array(cell, float)
    h, s, repulsive = integrals(model, symbols, x, cell, form)
    shifts, size = list(h), len(h[0, 0, 0])
    atom = numpy.repeat(range(len(symbols)), [model.size(a) for a in symbols])
    neutral = numpy.array([sum(model.file[a, a].electrons[:model.highest[a] + 1]) for a in symbols])
    hubbard = {a: model.file[a, a].hubbard[0] for a in symbols}
    gamma = gamma_matrix(x, [hubbard[a] for a in symbols], cell, [a == "H" for a in symbols], zeta) if scc else numpy.zeros((len(x),) * 2)
    third = third_matrix(x, symbols, hubbard, derivatives, cell, zeta) if derivatives else numpy.zeros_like(gamma)

    weights = numpy.full(len(k_points), 1 / len(k_points))

    def electrons(excess):
        """Charges that follow from charges, and energies."""
        v = gamma @ excess + cubic_potential(third, excess)
        levels, vectors, matrices = [], [], []
        for k in k_points:
            phase = {c: numpy.exp(2j * math.pi * numpy.dot(k, c)) for c in shifts}
            sk, hk = sum(phase[c] * s[c] for c in shifts), sum(phase[c] * h[c] for c in shifts)
            e, c = eigh(hk + sk * (v[atom][:, None] + v[atom]) / 2, sk)
            levels.append(e), vectors.append(c), matrices.append((hk, sk))
        f, mu, entropy = fermi(numpy.array(levels), weights, neutral.sum() - charge, kt)
        population, h0 = numpy.zeros(size), 0.0
        for w, fk, c, (hk, sk) in zip(weights, f, vectors, matrices):
            density = 2 * w * (c * fk) @ c.conj().T
            population += numpy.einsum("ij,ji->i", density, sk).real
            h0 += numpy.einsum("ij,ji->", density, hk).real
        return numpy.bincount(atom, population) - neutral, mu, entropy, h0

    excess = numpy.full(len(symbols), -charge / len(symbols))
    if scc:
        solution = root(lambda x: electrons(x)[0] - x, excess, tol=1e-13)
        excess = solution.x
    found, mu, entropy, h0 = electrons(excess)
    if scc and abs(found - excess).max() > tolerance:
        raise ValueError(f"the oracle's charges still change by {abs(found - excess).max()}")
    second = found @ gamma @ found / 2
    total = h0 + second + cubic(third, found) + repulsive
    return {"total_energy": total, "mermin_energy": total + entropy, "second_order_energy": second, "third_order_energy": cubic(third, found), "uncharged_energy": h0,
            "repulsive_energy": repulsive, "fermi_level": mu * 27.211386245988, "charges": -found}


# A set of formulas: no real element has it.
SHELLS = {"H": 0, "C": 1, "Si": 2}
ATOMS = {"H": "0 0 -0.24 0 0 0 0.42 0 0 1", "C": "0.0, -0.19, -0.50, 0.0, 2*0.36 0.365 0 2 2", "Si": "-0.02 -0.11 -0.40 0 0.2 0.25 0.31 0 2 2"}
LOW, HIGH = (2, 2, 2, 1, 1, 1, 1, 0, 0, 0), (2, 2, 2, 2, 2, 1, 1, 2, 1, 0)
SCALE = (-0.05, 0.03, -0.01, -0.06, 0.03, 0.12, -0.06, -0.08, 0.13, -0.18)


def integral(a, b, i, overlap, r):
    if LOW[i] > SHELLS[a] or HIGH[i] > SHELLS[b]:
        return 0.0
    equal = LOW[i] == HIGH[i]
    size = 0.7 + (0.1 if equal else 0.13) * SHELLS[a] + (0.1 if equal else 0.16) * SHELLS[b]
    return (-1.4 if overlap else 1.3) * SCALE[i] * size * (1 + 0.35 * r) * math.exp(-(0.62 + 0.03 * SHELLS[a] * SHELLS[b]) * r)


def write_set(folder, points=300, spacing=0.02):
    os.makedirs(folder, exist_ok=True)
    for a, b in itertools.product(SHELLS, repeat=2):
        with open(os.path.join(folder, f"{a}-{b}.skf"), "w") as file:
            file.write(f"{spacing}, {points + 1}, remark\n" + (ATOMS[a] + "\n" if a == b else "") + "12.01, 0.01 -0.002 6*0.0 3.5, 10*0.0,\n")
            for k in range(1, points + 1):
                file.write(" ".join(repr(integral(a, b, i, o, spacing * k)) for o in (False, True) for i in range(10)) + "\n")
            strength, a1 = 0.02 + 0.01 * (SHELLS[a] + SHELLS[b]), 1.5
            e = 12 * strength / a1
            file.write(f"Spline\n3 4.0\n{a1} {math.log(e) + 2 * a1!r} {8 * strength - e!r}\n")
            for low, high in ((2.0, 2.7), (2.7, 3.3), (3.3, 4.0)):
                y = 4 - low
                file.write(f"{low} {high} {strength * y**3!r} {-3 * strength * y * y!r} {3 * strength * y!r} {-strength}" + (" 0 0" if high == 4 else "") + "\n")
    return folder
