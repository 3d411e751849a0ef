"""Training and validation loss on one scale for the networks of every plugin that says it: at a rate of zero, with the training samples as the
validation set, both columns of learning_curve.h5 are one number."""
# needs: deepmd superres cosmo graph
# cost: 30
# thorough
import os
import unittest

import h5py
import numpy as np

import program

TRAIN = """
  - train:
      network: NETWORK
      dataset: DATASET
      validation: DATASET
      steps: 2
      optimizer: sgd
      learning_rate: {type: constant, start: 0}
      validate: {every: 1, batch: 3}
"""
CONVECTION = """
  - simulate:
      physics: rayleigh_benard
      rayleigh: 1e6
      aspect_ratio: 2
      cells: [32, 16]
      initial: {noise: 0.1, seed: 1}
      end_time: 2
      sample_interval: 0.25
      output: [{type: fields, interval: 0.25}]
"""
LABELS = """
  - label:
      structure: {lattice: {type: fcc, a: 3.61, cells: [2, 2, 2], species: [Cu]}}
      potential: {type: sutton_chen, element: Cu, cutoff: 3.5, switch_width: 1.0}
      perturbed: {frames: 5, strain: 0.03, volume: 0.04, displacement: 0.08 angstrom}
"""
CROPS = '{type: crops, data: ["{run}/simulate/fields.h5"], ratio: [2, 2, 2], crop: [4, 0, 0], frames: 9, points: 20, samples: 5}'
FRAMES = '{type: snapshots, data: ["{run}/simulate/fields.h5"], history: 2}'
UNET = "{type: flow_unet, base_channels: 4, max_channels: 8, ratio: [2, 2, 2], precision: float64}"
MESHFREE = ("{type: meshfree_flow_net, base_channels: 4, max_channels: 8, latent_dim: 4, decoder: [8], activation: swish, gamma: 0.1, precision: float64, "
            'constants: {P: 1e-3}, equations: ["dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b)) = 0"]}')
POTENTIAL = ("{type: deep_potential, rcut: 3.4 angstrom, rcut_smth: 2.0 angstrom, neuron: [4, 8], axis_neuron: 4, fitting: [8, 8], precision: float64, "
             "loss: {start_pref_e: 0.02, start_pref_f: 1000, start_pref_v: 0.2, limit_pref_v: 1}}")
MOLECULES = "{type: molecules, synthetic: {molecules: 30, atoms: [4, 9], noise: 1 kcal/mol}, fold: 0}"
TORCH = os.environ.get("CAMBIUM_HAS_TORCH", "1") in ("1", "ON", "TRUE")
#: Of each the plugins, the stage before, the network and its data.
CASES = {
    "deep_potential": ("md, deepmd", LABELS, POTENTIAL, '{type: deepmd_npy, systems: ["{run}/label/train"]}'),
    "fourier_operator": ("superres", CONVECTION, "{type: fourier_operator, width: 4, layers: 2, modes: [4, 4], ratio: [2, 2, 2], precision: float64}", CROPS),
    "vision_transformer": ("superres", CONVECTION, "{type: vision_transformer, width: 8, heads: 2, layers: 2, loss: l2, precision: float64}", FRAMES),
    **({} if not TORCH else {
        "flow_unet": ("superres", CONVECTION, UNET, CROPS),
        "flow_unet_forecast": ("superres", CONVECTION, UNET, FRAMES),
        "meshfree_flow_net": ("superres", CONVECTION, MESHFREE, CROPS),
        "cosmoflow": ("cosmo", "", "{type: cosmoflow, channels: [2, 4], hidden: [4], turn: false, precision: float64}",
                      "{type: hdf5, files: [FOLDER/boxes.h5], fields: [{name: counts}, {name: target}]}"),
        "message_passing": ("graph", "", "{type: message_passing, layers: 1, width: 8, precision: float64}", MOLECULES),
        "message_passing_bonds": ("graph", "", "{type: message_passing, layers: 1, width: 8, loss: huber, reference: bonds, precision: float64}", MOLECULES),
    })}


class HeldOutLoss(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program.draw_nothing(cls)
        cls.folder = program.fresh("held_out_loss")
        random = np.random.default_rng(3)
        with h5py.File(os.path.join(cls.folder, "boxes.h5"), "w") as file:
            file["counts"] = random.poisson(2.0, size=(5, 8, 8, 8)).astype("f4")
            file["target"] = random.uniform(-0.5, 0.5, size=(5, 2))

    def test_equal_samples_and_weights_have_equal_losses(self):
        for name, (plugins, before, network, data) in CASES.items():
            with self.subTest(name):
                run = os.path.join(self.folder, name)
                deck = f"run: {{name: {name}, directory: {run}, seed: 5}}\nplugins: [{plugins}]\nstages:{before}{TRAIN}"
                deck = deck.replace("NETWORK", network).replace("DATASET", data).replace("FOLDER", self.folder)
                for ranks in (1, 2):
                    code, out, error = program.run("run", program.write(run + ".yaml", deck), "--overwrite", ranks=ranks)
                    self.assertEqual(code, 0, out + error)
                    with h5py.File(os.path.join(run, "train", "learning_curve.h5")) as file:
                        self.assertIn("validation_loss", file)
                        training, validation = file["training_loss"][()], file["validation_loss"][()]
                    self.assertEqual(len(training), 2)
                    self.assertTrue((training > 0).all())
                    np.testing.assert_allclose(validation, training, rtol=1e-11)


if __name__ == "__main__":
    unittest.main(verbosity=2)
