// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/assimilate/models/lorenz63.hpp"
#include "plugins/assimilate/models/lorenz96.hpp"
#include "plugins/assimilate/tasks/assimilate.hpp"

namespace cambium::assimilate {

void register_types(Registry& registry) {
  registry.add<Assimilate>("assimilate", "filters of noisy observations, compared in twin experiments")
      .synonyms({"data_assimilation", "enkf", "letkf", "etkf", "kalman", "twin_experiment", "3dvar"});
  registry.add<Lorenz63>("lorenz63", "three modes of convection, chaotic").synonyms({"lorenz", "l63", "lorenz_63"});
  registry.add<Lorenz96>("lorenz96", "a chaotic quantity on a circle of latitude")
      .synonyms({"lorenz95", "l96", "l95", "lorenz_96"});
}

}  // namespace cambium::assimilate
