#pragma once
// Networks that have looked at labelled water, and runs of molecular dynamics with what they export.
#include <fmt/format.h>

#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "tests/plugins/deepmd/labelled_water.hpp"
#include "tests/plugins/deepmd/stages.hpp"
#include "tests/plugins/deepmd/training_samples.hpp"

namespace cambium::deepmd::test {

/// A network that has looked at labelled water.
struct Trained {
  Comm alone{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{alone, log, timing};
  DeepmdNpy data;
  DeepPotentialNetwork network;

  Trained(const DeepPotentialNetwork::Params& params, const std::string& system)
      : data({{system}}, context), network(params, context) {
    data.open(context);
    network.fit_statistics(data, context);
  }
};

/// The table of a short run of oxygen atoms, which this function makes.
inline std::string md_run(Comm& comm, const std::string& folder, const std::string& model) {
  Log log;
  Timing timing;
  Stages stages;
  Context context{comm, log, timing, &stages.registry};
  context.run_directory = folder;
  if (comm.root()) std::filesystem::create_directories(folder);
  comm.barrier();
  const std::string deck = fmt::format(
      "{{physics: md, structure: {{lattice: {{type: fcc, a: 4.4, cells: [3, 2, 2], species: [O]}}}}, "
      "initial_temperature: "
      "3000, potential: {{type: deep_potential, model: '{}'}}, timestep: 0.001, thermo: {{every: 2}}, steps: 10}}",
      model);
  stages.registry.make<Task>("simulate", deck::parse(deck, "test"), context)->run(context);
  comm.barrier();
  return folder + "/thermo.csv";
}

}  // namespace cambium::deepmd::test
