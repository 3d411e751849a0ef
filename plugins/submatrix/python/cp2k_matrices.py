#!/usr/bin/env python3
"""Real-space Kohn-Sham and overlap matrices of a CP2K k-point run as one HDF5 file for the plugin submatrix.

  cp2k_matrices.py RUN.out STRUCTURE.xyz RUN.h5 --functions O=4,H=1 --electrons O=6,H=1 [--drop 1e-10]

The run printed KS_CSR_WRITE and S_CSR_WRITE with REAL_SPACE T and UPPER_TRIANGULAR F; the .csr files lie beside RUN.out.
Molecules are groups of atoms of STRUCTURE (extended XYZ, whole molecules one after the other, each beginning with the
first species). Exact band energies of N x N x N supercells, N = 1 .. 4, come from sums over k-points and are stored.
"""
import argparse
import glob
import os

import h5py
import numpy as np
import scipy.linalg
import scipy.sparse

ATOMIC_NUMBER = {"H": 1, "C": 6, "N": 7, "O": 8, "Si": 14}


def read_cells(path):
    """Lattice vectors R of the printed matrices, in order."""
    with open(path) as file:
        text = file.read()
    cells = []
    for line in text[text.index("KS CSR write|"):].split("\n")[2:]:
        words = line.split()
        if len(words) != 4:
            return cells
        cells.append(tuple(int(w) for w in words[1:]))
    return cells


def read_csr(path, n):
    values = np.fromfile(path, sep=" ").reshape(-1, 3)
    return scipy.sparse.csr_matrix((values[:, 2], (values[:, 0].astype(int) - 1, values[:, 1].astype(int) - 1)), shape=(n, n))


def read_matrices(out, name, cells, n):
    """{R: matrix} from the files <project>-<name>_SPIN_1_R_<number>-1_0.csr."""
    project = os.path.splitext(out)[0]
    found = {}
    for number, cell in enumerate(cells, 1):
        files = glob.glob(f"{project}-{name}_SPIN_1_R_{number}-1_0.csr")
        found[cell] = read_csr(files[0], n)
    return found


def band_energy(cells, k, s, copies, occupied):
    """2 * sum of occupied energies of the supercell at Gamma, highest occupied, lowest empty, and the extremes."""
    energy, levels = 0.0, []
    for i in np.ndindex(copies, copies, copies):
        phase = [np.exp(2j * np.pi * np.dot(i, c) / copies) for c in cells]
        h = sum(p * k[c].toarray() for p, c in zip(phase, cells))
        o = sum(p * s[c].toarray() for p, c in zip(phase, cells))
        e = scipy.linalg.eigvalsh((h + h.conj().T) / 2, (o + o.conj().T) / 2)
        energy += 2 * e[:occupied].sum()
        levels.append(e)
    levels = np.array(levels)
    return energy, levels[:, :occupied].max(), levels[:, occupied:].min(), levels.min(), levels.max()


def read_structure(path):
    with open(path) as file:
        lines = file.read().split("\n")
    count = int(lines[0])
    lattice = np.array(lines[1].split('Lattice="')[1].split('"')[0].split(), float).reshape(3, 3)
    rows = [line.split() for line in lines[2:2 + count]]
    return [r[0] for r in rows], np.array([[float(x) for x in r[1:4]] for r in rows]), lattice


def write_csr(group, matrix, drop):
    matrix = matrix.tocsr().copy()
    matrix.data[abs(matrix.data) < drop] = 0.0
    matrix.eliminate_zeros()
    matrix.sort_indices()
    for name, values in (("data", matrix.data), ("indices", matrix.indices), ("indptr", matrix.indptr)):
        group.create_dataset(name, data=values, compression="gzip", compression_opts=9, shuffle=True)
    group.attrs["nnz"], group.attrs["shape"] = matrix.nnz, matrix.shape


def pairs(text):
    return {name: int(value) for name, value in (word.split("=") for word in text.split(","))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("structure")
    parser.add_argument("file")
    parser.add_argument("--functions", type=pairs, required=True)
    parser.add_argument("--electrons", type=pairs, required=True)
    parser.add_argument("--drop", type=float, default=1e-10)
    parser.add_argument("--description", default="")
    args = parser.parse_args()
    species, positions, lattice = read_structure(args.structure)
    sizes = [args.functions[s] for s in species]
    electrons = sum(args.electrons[s] for s in species)
    n = sum(sizes)
    cells = read_cells(args.out)
    k, s = (read_matrices(args.out, name, cells, n) for name in ("KS", "S"))
    half = [c for c in cells if c >= tuple(-x for x in c)]
    half.sort(key=lambda c: (c != (0, 0, 0), sum(map(abs, c)), c))
    rows = []
    for copies in (1, 2, 3, 4):
        energy, homo, lumo, low, high = band_energy(cells, k, s, copies, electrons // 2)
        rows.append([copies, len(species) * copies**3, energy, energy / 2, homo, lumo, low, high])
    with h5py.File(args.file, "w") as file:
        file.attrs["description"] = args.description
        file.attrs["storage"] = "lattice-resolved blocks M(R)=<0|M|R>, one of each +-R pair, M(-R)=M(R)^T; 0-based CSR, hartree"
        file.attrs["n_basis_per_cell"], file.attrs["n_electrons_per_cell"] = n, electrons
        file.attrs["drop_tolerance"] = args.drop
        file["R"] = np.array(half, np.int32)
        file["block_sizes_atom"] = np.array(sizes, np.int32)
        file["molecule_of_atom"] = np.cumsum([x == species[0] for x in species], dtype=np.int32) - 1
        file["atomic_numbers"] = np.array([ATOMIC_NUMBER[x] for x in species], np.int32)
        file["coordinates_angstrom"], file["cell_angstrom"] = positions, lattice
        file["reference_nrep"] = np.array(rows)
        file["reference_nrep"].attrs["columns"] = ("N, atoms, band energy 2*sum(eps_occ) hartree, the same per spin, HOMO, LUMO, lowest, highest "
                                                   "(exact, from k sums)")
        for number, cell in enumerate(half):
            for name, matrices in (("K", k), ("S", s)):
                write_csr(file.create_group(f"R_{number:02}/{name}"), matrices[cell], args.drop)


if __name__ == "__main__":
    main()
