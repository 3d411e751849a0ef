// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/kinetic/bench/bench_kinetic.hpp"
#include "plugins/kinetic/networks/heat_flux_kernel.hpp"
#include "plugins/kinetic/physics/boltzmann_bgk.hpp"
#include "plugins/kinetic/physics/moment_fluid.hpp"
#include "plugins/kinetic/physics/vlasov_maxwell.hpp"
#include "plugins/kinetic/physics/vlasov_poisson.hpp"
#include "plugins/kinetic/writers/distribution.hpp"
#include "plugins/kinetic/writers/heat_flux.hpp"
#include "plugins/kinetic/writers/moments.hpp"
#include "plugins/kinetic/writers/points.hpp"

namespace cambium::kinetic {

void register_types(Registry& registry) {
  registry.add<VlasovPoisson>("vlasov_poisson", "electrostatic plasma of kinetic species");
  registry.add<VlasovMaxwell>("vlasov_maxwell", "electromagnetic plasma of kinetic species");
  registry.add<BoltzmannBgk>("boltzmann_bgk", "neutral gas with collisions");

  registry.add<MomentFluid>("moment_fluid",
                            "electrons as a fluid of three moments, closed by a formula or a trained network");

  registry.add<MomentsWriter>("moments", "moments of every species and the fields over configuration space");
  registry.add<PointWriter>("points", "time series of moments and fields at points");
  registry.add<DistributionWriter>("distribution", "distribution functions of every species");
  registry.add<HeatFluxWriter>("heat_flux",
                               "waves of temperature, velocity and heat flux: what heat_flux_kernel learns from");
  registry.add<HeatFluxKernel>("heat_flux_kernel", "non-local closure of the moment equations");

  registry.add_bench(bench_kinetic());
}

}  // namespace cambium::kinetic
