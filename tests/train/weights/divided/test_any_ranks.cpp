// Ordered mode on numbers of ranks that are no powers of two: bits of an undivided run, bytes and memory as counted.
#include "tests/catch.hpp"
#include "tests/train/weights/divided/layers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

constexpr int all = 8;

/// One step, dealt out as BatchPlan says; `skip` slices have no samples.
void step(Run& run, Layers& network, const std::optional<Clip>& clip = {}, int skip = 0) {
  const int ranks = run.comm.size(), own = (all + ranks - 1) / ranks, turns = run.model.turns();
  run.model.begin(own);
  for (int s = 0; s < own; ++s) {
    const int number = (run.comm.rank() / turns * own + s) * turns + run.comm.rank() % turns;
    if (number < skip || number >= all) {
      run.model.skip();
      continue;
    }
    const Pass pass = run.model.pass();
    network.slice(static_cast<std::uint64_t>(1000 * run.steps + number), pass.weights, pass.gradients, pass.ready);
  }
  run.model.finish();
  ++run.steps;
  run.last_norm = run.model.update({1.0 / all, clip, 1e-2, run.steps});
}

std::vector<std::vector<Mesh::Level>> meshes(int ranks) {
  std::vector<std::vector<Mesh::Level>> out{{{"world", ranks}}};
  if (ranks == 6) out.push_back({{"pair", 2}, {"world", 3}});
  if (ranks == 6) out.push_back({{"node", 3}, {"world", 2}});
  return out;
}

}  // namespace

TEST_CASE("weights have the same bits on any number of ranks, whatever is divided over which levels") {
  const Comm comm;
  Layers network(3, 7, 24);
  Clip clip;
  clip.norm = 0.05;
  for (bool split : {false, true})
    for (const std::int64_t whole_below : {0, 200}) {
      Run alone(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0, whole_below), network, split, true);
      for (int k = 0; k < 12; ++k) alone.step(network, all, clip, k % 7);
      for (const auto& levels : meshes(comm.size())) {
        const int depth = static_cast<int>(levels.size());
        for (int s = 0; s <= depth; ++s)
          for (int g = 0; g <= s; ++g)
            for (int w = 0; w <= g; ++w) {
              Run run(MPI_COMM_WORLD, partition(levels, w, g, s, whole_below), network, split, true);
              for (int k = 0; k < 12; ++k) step(run, network, clip, k % 7);
              INFO("levels " << depth << ", weights " << w << ", gradients " << g << ", states " << s << ", split "
                             << split);
              CHECK(same_bits(run.weights(), alone.weights()));
              CHECK(run.last_norm == alone.last_norm);
              CHECK(run.model.memory().now(Held::windows) == 0);
              CHECK(run.model.memory().now(Held::messages) == 0);
            }
      }
    }
}

TEST_CASE("a rank holds its share, one module and the sums that wait for their partner") {
  const Comm comm;
  const std::int64_t n = comm.size();
  Layers network(4, 60, 32);
  auto divided = partition({{"world", comm.size()}}, 1, 1, 1);
  divided.prefetch = false;
  Run run(MPI_COMM_WORLD, divided, network, false, true);
  for (int k = 0; k < 3; ++k) step(run, network);
  std::int64_t largest = 0;
  for (const auto& group : run.model.layout().groups()) largest = std::max(largest, 4 * (group.end - group.begin));
  const std::int64_t size = 4 * run.model.layout().size();
  const auto& memory = run.model.memory();
  CHECK(memory.now(Held::weights) == size / n);
  CHECK(memory.now(Held::gradients) == size / n);
  CHECK(memory.now(Held::states) == 2 * size / n);
  CHECK(memory.peak(Held::windows) <= 2 * largest + 3 * size / n);  // 8 slices: sums of 1, 2 and 4
  CHECK(memory.peak(Held::messages) <= largest * (n - 1) / n);
  const std::int64_t own = (all + n - 1) / n;
  CHECK(bytes_of(run.model, "gather forward") == 3 * own * size * (n - 1) / n);
  CHECK(run.comm.max(static_cast<double>(bytes_of(run.model, "reduce-scatter"))) ==
        static_cast<double>(3 * own * size * (n - 1) / n));
}

TEST_CASE("whole weights of a training in ordered mode agree, too") {
  const Comm comm;
  Layers network(3, 7, 24);
  const auto expected = plainly(network, all, 20);
  Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 0, 0, 0), network, false, true);
  for (int k = 0; k < 20; ++k) step(run, network);
  CHECK(same_bits(run.weights(), expected));
}
