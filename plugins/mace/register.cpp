// Registers all types of this plugin that a deck can name.
#include "core/plugin/registry.hpp"
#include "plugins/mace/potentials/mace.hpp"

namespace cambium::mace {
void register_types(Registry& registry) {
  registry.add<Mace>("mace", "MACE models in the files of PyTorch, read as data")
      .synonyms({"mace_mp", "mace_off", "equivariant", "message_passing", "foundation_model"});
}

}  // namespace cambium::mace
