// Mugs: its gradient as differences with a teacher that stands still, terms by themselves, queues, and going on from
// what it kept.
#include <cmath>

#include "core/io/hdf5/h5.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"
#include "plugins/pretrain/networks/mugs_encoder.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::pretrain;

namespace {

/// Two steps into a training: queues and memory hold something.
struct Mugs {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  FieldArchive data;
  MugsEncoder network;
  std::vector<std::vector<double>> memory, gradient;
  std::vector<TensorRef> weights, gradients;
  std::vector<train::SamplePtr> samples;
  train::KeptNumbers kept;

  static MugsEncoder::Params keys() {
    MugsEncoder::Params out;
    out.channels = {4, 6}, out.width = 5, out.queue = 9, out.neighbours = 3, out.prototypes = 7;
    out.momentum = 1.0, out.precision = Precision::float64;
    out.augment.shift = {0}, out.augment.noise = 0.1;
    out.small.views = 1, out.small.crop = {8, 4};
    return out;
  }
  static FieldArchive::Params made_up() {
    FieldArchive::Params out;
    out.made_up = MadeUpFields{.simulations = 3, .moments = 4, .cells = {8, 8}};
    return out;
  }
  explicit Mugs(const MugsEncoder::Params& params) : data(made_up(), context), network(params, context) {
    data.open(context);
    network.fit_statistics(data, context);
    for (const auto& info : network.parameters())
      for (auto* list : {&memory, &gradient}) {
        TensorRef t;
        for (auto n : info.shape) t.shape[t.rank++] = n;
        for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
        list->emplace_back(static_cast<std::size_t>(t.elements()), 0.0);
        t.data = list->back().data();
        (list == &memory ? weights : gradients).push_back(t);
      }
    network.initialise(weights, 3);
    samples = data.read(std::vector<std::int64_t>{0, 3, 6, 7, 9});
    for (int k = 0; k < 3; ++k) step(k);
    for (auto& values : memory)  // away from the teacher
      for (std::size_t k = 0; k < values.size(); ++k) values[k] += 0.02 * std::sin(static_cast<double>(k + 1));
    kept = network.kept();
  }
  std::vector<double> step(std::int64_t number) {
    for (auto& values : gradient) std::fill(values.begin(), values.end(), 0.0);
    network.begin_step(1, number);
    std::vector<train::TermSum> terms(3);
    network.gradient(samples, weights, network.term_weights(0, 1.0), gradients, terms, {});
    return {terms[0].sum, terms[1].sum, terms[2].sum};
  }
  /// The same step again from what was kept.
  std::vector<double> again() {
    network.take(kept);
    return step(5);
  }
};

}  // namespace

TEST_CASE("the gradient of Mugs is that of differences, all terms together and each by itself, and with every cell") {
  for (const std::array<double, 4> w : {std::array{1.0, 1.0, 1.0, 0.0},
                                        {1.0, 0.0, 0.0, 0.0},
                                        {0.0, 1.0, 0.0, 0.0},
                                        {0.0, 0.0, 1.0, 0.0},
                                        {1.0, 1.0, 1.0, 1.0}}) {
    auto keys = Mugs::keys();
    keys.weights = {w[0], w[1], w[2]};
    if (w[3] > 0.0) keys.pool = MugsEncoder::Pool::cells, keys.small = {};
    Mugs mugs(keys);
    CHECK(mugs.network.width() == 6);
    const auto loss = [&] {
      const auto terms = mugs.again();
      return w[0] * terms[0] + w[1] * terms[1] + w[2] * terms[2];
    };
    const auto terms = mugs.again();
    for (std::size_t k = 0; k < 3; ++k) CHECK((terms[k] != 0.0) == (w[k] > 0.0));
    const auto found = mugs.gradient;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const std::size_t i = found[k].size() / 2;
      double& weight = mugs.memory[k][i];
      const double before = weight, h = 1e-5;
      weight = before + h;
      const double above = loss();
      weight = before - h;
      const double below = loss();
      weight = before;
      CAPTURE(mugs.network.parameters()[k].name);
      CHECK(found[k][i] == Approx((above - below) / (2 * h)).epsilon(1e-4).margin(1e-6));
    }
  }
}

TEST_CASE("Mugs takes patches for its trunk, and its projections as the vector of a field") {
  auto keys = Mugs::keys();
  keys.transformer = TransformerKeys{.patch = {4, 2}, .width = 8, .heads = 2, .blocks = 1};
  Mugs mugs(keys);
  CHECK(mugs.network.width() == 8);
  const auto loss = [&] {
    const auto terms = mugs.again();
    return terms[0] + terms[1] + terms[2];
  };
  loss();
  const auto found = mugs.gradient;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::size_t i = found[k].size() / 2;
    double& weight = mugs.memory[k][i];
    const double before = weight, h = 1e-5;
    weight = before + h;
    const double above = loss();
    weight = before - h;
    const double below = loss();
    weight = before;
    CAPTURE(mugs.network.parameters()[k].name);
    CHECK(found[k][i] == Approx((above - below) / (2 * h)).epsilon(1e-4).margin(1e-6));
  }
  for (const double group : {0.0, 1.0}) {
    auto others = Mugs::keys();
    others.vector = MugsEncoder::Vector::projections, others.weights.group = group;
    Mugs projected(others);
    const auto width = projected.network.width(), n = std::ssize(projected.samples);
    CHECK(width == (group > 0.0 ? 15 : 10));
    std::vector<double> vectors(static_cast<std::size_t>(n * width));
    const std::vector<TensorRef> targets{io::tensor_of(vectors.data(), {n, width})};
    projected.network.infer(projected.samples, projected.weights, targets);
    for (std::int64_t k = 0; k < n; ++k) {  // parts are of equal length, the whole is 1 long
      double part = 0.0;
      for (int j = 0; j < 5; ++j) part += std::pow(vectors[static_cast<std::size_t>(k * width + j)], 2);
      CHECK(part == Approx(5.0 / static_cast<double>(width)));
    }
  }
}

TEST_CASE("the teacher follows the weights, and what Mugs kept is taken back bit for bit") {
  auto keys = Mugs::keys();
  keys.momentum = 0.75;
  Mugs mugs(keys);
  const auto before = mugs.kept.at("teacher");
  const auto terms = mugs.again();
  const auto after = mugs.network.kept().at("teacher");
  std::size_t at = 0;
  for (const auto& values : mugs.memory)
    for (const double weight : values) {
      CHECK(after[at] == Approx(0.75 * before[at] + 0.25 * weight).margin(1e-14));
      ++at;
    }
  CHECK(at == after.size());
  CHECK(mugs.again() == terms);
  MugsEncoder other(keys, mugs.context);
  other.restore(mugs.network.state());
  other.take(mugs.kept);
  CHECK(other.kept() == mugs.kept);  // before its first step
  const auto here = mugs.gradient;
  for (auto& values : mugs.gradient) std::fill(values.begin(), values.end(), 0.0);
  other.begin_step(1, 5);
  std::vector<train::TermSum> sums(3);
  other.gradient(mugs.samples, mugs.weights, other.term_weights(0, 1.0), mugs.gradients, sums, {});
  CHECK(mugs.gradient == here);
  CHECK(other.kept() == mugs.network.kept());
}

/// One step of Adam for all weights.
static void adam(Mugs& mugs, std::vector<std::array<double, 2>>& moments, int step, double rate) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < mugs.memory.size(); ++k)
    for (std::size_t i = 0; i < mugs.memory[k].size(); ++i, ++at) {
      if (at == moments.size()) moments.push_back({0.0, 0.0});
      auto& [m, v] = moments[at];
      const double g = mugs.gradient[k][i] / static_cast<double>(mugs.samples.size());
      m = 0.9 * m + 0.1 * g, v = 0.999 * v + 0.001 * g * g;
      const double first = m / (1.0 - std::pow(0.9, step)), second = v / (1.0 - std::pow(0.999, step));
      mugs.memory[k][i] -= rate * first / (std::sqrt(second) + 1e-8);
    }
}

TEST_CASE("Mugs soon tells views apart, by what they show and not by their age") {
  auto keys = Mugs::keys();
  keys.momentum = 0.9, keys.small = {}, keys.width = 16, keys.channels = {8, 16}, keys.queue = 60;
  keys.temperature = 0.1, keys.weights = {1.0, 0.0, 0.0};
  Mugs mugs(keys);
  mugs.samples = mugs.data.read(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  std::vector<std::array<double, 2>> moments;
  double last = 0.0;
  for (int k = 1; k <= 80; ++k) {
    const double loss = mugs.step(10 + k)[0] / 12.0;
    if (k > 60) last += loss / 20.0;
    adam(mugs, moments, k, 1e-2);
  }
  CAPTURE(last, std::log(61.0));
  CHECK(last < 0.1);
}

TEST_CASE("a queue keeps the last rows") {
  RowQueue queue(3, 2, torch::kFloat64);
  CHECK(queue.rows().size(0) == 0);
  const auto rows = [](std::vector<double> values) { return torch::tensor(values, torch::kFloat64).reshape({-1, 2}); };
  queue.put(rows({1, 1, 2, 2}));
  CHECK(queue.rows().size(0) == 2);
  queue.put(rows({3, 3, 4, 4}));
  CHECK(queue.kept() == std::vector<double>{1, 3, 4, 4, 2, 2, 3, 3});
  queue.put(rows({5, 5, 6, 6, 7, 7, 8, 8}));
  CHECK(queue.rows().sum().item<double>() == 2 * (6 + 7 + 8));
  RowQueue other(3, 2, torch::kFloat64), small(2, 2, torch::kFloat64);
  other.take(queue.kept());
  CHECK(other.kept() == queue.kept());
  REQUIRE_THROWS_WITH(small.take(queue.kept()),
                      "the checkpoint's queues have another size; resume with the same queue and widths");
}
