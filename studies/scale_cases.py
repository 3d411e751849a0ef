"""Decks of every physics that fit 1 to 64 ranks, what a run of them counts, and what `cambium plan` says: for scale_counts.py, for
plan_times.py and for the tests (tests/system/test_plan.py)."""

import json
import os
import subprocess

import measured

HEAD = """
run: {{name: case, directory: {folder}, seed: 1}}
plugins: [{plugin}]
stages:
  - simulate:
      steps: {steps}
      thermo: {{every: 1000000}}
"""
# plugin, steps that are counted, keys of the stage.
COPPER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "inputs", "deepmd", "models", "copper.dp")
CASES = {
    "lennard_jones": ("md", 40, """
      physics: md
      structure: {lattice: {type: fcc, a: 5.719, cells: [16, 16, 16], species: [Ar]}}
      initial_temperature: 240 K
      potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.5125, truncation: smooth}
      timestep: 5 fs
"""),
    "silicon": ("md", 40, """
      physics: md
      structure: {lattice: {type: diamond, a: 5.431, cells: [12, 12, 12], species: [Si]}}
      initial_temperature: 2000 K
      potential: {type: stillinger_weber}
      timestep: 1 fs
"""),
    "copper": ("md", 40, """
      physics: md
      structure: {lattice: {type: fcc, a: 3.61, cells: [20, 20, 20], species: [Cu]}}
      initial_temperature: 1200 K
      potential: {type: sutton_chen, element: Cu}
      timestep: 2 fs
"""),
    "deep_potential": ("md, deepmd", 10, f"""
      physics: md
      structure: {{lattice: {{type: fcc, a: 3.61, cells: [10, 10, 10], species: [Cu]}}}}
      initial_temperature: 1200 K
      potential: {{type: deep_potential, model: "{COPPER}", compress: 1e-4, precision: mixed}}
      timestep: 2 fs
"""),
    "convection": ("superres", 30, """
      physics: rayleigh_benard
      rayleigh: 1e5
      aspect_ratio: 2
      cells: [256, 128]
      end_time: 1000
"""),
    "convection_3d": ("superres", 15, """
      physics: rayleigh_benard
      rayleigh: 1e5
      aspect_ratio: 2
      cells: [32, 24, 64]
      end_time: 1000
"""),
    "cavity": ("superres", 30, """
      physics: cavity
      rayleigh: 1e5
      cells: [128, 128]
      end_time: 1000
"""),
    "kinetic_1x2v": ("kinetic", 12, """
      physics: vlasov_poisson
      parameters: {k: 0.5}
      domain: {lower: [0], upper: [2*pi/k], cells: [256]}
      species:
        - {name: electron, charge: -1, velocity: {lower: [-6, -6], upper: [6, 6], cells: [16, 16]}, f0: "(1 + 0.01*cos(k*x))*maxwellian(vx)*maxwellian(vy)"}
"""),
    "kinetic_2x2v": ("kinetic", 8, """
      physics: vlasov_maxwell
      parameters: {k: 0.5, u: 0.3, vt: 0.1}
      domain: {lower: [0, 0], upper: [2*pi/k, 2*pi/k], cells: [32, 32]}
      basis: {order: 1}
      species:
        - {name: electron, charge: -1, velocity: {lower: [-0.9, -0.9], upper: [0.9, 0.9], cells: [8, 8]}, f0: "maxwellian(vx, 0, vt)*maxwellian(vy, u, vt)"}
      fields: {B: ["0", "0", "1e-4*cos(k*x)"]}
"""),
    "plane": ("kinetic", 8, """
      physics: vlasov_poisson
      parameters: {k: 0.5}
      domain: {lower: [0, 0], upper: [2*pi/k, 2*pi/k], cells: [32, 32]}
      basis: {order: 1}
      species:
        - {name: electron, charge: -1, velocity: {lower: [-6, -6], upper: [6, 6], cells: [8, 8]}, f0: "(1 + 0.01*cos(k*x)*cos(k*y))*maxwellian(vx)*maxwellian(vy)"}
"""),
    "plane_with_walls": ("kinetic", 8, """
      physics: vlasov_poisson
      parameters: {k: 0.5}
      domain: {lower: [0, 0], upper: [2*pi/k, 2*pi/k], cells: [32, 32], lower_wall: [absorb, periodic], upper_wall: [absorb, periodic]}
      basis: {order: 1}
      species:
        - {name: electron, charge: -1, velocity: {lower: [-6, -6], upper: [6, 6], cells: [8, 8]}, f0: "(1 + 0.01*cos(k*x)*cos(k*y))*maxwellian(vx)*maxwellian(vy)"}
"""),
    "gas": ("kinetic", 12, """
      physics: boltzmann_bgk
      domain: {lower: [0], upper: [1], cells: [256], lower_wall: [copy], upper_wall: [copy]}
      species:
        - {name: gas, velocity: {lower: [-6], upper: [6], cells: [32]}, collisions: {frequency: 100}, f0: maxwellian(v)}
"""),
}
# A network without latency and of any bandwidth, on which no two ranks share a node: every message is one of MPI.
APART = "0 s, 1000000 GB/s"
MPI = os.environ.get("CAMBIUM_MPIEXEC", "mpiexec;--allow-run-as-root;--oversubscribe;--mca;mpi_yield_when_idle;1").split(";")
MACHINE = """
name: flat
peak: 1e12
memory: 64 GB
memory_bandwidth: {memory} GB/s
reached_links: 1
levels: [{{name: network, bandwidth: {bandwidth}, latency: {latency}}}]
"""


def write_deck(case, folder, steps=None):
    plugin, counted, keys = CASES[case]
    path = os.path.join(folder, f"{case}.yaml")
    with open(path, "w") as file:
        file.write(HEAD.format(folder=os.path.join(folder, "run"), plugin=plugin, steps=steps or counted) + keys.lstrip("\n"))
    return path


def write_machine(folder, bandwidth="1 GB/s", latency="1 us", memory=10):
    path = os.path.join(folder, "flat.yaml")
    with open(path, "w") as file:
        file.write(MACHINE.format(bandwidth=bandwidth, latency=latency, memory=memory))
    return path


# Of potentials that do not say what an atom costs.
RATES = {"deep_potential": ("--rate", "1e4")}


def run(program, path, ranks, network=APART, overrides=()):
    """What the run found."""
    environment = dict(os.environ, CAMBIUM_NETWORK=network, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    launcher = [*MPI, "-np", str(ranks)] if ranks > 1 else []
    done = subprocess.run([*launcher, program, "run", path, "--overwrite", *overrides], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{path} on {ranks} ranks: {done.stdout[-500:]}{done.stderr}")
    named = [text.removeprefix("run.directory=") for text in overrides if text.startswith("run.directory=")]
    return measured.results(named[-1] if named else os.path.join(os.path.dirname(path), "run"))


def counted(found):
    """Of the busiest rank and a step; memory at its peak, of the whole process."""
    return {"messages": found["messages"].value, "sent": 1e3 * found["sent"].value, "received": 1e3 * found["received"].value,
            "collectives": found["collectives"].value, "memory": found.memory}


def rate(found):
    """Items per second in the loop."""
    return found.work_items * found.steps / found.seconds


def planned(program, path, machine, ranks, *more):
    """What the plan says of each number of ranks."""
    done = subprocess.run([program, "plan", path, "--machine", machine, "--ranks", ",".join(map(str, ranks)), "--json", *more], capture_output=True,
                          text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])["plans"]
