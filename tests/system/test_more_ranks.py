"""Problems with fewer pieces than ranks: blocks, atoms, cells, nodes, samples. On seven ranks, some of which have none, they give what one rank
gives, or are refused with a sentence; none hangs, and none ends in the messages of MPI."""
# processors: 2
# thorough
import os
import re
import subprocess
import unittest

import program

BUILT = os.environ.get("CAMBIUM_BUILT_PLUGINS", "").split()
TORCH = os.environ.get("CAMBIUM_HAS_TORCH", "0") not in ("0", "", "OFF", "FALSE")
RANKS, LIMIT = 7, 120

HEAD = """
run: {name: few, directory: "DIR", seed: 3}
plugins: [PLUGINS]
stages:
"""
SUBMATRIX = """  - density_matrix:
      matrices: {hamiltonian: "FILES/h.mtx", overlap: "FILES/s.mtx", molecule: [MOLECULE], blocks: BLOCKS}
      electrons: 12
      eps_filter: EPS
"""


def submatrix(molecule="1", blocks="atom", eps="1e-6", more=""):
    return SUBMATRIX.replace("MOLECULE", molecule).replace("BLOCKS", blocks).replace("EPS", eps) + "".join(f"      {line}\n" for line in more.split("; ") if line)


def simulate(body):
    return "  - simulate:\n" + "".join(f"      {line}\n" for line in body.strip().split("\n"))


# name: plugins, stages, what is compared (by lines of the last page or a table), tolerance
CASES = {
    "submatrix": (["submatrix"], submatrix(), r"band energy +(\S+) hartree", 1e-6),
    "submatrix, unequal blocks": (["submatrix"], submatrix("1, 2, 3"), r"band energy +(\S+) hartree", 1e-6),
    "submatrix, local form": (["submatrix"], submatrix(more="form: local; solver: diagonalise"), r"band energy +(\S+) hartree", 1e-6),
    "submatrix, groups": (["submatrix"], submatrix(more="groups: {by: graph, size: 2}"), r"band energy +(\S+) hartree", 1e-6),
    "submatrix, threshold": (["submatrix"], submatrix(more="overlap_threshold: 1e-5"), r"band energy +(\S+) hartree", 1e-6),
    "submatrix, warm": (["submatrix"], submatrix(more="temperature: 3000"), r"band energy +(\S+) hartree", 1e-6),
    "md": (["md"], simulate("""physics: md
structure: {lattice: {type: fcc, a: 40, cells: [1, 1, 1], species: [Ar]}}
initial_temperature: 30 K
potential: {type: lennard_jones, cutoff: 8, epsilon: 0.0104, sigma: 3.4}
timestep: 2 fs
steps: 20
thermo: {every: 5}"""), "thermo", 1e-8),
    "vlasov_poisson": (["kinetic"], simulate("""physics: vlasov_poisson
domain: {lower: [0], upper: [6.28], cells: [4]}
species: [{name: electron, charge: -1, velocity: {lower: [-6], upper: [6], cells: [4]}, f0: (1 + 0.1*cos(x)) * maxwellian(v)}]
end_time: 0.5
thermo: {every: 1}"""), "thermo", 1e-9),
    "moment_fluid": (["kinetic"], simulate("""physics: moment_fluid
length: 6.28
density: 1 + 0.1*cos(x)
closure: {type: hammett_perkins}
points: 8
end_time: 0.5
thermo: {every: 1}"""), "thermo", 1e-9),
    "rayleigh_benard": (["superres"], simulate("""physics: rayleigh_benard
rayleigh: 1e4
cells: [8, 4]
initial: {noise: 1e-2}
end_time: 0.2
thermo: {every: 1}"""), "thermo", 1e-8),
    "cavity": (["superres"], simulate("""physics: cavity
rayleigh: 1e4
cells: [8, 4]
end_time: 0.2
thermo: {every: 1}"""), "thermo", 1e-8),
    "particle_mesh": (["cosmo"], simulate("""physics: particle_mesh
cosmology: {omega_m: 0.3, omega_b: 0.05, h: 0.7, n_s: 0.96, sigma_8: 0.8}
box: 64
particles: 4
start: 0.1
end: 0.5
time_steps: 4
thermo: {every: 1}"""), "thermo", 0.0),
    "graph_diffusion": (["graph"], simulate("""physics: graph_diffusion
graph: {random: {nodes: 5, degree: 2}}
species: [{name: S, diffusion: 0.2, initial: x}]
timestep: 0.1
end_time: 1
thermo: {every: 1}"""), "thermo", 1e-9),
    "mesh_transport": (["graph"], simulate("""physics: mesh_transport
mesh: {rectangle: {cells: [2, 1], size: [2, 1]}}
velocity: ["1", "0"]
diffusivity: 1e-2
initial: x
end_time: 0.1
thermo: {every: 1}"""), "thermo", 1e-9),
    "pod": (["podlstm"], """  - synthetic_field: {weeks: 5, latitudes: 4, longitudes: 6}
  - pod:
      field: {files: ["{run}/synthetic_field/field.h5"], array: sst, missing: land}
      modes: 2
""", r"\n +[12] +(\S+) +\S+ +\S+", 1e-6),
    "structure_boxes": (["cosmo"], """  - structure_boxes:
      file: boxes.h5
      boxes: 3
      box: 64
      particles: 4
      num_steps: 4
      vary: {omega_m: [0.1, 0.5]}
""", None, 0.0),
}
TRAINED = {
    "expression": ([], """  - train:
      network: {type: mlp, layers: [4]}
      dataset: {type: expression, samples: 3, box: {x: [-1, 1]}, target: {z: 3*x}}
      validation: {type: expression, samples: 2, seed: 5, box: {x: [-1, 1]}, target: {z: 3*x}}
      batch: 3
      epochs: 2
      optimizer: {type: adamw}
      learning_rate: {type: constant, start: 1e-2}
      validate: {every: 1}
      log_every: 1
  - evaluate:
      model: "{run}/train/model.h5"
      dataset: {type: expression, samples: 2, seed: 77, box: {x: [-1, 1]}, target: {z: 3*x}}
"""),
    "nodes": (["graph"], """  - train:
      network: {type: gcn, layers: [4]}
      dataset: {type: graph, synthetic: {nodes: 300}}
      validation: {type: graph, synthetic: {nodes: 300}, nodes: validation}
      loader: full_graph
      epochs: 2
      optimizer: {type: adam}
      learning_rate: {type: constant, start: 0.01}
      validate: {every: 1, batch: 1000}
      log_every: 1
  - classify_nodes:
      models: ["{run}/train/model.h5"]
      dataset: {type: graph, synthetic: {nodes: 300}, nodes: test}
      mlp: {epochs: 1}
"""),
    "pairs": (["relate"], """  - train:
      network: {type: affinity, embedding_dim: 4, layers: [4]}
      dataset: {type: pairs, synthetic: {compounds: 4, targets: 4}, folds: {by: pairs, test_fold: 5, validation_fold: 4}}
      validation: {type: pairs, synthetic: {compounds: 4, targets: 4}, folds: {by: pairs, test_fold: 5, validation_fold: 4}, split: validation}
      batch: 8
      epochs: 2
      optimizer: {type: adamw}
      learning_rate: {type: constant, start: 1e-2}
      tables: {optimizer: adagrad, learning_rate_scale: 10}
      validate: {every: 1, batch: 256}
      log_every: 1
  - predict_affinities:
      models: ["{run}/train/model.h5"]
      dataset: {type: pairs, synthetic: {compounds: 4, targets: 4}, folds: {by: pairs, test_fold: 5, validation_fold: 4}, split: test}
"""),
    "choices": (["relate"], """  - train:
      network: {type: factorization_machine, embedding_dim: 4}
      dataset: {type: interactions, synthetic: {}}
      validation: {type: interactions, synthetic: {}, split: validation}
      batch: 256
      epochs: 1
      optimizer: adam
      learning_rate: {type: constant, start: 1e-2}
      tables: {optimizer: adagrad, learning_rate_scale: 5, decay: 0.1}
      validate: {every: 40, batch: 512}
      log_every: 100
  - recommend:
      models: ["{run}/train/model.h5"]
      dataset: {type: interactions, synthetic: {}, split: test}
      users: 3
"""),
    "windows": (["podlstm"], """  - synthetic_field: {weeks: 60, latitudes: 4, longitudes: 6}
  - pod:
      field: {files: ["{run}/synthetic_field/field.h5"], array: sst, missing: land}
      modes: 2
      training: 50
  - train:
      network: {type: stacked_lstm, head: dense}
      dataset: {type: forecast_windows, series: {file: "{run}/pod/pod.h5"}, range: [0, 18]}
      validation: {type: forecast_windows, series: {file: "{run}/pod/pod.h5"}, range: [33, 35]}
      batch: 16
      epochs: 1
      optimizer: {type: adamw}
      learning_rate: {type: constant, start: 3e-3}
      validate: {every: 1}
      log_every: 1
"""),
    "images": (["pretrain"], """  - train:
      network: {type: field_encoder, channels: [4], width: 4, pool: cells, positive: field, shared: false, loss: {scheme: infonce}}
      dataset: &pairs {type: images, synthetic: {samples: 12, classes: 2}, split_halves: top_bottom, range: [0, 8]}
      batch: 8
      epochs: 1
      optimizer: {type: adamw}
      learning_rate: {type: constant, start: 1e-3}
  - neighbours:
      model: "{run}/train/model.h5"
      archive: *pairs
      queries: {type: images, synthetic: {samples: 12, classes: 2}, split_halves: top_bottom, range: [8, 11]}
      by: partner
"""),
    "deep potential": (["md", "deepmd"], """  - label:
      structure: {lattice: {type: fcc, a: 3.61, cells: [2, 2, 2], species: [Cu]}}
      potential: {type: sutton_chen, element: Cu, cutoff: 4.0}
      perturbed: {frames: 5, displacement: 0.08 angstrom}
      validation: 0.4
  - train:
      network: {type: deep_potential, rcut: 4 angstrom, rcut_smth: 2.0 angstrom, neuron: [4, 8], axis_neuron: 2, fitting: [8, 8]}
      dataset: {type: deepmd_npy, systems: ["{run}/label/train"]}
      validation: {type: deepmd_npy, systems: ["{run}/label/validation"]}
      batch: 4
      steps: 2
      learning_rate: {type: exponential, start: 2e-3, stop: 2e-5, every: 50}
      validate: {every: 1}
      log_every: 1
  - test:
      model: "{run}/train/model.dp"
      systems: ["{run}/label/validation"]
"""),
}


def write_matrices(folder, size):
    """A chain: H falls off from its diagonal, S has some overlap of neighbours."""
    for name, diagonal, beside in (("h", -0.5, -0.1), ("s", 1.0, 0.1)):
        rows = [(i, j, (diagonal + 0.05 * (name == "h") * (i % 3)) if i == j else beside) for i in range(size) for j in (i - 1, i) if j >= 0]
        text = "%%MatrixMarket matrix coordinate real symmetric\n" + f"{size} {size} {len(rows)}\n" + "".join(f"{i + 1} {j + 1} {v:.15g}\n" for i, j, v in rows)
        program.write(os.path.join(folder, name + ".mtx"), text)


def last_row(path):
    with open(path, encoding="utf-8") as file:
        return [float(x) for x in file.read().splitlines()[-1].split(",")]


class MoreRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)

    def answer(self, name, plugins, stages, ranks):
        """Exit code, last page, and the folder of a run."""
        folder = program.fresh("few_" + re.sub(r"\W+", "_", name) + f"_{ranks}")
        files = program.fresh("few_files")
        write_matrices(files, 24 if "[1, 2, 3]" in stages else 6)
        deck = program.write(os.path.join(files, "deck.yaml"), HEAD.replace("PLUGINS", ", ".join(plugins)) + stages.replace("FILES", files))
        try:
            code, out, error = program.run("run", deck, f"run.directory={folder}", ranks=ranks, limit=LIMIT)
        except subprocess.TimeoutExpired:
            self.fail(f"{name}: {ranks} ranks wait for each other")
        return code, out, error, folder

    def compare(self, name, plugins, stages, look, tolerance):
        code, page, error, one = self.answer(name, plugins, stages, 1)
        self.assertEqual(code, 0, name + ": " + error[-2000:])
        code, other, error, many = self.answer(name, plugins, stages, RANKS)
        if code == 2:
            self.assertRegex(error, r"cambium: .*(rank|cell|atom|box|batch)", name)
            print(f"{name}: refused: {error.strip().splitlines()[0][:150]}")
            return
        self.assertEqual(code, 0, f"{name}: {error[-3000:]}")
        if look is None:
            return
        if look == "thermo":
            rows = [last_row(os.path.join(f, "simulate", "thermo.csv")) for f in (one, many)]
        else:
            rows = [[float(x) for x in re.findall(look, text)] for text in (page, other)]
        self.assertEqual(len(rows[0]), len(rows[1]), name)
        self.assertGreater(len(rows[0]), 0, f"{name}: {page}")
        for a, b in zip(*rows):
            self.assertAlmostEqual(a, b, delta=tolerance * max(1.0, abs(a)), msg=name)
        print(f"{name}: as one rank")

    def test_answers(self):
        for name, (plugins, stages, look, tolerance) in CASES.items():
            if all(p in BUILT for p in plugins):
                with self.subTest(name):
                    self.compare(name, plugins, stages, look, tolerance)

    @unittest.skipUnless(TORCH, "no networks without LibTorch")
    def test_trainings(self):
        for name, (plugins, stages) in TRAINED.items():
            if all(p in BUILT for p in plugins):
                with self.subTest(name):
                    self.compare(name, plugins, stages, None, 0.0)


if __name__ == "__main__":
    unittest.main()
