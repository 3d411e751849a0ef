#!/usr/bin/env python3
"""A MACE model of the size "small" with random weights, in float64 and float32: mace_small.py PROGRAM --json FILE [--turns 5].

The model has 128 channels, features of degree 1, harmonics to degree 3, correlation 3 and two interactions; it is written as a safetensors file. 864
copper atoms move for 5 steps on one rank with one thread, both precisions in turns; the time is that of the loop. `--model FILE` keeps the model
and measures nothing."""

import argparse
import json
import math
import statistics
import struct
import subprocess
import tempfile
from math import factorial
from pathlib import Path

import measured
import numpy as np

CHANNELS, LMAX, SPECIES, RADIAL, HIDDEN, CUTOFF, ATOMS, STEPS = 128, 3, 1, 8, [64, 64, 64], 5.0, 864, 5
DECK = """
run: {{name: speed, directory: {folder}/run, seed: 1}}
plugins: [md, mace]
stages:
  - simulate:
      physics: md
      structure: {{lattice: {{type: fcc, a: 3.615, cells: [6, 6, 6], species: [Cu], displacement: 0.1 angstrom}}}}
      initial_temperature: 300 K
      potential: {{type: mace, model: {model}, precision: {precision}}}
      timestep: 0.1 fs
      steps: {steps}
      thermo: {{every: {steps}}}
"""


def clebsch_gordan(l1, m1, l2, m2, l3):
    """<l1 m1 l2 m2 | l3 m1+m2> by Racah's formula."""
    m3 = m1 + m2
    if abs(m3) > l3:
        return 0.0
    front = (2 * l3 + 1) * factorial(l3 + l1 - l2) * factorial(l3 - l1 + l2) * factorial(l1 + l2 - l3) / factorial(l1 + l2 + l3 + 1)
    front *= factorial(l3 + m3) * factorial(l3 - m3) * factorial(l1 - m1) * factorial(l1 + m1) * factorial(l2 - m2) * factorial(l2 + m2)
    total = 0.0
    for k in range(l1 + l2 - l3 + 1):
        terms = [k, l1 + l2 - l3 - k, l1 - m1 - k, l2 + m2 - k, l3 - l2 + m1 + k, l3 - l1 - m2 + k]
        if min(terms) >= 0:
            total += (-1) ** k / math.prod(factorial(t) for t in terms)
    return math.sqrt(front) * total


def real_to_complex(degree):
    q = np.zeros((2 * degree + 1, 2 * degree + 1), complex)
    q[degree, degree] = 1
    for m in range(1, degree + 1):
        q[degree - m, [degree + m, degree - m]] = [math.sqrt(0.5), -1j * math.sqrt(0.5)]
        q[degree + m, [degree + m, degree - m]] = [(-1) ** m * math.sqrt(0.5), 1j * (-1) ** m * math.sqrt(0.5)]
    return (-1j) ** degree * q


def wigner_3j(l1, l2, l3):
    """Real symbols [m1][m2][m3] with the signs of e3nn; the sum of squares is 1."""
    c = np.zeros((2 * l1 + 1, 2 * l2 + 1, 2 * l3 + 1))
    for m1 in range(-l1, l1 + 1):
        for m2 in range(-l2, l2 + 1):
            if abs(m1 + m2) <= l3:
                c[l1 + m1, l2 + m2, l3 + m1 + m2] = clebsch_gordan(l1, m1, l2, m2, l3)
    real = np.einsum("abc,ai,bj,ck->ijk", c, real_to_complex(l1), real_to_complex(l2), real_to_complex(l3).conj()).real
    real[abs(real) < 1e-12] = 0
    return real / np.linalg.norm(real)


def couplings(power, degree):
    """Tensors [component of the result][i1]..[i_power] of even parity that turn with their indices."""
    width = (LMAX + 1) ** 2
    if power == 1:
        return [np.eye(width)[degree**2 : (degree + 1) ** 2]] if degree <= LMAX else []
    out = []
    for a in range((power - 1) * LMAX + 1):
        for b in range(LMAX + 1):
            if not abs(a - b) <= degree <= a + b or (a + b + degree) % 2:
                continue
            for inner in couplings(power - 1, a):
                one = np.zeros((2 * degree + 1,) + (width,) * power)
                one[..., b**2 : (b + 1) ** 2] = np.einsum("ijm,i...->m...j", wigner_3j(a, b, degree), inner)
                out.append(one)
    return out


def state_dict():
    """Names of the state dict of MACE, with random weights of size 1 (linear maps) or less (contraction)."""
    random = np.random.default_rng(1)
    out = {"atomic_numbers": np.array([29.0]), "num_interactions": np.array(2.0), "r_max": np.array(CUTOFF),
           "atomic_energies_fn.atomic_energies": np.array([[-3.5]]), "scale_shift.scale": np.array(0.1), "scale_shift.shift": np.array(0.0),
           "radial_embedding.bessel_fn.prefactor": np.array(math.sqrt(2 / CUTOFF)), "radial_embedding.cutoff_fn.p": np.array(5.0),
           "radial_embedding.bessel_fn.bessel_weights": np.arange(1, RADIAL + 1) * math.pi / CUTOFF,
           "node_embedding.linear.weight": random.normal(size=SPECIES * CHANNELS)}
    square, before = CHANNELS**2, [0]
    for k, after in enumerate([[0, 1], [0]]):
        paths = [(a, e, c) for c in range(LMAX + 1) for a in before for e in range(LMAX + 1) if abs(a - e) <= c <= a + e and (a + e + c) % 2 == 0]
        name, product, readout = f"interactions.{k}.", f"products.{k}.", f"readouts.{k}."
        out[name + "linear_up.weight"] = random.normal(size=square * len(before))
        out[name + "linear.weight"] = random.normal(size=square * len(paths))
        out[name + "skip_tp.weight"] = random.normal(size=square * SPECIES * (LMAX + 1 if k == 0 else 1))
        widths = [RADIAL, *HIDDEN, len(paths) * CHANNELS]
        for n in range(len(widths) - 1):
            out[f"{name}conv_tp_weights.layer{n}.weight"] = random.normal(size=(widths[n], widths[n + 1]))
        for j, degree in enumerate(after):
            contraction = f"{product}symmetric_contractions.contractions.{j}."
            for power in (1, 2, 3):
                u = np.stack(couplings(power, degree), axis=-1)
                out[f"{contraction}U_matrix_{power}"] = u[0] if degree == 0 else u
                weights = contraction + ("weights_max" if power == 3 else f"weights.{2 - power}")
                out[weights] = 0.1 * random.normal(size=(SPECIES, u.shape[-1], CHANNELS))
        out[product + "linear.weight"] = random.normal(size=square * len(after))
        if k == 0:
            out[readout + "linear.weight"] = random.normal(size=CHANNELS)
        else:
            out[readout + "linear_1.weight"] = random.normal(size=CHANNELS * 16)
            out[readout + "linear_2.weight"] = random.normal(size=16)
        before = after
    return out


def write_model(path):
    header, data = {"__metadata__": {"avg_num_neighbors": "42"}}, b""
    for name, values in state_dict().items():
        begin = len(data)
        data += np.ascontiguousarray(values, "<f8").tobytes()
        header[name] = {"dtype": "F64", "shape": list(values.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def run(program, model, precision, folder):
    deck = Path(folder) / "deck.yaml"
    deck.write_text(DECK.format(folder=folder, model=model, precision=precision, steps=STEPS))
    subprocess.run([program, "run", str(deck)], check=True, stdout=subprocess.DEVNULL)
    return json.loads((Path(folder) / "run" / "simulate" / "results.json").read_text())["seconds"]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("program", nargs="?")
    options.add_argument("--model")
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--json")
    given = options.parse_args()
    if given.model:
        return write_model(given.model)
    turns = []
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "small.safetensors"
        write_model(model)
        for _ in range(given.turns):
            turns.append([run(given.program, model, precision, tempfile.mkdtemp(dir=folder)) for precision in ("float64", "float32")])
    per_atom = 1e3 / (ATOMS * (STEPS + 1))  # evaluations: one before the first step
    out = {"what": "864 copper atoms, MACE with 2 interactions, 128 channels, features of degree 1, cut-off 5 Å; seconds of the loop, in turns",
           "core_ms_per_atom_step": {"float64": statistics.median(a for a, _ in turns) * per_atom,
                                     "float32": statistics.median(b for _, b in turns) * per_atom},
           "times_as_fast": statistics.median(a / b for a, b in turns),
           "turns": turns,
           "measured": measured.by_program(given.program, "studies/mace_small.py PROGRAM --json FILE")}
    Path(given.json).write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
