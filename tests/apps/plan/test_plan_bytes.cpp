// Memory and messages that the plan predicts beside those that runs count: equal to the byte, for every division and
// mode.
#include <array>
#include <map>

#include "apps/cambium/plan/layouts.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/reduce/reducer.hpp"
#include "core/train/weights/divided/divided_weights.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

/// Matrices of odd sizes, biases that stay whole, and gradients of ones.
class Ones : public Network {
 public:
  explicit Ones(bool by_module) : by_module_(by_module) {}
  void fit_statistics(Dataset&, Context&) override {}
  std::vector<ParameterInfo> parameters() const override {
    std::vector<ParameterInfo> out;
    for (int l = 0; l < 3; ++l) {
      out.push_back({"w", {37 + 10 * l, 29}, true});
      out.push_back({"b", {29 + l}, false});
    }
    return out;
  }
  std::vector<int> modules() const override { return by_module_ ? std::vector<int>{0, 2, 4} : std::vector<int>{}; }
  DType dtype() const override { return DType::f32; }
  void initialise(std::span<const TensorRef>, std::uint64_t) override {}
  std::vector<TermInfo> terms() const override { return {{"term", ""}}; }
  void gradient(std::span<const SamplePtr>, std::span<const TensorRef>, std::span<const double>,
                std::span<const TensorRef> gradients, std::span<TermSum>, const ReadyCallback& ready) override {
    for (int l = 0; l < 3; ++l) {
      ready.forward(l);
      ready.release(l);
    }
    for (int l = 3; l-- > 0;) {
      ready.backward(l);
      for (int k : {2 * l + 1, 2 * l}) {
        const auto& g = gradients[k];
        for (std::int64_t i = 0; i < g.elements(); ++i) static_cast<float*>(g.data)[i] += 1.0f;
        ready(k);
      }
      ready.release(l);
    }
  }
  void evaluate(std::span<const SamplePtr>, std::span<const TensorRef>, std::span<TermSum>) override {}
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }

 private:
  bool by_module_;
};

using Rows = std::map<std::string, std::pair<std::int64_t, double>>;

Rows counted(const Traffic& traffic) {
  Rows out;
  for (const auto& row : traffic.rows())
    if (row.collective != "full copies")
      out[row.collective + " " + row.level] = {row.calls, static_cast<double>(row.bytes)};
  return out;
}

Rows predicted(const StepPlan& plan) {
  Rows out;
  for (const auto& e : plan.exchanges) {
    auto& row = out[e.collective + " " + e.level];
    row.first += e.calls;
    row.second += e.bytes;
  }
  return out;
}

PlannedModel planned_model(const Network& network, const Optimizer& optimizer) {
  return {network.parameters(),    network.modules(),
          network.dtype(),         optimizer.states(network.dtype()),
          optimizer.elementwise(), 1};
}

std::unique_ptr<Optimizer> optimizer_of(bool split, Context& context) {
  if (split) return std::make_unique<SplitAdamW>(SplitAdamW::Params{}, context);
  return std::make_unique<AdamW>(AdamW::Params{}, context);
}

std::vector<Mesh::Level> levels_of(int n) {
  if (n == 8) return {{"pair", 2}, {"node", 2}, {"world", 2}};
  if (n % 2 != 0) return {{"world", n}};
  return {{"pair", 2}, {"world", n / 2}};
}

/// The most of all ranks: on numbers of ranks that are no power of two, some send more than others.
Rows most_of(Rows rows, const Comm& comm) {
  for (auto& [name, row] : rows) row.second = comm.max(row.second);
  return rows;
}

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

}  // namespace

TEST_CASE("divided training sends and holds what the plan says, to the byte") {
  World w;
  const int n = w.comm.size();
  const auto levels = levels_of(n);
  const int all = static_cast<int>(levels.size());
  for (bool split : {false, true})
    for (bool ordered : {false, true})
      for (int s = 0; s <= all; ++s)
        for (int g = 0; g <= s; ++g)
          for (int d = 0; d <= g; ++d) {
            Ones network(s > 0);
            if (network.modules().empty() && g > 0) continue;
            const auto optimizer = optimizer_of(split, w.context);
            Partition partition;
            partition.levels = levels;
            partition.weights = d;
            partition.gradients = g;
            partition.states = s;
            partition.whole_below = 100;
            DivideSettings divide{ordered, true, 1000};
            divide.slices = 16;
            DividedWeights model(partition, w.comm, network, *optimizer, divide);
            StepSettings settings;
            settings.reduce.mode = ordered ? ReduceParams::Mode::ordered : ReduceParams::Mode::fast;
            settings.reduce.slices = 16;
            settings.reduce.group = 4000;
            settings.accumulate = 2;
            settings.ranks = n;
            settings.partition = partition;
            const auto plan = plan_step(planned_model(network, *optimizer), settings);
            std::vector<double> table(static_cast<std::size_t>(2 * plan.slices * n));
            model.begin(plan.slices);
            for (int slice = 0; slice < plan.slices; ++slice) {
              const Pass pass = model.pass();
              Ones(network).gradient({}, pass.weights, {}, pass.gradients, {}, pass.ready);
            }
            model.finish();
            model.communication().sum_small(table, w.comm);
            model.update({1.0, {}, 1e-3, 1});
            INFO("weights " << d << " gradients " << g << " states " << s << " split " << split << " ordered "
                            << ordered);
            CHECK(most_of(counted(model.communication().traffic()), w.comm) == predicted(plan));
            CHECK(model.memory().now(Held::weights) == plan.weights);
            CHECK(model.memory().now(Held::gradients) == plan.gradients);
            CHECK(model.memory().now(Held::states) == plan.states);
            if (!ordered) CHECK(model.memory().peak(Held::windows) <= plan.in_use);
          }
}

TEST_CASE("messages in few bits take what the plan says, to the byte") {
  using Wire = lowp::WireCodec;
  World w;
  const int n = w.comm.size();
  const auto levels = levels_of(n);
  const int all = static_cast<int>(levels.size());
  Ones network(true);
  const auto optimizer = optimizer_of(false, w.context);
  for (const auto& [inner, outer] :
       {std::pair{Wire::none, Wire::none}, {Wire::int8, Wire::int4}, {Wire::none, Wire::bf16}})
    for (const auto update :
         {WeightCodec::none, WeightCodec::bf16, WeightCodec::int8, WeightCodec::int4, WeightCodec::difference})
      for (const auto& depth :
           {std::array{0, 0, 1}, {0, 0, all}, {0, all, all}, {1, all, all}, {all, all, all}, {1, 1, 1}}) {
        const auto gather = depth[0] == 0 || update == WeightCodec::difference ? WeightCodec::none : update;
        Partition partition;
        partition.levels = levels;
        partition.weights = depth[0];
        partition.gradients = depth[1];
        partition.states = depth[2];
        partition.whole_below = 100;
        partition.codecs = {std::vector<Wire>(levels.size(), outer), update, gather};
        partition.codecs.gradients.front() = inner;
        DividedWeights model(partition, w.comm, network, *optimizer, {false, true, 1000});
        StepSettings settings;
        settings.reduce.group = 4000;
        settings.accumulate = 2;
        settings.ranks = n;
        settings.partition = partition;
        auto plan = plan_step(planned_model(network, *optimizer), settings);
        std::erase_if(plan.exchanges, [](const auto& e) { return e.level == "terms"; });
        model.begin(plan.slices);
        for (int slice = 0; slice < plan.slices; ++slice) {
          const Pass pass = model.pass();
          Ones(network).gradient({}, pass.weights, {}, pass.gradients, {}, pass.ready);
        }
        model.finish();
        model.update({1.0, {}, 1e-3, 1});
        INFO("weights " << depth[0] << " gradients " << depth[1] << " states " << depth[2] << " update "
                        << static_cast<int>(update));
        CHECK(counted(model.communication().traffic()) == predicted(plan));
        CHECK(model.memory().now(Held::weights) == plan.weights);
        CHECK(model.memory().now(Held::gradients) == plan.gradients);
        CHECK(model.memory().now(Held::states) == plan.states);
        CHECK(model.memory().peak(Held::windows) <= plan.in_use);
      }
}

TEST_CASE("the price of codecs is that of the numbers that they take, where the machine file knows it") {
  StepSettings settings;
  settings.ranks = 4;
  Partition partition;
  partition.levels = {{"world", 4}};
  partition.gradients = partition.states = 1;
  partition.whole_below = 0;
  partition.codecs = {{lowp::WireCodec::int8}, WeightCodec::difference, WeightCodec::none};
  settings.partition = partition;
  PlannedModel model;
  model.parameters = {{"w", {4096, 10}, true}};
  model.modules = {0};
  model.states = {{"mean", DType::f32}, {"square", DType::f32}};
  const auto plan = plan_step(model, settings);
  Machine machine;
  machine.peak = machine.memory = machine.memory_bandwidth = 1e12;
  machine.levels = {{"system", {}, 1e9, 0.0}};
  CHECK(time_of(plan, 1e9, machine).coding == 0.0);
  machine.coding = 1e9;
  // Gradients: three quarters are encoded, as many decoded; new weights: a quarter is encoded, all are decoded.
  CHECK(time_of(plan, 1e9, machine).coding == Approx(4.0 * 40960 * (0.75 + 0.75 + 0.25 + 1.0) / 1e9));
}

TEST_CASE("whole gradients send what the plan says, to the byte") {
  using Codec = lowp::WireCodec;
  World w;
  Ones network(false);
  const auto optimizer = optimizer_of(false, w.context);
  const Mesh mesh(w.comm);
  for (const auto mode : {ReduceParams::Mode::fast, ReduceParams::Mode::ordered})
    for (const auto codec : {Codec::none, Codec::bf16, Codec::int8, Codec::int4}) {
      if (mode == ReduceParams::Mode::ordered && codec != Codec::none) continue;
      StepSettings settings;
      settings.reduce.mode = mode;
      settings.reduce.codec = codec;
      settings.reduce.slices = 8;
      settings.reduce.group = 4000;
      settings.ranks = w.comm.size();
      const auto plan = plan_step(planned_model(network, *optimizer), settings);
      const FlatLayout layout = layout_of(settings.reduce, network.parameters(), DType::f32);
      FlatBuffer weights(layout, DType::f32);
      const auto reducer = make_reducer(settings.reduce, mesh, layout, DType::f32);
      FlatBuffer gradients = reducer->make_buffer(layout, DType::f32);
      const auto views = gradients.views();
      reducer->begin(gradients, plan.slices);
      for (int slice = 0; slice < plan.slices; ++slice) {
        reducer->next_slice();
        Ones(network).gradient({}, weights.views(), {}, views, {}, [&](int k) { reducer->ready(k); });
      }
      reducer->finish();
      std::vector<double> table(static_cast<std::size_t>(2 * plan.slices * w.comm.size()));
      reducer->sum_small(table, mesh.world());
      CHECK(most_of(counted(reducer->traffic()), mesh.world()) == predicted(plan));
      CHECK(plan.weights == layout.size() * 4);
      CHECK(plan.states == layout.size() * 8);
    }
}
