// Batches computed in parts (accumulate) under every preset: the weights of one rank that computes all slices one after
// the other.
#include "tests/catch.hpp"
#include "tests/train/weights/divided/layers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

/// Every preset on this number of ranks; those that need more levels have some of one rank where there are too few.
std::vector<std::pair<std::string, Partition>> presets(int ranks) {
  using Preset = ParallelParams::Preset;
  const int pair = ranks >= 2 ? 2 : 1, node = ranks >= 4 ? 2 : 1;
  std::vector<std::pair<std::string, Partition>> out;
  for (Preset preset :
       {Preset::ddp, Preset::zero1, Preset::zero2, Preset::zero3, Preset::hybrid, Preset::hpz, Preset::frontier}) {
    ParallelParams params;
    params.preset = preset;
    params.whole_below = 0;
    if (preset == Preset::hybrid || preset == Preset::hpz) params.levels = {{"pair", pair, {}}, {"world", {}, {}}};
    if (preset == Preset::frontier) params.levels = {{"pair", pair, {}}, {"node", node, {}}, {"world", {}, {}}};
    out.emplace_back(name_of(preset), partition_of(params, ranks));
  }
  return out;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, static_cast<double>(std::abs(a[k] - b[k])));
  return most;
}

constexpr int steps = 4;

std::vector<float> weights_after(Layers& network, const Partition& partition, int accumulate, bool split,
                                 bool overlap) {
  Run run(MPI_COMM_WORLD, partition, network, DivideSettings{false, overlap, 150}, split);
  for (int k = 0; k < steps; ++k) run.step(network, accumulate * run.comm.size(), {}, k % 2);
  return run.weights();
}

}  // namespace

TEST_CASE("batches in parts give the weights of one rank under every preset") {
  const Comm comm;
  for (const bool modules : {true, false})
    for (const int accumulate : {1, 2, 4}) {
      Layers network(3, 5, 16, modules);
      Run alone(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, false, false);
      for (int k = 0; k < steps; ++k) alone.step(network, accumulate * comm.size(), {}, k % 2);
      const auto expected = alone.weights();
      for (const auto& [name, partition] : presets(comm.size())) {
        if (partition.gradients > 0 && !modules) continue;  // refused
        INFO(name << ", accumulate " << accumulate << ", modules " << modules);
        const auto waiting = weights_after(network, partition, accumulate, false, false);
        // Four steps of 0.01 with sums rounded in another order; a lost or a stale slice moves weights by 1e-3 and
        // more.
        CHECK(largest_difference(waiting, expected) < 2e-5);
        CHECK(same_bits(weights_after(network, partition, accumulate, false, true), waiting));
      }
    }
}

TEST_CASE("batches in parts with gradients kept in bfloat16: messages that overlap change no bit") {
  const Comm comm;
  Layers network(3, 5, 16);
  for (const auto& [name, partition] : presets(comm.size()))
    for (const int accumulate : {2, 4}) {
      INFO(name << ", accumulate " << accumulate);
      CHECK(same_bits(weights_after(network, partition, accumulate, true, true),
                      weights_after(network, partition, accumulate, true, false)));
    }
}
