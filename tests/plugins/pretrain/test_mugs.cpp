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
    out.channels = {4, 6};
    out.width = 5;
    out.queue = 9;
    out.neighbours = 3;
    out.prototypes = 7;
    out.momentum = 1.0;
    out.precision = Precision::float64;
    out.augment.shift = {0};
    out.augment.noise = 0.1;
    out.small.views = 1;
    out.small.crop = {8, 4};
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
    if (w[3] > 0.0) {
      keys.pool = MugsEncoder::Pool::cells;
      keys.small = {};
    }
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
    others.vector = MugsEncoder::Vector::projections;
    others.weights.group = group;
    Mugs projected(others);
    const auto width = projected.network.width(), n = std::ssize(projected.samples);
    CHECK(width == (group > 0.0 ? 15 : 10));
    std::vector<double> vectors(n * width);
    const std::vector<TensorRef> targets{io::tensor_of(vectors.data(), {n, width})};
    projected.network.infer(projected.samples, projected.weights, targets);
    for (std::int64_t k = 0; k < n; ++k) {  // parts are of equal length, the whole is 1 long
      double part = 0.0;
      for (int j = 0; j < 5; ++j) part += std::pow(vectors[k * width + j], 2);
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
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      const double first = m / (1.0 - std::pow(0.9, step)), second = v / (1.0 - std::pow(0.999, step));
      mugs.memory[k][i] -= rate * first / (std::sqrt(second) + 1e-8);
    }
}

/// Square of the mean of rows of length 1: 1 where all are alike.
static double alike(std::span<const double> rows, std::size_t width) {
  double out = 0.0;
  for (std::size_t c = 0; c < width; ++c) {
    double mean = 0.0;
    for (std::size_t k = c; k < rows.size(); k += width) mean += rows[k] * static_cast<double>(width);
    out += std::pow(mean / static_cast<double>(rows.size()), 2);
  }
  return out;
}

/// Sixty fields with noise, and a hundred steps over them.
struct Trained {
  Mugs mugs;
  std::unique_ptr<FieldArchive> data;

  static MugsEncoder::Params keys(MugsEncoder::Weights weights) {
    auto out = Mugs::keys();
    out.channels = {8, 16};
    out.width = 16;
    out.small = {};
    out.queue = 60;
    out.momentum = 0.9;
    out.temperature = 0.1;
    out.weights = weights;
    out.vector = MugsEncoder::Vector::projections;
    return out;
  }
  explicit Trained(MugsEncoder::Weights weights) : mugs(keys(weights)) {
    auto many = Mugs::made_up();
    many.made_up->simulations = 15;
    many.made_up->noise = 1.0;
    data = std::make_unique<FieldArchive>(many, mugs.context);
    data->open(mugs.context);
    std::vector<std::array<double, 2>> moments;
    for (int k = 1; k <= 100; ++k) {
      std::vector<std::int64_t> some;  // no sample meets its own rows in the queue
      for (std::int64_t j = 0; j < 12; ++j) some.push_back((12 * k + j) % 60);
      mugs.samples = data->read(some);
      mugs.step(10 + k);
      adam(mugs, moments, k, 3e-3);
    }
  }
  std::vector<double> vectors() {
    std::vector<std::int64_t> all;
    for (std::int64_t j = 0; j < 60; ++j) all.push_back(j);
    std::vector<double> out(60 * 16);
    const std::vector<TensorRef> targets{io::tensor_of(out.data(), {60, 16})};
    mugs.network.infer(data->read(all), mugs.weights, targets);
    return out;
  }
};

TEST_CASE("vectors of Mugs do not become one, and the teacher's rows of a step do not show their age") {
  Trained trained({1.0, 0.0, 0.0});
  CHECK(alike(trained.vectors(), 16) < 0.75);  // 0.92 and more where the predictor has a part from the beginning
  const auto queue = trained.mugs.network.kept().at("instance_queue");
  const auto next = static_cast<std::size_t>(queue[0]), first = (next + 60 - 24) % 60;
  REQUIRE(first + 24 <= 60);
  CHECK(alike(std::span(queue).subspan(2 + 16 * first, 16 * 24), 16) < 0.02);
}

TEST_CASE("what Mugs compares with groups has no direction in common, from the first step to the last") {
  // With one, all fields lie near the same groups: the centre takes that away and leaves what is no clearer than noise.
  const Trained trained({0.0, 0.0, 1.0});
  for (const auto& centre :
       {Mugs(Trained::keys({0.0, 0.0, 1.0})).kept.at("centre"), trained.mugs.network.kept().at("centre")}) {
    double square = 0.0;
    for (const double similar : centre) square += similar * similar / static_cast<double>(centre.size());
    CHECK(std::sqrt(square) < 0.06);
  }
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
