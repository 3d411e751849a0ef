// Gradients of a convolutional network that learns handwritten digits: their tails, and their errors in 4 bits
// (tests/gradient_tails.hpp). This file sees no Torch.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "core/plugin/registry.hpp"
#include "core/train/data/hdf5_dataset.hpp"
#include "core/train/kinds/batch_plan.hpp"
#include "core/train/networks/torch/register.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "tests/catch.hpp"
#include "tests/gradient_tails.hpp"

using namespace cambium;
using namespace cambium::train;

TEST_CASE("4-bit gradients of a convolutional network: table", "[.table][data]") {
  const char* folder = std::getenv("CAMBIUM_DATA");
  const std::string file = folder ? std::string(folder) + "/images/mnist10k.h5" : "";
  if (file.empty() || !std::filesystem::exists(file)) {
    std::cout << "SKIPPED: gradients of digits: CAMBIUM_DATA is not set\n";
    return;
  }
  Comm comm;
  Registry registry;
  register_training(registry);
  register_torch(registry);
  Log log;
  Timing timing;
  Context context{comm, log, timing, &registry, 5, ".", "", "", nullptr, false, false};
  Hdf5Dataset::Params set;
  set.files.push_back(file);
  for (const char* name : {"images", "labels"}) set.fields.emplace_back().name = name;
  set.range = {0, 4096};
  Hdf5Dataset data(set, context);
  data.open(context);
  auto network = registry.make<Network>(
      "conv_net", deck::parse("{channels: [16, 32], hidden: 128, input: images, target: labels}", "test"), context);
  network->fit_statistics(data, context);
  const FlatLayout layout(network->parameters(), 1 << 24);
  for (std::uint64_t seed : {1, 2, 3}) {
    FlatBuffer weights(layout, DType::f32), gradients(layout, DType::f32);
    Adam adam({}, context);
    auto states = make_states(adam, layout, DType::f32);
    network->initialise(weights.views(), seed);
    BatchPlan plan;
    plan.samples = data.size();
    plan.batch = 16;
    const auto order = epoch_order(seed, 0, data.size());
    for (int step = 0; step <= 300; ++step) {
      std::vector<TermSum> terms(1);
      gradients.zero();
      const auto batch = batch_of(plan, order, step % (data.size() / 16));
      std::vector<std::int64_t> ids(batch.begin(), batch.end());
      std::sort(ids.begin(), ids.end());  // files are read forward
      network->gradient(data.read(ids), weights.views(), std::vector{1.0}, gradients.views(), terms, {});
      if (step == 0 || step == 10 || step == 100 || step == 300)
        for (std::size_t k = 0; k < layout.tensors().size(); ++k) {
          const auto values = gradients.values<float>(k);
          if (layout.tensors()[k].info.shape.size() < 2 || std::ssize(values) < 128) continue;
          test::write_tail(std::cout, "conv_net", static_cast<int>(seed), step, layout.tensors()[k].info.name,
                           {values.begin(), values.begin() + std::ssize(values) / 128 * 128});
        }
      adam.step({weights, gradients, states, 1e-3, step + 1});
    }
  }
}
