"""A small deck of every physics (test_registered.py names one that is missing), and what two runs of it are compared by, for the tests of ranks that
die and of checkpoints."""
import os
import re
import unittest

import h5py
import numpy as np

import program
import registered

DECK = """
run: {name: NAME, directory: "DIR", seed: 3}
plugins: [PLUGINS]
stages:
  - simulate:
BODY
      steps: STEPS
      thermo: {every: 5}
      checkpoint: {every: EVERY, keep: 2}
"""
# name: body, steps between two checkpoints, steps of a run that is killed, tolerance on other ranks. Steps are few and each is some work:
# where there are more ranks than free cores, every step waits for its turn, however little it does.
PHYSICS = {
    "md": ("""physics: md
structure: {lattice: {type: fcc, a: 3.7, cells: [9, 9, 9], species: [Cu], displacement: 0.1}}
initial_temperature: 1500 K
potential: {type: sutton_chen, element: Cu, cutoff: 5.5}
integrator: {type: npt, temperature: 1500 K, pressure: 0 bar}
timestep: 2 fs""", 10, 150, 1e-8),
    "tight_binding": ("""physics: md
structure: {lattice: {type: diamond, a: 3.556, cells: [2, 2, 3], species: [C], displacement: 0.05 angstrom}}
initial_temperature: 300 K
potential: {type: tight_binding, eps: 0}
timestep: 1 fs""", 2, 30, 1e-7),
    "vlasov_poisson": ("""physics: vlasov_poisson
parameters: {k: 0.5, a: 1e-2}
domain: {lower: [0], upper: [2*pi/k], cells: [96]}
species: [{name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [96]}, f0: (1 + a*cos(k*x)) * maxwellian(v)}]
end_time: 1000""", 10, 150, 1e-11),
    "vlasov_maxwell": ("""physics: vlasov_maxwell
parameters: {k: 0.4, u: 0.3, vt: 0.1, a: 1e-4}
domain: {lower: [0], upper: [2*pi/k], cells: [12]}
species: [{name: electron, charge: -1, velocity: {lower: [-0.9, -0.9], upper: [0.9, 0.9], cells: [8, 8]}, f0: "0.5*maxwellian(vx, 0, vt) * (maxwellian(vy, u, vt) + maxwellian(vy, -u, vt))"}]
fields: {B: ["0", "0", a*sin(k*x)]}
end_time: 1000""", 10, 200, 1e-11),
    "boltzmann_bgk": ("""physics: boltzmann_bgk
parameters: {knudsen: 0.01}
domain: {lower: [-1], upper: [1], cells: [24], lower_wall: [copy], upper_wall: [copy]}
species: [{name: gas, velocity: {lower: [-6], upper: [6], cells: [16]}, f0: "step(-x)*maxwellian(v) + (1 - step(-x))*0.125*maxwellian(v, 0, sqrt(0.8))", collisions: {frequency: 1/knudsen}}]
end_time: 1000""", 10, 400, 1e-11),
    "moment_fluid": ("""physics: moment_fluid
parameters: {k: 0.4, a: 1e-2}
length: 2*pi/k
density: 1 + a*cos(k*x)
closure: {type: hammett_perkins}
end_time: 10000""", 20, 20000, 1e-11),
    "rayleigh_benard": ("""physics: rayleigh_benard
rayleigh: 1e5
width: 2
cells: [48, 24]
initial: {noise: 1e-2}
end_time: 1000""", 10, 500, 1e-9),
    "cavity": ("""physics: cavity
rayleigh: 1e5
cells: [32, 32]
end_time: 1000""", 10, 500, 1e-9),
    "graph_diffusion": ("""physics: graph_diffusion
graph: {random: {nodes: 8000, degree: 8, weight: exp(-2*d^2)}}
parameters: {beta: 0.4, gamma: 0.1}
species:
  - {name: S, diffusion: 0.02, initial: "1 - 0.5*exp(-10*((x - 0.1)^2 + (y - 0.1)^2))", reaction: -beta*S*I}
  - {name: I, diffusion: 0.02, initial: "0.5*exp(-10*((x - 0.1)^2 + (y - 0.1)^2))", reaction: beta*S*I - gamma*I}
timestep: 0.01
end_time: 10000""", 20, 300, 1e-12),
    "mesh_transport": ("""physics: mesh_transport
mesh: {rectangle: {cells: [24, 12], size: [2, 1]}}
parameters: {A: 0.1}
stream: -A*sin(pi*x)*sin(pi*y)
diffusivity: 1e-4
initial: if((x - 0.5)^2 + (y - 0.5)^2 < 0.09, 1, 0)
end_time: 10000""", 20, 2000, 1e-12),
    "particle_mesh": ("""physics: particle_mesh
cosmology: {omega_m: 0.3, omega_b: 0.05, h: 0.7, n_s: 0.96, sigma_8: 0.8}
box: 64
particles: 16
mesh: 16
start: 0.02
end: 1
time_steps: 120""", 5, 120, 1e-9),
}


def plugins(name):
    """Plugins of the types in its body; None where this build lacks one."""
    body, found = PHYSICS[name][0], []
    for kind, pattern in (("physics", r"^physics: (\w+)"), ("potential", r"^potential: {type: (\w+)")):
        for type_name in re.findall(pattern, body, re.M):
            plugin = registered.types(kind).get(type_name)
            if plugin is None:
                return None
            if plugin not in found:
                found.append(plugin)
    return found


def deck(folder, name, steps, every, directory="run"):
    text = DECK.replace("BODY", "\n".join("      " + line for line in PHYSICS[name][0].splitlines())).replace("NAME", name).replace("DIR", os.path.join(folder, directory))
    return program.write(os.path.join(folder, directory + ".yaml"), text.replace("PLUGINS", ", ".join(plugins(name))).replace("STEPS", str(steps))
                         .replace("EVERY", str(every)))


def steps_in(run):
    """Steps of the checkpoints that are there."""
    place = os.path.join(run, "simulate")
    found = [re.fullmatch(r"restart\.(\d+)\.h5", name) for name in (os.listdir(place) if os.path.isdir(place) else [])]
    return sorted(int(m[1]) for m in found if m)


def state(run):
    """{name: values} of the last checkpoint, rows of atoms in the order of their tags."""
    out = {}
    with h5py.File(os.path.join(run, "simulate", f"restart.{steps_in(run)[-1]}.h5"), "r") as file:
        order = np.argsort(file["fields/tag"][()]) if "tag" in file.get("fields", {}) else None

        def take(name, item):
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "iuf" and not name.startswith(("ranks", "tables")):
                rows = order is not None and name.startswith("fields/") and item.shape[:1] == order.shape
                out[name] = item[()][order] if rows else item[()]
        file.visititems(take)
    return out


def table(run):
    with open(os.path.join(run, "simulate", "thermo.csv"), encoding="utf-8") as file:
        return file.read()


class Case(unittest.TestCase):
    def runs(self, *words, ranks, code=0):
        done, out, error = program.run(*words, ranks=ranks)
        self.assertEqual(done, code, f"{words} on {ranks} ranks\n{out[-1500:]}{error}")
        return out if code == 0 else error

    def same(self, one, two, tolerance, what):
        first, second = state(one), state(two)
        if tolerance > 0:  # planes between ranks are those of their number
            first.pop("physics/cuts", None), second.pop("physics/cuts", None)
        self.assertEqual(set(first), set(second), what)
        for name, values in first.items():
            other = second[name]
            self.assertEqual(values.shape, other.shape, f"{what}: {name}")
            if tolerance == 0:
                self.assertTrue(np.array_equal(values, other, equal_nan=True), f"{what}: {name} is not the same bit for bit")
            elif values.dtype.kind == "f" and values.size:
                scale = max(np.abs(values).max(), 1e-300)
                self.assertLessEqual(np.abs(values - other).max() / scale, tolerance, f"{what}: {name}")


def of_each_physics(case, method, *arguments, only=PHYSICS):
    """A test of `case` for each physics: its method with the name of one."""
    for name in only:
        def test(self, name=name):
            getattr(self, method)(name, *arguments)
        test.__doc__ = name
        setattr(case, "test_" + name, unittest.skipUnless(plugins(name), "this build lacks a type of its deck")(test))
