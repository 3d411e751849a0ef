// Recurrent networks divided among ranks: the same weights as undivided ones, bytes and memory by the formulas.
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/random.hpp"
#include "plugins/podlstm/networks/stacked_lstm.hpp"
#include "tests/catch.hpp"
#include "tests/train/weights/divided/layers.hpp"

using namespace cambium;
using namespace cambium::podlstm;
using namespace cambium::train::testing;
using train::Held;

namespace {

constexpr std::int64_t past = 4, features = 3, modes = 2;

std::vector<train::SamplePtr> samples(std::uint64_t number) {
  std::vector<train::SamplePtr> out;
  for (std::uint64_t b = 0; b < 3; ++b) {
    auto values = std::make_shared<std::vector<float>>();
    for (std::uint64_t i = 0; i < past * (features + modes); ++i)
      values->push_back(static_cast<float>(Random4(9 + number, Stream::test, b, i).normal(0)));
    auto s = std::make_shared<train::Sample>();
    s->fields["window"] = io::tensor_of(values->data(), {past, features});
    s->fields["target"] = io::tensor_of(values->data() + past * features, {past, modes});
    s->storage = values;
    out.push_back(s);
  }
  return out;
}

void step(Run& run, StackedLstm& network) {
  const int own = 8 / run.comm.size(), turns = run.model.turns();
  run.model.begin(own);
  for (int s = 0; s < own; ++s) {
    const int number =
        8 * static_cast<int>(run.steps) + (run.comm.rank() / turns * own + s) * turns + run.comm.rank() % turns;
    if (number % 5 == 4) {  // fewer samples than slices
      run.model.skip();
      continue;
    }
    const train::Pass pass = run.model.pass();
    const double one[] = {1.0};
    train::TermSum term[1];
    network.gradient(samples(static_cast<std::uint64_t>(number)), pass.weights, one, pass.gradients, term, pass.ready);
  }
  run.model.finish();
  ++run.steps;
  run.model.update({1.0 / 8.0, {}, 1e-3, run.steps});
}

void compare(StackedLstm& network) {
  const Comm comm;
  constexpr int steps = 5;
  for (const bool split : {false, true}) {
    Run reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, split, true);
    for (int k = 0; k < steps; ++k) step(reference, network);
    const auto expected = reference.weights();
    for (int stage = 0; stage <= 3; ++stage) {
      Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), network, split,
              true);
      for (int k = 0; k < steps; ++k) step(run, network);
      INFO("stage " << stage << ", split " << split);
      CHECK(same_bits(run.weights(), expected));
      const std::int64_t numbers = run.model.layout().size(), size = numbers * (split ? 2 : 4), n = comm.size(),
                         slices = 8 / n;
      const std::int64_t sent = stage < 2 ? 2 : stage == 2 ? 1 + slices : 3 * slices;
      CHECK(bytes_of(run.model, "") == steps * sent * size * (n - 1) / n);
      const auto& memory = run.model.memory();
      const auto part = [&](bool divided) { return divided ? numbers / n : numbers; };
      CHECK(memory.now(Held::weights) == part(stage >= 3) * (split ? 2 : 4));
      CHECK(memory.now(Held::gradients) == part(stage >= 2) * (split ? 2 : 4));
      CHECK(memory.now(Held::states) == part(stage >= 1) * (split ? 10 : 8));
    }
  }
}

}  // namespace

TEST_CASE("divided recurrent networks: the same weights, bytes and memory by the formulas") {
  // Two layers and projections of skips; nodes without weights are in between.
  StackedLstm deep({{1, 1, 1, 0, 1, 0, 1, 0, 2, 0, 0, 0, 0, 1}, Cell::lstm, Head::recurrent}, past, features, past,
                   modes);
  CHECK(deep.modules().size() >= 4);
  CHECK(deep.modules().front() == 0);
  compare(deep);
  StackedLstm gated({{1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, Cell::gru, Head::dense}, past, features, past, modes);
  CHECK(gated.modules().size() == 3);
  compare(gated);
  StackedLstm factors({{1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, Cell::lstm, Head::dense, {}, {2, 0, 3, 4, 4, 2}},
                      past, features, past, modes);
  CHECK(factors.parameters()[0].name == "node1.wx.enter");
  compare(factors);
}
