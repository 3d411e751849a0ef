// Weights, gradients and states divided over ranks: memory and bytes by their formulas, and the same weights, bit for bit, whatever
// is divided over however many ranks.
#include <bit>
#include <cstring>

#include "core/base/error.hpp"
#include "core/train/optimize/adam.hpp"
#include "core/train/optimize/layerwise.hpp"
#include "core/train/shard/sharded_model.hpp"
#include "tests/catch.hpp"
#include "tests/train/core/buffers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

/// Layers of a matrix and a bias, and no mathematics: the gradient of slice s is w sin-like noise of (s, step), which shows weights
/// that were not gathered and gradients that were added twice.
class Layers : public Network {
 public:
  Layers(int layers, std::int64_t rows, std::int64_t columns, bool by_module = true)
      : layers_(layers), rows_(rows), columns_(columns), by_module_(by_module) {}
  void fit_statistics(Dataset&, Context&) override {}
  std::vector<ParameterInfo> parameters() const override {
    std::vector<ParameterInfo> out;
    for (int l = 0; l < layers_; ++l) {
      out.push_back({"w" + std::to_string(l), {rows_ + l, columns_}, true});
      out.push_back({"b" + std::to_string(l), {columns_}, false});
    }
    return out;
  }
  std::vector<int> modules() const override {
    std::vector<int> out;
    for (int l = 0; by_module_ && l < layers_; ++l) out.push_back(2 * l);
    return out;
  }
  DType dtype() const override { return DType::f32; }
  void initialise(std::span<const TensorRef>, std::uint64_t) override {}
  std::vector<TermInfo> terms() const override { return {}; }
  std::vector<double> term_weights(std::int64_t, double) const override { return {}; }
  void gradient(std::span<const SamplePtr>, std::span<const TensorRef>, std::span<const double>, std::span<const TensorRef>,
                std::span<TermSum>, const ReadyCallback&) override {}
  void evaluate(std::span<const SamplePtr>, std::span<const TensorRef>, std::span<TermSum>) override {}
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override { return {}; }
  std::string state() const override { return {}; }
  void restore(const std::string&) override {}

  void slice(std::uint64_t number, std::span<const TensorRef> weights, std::span<const TensorRef> gradients, const ReadyCallback& ready) const {
    double read = 0.0;
    for (int l = 0; l < layers_; ++l) {
      ready.forward(l);
      read += static_cast<const float*>(weights[static_cast<std::size_t>(2 * l)].data)[0];
      ready.release(l);
    }
    for (int l = layers_; l-- > 0;) {
      ready.backward(l);
      for (int k : {2 * l + 1, 2 * l}) {
        const auto& w = weights[static_cast<std::size_t>(k)];
        const auto& g = gradients[static_cast<std::size_t>(k)];
        for (std::int64_t i = 0; i < w.elements(); ++i) {
          const auto noise = static_cast<float>(Random4(number, Stream::test, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k)).uniform(0));
          static_cast<float*>(g.data)[i] += static_cast<const float*>(w.data)[i] * noise + (noise - 0.5f) + static_cast<float>(1e-3 * read);
        }
        ready(k);
      }
      ready.release(l);
    }
  }

 private:
  int layers_;
  std::int64_t rows_, columns_;
  bool by_module_;
};

Partition partition(const std::vector<Mesh::Level>& levels, int weights, int gradients, int states, std::int64_t whole_below = 0) {
  Partition p;
  p.levels = levels, p.weights = weights, p.gradients = gradients, p.states = states, p.whole_below = whole_below;
  return p;
}

struct Run {
  Comm comm;
  Mesh mesh;
  Comm world_of_one{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  std::unique_ptr<Optimizer> optimizer;
  ShardedModel model;
  std::int64_t steps = 0;
  double last_norm = 0.0;

  Run(MPI_Comm parent, const Partition& p, const Network& network, bool split, bool ordered, bool overlap = true)
      : comm(parent), mesh(comm, p.levels), optimizer(make(split, context)), model(p, mesh, network, *optimizer, {ordered, overlap, 5000}) {
    auto first = model.make_copy(DType::f32);
    fill(first.numbers, 5, 0.1);
    model.start(first.numbers, *optimizer);
  }
  static std::unique_ptr<Optimizer> make(bool split, Context& context) {
    if (split) return std::make_unique<SplitAdamW>(SplitAdamW::Params{}, context);
    return std::make_unique<AdamW>(AdamW::Params{}, context);
  }
  /// One step of `all` slices, taken by the ranks as BatchPlan says; `skip` have no samples.
  void step(const Layers& network, int all, const std::optional<Clip>& clip = {}, int skip = 0) {
    const int own = all / comm.size(), turns = model.turns();
    model.sum(own, [&](int s, auto weights, auto gradients, const ReadyCallback& ready) {
      const int number = (comm.rank() / turns * own + s) * turns + comm.rank() % turns;
      if (number < skip) return false;
      network.slice(static_cast<std::uint64_t>(1000 * steps + number), weights, gradients, ready);
      return true;
    });
    ++steps;
    last_norm = model.step(*optimizer, 1.0 / all, clip, 1e-2, steps);
  }
  std::vector<float> weights() { return packed<float>(model.whole_weights().numbers); }
};

/// The same by the reducer and buffers that divide nothing, on one rank.
std::vector<float> plainly(const Layers& network, int all, int steps) {
  const Comm alone(MPI_COMM_SELF);
  const Mesh mesh(alone);
  const FlatLayout layout(network.parameters(), 100000);
  OrderedReducer reducer(mesh, layout, DType::f32);
  Log log;
  Timing timing;
  Context context{const_cast<Comm&>(alone), log, timing};
  AdamW adam({}, context);
  FlatBuffer weights(layout, DType::f32), gradients(layout, DType::f32);
  auto states = make_states(adam, layout, DType::f32);
  fill(weights, 5, 0.1);
  for (int step = 0; step < steps; ++step) {
    const auto views = weights.views();
    reducer.sum(gradients, all, [&](int s, FlatBuffer& into, const ReadyCallback& ready) {
      network.slice(static_cast<std::uint64_t>(1000 * step + s), views, into.views(), ready);
    });
    scale(gradients, 1.0 / all);
    adam.step({weights, gradients, states, 1e-2, step + 1});
  }
  return packed<float>(weights);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), sizeof(float) * a.size()) == 0;
}

std::int64_t bytes_of(const ShardedModel& model, const std::string& collective, const std::string& level = {}) {
  std::int64_t sum = 0;
  for (const auto& row : model.traffic().rows())
    if ((collective.empty() ? row.collective != "whole copies" : row.collective == collective) && (level.empty() || row.level == level)) sum += row.bytes;
  return sum;
}

}  // namespace

TEST_CASE("memory of every stage is bytes x parameters / ranks") {
  const Comm comm;
  const Layers network(3, 100, 96);
  const std::int64_t n = comm.size();
  for (bool split : {false, true}) {
    const std::int64_t kept = split ? 2 : 4, states = split ? 10 : 8;
    for (int stage = 0; stage <= 3; ++stage) {
      Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), network, split, false);
      run.step(network, comm.size());
      const auto& memory = run.model.memory();
      const double parameters = static_cast<double>(run.model.layout().parameters());
      const double padding = static_cast<double>(run.model.layout().size()) / parameters;
      CHECK(padding < 1.01);
      const auto expected = [&](std::int64_t bytes, bool divided) { return static_cast<double>(bytes) * parameters / static_cast<double>(divided ? n : 1); };
      CHECK(static_cast<double>(memory.now(Held::weights)) == Approx(padding * expected(kept, stage >= 3)));
      CHECK(static_cast<double>(memory.now(Held::gradients)) == Approx(padding * expected(kept, stage >= 2)));
      CHECK(static_cast<double>(memory.now(Held::states)) == Approx(padding * expected(states, stage >= 1)));
      const double together = static_cast<double>(memory.now(Held::weights) + memory.now(Held::gradients) + memory.now(Held::states)) / parameters;
      if (stage == 0) CHECK(together == Approx(split ? 14.0 : 16.0).epsilon(0.01));
      if (stage == 3) CHECK(together == Approx((split ? 14.0 : 16.0) / static_cast<double>(n)).epsilon(0.01));
      CHECK(memory.now(Held::windows) == 0);
      CHECK(memory.now(Held::messages) == 0);
      CHECK(memory.now(Held::copies) == 0);
      // Of three modules at most two are in use at a time: one's weights and gradient, and a gradient under way.
      const double module = parameters / 3.0;
      CHECK(static_cast<double>(memory.peak(Held::windows)) < 1.05 * module * (split ? 4 + 2 + 4 + 2 + 2 : 4 + 4 + 4) + 1000);
    }
  }
}

TEST_CASE("bytes on the wire are 2 P (N - 1) / N, and 3 with divided weights") {
  const Comm comm;
  const Layers network(3, 30, 16);
  for (bool split : {false, true})
    for (int stage = 0; stage <= 3; ++stage)
      for (bool ordered : {false, true}) {
        Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), network, split, ordered);
        for (int k = 0; k < 2; ++k) run.step(network, comm.size());
        const std::int64_t size = run.model.layout().size() * (split ? 2 : 4);
        CHECK(bytes_of(run.model, "") == 2 * (stage == 3 ? 3 : 2) * size * (comm.size() - 1) / comm.size());
      }
}

TEST_CASE("weights after 200 steps have the same bits whatever is divided over however many ranks") {
  const Comm comm;
  const Layers network(2, 5, 16);
  const auto expected = plainly(network, 8, 200);
  Clip clip;
  clip.norm = 0.05;
  for (bool split : {false, true}) {
    const auto bounds = split ? std::optional(clip) : std::nullopt;
    Run alone(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, split, true);
    for (int k = 0; k < 200; ++k) alone.step(network, 8, bounds);
    if (!split) CHECK(same_bits(alone.weights(), expected));
    for (int stage = split ? 1 : 0; stage <= 3; stage += split ? 2 : 1) {
      Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), network, split, true, stage % 2 == 0);
      for (int k = 0; k < 200; ++k) run.step(network, 8, bounds);
      INFO("stage " << stage << ", split " << split);
      CHECK(same_bits(run.weights(), alone.weights()));
    }
  }
}

TEST_CASE("a bounded norm is that of the mean gradient") {
  const Layers network(3, 5, 16);
  const Comm comm;
  Clip loose;
  loose.norm = 1e9;
  Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1), network, false, true);
  run.step(network, 8, loose);
  const FlatLayout layout(network.parameters(), 100000);
  FlatBuffer weights(layout, DType::f32), gradient(layout, DType::f32);
  fill(weights, 5, 0.1);
  for (int s = 0; s < 8; ++s) network.slice(static_cast<std::uint64_t>(s), weights.views(), gradient.views(), ReadyCallback([](int) {}));
  double square = 0.0;
  for (double tensor : squared_norms(gradient)) square += tensor / 64.0;
  CHECK(run.last_norm == Approx(std::sqrt(square)).epsilon(1e-6));
  Run bounded(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 0, 0, 1), network, false, true), by_hand(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, false, true);
  Clip value;
  value.value = 1e-4;
  bounded.step(network, 8, value), by_hand.step(network, 8, value);
  CHECK(same_bits(bounded.weights(), by_hand.weights()));
}

TEST_CASE("small tensors stay whole, and change nothing else") {
  const Comm comm;
  const Layers network(3, 40, 32);
  Run reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0, 100), network, false, true);
  Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1, 100), network, false, true);
  for (int k = 0; k < 10; ++k) run.step(network, 8), reference.step(network, 8);
  CHECK(same_bits(run.weights(), reference.weights()));
  const std::int64_t small = 128, large = run.model.layout().size() - small;  // three biases of 32, padded to 64
  CHECK(run.model.memory().now(Held::weights) == 4 * (large / comm.size() + small));
}

TEST_CASE("the Frontier layout on eight ranks: weights are gathered within pairs alone") {
  const Comm comm;
  if (comm.size() != 8) return;
  const std::vector<Mesh::Level> levels{{"pair", 2}, {"node", 2}, {"world", 2}};
  const Layers network(3, 100, 96), little(3, 5, 16);
  Run run(MPI_COMM_WORLD, partition(levels, 1, 2, 3), network, false, false);
  run.step(network, 8);
  const std::int64_t size = 4 * run.model.layout().size();
  for (const char* pass : {"gather forward", "gather backward"}) {
    CHECK(bytes_of(run.model, pass, "pair") == size / 2);
    CHECK(bytes_of(run.model, pass) == size / 2);
  }
  CHECK(bytes_of(run.model, "reduce-scatter", "pair") == size / 2);
  CHECK(bytes_of(run.model, "reduce-scatter", "node") == size / 4);
  CHECK(bytes_of(run.model, "reduce-scatter", "world") == size / 8);
  CHECK(bytes_of(run.model, "gather update", "pair") == 0);
  CHECK(bytes_of(run.model, "gather update", "node") == size / 4);
  CHECK(bytes_of(run.model, "gather update", "world") == size / 8);
  CHECK(run.model.memory().now(Held::weights) == size / 2);
  CHECK(run.model.memory().now(Held::gradients) == size / 4);
  CHECK(run.model.memory().now(Held::states) == 2 * size / 8);
  Run alone(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), little, true, true);
  for (int k = 0; k < 6; ++k) alone.step(little, 8);
  const int layouts[][3] = {{1, 2, 3}, {1, 1, 1}, {1, 3, 3}, {0, 0, 2}, {0, 1, 3}, {3, 3, 3}, {0, 0, 0}, {2, 2, 2}};
  for (const auto& depth : layouts) {
    Run divided(MPI_COMM_WORLD, partition(levels, depth[0], depth[1], depth[2]), little, true, true);
    for (int k = 0; k < 6; ++k) divided.step(little, 8);
    INFO("weights " << depth[0] << ", gradients " << depth[1] << ", states " << depth[2]);
    CHECK(same_bits(divided.weights(), alone.weights()));
  }
}

TEST_CASE("a rank without samples takes part") {
  const Comm comm;
  const Layers network(3, 40, 32);
  for (int stage = 0; stage <= 3; ++stage) {
    Run reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, false, true);
    Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), network, false, true);
    for (int k = 0; k < 3; ++k) run.step(network, 8, {}, 5), reference.step(network, 8, {}, 5);
    CHECK(same_bits(run.weights(), reference.weights()));
  }
}

TEST_CASE("a network without modules, and what is put into files and back") {
  const Comm comm;
  const Layers network(3, 40, 32, false), by_module(3, 40, 32);
  Run reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, false, true);
  Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 0, 0, 1), network, false, true);
  for (int k = 0; k < 5; ++k) run.step(network, 8), reference.step(network, 8);
  CHECK(same_bits(run.weights(), reference.weights()));
  // What one has learned goes on in another that divides differently.
  Run other(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1), by_module, false, true);
  const auto hand_over = [](const FlatBuffer& from, FlatBuffer& to) { unpack<float>(packed<float>(from), to); };
  auto copy = other.model.make_copy(DType::f32);
  hand_over(run.model.whole_weights().numbers, copy.numbers);
  other.model.take_weights(copy.numbers);
  for (std::size_t k = 0; k < 2; ++k) {
    hand_over(run.model.whole_state(k).numbers, copy.numbers);
    other.model.take_state(k, copy.numbers);
  }
  other.steps = run.steps;
  for (int k = 0; k < 5; ++k) other.step(by_module, 8), reference.step(network, 8);
  CHECK(same_bits(other.weights(), reference.weights()));
  other.model.keep_best();
  const auto before = other.weights();
  other.step(by_module, 8);
  CHECK(same_bits(packed<float>(other.model.whole_best().numbers), before));
}

TEST_CASE("what cannot be divided is refused") {
  const Comm comm;
  const Mesh mesh(comm);
  Log log;
  Timing timing;
  Context context{const_cast<Comm&>(comm), log, timing};
  AdamW adam({}, context);
  Lamb lamb({}, context);
  const Layers whole(2, 40, 32, false), network(2, 40, 32);
  const std::vector<Mesh::Level> world{{"world", comm.size()}};
  const auto make = [&](int w, int g, int s, const Network& n, const Optimizer& o, std::int64_t limit = 0) {
    auto p = partition(world, w, g, s);
    p.limit = limit;
    ShardedModel model(p, mesh, n, o, {});
  };
  CHECK_THROWS_WITH(make(0, 1, 1, whole, adam),
                    "this network does not say which of its weights it is about to use, so that its weights and gradients cannot be divided; "
                    "divide the states alone (parallel: {preset: zero1})");
  CHECK_THROWS_WITH(make(0, 0, 1, network, lamb),
                    "this optimizer needs the norms of whole tensors, so that its states cannot be divided; take adam, adamw, sgd or their "
                    "split forms, or parallel: {preset: ddp}");
  CHECK_NOTHROW(make(0, 0, 0, network, lamb));
  SplitAdamW split({}, context);
  auto coded = partition(world, 0, 0, 1);
  coded.codecs.update = WeightCodec::difference;
  CHECK_THROWS_WITH(ShardedModel(coded, mesh, network, split, {}),
                    "parallel.update and parallel.gather code whole weights, but this optimizer splits them; use adam, adamw or sgd, or remove "
                    "update and gather");
  // Two layers of 1312 and 1344 weights, each padded to 1344: 16 bytes each are 43 kB on one rank.
  CHECK_THROWS_WITH(make(0, 0, 0, network, adam, 40000),
                    "parallel.limit is 0.040 MB per rank, but 0.043 MB are needed: weights 0.011, gradients 0.011, states 0.011, windows and "
                    "messages 0.000, and 0.011 more; divide more (parallel.preset zero1, zero2, zero3), start more ranks, or raise the limit");
}

TEST_CASE("what does not fit one rank whole is trained divided by four") {
  const Comm comm;
  if (comm.size() < 4) return;
  const Layers network(2, 40, 32);
  auto limited = partition({{"world", comm.size()}}, 1, 1, 1);
  limited.limit = 40000;
  Run run(MPI_COMM_WORLD, limited, network, false, true), reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, false, true);
  for (int k = 0; k < 3; ++k) run.step(network, 8), reference.step(network, 8);
  CHECK(same_bits(run.weights(), reference.weights()));
  CHECK(run.model.memory().peak_in_steps() <= 40000);
  CHECK(reference.model.memory().peak_in_steps() > 43000);
}

TEST_CASE("coded weights: copies stay equal on all ranks, and differences keep what rounding lost") {
  const Comm comm;
  const Layers network(3, 40, 32);
  auto p = partition({{"world", comm.size()}}, 0, 0, 1);
  Run plain(MPI_COMM_WORLD, p, network, false, false);
  for (int k = 0; k < 40; ++k) plain.step(network, 8);
  const auto expected = plain.weights();
  const auto distance = [&](WeightCodec codec) {
    auto coded = p;
    coded.codecs = {std::vector<lowp::WireCodec>(1, lowp::WireCodec::none), codec, WeightCodec::none};
    Run run(MPI_COMM_WORLD, coded, network, false, false);
    for (int k = 0; k < 40; ++k) run.step(network, 8);
    if (codec != WeightCodec::none) CHECK(run.model.states().back().name == "main");
    CHECK(run.model.memory().now(Held::states) == (codec == WeightCodec::none ? 8 : 12) * run.model.layout().size() / comm.size());
    const auto weights = run.weights();
    std::vector<double> first(weights.begin(), weights.end());
    comm.broadcast(std::span<double>(first));
    CHECK(std::equal(weights.begin(), weights.end(), first.begin()));
    double square = 0.0;
    for (std::size_t k = 0; k < weights.size(); ++k) square += std::pow(static_cast<double>(weights[k] - expected[k]), 2);
    return std::sqrt(square / static_cast<double>(weights.size()));
  };
  CHECK(distance(WeightCodec::none) == 0.0);
  const double direct = distance(WeightCodec::int4), difference = distance(WeightCodec::difference);
  CHECK(direct > 0.003);
  CHECK(difference < 0.1 * direct);
  CHECK(distance(WeightCodec::bf16) < 0.01 * 0.3);
}

TEST_CASE("divided weights that travel in 8 bits to their modules, gradients in 8 bits") {
  const Comm comm;
  const Layers network(3, 40, 32);
  auto p = partition({{"world", comm.size()}}, 1, 1, 1);
  p.codecs = {std::vector<lowp::WireCodec>(1, lowp::WireCodec::int8), WeightCodec::none, WeightCodec::int8};
  Run run(MPI_COMM_WORLD, p, network, false, false), plain(MPI_COMM_WORLD, partition(p.levels, 1, 1, 1), network, false, false);
  for (int k = 0; k < 5; ++k) run.step(network, 8), plain.step(network, 8);
  const auto coded = run.weights(), exact = plain.weights();
  double most = 0.0;
  for (std::size_t k = 0; k < coded.size(); ++k) most = std::max(most, static_cast<double>(std::abs(coded[k] - exact[k])));
  CHECK(most < 0.11);  // Adam moves 0.01 in each of five steps
  if (comm.size() > 1) CHECK(most > 1e-6);
  if (comm.size() == 2) CHECK(bytes_of(run.model, "gather forward") < 0.3 * static_cast<double>(bytes_of(plain.model, "gather forward")));
}
