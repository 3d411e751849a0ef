// A transformer divided among ranks: memory, bytes and weights by the same rules as any network that names its modules.
#include "plugins/sequence/datasets/synthetic_grammar.hpp"
#include "plugins/sequence/networks/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/train/weights/divided/layers.hpp"

using namespace cambium;
using namespace cambium::sequence;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

struct Text {
  Comm alone{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{alone, log, timing};
  SyntheticGrammar data{set(), context};
  Transformer network{model(), context};

  static SyntheticGrammar::Params set() {
    SyntheticGrammar::Params p;
    p.samples = 64;
    p.length = 9;
    return p;
  }
  static Transformer::Params model() {
    Transformer::Params p;
    p.layers = 2;
    p.width = 16;
    p.heads = 2;
    p.expand = 2;
    return p;
  }
  Text() { network.fit_statistics(data, context); }

  void slice(std::int64_t number, std::span<const TensorRef> weights, std::span<const TensorRef> gradients,
             const ReadyCallback& ready) {
    const std::int64_t id[] = {number % 64};
    const double one[] = {1.0};
    TermSum term[1];
    network.gradient(data.read(id), weights, one, gradients, term, ready);
  }
  void step(Run& run) {
    const int own = 8 / run.comm.size(), turns = run.model.turns();
    run.model.begin(own);
    for (int s = 0; s < own; ++s) {
      const auto number = 8 * run.steps + (run.comm.rank() / turns * own + s) * turns + run.comm.rank() % turns;
      const Pass pass = run.model.pass();
      slice(number, pass.weights, pass.gradients, pass.ready);
    }
    run.model.finish();
    ++run.steps;
    run.model.update({1.0 / 8.0, {}, 1e-2, run.steps});
  }
};

}  // namespace

TEST_CASE("a divided transformer: the same weights after up to 200 steps, bytes and memory by the formulas") {
  Text text;
  const Comm comm;
  for (bool split : {false, true}) {
    Run reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), text.network, split, true);
    for (int k = 0; k < 10; ++k) text.step(reference);
    const auto early = reference.weights();
    const int many = comm.size() <= 2 ? 200 : 40;  // more ranks than cores take their time
    for (int k = 10; split && k < many; ++k) text.step(reference);
    for (int stage = split ? 3 : 0; stage <= 3; ++stage) {
      Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), text.network,
              split, true);
      const int steps = stage == 3 && split ? many : 10;
      for (int k = 0; k < steps; ++k) text.step(run);
      INFO("stage " << stage << ", split " << split);
      CHECK(same_bits(run.weights(), steps == 10 ? early : reference.weights()));
      const double parameters = static_cast<double>(run.model.layout().parameters());
      const double padding = static_cast<double>(run.model.layout().size()) / parameters;
      CHECK(padding < 1.02);
      const std::int64_t size = run.model.layout().size() * (split ? 2 : 4), n = comm.size();
      // Divided gradients travel with every slice.
      const std::int64_t slices = 8 / n, sent = stage == 0 ? 2 : stage == 1 ? 2 : stage == 2 ? 1 + slices : 3 * slices;
      CHECK(bytes_of(run.model, "") == steps * sent * size * (n - 1) / n);
      const auto& memory = run.model.memory();
      const double held =
          static_cast<double>(memory.now(Held::weights) + memory.now(Held::gradients) + memory.now(Held::states));
      const double states = split ? 10 : 8, kept = split ? 2 : 4, parts = static_cast<double>(n);
      const double formula =
          kept / (stage >= 3 ? parts : 1) + kept / (stage >= 2 ? parts : 1) + states / (stage >= 1 ? parts : 1);
      CHECK(held / (padding * parameters) == Approx(formula));
      if (split && stage == 3) CHECK(held / parameters == Approx(14.0 / parts).epsilon(0.02));
    }
  }
}

TEST_CASE("a transformer divided within pairs and levels") {
  Text text;
  const Comm comm;
  if (comm.size() < 4) return;
  const std::vector<Mesh::Level> levels{{"pair", 2}, {"world", comm.size() / 2}};
  Run reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), text.network, true, true);
  for (int k = 0; k < 5; ++k) text.step(reference);
  const int layouts[][3] = {{1, 1, 1}, {1, 2, 2}, {2, 2, 2}};  // hybrid, hpz, zero3
  for (const auto& depth : layouts) {
    Run run(MPI_COMM_WORLD, partition(levels, depth[0], depth[1], depth[2]), text.network, true, true);
    for (int k = 0; k < 5; ++k) text.step(run);
    INFO("weights " << depth[0] << ", gradients " << depth[1] << ", states " << depth[2]);
    CHECK(same_bits(run.weights(), reference.weights()));
    CHECK((bytes_of(run.model, "gather forward", "world") > 0) == (depth[0] == 2));
  }
}
