// The network of molecules divided among ranks. This file sees no Torch.
#include "core/plugin/registry.hpp"
#include "core/train/run/train.hpp"
#include "tests/plugins/graph/molecules/molecule_case.hpp"
#include "tests/train/weights/divided/divided_network.hpp"

namespace cambium::graph {
void register_training(Registry& registry);
}

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::testing;

TEST_CASE("a divided network of molecules: the same weights, bytes and memory by the formulas") {
  World world;
  Registry registry;
  registry.set_plugin("graph");
  register_training(registry);
  world.context.registry = &registry;
  const auto network = registry.make<train::Network>(
      "message_passing", deck::parse("{layers: 3, width: 8, radial: 4, cutoff: 3.0}", "test"), world.context);
  HeldSet set(make_molecules(recipe(16)));
  network->fit_statistics(set, world.context);
  CHECK(network->modules().size() == 5);  // embedding, three interactions, readout
  train::testing::check_stages({*network, set.samples, {1.0}}, 3);
}
