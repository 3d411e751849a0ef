// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/superres/convection/cavity.hpp"
#include "plugins/superres/convection/rayleigh_benard.hpp"

namespace cambium::superres {

void register_types(Registry& registry) {
  registry.add<RayleighBenard>("rayleigh_benard", "2-D Boussinesq convection between a warm and a cold plate");
  registry.add<Cavity>("cavity", "2-D Boussinesq convection in a square with a warm and a cold side wall");
}

}  // namespace cambium::superres
