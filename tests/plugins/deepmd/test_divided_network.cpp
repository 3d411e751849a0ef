// A Deep Potential whose weights come and go network by network: the same bits as with all of them there, whatever is
// divided among ranks; bytes and memory by the formulas.
#include "apps/cambium/plan/step_plan.hpp"
#include "core/parallel/host_threads.hpp"
#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/deepmd/labelled_water.hpp"
#include "tests/train/weights/divided/layers.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;
using namespace cambium::train::testing;
using train::Held;

namespace {

/// A network for each species, for each pair, or one for all, of se_atten and of se_e2_a.
enum class Kind { one_side, two_sides, species, types };

struct Water {
  Comm alone{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{alone, log, timing};
  Scratch scratch;
  DeepmdNpy data{{{write_water(scratch)}}, context};
  DeepPotentialNetwork network;

  explicit Water(Kind kind = Kind::one_side, double interpolation = 1e-8)
      : scratch("deepmd_divided_" + std::to_string(Comm().rank())), network(model(kind, interpolation), context) {
    data.open(context);
    network.fit_statistics(data, context);
  }
  static DeepPotentialNetwork::Params model(Kind kind, double interpolation) {
    DeepPotentialNetwork::Params p;
    p.rcut = 4.0;
    p.neuron = {8, 16};
    p.axis_neuron = 4;
    p.fitting = {32, 32};
    p.precision = DType::f32;
    p.type_one_side = kind == Kind::one_side;
    if (kind == Kind::species) p.descriptor = DescriptorParams::Descriptor::se_atten;
    if (kind == Kind::types) p.type_embedding = {4, 4};
    p.interpolation = interpolation;
    p.loss.start_virial = 0.1;
    p.loss.limit_virial = 1.0;
    return p;
  }
  void slice(std::span<const std::int64_t> ids, std::span<const TensorRef> weights,
             std::span<const TensorRef> gradients, std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
    std::vector<train::SamplePtr> samples;
    for (const std::int64_t id : ids) samples.push_back(data.read(std::span(&id, 1)).front());
    network.gradient(samples, weights, network.term_weights(0, 0.5), gradients, terms, ready);
  }
  /// By Adam; with `length`, along the gradient by that length (for plain descent).
  void step(Run& run, double length = 0.0) {
    const int own = 8 / run.comm.size(), turns = run.model.turns();
    run.model.communication().begin_step(77, run.steps);
    run.model.begin(own);
    for (int s = 0; s < own; ++s) {
      const std::int64_t number = 8 * run.steps + (run.comm.rank() / turns * own + s) * turns + run.comm.rank() % turns;
      if (number % 5 == 4) {  // fewer samples than slices
        run.model.skip();
        continue;
      }
      const train::Pass pass = run.model.pass();
      const std::int64_t ids[] = {number % 3};
      train::TermSum terms[3];
      slice(ids, pass.weights, pass.gradients, terms, pass.ready);
    }
    run.model.finish();
    ++run.steps;
    train::Clip unit;
    unit.norm = 1.0;
    if (length > 0.0)
      run.last_norm = run.model.update({1.0 / 8.0, unit, length, run.steps});
    else
      run.model.update({1.0 / 8.0, {}, 1e-3, run.steps});
  }
};

/// Memory behind views only while a module is open, as a DividedWeights keeps it; notes what is opened.
struct Visitor {
  const std::vector<int> first;
  train::FlatBuffer& weights;
  train::FlatBuffer& gradients;
  std::vector<TensorRef> weight_views, gradient_views, open_weights, open_gradients;
  std::vector<int> forward, backward, ready;

  Visitor(const DeepPotentialNetwork& network, train::FlatBuffer& w, train::FlatBuffer& g)
      : first([&] {
          auto m = network.modules();
          m.push_back(static_cast<int>(network.parameters().size()));
          return m;
        }()),
        weights(w), gradients(g), weight_views(w.views()), gradient_views(g.views()), open_weights(weight_views),
        open_gradients(gradient_views) {
    for (auto* views : {&open_weights, &open_gradients})
      for (auto& view : *views) view.data = nullptr;
  }
  void show(int module, const std::vector<TensorRef>& from, std::vector<TensorRef>& to) const {
    for (auto k = static_cast<std::size_t>(first[module]);
         k < static_cast<std::size_t>(first[static_cast<std::size_t>(module) + 1]); ++k)
      to[k].data = from.empty() ? nullptr : from[k].data;
  }
  train::ReadyCallback callback() {
    return {[this](int k) {
              ready.push_back(k);
              open_gradients[k].data = nullptr;
            },
            [this](int m) { forward.push_back(m), show(m, weight_views, open_weights); },
            [this](int m) {
              backward.push_back(m);
              show(m, weight_views, open_weights);
              show(m, gradient_views, open_gradients);
            },
            [this](int m) { show(m, {}, open_weights); }};
  }
};

}  // namespace

TEST_CASE(
    "each network of a Deep Potential is opened twice, and the gradient has the bits of weights that are all there") {
  const Comm comm;
  if (comm.size() > 1) return;
  std::vector<std::int64_t> ids;
  for (int k = 0; k < 20; ++k) ids.push_back(k % 3);  // 24 atoms each: three portions
  for (const Kind kind : {Kind::one_side, Kind::two_sides, Kind::species, Kind::types})
    for (const double interpolation : {1e-8, 0.0}) {
      Water water(kind, interpolation);
      const train::FlatLayout layout(water.network.parameters(), 100000);
      train::FlatBuffer weights(layout, DType::f32);
      water.network.initialise(weights.views(), 3);
      std::vector<float> by_one;
      for (const int threads : {1, 2, 3, 64}) {
        const AsIfThreads as_if(threads);
        train::FlatBuffer whole(layout, DType::f32), parted(layout, DType::f32);
        std::vector<train::TermSum> expected(3), found(3);
        const auto all = weights.views();
        water.slice(ids, all, whole.views(), expected, {});
        Visitor visitor(water.network, weights, parted);
        water.slice(ids, visitor.open_weights, visitor.open_gradients, found, visitor.callback());
        std::vector<int> modules = {0, 1, 2};  // the species' embedding, the embedding network, the energy network
        if (kind != Kind::species) modules.push_back(3);
        if (kind == Kind::two_sides) modules.insert(modules.end(), {4, 5});
        CHECK(visitor.forward == modules);
        CHECK(visitor.backward == std::vector<int>(modules.rbegin(), modules.rend()));
        std::vector<int> parameters;
        for (int k = visitor.first.back(); k-- > 0;) parameters.push_back(k);
        CHECK(visitor.ready == parameters);
        CHECK(same_bits(packed<float>(whole), packed<float>(parted)));
        for (std::size_t k = 0; k < 3; ++k) CHECK(expected[k].sum == found[k].sum);
        const auto gradient = packed<float>(whole);
        if (threads == 1) by_one = gradient;
        double size = 0.0, change = 0.0;
        for (std::size_t k = 0; k < gradient.size(); ++k) {
          size = std::max(size, static_cast<double>(std::abs(gradient[k])));
          change = std::max(change, static_cast<double>(std::abs(gradient[k] - by_one[k])));
        }
        CHECK(size > 0.0);
        CHECK(change < 1e-5 * size);  // the order of sums
      }
    }
}

TEST_CASE("a divided Deep Potential: the same weights, bytes and memory by the formulas") {
  Water water;
  const Comm comm;
  constexpr int steps = 3;
  for (const bool split : {false, true}) {
    Run reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), water.network, split, true);
    for (int k = 0; k < steps; ++k) water.step(reference);
    const auto expected = reference.weights();
    for (int stage = 0; stage <= 3; ++stage) {
      Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), water.network,
              split, true);
      for (int k = 0; k < steps; ++k) water.step(run);
      INFO("stage " << stage << ", split " << split);
      CHECK(same_bits(run.weights(), expected));
      const double parameters = static_cast<double>(run.model.layout().parameters());
      const double padding = static_cast<double>(run.model.layout().size()) / parameters;
      CHECK(padding < 1.05);
      const std::int64_t size = run.model.layout().size() * (split ? 2 : 4), n = comm.size();
      // Divided gradients travel with every slice; a network's weights are gathered once forward and once backward.
      const std::int64_t slices = 8 / n, sent = stage < 2 ? 2 : stage == 2 ? 1 + slices : 3 * slices;
      CHECK(bytes_of(run.model, "") == steps * sent * size * (n - 1) / n);
      if (stage == 3) CHECK(bytes_of(run.model, "gather forward") == bytes_of(run.model, "gather backward"));
      const auto& memory = run.model.memory();
      const double held =
          static_cast<double>(memory.now(Held::weights) + memory.now(Held::gradients) + memory.now(Held::states));
      const double states = split ? 10 : 8, kept = split ? 2 : 4, parts = static_cast<double>(n);
      const double formula =
          kept / (stage >= 3 ? parts : 1) + kept / (stage >= 2 ? parts : 1) + states / (stage >= 1 ? parts : 1);
      CHECK(held / (padding * parameters) == Approx(formula));
    }
  }
}

TEST_CASE("a plan knows what a divided Deep Potential sends and holds") {
  Water water;
  const Comm comm;
  const auto part = partition({{"world", comm.size()}}, 1, 1, 1, 100);
  Run run(MPI_COMM_WORLD, part, water.network, false, true);
  water.step(run);
  train::StepSettings settings;
  settings.reduce.mode = train::ReduceParams::Mode::ordered;
  settings.reduce.slices = 8;
  settings.partition = part;
  settings.ranks = comm.size();
  const auto plan = train::plan_step(
      {water.network.parameters(), water.network.modules(), DType::f32, run.optimizer->states(DType::f32), true, 0},
      settings, {});
  double bytes = 0.0;
  for (const auto& row : plan.exchanges) bytes += row.bytes;
  CHECK(static_cast<double>(bytes_of(run.model, "")) == bytes);
  const auto& memory = run.model.memory();
  CHECK(memory.now(Held::weights) == plan.weights);
  CHECK(memory.now(Held::gradients) == plan.gradients);
  CHECK(memory.now(Held::states) == plan.states);
}

TEST_CASE("energy networks of few bits, divided: the same weights as undivided ones, all on their grids") {
  Water water;
  const Comm comm;
  const train::DirectParams int8{train::DirectParams::Weights::int8};
  Run whole(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), water.network, {true, true, 5000, int8});
  Run parts(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1), water.network, {true, true, 5000, int8});
  Run full(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), water.network, false, true);
  for (int k = 0; k < 3; ++k) {
    water.step(whole);
    water.step(parts);
    water.step(full);
  }
  CHECK(same_bits(whole.weights(), parts.weights()));
  // Two species, hidden matrices of 64 x 32 and 32 x 32; embeddings and the last column stay in float32.
  std::int64_t linear = 0;
  for (const auto& tensor : parts.model.layout().tensors())
    if (tensor.info.linear) linear += tensor.elements;
  CHECK(linear == 2 * (64 * 32 + 32 * 32));
  CHECK(parts.model.save(false).grids.size() == 4);
  CHECK(parts.model.memory().now(Held::weights) <
        0.6 * static_cast<double>(full.model.memory().now(Held::weights)) / comm.size());
  const auto few = whole.weights(), many = full.weights();
  double most = 0.0;
  for (std::size_t k = 0; k < few.size(); ++k) most = std::max(most, static_cast<double>(std::abs(few[k] - many[k])));
  CHECK(most > 1e-4);
  CHECK(most < 0.02);  // steps of the grids are 0.005 or so
}

TEST_CASE("weights that travel in 8 bits to their networks") {
  Water water;
  const Comm comm;
  if (comm.size() > 2) return;
  auto coded = partition({{"world", comm.size()}}, 1, 1, 1, 500);
  const auto plain = coded;
  coded.codecs.gradients.assign(1, lowp::WireCodec::none);
  coded.codecs.gather = train::WeightCodec::int8;
  // Plain descent: Adam would move each weight by 0.001 a step whatever the networks were shown.
  const train::DivideSettings fast{false, true, 5000};
  Run few(MPI_COMM_WORLD, coded, water.network, fast, Run::make<train::Sgd>),
      full(MPI_COMM_WORLD, plain, water.network, fast, Run::make<train::Sgd>);
  const auto first = full.weights();
  for (int k = 0; k < 2; ++k) {
    water.step(few, 0.1);
    water.step(full, 0.1);
  }
  const double off = distance(few.weights(), full.weights(), first);
  CHECK(full.last_norm > 1.0);  // so that both steps are 0.1 long
  CHECK(off < 0.007);           // 0.0046: 8 bits of the largest of 128 weights; with 4 bits 0.13
  CHECK(off > 0.002);
  if (comm.size() == 1) return;
  CHECK(bytes_of(few.model, "gather backward") < 0.3 * static_cast<double>(bytes_of(full.model, "gather backward")));
}
