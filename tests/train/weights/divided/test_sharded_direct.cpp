// Weights in few bits with states, gradients and the weights themselves divided: the same as whole ones, bit for bit,
// and no copy in full.
#include "core/train/reduce/reducer.hpp"
#include "tests/catch.hpp"
#include "tests/train/weights/divided/layers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

/// Layers whose matrices are those of linear layers.
class LinearLayers : public Layers {
 public:
  using Layers::Layers;
  std::vector<ParameterInfo> parameters() const override {
    auto out = Layers::parameters();
    for (auto& info : out) info.linear = info.shape.size() == 2;
    return out;
  }
};

DirectParams direct(DirectParams::Weights weights) {
  DirectParams p;
  p.weights = weights;
  return p;
}

struct DirectRun : Run {
  DirectRun(MPI_Comm parent, const Partition& p, Network& network, const DirectParams& direct, bool ordered = true)
      : Run(parent, p, network, {ordered, true, 5000, direct}) {}
};

/// The same by DirectTensors, which divides nothing, on one rank.
std::vector<float> plainly(Layers& network, const DirectParams& params, int all, int steps) {
  Undivided u(network);
  DirectTensors weights(params, network, u.adam, u.layout, 77);
  weights.start(u.weights);
  for (int step = 0; step < steps; ++step) {
    u.sum(all, step, [&](auto number, auto into, const auto& ready) {
      network.slice(number, weights.views(), into,
                    ReadyCallback(
                        ready, [&](int m) { weights.open(m); }, [&](int m) { weights.open(m); },
                        [&](int m) { weights.close(m); }));
    });
    weights.step(u.adam, u.gradients, u.states, 1e-2, step + 1);
  }
  weights.copy_to(u.weights);
  return packed<float>(u.weights);
}

}  // namespace

TEST_CASE("direct weights have the same bits whatever is divided") {
  const Comm comm;
  LinearLayers network(3, 9, 20);  // 180, 200 and 220 numbers, so that parts are cut within matrices
  for (auto kind : {DirectParams::Weights::int8, DirectParams::Weights::ternary}) {
    const auto params = direct(kind);
    const auto expected = plainly(network, params, 8, 10);
    for (int stage = 0; stage <= 3; ++stage)
      for (bool prefetch : {true, false}) {
        if (!prefetch && stage < 3) continue;
        auto p = partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1);
        p.prefetch = prefetch;
        DirectRun run(MPI_COMM_WORLD, p, network, params);
        for (int k = 0; k < 10; ++k) run.step(network, 8);
        INFO("stage " << stage << ", ternary " << (kind == DirectParams::Weights::ternary));
        CHECK(same_bits(run.weights(), expected));
        CHECK(run.model.figures(10)[0] > 0.0);
        // What files hold comes back, grids included, in a model that is divided in another way.
        DirectRun other(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 0, 0, 1), network, params);
        const auto saved = run.model.save(false);
        other.model.load([&](Snapshot& into) {
          into.grids = saved.grids;
          unpack<float>(packed<float>(saved.weights), into.weights);
        });
        CHECK(same_bits(other.weights(), expected));
        run.model.keep_best();
        run.step(network, 8);
        CHECK(same_bits(run.best(), expected));
        CHECK(!same_bits(run.weights(), expected));
      }
  }
}

TEST_CASE("direct weights, divided: what is held and sent are their few bits") {
  const Comm comm;
  LinearLayers network(3, 64, 64);
  const std::int64_t n = comm.size(), matrices = 64 * (64 + 65 + 66), biases = 3 * 64;
  for (auto kind : {DirectParams::Weights::int8, DirectParams::Weights::ternary}) {
    const std::int64_t packed = kind == DirectParams::Weights::int8 ? matrices : matrices / 4;
    for (int stage = 0; stage <= 3; ++stage) {
      // Biases, which are float32, stay whole.
      DirectRun run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1, 100),
                    network, direct(kind), false);
      run.step(network, comm.size());
      const auto& memory = run.model.memory();
      INFO("stage " << stage << ", packed " << packed << " bytes");
      CHECK(memory.now(Held::weights) == (stage >= 3 ? packed / n : packed) + 4 * biases);
      CHECK(memory.now(Held::gradients) == 4 * (matrices + biases) / (stage >= 2 ? n : 1));
      CHECK(memory.now(Held::states) == 8 * (matrices + biases) / (stage >= 1 ? n : 1));
      CHECK(memory.now(Held::windows) == 0);
      // A layer in float32, its gradient and one that travels, the next one packed: never all weights.
      if (stage >= 2) CHECK(memory.peak(Held::windows) < 4 * 66 * 64 * 3 + packed / 3 + 4 * biases * 2 + 2000);
      if (stage >= 1)
        CHECK(bytes_of(run.model, "gather update") == (stage == 3 ? 4 * biases : packed + 4 * biases) * (n - 1) / n);
      CHECK(bytes_of(run.model, "gather forward") == (stage == 3 ? packed * (n - 1) / n : 0));
      CHECK(bytes_of(run.model, "gather backward") == (stage == 3 ? packed * (n - 1) / n : 0));
    }
  }
}

TEST_CASE("direct weights over three levels, and gradients in few bits") {
  const Comm comm;
  LinearLayers network(3, 9, 20);
  const auto params = direct(DirectParams::Weights::ternary);
  if (comm.size() == 8) {
    const std::vector<Mesh::Level> levels{{"pair", 2}, {"node", 2}, {"world", 2}};
    DirectRun run(MPI_COMM_WORLD, partition(levels, 1, 2, 3), network, params);
    for (int k = 0; k < 5; ++k) run.step(network, 8);
    CHECK(same_bits(run.weights(), plainly(network, params, 8, 5)));
  }
  auto coded = partition({{"world", comm.size()}}, 1, 1, 1);
  coded.codecs.gradients = {lowp::WireCodec::int8};
  DirectRun run(MPI_COMM_WORLD, coded, network, params, false);
  for (int k = 0; k < 3; ++k) run.step(network, 8);
  const auto weights = run.weights();
  std::vector<double> first(weights.begin(), weights.end());
  comm.broadcast(std::span<double>(first));
  CHECK(std::equal(weights.begin(), weights.end(), first.begin()));
}

TEST_CASE("direct weights do not travel in other bits than their own") {
  const Comm comm;
  Log log;
  Timing timing;
  Context context{const_cast<Comm&>(comm), log, timing};
  AdamW adam({}, context);
  auto p = partition({{"world", comm.size()}}, 0, 0, 1);
  p.codecs.update = WeightCodec::int8;
  LinearLayers network(2, 40, 32);
  CHECK_THROWS_WITH(
      DividedWeights(p, comm, network, adam, {false, true, 5000, direct(DirectParams::Weights::int8)}),
      "weights of quantized_training are sent at the bit width at which they are stored; remove parallel.update_codec "
      "and "
      "parallel.weight_codec");
}
