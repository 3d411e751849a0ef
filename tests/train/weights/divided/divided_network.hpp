#pragma once
// A network that names its modules, trained whole and divided among ranks: the same weights, bytes and memory by the
// formulas.
#include <malloc.h>

#include "tests/catch.hpp"
#include "tests/train/weights/divided/layers.hpp"

namespace cambium::train::testing {

/// Slices of two samples; those before `skip` have none.
struct Slices {
  Network& network;
  std::vector<SamplePtr> samples;
  std::vector<double> term_weights;
  std::int64_t skip = 0;

  bool left_out(std::int64_t number) const { return number < skip && number % 2 == 0; }
  void add(std::int64_t number, const Pass& pass) {
    std::vector<SamplePtr> batch;
    const auto n = std::ssize(samples);
    if (number >= skip) batch = {samples[2 * number % n], samples[(2 * number + 1) % n]};
    std::vector<TermSum> terms(term_weights.size());
    network.gradient(batch, pass.weights, term_weights, pass.gradients, terms, pass.ready);
  }
  void step(Run& run, int all = 8) {
    const int own = all / run.comm.size(), turns = run.model.turns();
    run.model.begin(own);
    for (int s = 0; s < own; ++s) {
      const auto number = all * run.steps + (run.comm.rank() / turns * own + s) * turns + run.comm.rank() % turns;
      if (left_out(number))
        run.model.skip();
      else
        add(number, run.model.pass());
    }
    run.model.finish();
    ++run.steps;
    run.model.update({1.0 / (2.0 * all), {}, 1e-2, run.steps});
  }
};

/// The same by buffers that divide nothing, on one rank, of a network that is told nothing of modules.
inline std::vector<float> plainly(Slices& slices, int steps, int all = 8) {
  const Comm alone(MPI_COMM_SELF);
  const Mesh mesh(alone);
  const FlatLayout layout(slices.network.parameters(), 100000);
  OrderedReducer reducer(mesh, layout, DType::f32);
  Log log;
  Timing timing;
  Context context{const_cast<Comm&>(alone), log, timing};
  AdamW adam({}, context);
  FlatBuffer weights(layout, DType::f32), gradients(layout, DType::f32);
  auto states = make_states(adam, layout, DType::f32);
  fill(weights, 5, 0.1);
  for (int step = 0; step < steps; ++step) {
    const auto views = weights.views(), into = gradients.views();
    reducer.begin(gradients, all);
    for (int s = 0; s < all; ++s) {
      reducer.next_slice();
      if (!slices.left_out(all * step + s)) slices.add(all * step + s, {views, into, [](int) {}});
    }
    reducer.finish();
    scale(gradients, 1.0 / (2.0 * all));
    adam.step({weights, gradients, states, 1e-2, step + 1});
  }
  return packed<float>(weights);
}

/// Every stage on all ranks, in ordered mode. Memory that was freed is made no number, so that whoever reads it shows.
inline void check_stages(Slices slices, int steps) {
  mallopt(M_PERTURB, 0xff);
  const Comm comm;
  const std::int64_t n = comm.size();
  const auto whole = plainly(slices, steps);
  for (const float w : whole) REQUIRE(std::isfinite(w));
  for (int stage = 0; stage <= 3; ++stage) {
    Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), slices.network,
            false, true);
    for (int k = 0; k < steps; ++k) slices.step(run);
    INFO("stage " << stage);
    CHECK(same_bits(run.weights(), whole));
    const std::int64_t size = run.model.layout().size() * 4;
    const std::int64_t own = 8 / n, sent = stage == 0   ? 2
                                           : stage == 1 ? 2
                                           : stage == 2 ? 1 + own
                                                        : 3 * own;  // every slice's gradient travels
    CHECK(bytes_of(run.model, "") == steps * sent * size * (n - 1) / n);
    const auto& memory = run.model.memory();
    CHECK(memory.now(Held::weights) == (stage >= 3 ? size / n : size));
    CHECK(memory.now(Held::gradients) == (stage >= 2 ? size / n : size));
    CHECK(memory.now(Held::states) == (stage >= 1 ? 2 * size / n : 2 * size));
    CHECK(memory.now(Held::windows) == 0);
    if (stage < 3 || n == 1) continue;
    std::int64_t largest = 0;
    for (const auto& group : run.model.layout().groups()) largest = std::max(largest, 4 * (group.end - group.begin));
    CHECK(memory.peak(Held::windows) <=
          4 * largest + size / n * own);  // this module's weights and the next one's, two gradients; sums of slices
    Run once(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1), slices.network, false, true);
    slices.step(once, static_cast<int>(n));
    CHECK(bytes_of(once.model, "") == 3 * size * (n - 1) / n);
    CHECK(bytes_of(once.model, "gather forward") == size * (n - 1) / n);
    CHECK(bytes_of(once.model, "gather backward") == size * (n - 1) / n);
  }
}

}  // namespace cambium::train::testing
