"""The stage density_matrix on matrices in every format, real and complex, in blocks of every kind, at k-points, on 1, 2 and 4 ranks,
beside the dense generalised eigenproblem in numpy."""
import csv
import json
import os
import re
import struct
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.environ["CAMBIUM_SOURCE"], "tests", "system"))
import program  # noqa: E402

SIZES = [2, 1, 3, 2, 2, 1, 3, 2, 2, 1, 3, 2]  # functions of the atoms
ELECTRONS = 24
NO_METIS = "blocks: metis needs a build with METIS (Debian's libmetis-dev, then configure again); choose atom or molecule"


def cell_matrices(seed, complex_parts):
    """H and S of a chain of atoms with a gap, of one cell: {lattice vector: (H, S)} with couplings to the next cells."""
    draw, n = np.random.default_rng(seed), sum(SIZES)
    atom = np.repeat(np.arange(len(SIZES)), SIZES)
    out = {}
    for shift in (0, 1):
        distance = abs(atom[:, None] - atom[None, :] - shift * len(SIZES))
        decay = np.exp(-0.9 * distance) * (distance < 7)
        h, s = (c * decay * draw.uniform(-1, 1, (n, n)) for c in (0.15, 0.05))
        if complex_parts and shift == 0:
            h, s = (m + 1j * c * decay * draw.uniform(-1, 1, (n, n)) for m, c in ((h, 0.1), (s, 0.03)))
        if shift == 0:
            h, s = 0.5 * (h + h.conj().T), 0.5 * (s + s.conj().T)
            levels = np.where(np.arange(n) % 2 == 0, -0.9, 0.7) + 0.1 * draw.uniform(-1, 1, n)
            np.fill_diagonal(h, levels)
            np.fill_diagonal(s, 1.0)
        out[shift] = (h, s)
    out[-1] = tuple(m.conj().T for m in out[1])
    return out


def dense(h, s, pairs):
    """D of one spin and levels, for so many doubly occupied states."""
    root = np.linalg.inv(np.linalg.cholesky(s))
    value, vector = np.linalg.eigh(root @ h @ root.conj().T)
    c = root.conj().T @ vector[:, :pairs]
    return c @ c.conj().T, value


def triples(m, one=False):
    return [(i, j, m[i, j]) for i in range(len(m)) for j in range(len(m)) if m[i, j] != 0 and (i <= j or not one)]


def words(value):
    return "%.17g %.17g" % (value.real, value.imag) if np.iscomplexobj(value) else "%.17g" % value


def write_market(path, m, array=False, one=True):
    symmetry = ("hermitian" if np.iscomplexobj(m) else "symmetric") if one else "general"
    with open(path, "w") as file:
        file.write("%%%%MatrixMarket matrix %s %s %s\n" % ("array" if array else "coordinate", "complex" if np.iscomplexobj(m) else "real", symmetry))
        if array:
            file.write("%d %d\n" % m.shape)
            file.writelines(words(m[i, j]) + "\n" for j in range(len(m)) for i in range(j if one else 0, len(m)))
            return
        elements = [(i, j, v) for i, j, v in triples(m) if i >= j or not one]
        file.write("%d %d %d\n" % (*m.shape, len(elements)))
        file.writelines("%d %d %s\n" % (i + 1, j + 1, words(v)) for i, j, v in elements)


def write_cp2k(path, m):
    with open(path, "w") as file:
        file.writelines("%8d %8d %24.16E\n" % (i + 1, j + 1, v) for i, j, v in triples(m, one=True))


def write_cp2k_binary(path, m):
    with open(path, "wb") as file:
        for i, j, v in triples(m, one=True):
            file.write(struct.pack("<iiidi", 16, i + 1, j + 1, v, 16))


def write_dbcsr(path, m):
    """One triangle, as two ranks print it one after the other."""
    with open(path, "w") as file:
        elements = triples(m, one=True)
        for part in (elements[: len(elements) // 3], elements[len(elements) // 3:]):
            file.write(" dbcsr_io:dbcsr_print Contents of matrix named KS\n dbcsr_io:dbcsr_print Flags S F F type 3 serial 7\n")
            file.write(" dbcsr_io:dbcsr_print         9 blocks %9d nzes, %9d data els       100 used\n" % (len(part), len(part)))
            file.write(" dbcsr_io:dbcsr_print Full size%5dx%5d\n dbcsr_io:dbcsr_print Blocked size   12x   12\n" % m.shape)
            for i, j, v in part:
                value = "%23.16E+%23.16Ei" % (v.real, v.imag) if np.iscomplexobj(m) else "%23.16E" % v
                file.write("a(%4d,%4d)=%s;\n" % (i + 1, j + 1, value))


def write_elsi(path, m, width=8):
    """As elsi_write_mat_real/complex: columns one after the other, counted from 1."""
    n, columns = len(m), [np.nonzero(m[:, j])[0] for j in range(len(m))]
    start = np.cumsum([1] + [len(c) for c in columns])
    kind = "<i8" if width == 8 else "<i4"
    head = [170915, -910910, int(np.iscomplexobj(m)), n, ELECTRONS, start[-1] - 1] + [-910910] * 10
    with open(path, "wb") as file:
        for array in (np.array(head, kind), np.array(start[:-1], kind), np.concatenate(columns).astype("<i4") + np.int32(1),
                      np.concatenate([m[c, j] for j, c in enumerate(columns)])):
            file.write(array.tobytes())


def write_scipy(path, m, group=None, one=False, file=None):
    if file is None:
        with h5py.File(path, "a") as file:
            return write_scipy(path, m, group, one, file)
    kept = np.triu(m) if one else m
    where = file.create_group(group) if group else file
    rows = [np.nonzero(kept[i])[0] for i in range(len(m))]
    data = np.concatenate([kept[i, c] for i, c in enumerate(rows)])
    where["data"], where["indices"] = data.real, np.concatenate(rows).astype(np.int32)
    where["indptr"] = np.cumsum([0] + [len(c) for c in rows])
    where.attrs["shape"] = m.shape
    if np.iscomplexobj(m):
        where["imaginary"] = data.imag


def charges_of(d, s, sizes):
    population = 2 * np.real(np.diag(d @ s))
    return np.array([population[a:b].sum() for a, b in zip(np.cumsum([0] + sizes), np.cumsum(sizes))])


def market_of(**keys):
    return lambda path, m: write_market(path, m, **keys)


REAL = {"market_coordinate": market_of(), "market_general": market_of(one=False), "market_array": market_of(array=True),
        "market_array_general": market_of(array=True, one=False), "cp2k": write_cp2k, "cp2k_binary": write_cp2k_binary, "dbcsr": write_dbcsr,
        "elsi": write_elsi, "elsi_narrow": lambda path, m: write_elsi(path, m, width=4), "scipy": write_scipy,
        "scipy_triangle": lambda path, m: write_scipy(path, m, one=True)}
ON_FOUR = ("market_array", "cp2k_binary", "dbcsr", "elsi", "scipy_triangle")  # the others begin alike
COMPLEX = {name: REAL[name] for name in ("market_coordinate", "market_general", "market_array", "dbcsr", "elsi", "scipy")}


def density_in(path):
    with h5py.File(path) as file:
        size, value = file["block_sizes"][()], file["values"][()]
        value = value + 1j * file["imaginary"][()] if "imaginary" in file else value
        point = file["k_point"][()] if "k_point" in file else np.zeros(len(file["row"]), int)
        k, weight = (file["k_points"][()], file["k_weights"][()]) if "k_points" in file else (np.zeros((1, 3)), [1.0])
        first = np.concatenate([[0], np.cumsum(size)])
        out = np.zeros((len(weight), first[-1], first[-1]), value.dtype)
        at = 0
        for p, r, c in zip(point, file["row"][()], file["column"][()]):
            count = size[r] * size[c]
            out[p, first[r]:first[r + 1], first[c]:first[c + 1]] = value[at:at + count].reshape(size[r], size[c])
            at += count
    return out, k, weight


class AnyMatrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)

    def run_stages(self, folder, stages, ranks=1):
        """For each stage its results, charges of atoms and folder; and what was printed. One program runs them all."""
        name = os.path.join(folder, f"run{ranks}")
        standard = {"eps_filter": 1e-12, "solver": "diagonalise", "error_sample": 0, "output": ["charges", "density"], "electrons": ELECTRONS}
        tasks = [{"density_matrix": {k: v for k, v in {**standard, **stage}.items() if v is not None}} for stage in stages]
        deck = {"run": {"name": "any", "directory": name}, "plugins": ["submatrix"], "stages": tasks}
        code, out, error = program.run("run", program.write(os.path.join(folder, f"deck{ranks}.yaml"), json.dumps(deck)), ranks=ranks, cwd=folder)
        self.assertEqual(code, 0, out + error)
        done = []
        for k in range(len(stages)):
            stage = os.path.join(name, "density_matrix" + (f"_{k + 1}" if k else ""))
            with open(os.path.join(stage, "results.json")) as file:
                found = {r["key"]: r["value"] for r in json.load(file)["results"]}
            with open(os.path.join(stage, "charges.csv")) as file:
                charges = np.array([float(row[3]) for row in list(csv.reader(file))[1:]])
            done.append((found, charges, stage))
        return done, out

    def compare(self, done, energy, charges):
        found, got, _ = done
        self.assertAlmostEqual(found["band_energy"], energy, delta=1e-9)
        self.assertAlmostEqual(found["electrons"], ELECTRONS, delta=1e-9)
        np.testing.assert_allclose(got, charges, atol=1e-9)

    def formats(self, writers, complex_parts):
        h, s = cell_matrices(1, complex_parts)[0]
        d, value = dense(h, s, ELECTRONS // 2)
        energy = 2 * value[: ELECTRONS // 2].sum()
        charges = charges_of(d, s, SIZES)
        folder = program.fresh(f"any_formats_{complex_parts}")
        with open(os.path.join(folder, "sizes.txt"), "w") as file:
            file.write("# functions of the atoms\n" + " ".join(map(str, SIZES)) + "\n")
        stages = []
        for name, writer in writers.items():
            files = [f"{which}_{name}.{'h5' if name.startswith('scipy') else 'dat'}" for which in "hs"]
            for file, m in zip(files, (h, s)):
                writer(os.path.join(folder, file), m)
            stages.append({"matrices": {"hamiltonian": files[0], "overlap": files[1], "atom_sizes": "sizes.txt"},
                           "electrons": None if name.startswith("elsi") else ELECTRONS})
        for ranks in (1, 2, 4):
            chosen = list(writers) if ranks < 4 else [name for name in writers if name in ON_FOUR]
            done, _ = self.run_stages(folder, [stages[list(writers).index(name)] for name in chosen], ranks)
            for name, one in zip(chosen, done):
                with self.subTest(name=name, ranks=ranks):
                    self.compare(one, energy, charges)
                    got, _, _ = density_in(os.path.join(one[2], "density.h5"))
                    np.testing.assert_allclose(got[0], d, atol=1e-9)

    def test_real_formats(self):
        self.formats(REAL, False)

    def test_complex_formats(self):
        self.formats(COMPLEX, True)

    def test_blocks(self):
        """METIS puts coupled atoms, whose rows lie apart, into one block; a group of an HDF5 file holds a matrix."""
        h, s = cell_matrices(2, False)[0]
        order = np.random.default_rng(3).permutation(len(SIZES))
        first = np.cumsum([0] + SIZES)
        rows = np.concatenate([np.arange(first[a], first[a + 1]) for a in order])
        h, s, sizes = h[np.ix_(rows, rows)], s[np.ix_(rows, rows)], [SIZES[a] for a in order]
        d, value = dense(h, s, ELECTRONS // 2)
        energy, charges = 2 * value[: ELECTRONS // 2].sum(), charges_of(d, s, sizes)
        folder = program.fresh("any_blocks")
        write_scipy(os.path.join(folder, "both.h5"), h, "K")
        write_scipy(os.path.join(folder, "both.h5"), s, "S")
        matrices = {"hamiltonian": "both.h5:/K", "overlap": "both.h5:/S", "molecule": sizes}
        kinds = [{"blocks": "atom"}, {"blocks": "molecule"}, {"blocks": "metis", "block_functions": 6}]
        deck = {"run": {"name": "any", "directory": "run"}, "plugins": ["submatrix"], "stages": [{"density_matrix": {"matrices": {**matrices, **kinds[2]}}}]}
        _, _, error = program.run("check", program.write(os.path.join(folder, "check.yaml"), json.dumps(deck)), cwd=folder)
        has_metis, first_sizes = NO_METIS not in error, None
        for ranks in (1, 2, 4):
            kinds = kinds if has_metis else kinds[:2]
            done, _ = self.run_stages(folder, [{"matrices": {**matrices, **kind}} for kind in kinds], ranks)
            for one in done:
                self.compare(one, energy, charges)
            if not has_metis:
                continue
            with h5py.File(os.path.join(done[2][2], "density.h5")) as file:
                blocks = file["block_sizes"][()].tolist()
                atom, functions = file["atom"][()], file["atom_functions"][()]
            np.testing.assert_array_equal(np.sort(atom), np.arange(len(sizes)))
            self.assertFalse((np.diff(atom) > 0).all())
            np.testing.assert_array_equal(functions, np.array(sizes)[atom])
            begin = np.cumsum([0] + sizes)
            rows_of = np.concatenate([np.arange(begin[a], begin[a + 1]) for a in atom])
            got, _, _ = density_in(os.path.join(done[2][2], "density.h5"))
            np.testing.assert_allclose(got[0], d[np.ix_(rows_of, rows_of)], atol=1e-9)
            first_sizes = first_sizes or blocks
            self.assertEqual(blocks, first_sizes)
            self.assertLess(len(blocks), len(SIZES))
            self.assertLess(max(blocks), 2 * 6)

    def test_blocks_of_few_strongly_coupled_atoms(self):
        """METIS' k-way division leaves all atoms of a complete graph in one block."""
        n = 32
        h = np.random.default_rng(1).normal(size=(n, n)) * 0.05
        h = (h + h.T) / 2 + np.diag(np.where(np.arange(n) % 2, -2.0, 2.0))
        folder = program.fresh("any_complete")
        write_scipy(os.path.join(folder, "h.h5"), h, "K")
        matrices = {"hamiltonian": "h.h5:/K", "molecule": [1], "blocks": "metis", "block_functions": 2}
        deck = {"run": {"name": "any", "directory": "run"}, "plugins": ["submatrix"],
                "stages": [{"density_matrix": {"matrices": matrices, "electrons": n, "eps_filter": 1e-3, "output": ["density"]}}]}
        code, _, error = program.run("run", program.write(os.path.join(folder, "deck.yaml"), json.dumps(deck)), cwd=folder)
        if NO_METIS in error:
            return
        self.assertEqual(code, 0, error)
        with h5py.File(os.path.join(folder, "run", "density_matrix", "density.h5")) as file:
            blocks = file["block_sizes"][()]
        self.assertGreaterEqual(len(blocks), n // 4)
        self.assertLessEqual(max(blocks), 4)

    def test_k_points(self):
        """A grid of n points is the supercell of n cells; D at each point is Hermitian and that of the dense problem."""
        cells = cell_matrices(4, False)
        folder = program.fresh("any_k")
        with h5py.File(os.path.join(folder, "cell.h5"), "w") as file:
            file.attrs["n_electrons_per_cell"] = float(ELECTRONS)
            file["block_sizes_atom"], file["molecule_of_atom"] = SIZES, np.arange(len(SIZES))
            file["R"] = [[shift, 0, 0] for shift in cells]
            for q, pair in enumerate(cells.values()):
                for name, m in zip("KS", pair):
                    write_scipy(os.path.join(folder, "cell.h5"), m, f"R_{q:02}/{name}", file=file)
        grids = [(3, 0.0), (4, 0.0), (4, 0.5), (1, 0.25)]
        file = {"file": "cell.h5", "blocks": "atom"}
        stages = [{"matrices": {**file, "k_points": {"grid": [n, 1, 1], "shift": [shift, 0, 0]}}, "electrons": None} for n, shift in grids]
        stages += [{"matrices": {**file, "supercell": [n, 1, 1]}, "electrons": None} for n in (3, 4)]
        for ranks, some in ((1, stages), (2, stages[:4]), (4, stages[:1])):  # supercells on one rank: others are compared elsewhere
            done, _ = self.run_stages(folder, some, ranks)
            for (n, shift), one in zip(grids, done):
                with self.subTest(grid=n, shift=shift, ranks=ranks):
                    got, k, weight = density_in(os.path.join(one[2], "density.h5"))
                    energy, charges = 0.0, np.zeros(len(SIZES))
                    self.assertAlmostEqual(sum(weight), 1.0, delta=1e-12)
                    for point, share, found in zip(k, weight, got):
                        h, s = (sum(np.exp(2j * np.pi * point[0] * r) * pair[m] for r, pair in cells.items()) for m in (0, 1))
                        d, value = dense(h, s, ELECTRONS // 2)
                        np.testing.assert_allclose(found, d, atol=1e-9)
                        np.testing.assert_allclose(found, found.conj().T, atol=1e-12)
                        energy += share * 2 * value[: ELECTRONS // 2].sum()
                        charges += share * charges_of(d, s, SIZES)
                    self.compare(one, energy, charges)
                    if shift == 0.0 and ranks == 1:
                        self.assertAlmostEqual(done[n + 1][0]["band_energy"], n * energy, delta=1e-8)

    def test_lanczos_with_error(self):
        """The complex matrix by the standard solver with an estimate of the error."""
        h, s = cell_matrices(5, True)[0]
        _, value = dense(h, s, ELECTRONS // 2)
        folder = program.fresh("any_lanczos")
        write_market(os.path.join(folder, "h.mtx"), h)
        write_market(os.path.join(folder, "s.mtx"), s)
        matrices = {"hamiltonian": "h.mtx", "overlap": "s.mtx", "molecule": SIZES, "blocks": "atom"}
        (found, _, _), = self.run_stages(folder, [{"matrices": matrices, "eps_filter": 1e-4, "solver": "lanczos", "error_sample": 8}], 2)[0]
        error = (found["band_energy"] - 2 * value[: ELECTRONS // 2].sum()) * 27211.386 / len(SIZES)
        self.assertLess(abs(error - found["error_estimate"]), found["error_margin"] + 0.5)
        self.assertLess(abs(error), 50)

    def test_bytes(self):
        """No rank holds a whole matrix: with four times as many ranks one holds far fewer elements."""
        n, folder = 4000, program.fresh("any_bytes")
        draw = np.random.default_rng(6)
        with open(os.path.join(folder, "h.mtx"), "w") as file:
            rows = [(i, j, -0.9 + 1.8 * (i % 2) if i == j else 0.05 * draw.uniform(-1, 1)) for i in range(n) for j in range(max(0, i - 10), i + 1)]
            file.write("%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n" % (n, n, len(rows)))
            file.writelines("%d %d %.12g\n" % (i + 1, j + 1, v) for i, j, v in rows)
        held, energy = {}, {}
        stage = {"matrices": {"hamiltonian": "h.mtx", "molecule": [2], "blocks": "atom"}, "eps_filter": 1e-2, "electrons": n, "output": ["charges"]}
        for ranks in (1, 4):
            done, said = self.run_stages(folder, [stage], ranks)
            held[ranks], energy[ranks] = float(re.search(r"held at most (\S+) MiB", said)[1]), done[0][0]["band_energy"]
        self.assertAlmostEqual(energy[1], energy[4], delta=1e-7)
        self.assertLess(held[4], 0.75 * held[1])

    def test_refusal_on_ranks(self):
        """An error on one rank's part of a file is that of all."""
        z, folder = cell_matrices(7, True)[0][0], program.fresh("any_refusals")
        z[2, 1] += 0.5j
        write_market(os.path.join(folder, "broken.mtx"), z, one=False)
        with open(os.path.join(folder, "broken.mtx")) as file:
            lines = file.read().splitlines(keepends=True)
        with open(os.path.join(folder, "word.mtx"), "w") as file:
            file.writelines(lines[:-3] + ["24 24 0.5 none\n"] + lines[-2:])
        for name, text in (("broken.mtx", "not Hermitian: an imaginary part of"),
                           ("word.mtx", f"word.mtx:{len(lines) - 2}: expected a number for an imaginary part, found 'none'")):
            deck = {"run": {"name": "any", "directory": os.path.join(folder, "run")}, "plugins": ["submatrix"],
                    "stages": [{"density_matrix": {"matrices": {"hamiltonian": name, "molecule": SIZES}, "electrons": ELECTRONS}}]}
            code, _, error = program.run("run", program.write(os.path.join(folder, "deck.yaml"), json.dumps(deck)), "--overwrite", ranks=4, cwd=folder)
            self.assertEqual(code, 2, error)
            self.assertIn(text, error)


if __name__ == "__main__":
    unittest.main()
