// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/kinetic/networks/heat_flux_kernel.hpp"
#include "plugins/kinetic/physics/boltzmann_bgk.hpp"
#include "plugins/kinetic/physics/moment_fluid.hpp"
#include "plugins/kinetic/physics/vlasov_cost.hpp"
#include "plugins/kinetic/physics/vlasov_maxwell.hpp"
#include "plugins/kinetic/physics/vlasov_poisson.hpp"
#include "plugins/kinetic/writers/distribution.hpp"
#include "plugins/kinetic/writers/heat_flux.hpp"
#include "plugins/kinetic/writers/moments.hpp"
#include "plugins/kinetic/writers/points.hpp"

namespace cambium::kinetic {

void register_types(Registry& registry) {
  registry.add<VlasovPoisson>("vlasov_poisson", "electrostatic plasma of kinetic species")
      .synonyms({"vlasov", "electrostatic", "landau", "two_stream", "pic"});
  registry.add<VlasovMaxwell>("vlasov_maxwell", "electromagnetic plasma of kinetic species")
      .synonyms({"vlasov", "electromagnetic", "maxwell", "pic"});
  registry.add<BoltzmannBgk>("boltzmann_bgk", "neutral gas with collisions")
      .synonyms({"boltzmann", "bgk", "gas", "sod"});

  registry
      .add<MomentFluid>("moment_fluid",
                        "electrons as a fluid of three moments, closed by a formula or a trained network")
      .synonyms({"fluid", "moments", "two_fluid", "landau_fluid", "hammett_perkins"});

  using Fields = VlasovCost::Fields;
  registry.add<VlasovCostOf<VlasovPoisson, Fields::poisson>>("vlasov_poisson", "cells, traces and sums of a step");
  registry.add<VlasovCostOf<VlasovMaxwell, Fields::maxwell>>("vlasov_maxwell", "cells, traces and sums of a step");
  registry.add<VlasovCostOf<BoltzmannBgk, Fields::none>>("boltzmann_bgk", "cells, traces and sums of a step");

  registry.add<MomentsWriter>("moments", "moments of every species and the fields over configuration space")
      .synonyms({"fields", "density", "fluid_moments", "hdf5", "h5"});
  registry.add<PointWriter>("points", "time series of moments and fields at points")
      .synonyms({"probe", "probes", "point", "time_series"});
  registry.add<DistributionWriter>("distribution", "distribution functions of every species")
      .synonyms({"f", "distribution_function", "phase_space", "vdf"});
  registry
      .add<HeatFluxWriter>("heat_flux",
                           "waves of temperature, velocity and heat flux: training data of heat_flux_kernel")
      .synonyms({"closure"});
  registry.add<HeatFluxKernel>("heat_flux_kernel", "non-local closure of the moment equations")
      .synonyms({"closure", "nonlocal", "heat_flux"});
}

}  // namespace cambium::kinetic
