// A convolutional network divided among ranks. This file sees no Torch.
#include <cmath>

#include "core/io/hdf5/h5.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/data/memory_set.hpp"
#include "core/train/networks/torch/register.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "tests/train/weights/divided/divided_network.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

constexpr std::int64_t n = 64, side = 8;

/// Waves along rows (class 0) or columns (class 1), and a network for them.
struct Waves {
  Comm alone{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Registry registry;
  Context context{alone, log, timing, &registry, 5, ".", "", "", nullptr, false, false};
  std::vector<double> images, labels;
  std::unique_ptr<MemorySet> set;
  std::unique_ptr<Network> network;

  explicit Waves(const std::string& activations = "", const std::string& precision = "float32") {
    register_training(registry);
    register_torch(registry);
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t i = 0; i < side; ++i)
        for (std::int64_t j = 0; j < side; ++j)
          images.push_back(std::sin(0.4 * static_cast<double>((k % 2 ? j : i) * (1 + k / 2 % 5))) +
                           0.1 * std::sin(static_cast<double>(37 * k + 11 * i * j)));
      labels.push_back(static_cast<double>(k % 2));
    }
    const std::vector<HostArray> arrays{{"image", io::tensor_of(images.data(), {n, side, side}), ""},
                                        {"label", io::tensor_of(labels.data(), {n}), ""}};
    set = std::make_unique<MemorySet>(arrays);
    network = registry.make<Network>(
        "conv_net", deck::parse("{channels: [12, 8], residual: 1, hidden: 24, precision: " + precision + "}", "test"),
        context);
    network->fit_statistics(*set, context);
    if (!activations.empty()) network->use_activations(deck::read<ActivationParams>(deck::parse(activations, "test")));
  }
  Slices slices(std::int64_t skip = 0) { return {*network, set->samples(), {1.0}, skip}; }
};

/// Weights after two steps, divided as far as it goes or not at all.
std::vector<float> trained(Waves&& waves, bool divided, std::int64_t skip = 0) {
  auto slices = waves.slices(skip);
  if (!divided) return plainly(slices, 2);
  const Comm comm;
  Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1), *waves.network, false, true);
  for (int k = 0; k < 2; ++k) slices.step(run);
  return run.weights();
}

}  // namespace

TEST_CASE("a convolutional network names its layers") {
  const Waves waves;
  // convolution, block, convolution, block, two layers; a block has two convolutions
  CHECK(waves.network->modules() == std::vector<int>{0, 2, 6, 8, 12, 14});
  CHECK(waves.network->parameters()[12].name == "9.weight");
}

TEST_CASE("a divided convolutional network: the same weights, bytes and memory by the formulas") {
  Waves waves;
  check_stages(waves.slices(), 4);
}

TEST_CASE("ranks without samples take part in what the others gather") {
  CHECK(same_bits(trained(Waves(), true, 6), trained(Waves(), false, 6)));
}

TEST_CASE("divided weights go with compressed and recomputed activations and with bfloat16 products") {
  CHECK(same_bits(trained(Waves("{keep: recomputed}"), true), trained(Waves(), false)));
  CHECK(same_bits(trained(Waves("{keep: whole}"), true), trained(Waves(), false)));
  const auto rough = trained(Waves("{keep: compressed, bound: 0.02}"), false);
  CHECK(same_bits(trained(Waves("{keep: compressed, bound: 0.02}"), true), rough));
  CHECK_FALSE(same_bits(rough, trained(Waves(), false)));
  CHECK(same_bits(trained(Waves("", "bfloat16"), true), trained(Waves("", "bfloat16"), false)));
}
