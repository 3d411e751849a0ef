// Registers all types of this plugin that a deck can name.
#include "core/plugin/registry.hpp"
#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/datasets/extxyz.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "plugins/deepmd/potentials/deep_potential.hpp"
#include "plugins/deepmd/tasks/calibrate.hpp"
#include "plugins/deepmd/tasks/compare.hpp"
#include "plugins/deepmd/tasks/label.hpp"
#include "plugins/deepmd/tasks/test.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {
void register_types(Registry& registry) {
  registry.add<DeepPotential>("deep_potential", "Deep Potential models of DeePMD-kit (.dp, .yaml, .pb)")
      .synonyms({"dp", "deepmd", "deepmd_kit", "deeppot", "deep_pot", "nnp", "mlp", "mlip", "neural_network",
                 "machine_learning"});
  registry.add<Label>("label", "sample configurations, evaluate a potential on them, write training data")
      .synonyms({"labels", "sample", "single_point", "relabel"});
  registry.add<TestStage>("test", "errors of a Deep Potential on labelled data, and tables for parity plots")
      .synonyms({"dp_test", "parity"});
  registry
      .add<Calibrate>("calibrate",
                      "bound of the force error from a committee's model deviation, calibrated on held-out frames")
      .synonyms({"conformal", "uncertainty", "calibration"});
  registry.add<Compare>("compare", "force errors of several potentials on labelled frames, some of them fitted first")
      .synonyms({"benchmark", "fit"});
  registry.add<DeepmdNpy>("deepmd_npy", "labelled configurations in DeePMD-kit's folders of .npy files")
      .synonyms({"npy", "numpy", "deepmd", "dpdata", "raw"});
  registry.add<ExtxyzSet>("extxyz", "labelled configurations in extended XYZ files")
      .synonyms({"xyz", "exyz", "extended_xyz", "ase"});
  registry.add<DeepPotentialNetwork>("deep_potential", "Deep Potential, trained on energies, forces and virials")
      .synonyms({"dp", "deepmd", "deep_pot", "se_e2_a", "se_e2_r", "se_a", "nnp", "mlip"});

  for (Command& command : model_commands()) registry.add_command(std::move(command));
}

}  // namespace cambium::deepmd
