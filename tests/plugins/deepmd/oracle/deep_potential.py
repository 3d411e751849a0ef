#!/usr/bin/python3
"""Random Deep Potential models with reference results, written from the published formulas in the form with padded
neighbour slots (sorted by type and distance). Nothing here differentiates by hand: forces and virials are complex-step
derivatives of the energy. Usage: deep_potential.py FOLDER -> FOLDER/<case>.{yaml,dp} and FOLDER/cases.json
       deep_potential.py same A B [C D ...] -> exit code 0 when both files of every pair hold the same model"""
import itertools
import json
import os
import sys

import h5py
import numpy as np
import yaml

sys.dont_write_bytecode = True
from descriptors import Descriptor, SpeciesDescriptor, collection, random_net, run


class Model:
    """A model's numbers; `tree` is what the files hold, with numpy arrays as leaves."""

    def __init__(self, rng, c):
        self.c, self.nt = c, len(c["type_map"])
        nt = self.nt
        every = [{**c, **part} for part in c.get("hybrid", [{}])]
        self.parts = [(SpeciesDescriptor if part["descriptor"] == "se_atten" else Descriptor)(rng, part) for part in every]
        inputs = sum(part.size for part in self.parts) + c.get("fparam", 0) + c.get("aparam", 0)
        self.fit = [random_net(rng, [inputs] + c["fit"], c["activation"], c.get("fit_dt", True), 1)
                    for _ in range(1 if c.get("mixed_types") else nt)]
        self.bias, self.out_bias = rng.normal(size=(nt, 1)), rng.normal(size=(1, nt, 1))
        self.stat = {}
        for k in ("fparam", "aparam"):
            n = c.get(k, 0)
            self.stat[k + "_avg"] = rng.normal(size=n) if n else None
            self.stat[k + "_inv_std"] = rng.uniform(0.5, 2, n) if n else None

    def tree(self):
        c, nt = self.c, self.nt
        trees = [part.tree() for part in self.parts]
        descriptor = trees[0]
        if "hybrid" in c:
            descriptor = {"@class": "Descriptor", "type": "hybrid", "@version": 1, "list": trees}
        fitting = {"@class": "Fitting", "type": "ener", "@version": 1, "var_name": "energy", "ntypes": nt,
                   "numb_fparam": c.get("fparam", 0), "numb_aparam": c.get("aparam", 0),
                   "mixed_types": c.get("mixed_types", False), "exclude_types": c.get("fitting_exclude", []),
                   "atom_ener": c.get("atom_ener", []), "nets": collection(self.fit, nt, "fitting_network", 1),
                   "@variables": {"bias_atom_e": self.bias, "case_embd": None, **self.stat}}
        return {"software": "oracle", "version": "1", "backend": "none", "@variables": {},
                "min_nbor_dist": c.get("min_distance", 0.9),
                "model": {"@class": "Model", "@version": 2, "type": "standard", "type_map": c["type_map"],
                          "descriptor": descriptor, "fitting": fitting,
                          "atom_exclude_types": c.get("atom_exclude", []),
                          "pair_exclude_types": c.get("pair_exclude", []),
                          "@variables": {"out_bias": self.out_bias, "out_std": np.ones((1, nt, 1))}}}


def atomic_energies(model, x, types, cell, fparam, aparam):
    """Energies of all atoms; x and cell may be complex (the imaginary part is a perturbation)."""
    c = model.c
    shifts = np.zeros((1, 3), complex)
    if cell is not None:
        reach = range(-c["images"], c["images"] + 1)
        shifts = np.array([np.array(s) @ cell for s in itertools.product(reach, repeat=3)])
    hidden = {tuple(p) for p in c.get("pair_exclude", [])} | {tuple(p)[::-1] for p in c.get("pair_exclude", [])}
    out = []
    for i, ti in enumerate(types):
        neighbours = []
        for j, tj in enumerate(types):
            for shift in shifts:
                d = x[j] + shift - x[i]
                r = np.sqrt((d * d).sum())
                if r.real > 1e-9 and (ti, tj) not in hidden:
                    neighbours.append((r, d, tj))
        columns = [part.values(neighbours, ti) for part in model.parts]
        d = np.concatenate(columns)
        extra = []
        if c.get("fparam"):
            extra.append((fparam - model.stat["fparam_avg"]) * model.stat["fparam_inv_std"])
        if c.get("aparam"):
            extra.append((aparam[i] - model.stat["aparam_avg"]) * model.stat["aparam_inv_std"])
        net = model.fit[0 if c.get("mixed_types") else ti]
        e = run(net, np.concatenate([d] + extra))[0]
        given = c.get("atom_ener", [])
        if given and (c.get("mixed_types") or ti >= len(given) or given[ti] is not None):
            e = e - run(net, np.concatenate([part.vacuum(v, ti) for part, v in zip(model.parts, columns)] + extra))[0]
        e = e + model.bias[ti, 0]
        e = 0 if ti in c.get("fitting_exclude", []) else e
        e = e + model.out_bias[0, ti, 0]
        out.append(0 if ti in c.get("atom_exclude", []) else e)
    return np.array(out, complex)


def reference(model, frame):
    x, types = np.array(frame["x"], complex), frame["types"]
    cell = None if frame["cell"] is None else np.array(frame["cell"], complex)
    extra = (np.array(frame["fparam"]), np.array(frame["aparam"]))
    step = 1e-30j
    force, virial = np.zeros(x.shape), np.zeros((3, 3))
    for k in np.ndindex(*x.shape):
        moved = x.copy()
        moved[k] += step
        force[k] = -atomic_energies(model, moved, types, cell, *extra).sum().imag / step.imag
    for a, b in np.ndindex(3, 3):
        strain = np.eye(3, dtype=complex)
        strain[b, a] += step
        virial[a, b] = -atomic_energies(model, x @ strain, types, None if cell is None else cell @ strain, *extra
                                        ).sum().imag / step.imag
    return {"atom_energy": atomic_energies(model, x, types, cell, *extra).real.tolist(), "force": force.tolist(),
            "virial": virial.tolist()}


def random_frame(rng, c, atoms, cell):
    box = np.array(cell if cell is not None else np.eye(3) * 4.0)
    points = []
    while len(points) < atoms:
        p = rng.uniform(size=3)
        near = [np.linalg.norm(((p - q) - np.round(p - q)) @ box) for q in points]
        if all(d > 1.1 for d in near):
            points.append(p)
    return {"x": (np.array(points) @ box).tolist(), "types": [int(t) for t in rng.integers(0, len(c["type_map"]), atoms)],
            "cell": cell, "fparam": rng.normal(size=c.get("fparam", 0)).tolist(),
            "aparam": rng.normal(size=(atoms, c.get("aparam", 0))).tolist()}


BASE = dict(descriptor="se_e2_a", type_map=["O", "H"], rcut=3.5, rcut_smth=0.5, sel=[40, 40], neuron=[3, 6, 12], axis=4,
            one_side=True, activation="tanh", fit=[9, 9, 9], images=1)
TRICLINIC = [[5.2, 0.0, 0.0], [0.9, 4.8, 0.0], [-0.7, 0.5, 5.5]]
CUBIC = [[4.9, 0, 0], [0, 4.9, 0], [0, 0, 4.9]]
SPECIES = dict(descriptor="se_atten", one_side=False, mixed_types=True, tebd=[5], attn=7, attn_layer=0, sel=[18, 10])
CASES = {
    "one_side": {},
    "one_side_second": {},
    "two_sides": dict(one_side=False, activation="gelu", type_map=["A", "B", "C"], sel=[20, 30, 25], cell=TRICLINIC),
    "radial": dict(descriptor="se_r", activation="softplus"),
    "radial_two_sides": dict(descriptor="se_r", one_side=False, activation="sigmoid", protection=0.1, cell=TRICLINIC),
    "parameters": dict(fparam=2, aparam=1, activation="silu"),
    "one_fitting_net": dict(mixed_types=True, protection=0.05, neuron=[5, 7, 14, 14], emb_dt=True, fit=[8, 16, 6, 12, 12]),
    "kinked": dict(activation="relu", fit_dt=False),
    "kinked_six": dict(activation="relu6", one_side=False),
    "silut": dict(activation="silut:1.5", neuron=[17, 34], axis=9),
    "linear": dict(activation="linear"),
    "pair_exclude": dict(pair_exclude=[[0, 1]]),
    "atom_exclude": dict(atom_exclude=[1]),
    "fitting_exclude": dict(fitting_exclude=[0]),
    "vacuum": dict(atom_ener=[None, 1.0], fparam=1),
    "single_cutoffs": dict(single_cutoffs=True, rcut_smth=1.8, rcut=3.7),
    "cluster": dict(cell=None),
    "zero_mean": dict(zero_mean=True),
    "narrow": dict(neuron=[1, 2], axis=2, fit=[5]),
    "no_hidden_layer": dict(neuron=[4], axis=4, fit=[]),
    "residual_first_layer": dict(neuron=[3, 6], axis=2, fit=[12, 24]),
    "residual_doubling": dict(neuron=[3, 6], axis=2, fit=[24, 12], fparam=0),
    "wide_axis": dict(neuron=[5, 10], axis=10),
    "angles": dict(descriptor="se_e3", neuron=[4, 8], sel=[25, 25]),
    "angles_of_three": dict(descriptor="se_e3", type_map=["A", "B", "C"], sel=[20, 30, 25], cell=TRICLINIC, activation="gelu",
                            protection=0.05, emb_dt=True),
    "hybrid": dict(hybrid=[dict(), dict(descriptor="se_e3", rcut=2.9, neuron=[5, 10], sel=[18, 20]), dict(descriptor="se_r", rcut=3.2)],
                   fparam=1),
    "angles_first": dict(hybrid=[dict(descriptor="se_e3", rcut_smth=1.0, sel=[25, 30]), dict(one_side=False, rcut=2.8, axis=3)], fit=[48, 9],
                         pair_exclude=[[0, 0]]),
    "species": SPECIES,
    "species_network": dict(SPECIES, type_map=["A", "B", "C"], tebd=[2, 6, 6], tebd_activation="tanh", tebd_bias=True, emb_dt=True,
                            one_side=True, cell=TRICLINIC, protection=0.05, fparam=1),
    "species_table_twice": dict(SPECIES, tebd=[4], concat=False, mixed_types=False, activation="gelu", pair_exclude=[[0, 1]]),
    "species_hybrid": dict(hybrid=[dict(SPECIES, rcut=3.0), dict(rcut=2.8), dict(SPECIES, one_side=True, tebd=[3])],
                           mixed_types=True, aparam=1),
    "attention": dict(SPECIES, attn_layer=2),
    "attention_loose": dict(SPECIES, attn_layer=1, smooth=False, dotr=False, normalize=False, temperature=0.2, one_side=True,
                            type_map=["A", "B", "C"], cell=TRICLINIC, concat=False),
    "attention_scaled": dict(SPECIES, attn_layer=1, scaling_factor=2.5, protection=0.05, activation="gelu", cell=None),
    "attention_hybrid": dict(hybrid=[dict(SPECIES, attn_layer=1, rcut=3.0), dict(rcut=2.8)], mixed_types=True, fparam=1,
                             pair_exclude=[[1, 1]]),
    "types": dict(tebd=[6], mixed_types=True),
    "types_two_sides": dict(tebd=[3, 6, 6], tebd_dt=True, tebd_bias=True, one_side=False, mixed_types=True, type_map=["A", "B", "C"],
                            sel=[20, 30, 25], cell=TRICLINIC, fparam=1, activation="gelu", emb_dt=True),
    "types_vacuum": dict(tebd=[4], mixed_types=True, atom_ener=[1.0, 2.0], cell=None),
    "types_hybrid": dict(hybrid=[dict(tebd=[4], rcut=3.0), dict(descriptor="se_e3", rcut=2.9, neuron=[5, 10], sel=[18, 20]),
                                 dict(tebd=[3], one_side=False)], mixed_types=True),
    "types_apart": dict(tebd=[6], one_side=False, pair_exclude=[[0, 1]], zero_mean=True),
}


def labelled_system(folder, model, frames, references, rng):
    """A deepmd/npy system, its second set in float32 and its species in another order than the model's, whose labels
    differ from the references by known errors; returns their root mean squares and mean sizes."""
    errors = {k: rng.normal(size=np.array([r[k] for r in references]).shape) * 0.01 for k in ("force", "virial")}
    errors["energy"] = rng.normal(size=len(frames)) * 0.1
    n = len(frames[0]["x"])
    os.makedirs(folder)
    np.savetxt(os.path.join(folder, "type.raw"), [1 - t for t in frames[0]["types"]], fmt="%d")
    with open(os.path.join(folder, "type_map.raw"), "w") as f:
        f.write("H\nO\n")
    for number, (k, dtype) in enumerate([(slice(0, 2), np.float64), (slice(2, None), np.float32)]):
        path = os.path.join(folder, "set.%03d" % number)
        os.makedirs(path)
        pick = lambda key: np.array([r[key] for r in references[k]])
        arrays = {"coord": np.array([f["x"] for f in frames[k]]).reshape(-1, 3 * n),
                  "box": np.array([f["cell"] for f in frames[k]]).reshape(-1, 9),
                  "energy": pick("atom_energy").sum(1) + errors["energy"][k],
                  "force": (pick("force") + errors["force"][k]).reshape(-1, 3 * n),
                  "virial": (pick("virial") + errors["virial"][k]).reshape(-1, 9)}
        for name, a in arrays.items():
            np.save(os.path.join(path, name + ".npy"), a.astype(dtype))
    errors["energy"] /= n
    errors["virial"] /= n
    return {k: [float(np.sqrt(np.mean(e**2))), float(np.mean(np.abs(e)))] for k, e in errors.items()}


def save(tree, path):
    def leaf(x, store):
        if isinstance(x, np.ndarray):
            return store(x)
        if isinstance(x, dict):
            return {k: leaf(v, store) for k, v in x.items()}
        return [leaf(v, store) for v in x] if isinstance(x, list) else x

    with open(path + ".yaml", "w") as f:  # JSON is YAML
        json.dump(leaf(tree, lambda a: {"@class": "np.ndarray", "@is_variable": True, "@version": 1,
                                        "dtype": a.dtype.name, "value": a.tolist()}), f, indent=1)
    with h5py.File(path + ".dp", "w") as f:
        count = itertools.count()
        named = leaf(tree, lambda a: f.create_dataset("variable_%04d" % next(count), data=a).name)
        f.attrs["json"] = json.dumps(named)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    cases = []
    for seed, (name, changes) in enumerate(CASES.items()):
        c = {**BASE, **changes}
        cell = c.pop("cell", CUBIC)
        model = Model(np.random.default_rng(seed), c)
        save(model.tree(), os.path.join(folder, name))
        frame = random_frame(np.random.default_rng(7 if name.startswith("one_side") else 1000 + seed), c, 7, cell)
        cases.append({"name": name, "single_cutoffs": c.get("single_cutoffs", False), "frame": frame,
                      "reference": reference(model, frame)})
    forces = np.array([c["reference"]["force"] for c in cases[:2]])
    virials = np.array([c["reference"]["virial"] for c in cases[:2]]).reshape(2, 9)
    f = np.linalg.norm(np.std(forces, axis=0), axis=1)
    v = np.std(virials, axis=0) / forces.shape[1]
    deviation = {"force": f.tolist(), "force_max": f.max(), "force_min": f.min(), "force_mean": f.mean(),
                 "virial_max": v.max(), "virial_min": v.min(), "virial_rms": np.sqrt(np.mean(v * v))}
    c = {**BASE, "cell": None}
    model = Model(np.random.default_rng(0), c)  # that of "one_side"
    frames = [cases[0]["frame"]]
    for k in range(2):
        moved = np.array(frames[0]["x"]) + np.random.default_rng(k).normal(size=(7, 3)) * 0.05
        frames.append({**frames[0], "x": moved.tolist()})
    test = labelled_system(os.path.join(folder, "system"), model, frames, [reference(model, f) for f in frames],
                           np.random.default_rng(5))
    with open(os.path.join(folder, "cases.json"), "w") as f:
        json.dump({"cases": cases, "deviation": deviation, "test": test}, f)


def load(path):
    """A model file as plain Python readers see it."""
    if path.endswith(".dp"):
        with h5py.File(path) as f:
            def read(x, variables=False):
                if isinstance(x, dict):
                    return {k: read(v, variables or k == "@variables") for k, v in x.items()}
                if isinstance(x, list):
                    return [read(v, variables) for v in x]
                return f[x][()].tolist() if variables and isinstance(x, str) else x
            return read(json.loads(f.attrs["json"]))

    def values(x):
        if isinstance(x, dict):
            if x.get("@is_variable"):
                return np.asarray(x["value"], x["dtype"]).tolist()
            return {k: values(v) for k, v in x.items()}
        return [values(v) for v in x] if isinstance(x, list) else x

    with open(path) as f:
        return values(yaml.load(f, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


if __name__ == "__main__":
    if sys.argv[1] == "same":
        sys.exit(any(load(a) != load(b) for a, b in zip(sys.argv[2::2], sys.argv[3::2])))
    main(sys.argv[1])
