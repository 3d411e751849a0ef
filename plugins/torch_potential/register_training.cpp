// Registers all types of this plugin that need LibTorch.
#include "core/plugin/registry.hpp"
#include "plugins/torch_potential/potentials/torch_script.hpp"

namespace cambium::torch_potential {

void register_training(Registry& registry);

void register_training(Registry& registry) {
  registry.add<TorchScript>("torch_script", "archive of MACE, NequIP or Allegro, run by LibTorch")
      .synonyms({"mace", "nequip", "allegro", "torchscript", "libtorch", "universal_potential", "foundation_model"});
}

}  // namespace cambium::torch_potential
