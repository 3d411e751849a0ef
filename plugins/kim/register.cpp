// Registers all types of this plugin that a deck can name.
#include "core/plugin/registry.hpp"
#include "plugins/kim/potentials/kim.hpp"

namespace cambium::kim {

void register_types(Registry& registry) {
  registry.add<Kim>("kim", "models of OpenKIM (EAM, MEAM, Tersoff, SW, SNAP) through the KIM API")
      .synonyms({"openkim", "kim_api", "meam", "tersoff", "edip", "snap"});
}

}  // namespace cambium::kim
