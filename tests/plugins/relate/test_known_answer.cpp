// The small DLRM that facebookresearch/dlrm (090956e) prints on its page: losses .451893, .402002, .275460 of three
// batches. Weights and data are drawn from the Mersenne twister with seed 123, in the order in which that program drew
// them.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "plugins/relate/networks/dlrm.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

constexpr int layer_count = 5;
constexpr int outputs[] = {3, 2, 4, 2, 1}, inputs[] = {4, 3, 8, 4, 2};
constexpr int table_rows[] = {4, 3, 2};

/// Rows of each bag: batch, table, sample.
const std::vector<std::vector<std::vector<std::vector<std::int32_t>>>> bags = {
    {{{1}, {0, 1}}, {{0}, {1}}, {{1}, {0}}},
    {{{1}, {0, 2, 3}}, {{1}, {1, 2}}, {{1}, {1}}},
    {{{2}, {0, 1, 2}}, {{1}, {2}}, {{1}, {1}}}};

/// Doubles of 53 bits in [0, 1), from the first on.
std::vector<double> stream() {
  std::mt19937 draw(123);
  std::vector<double> out;
  for (int k = 0; k < 172; ++k) {
    const double a = static_cast<double>(draw() >> 5), b = static_cast<double>(draw() >> 6);
    out.push_back((a * 67108864.0 + b) / 9007199254740992.0);
  }
  return out;
}

RecordPtr batch(const std::vector<double>& s, std::size_t n) {
  constexpr std::size_t dense[] = {0, 26, 52};
  RecordSet out;
  out.source = "known answer";
  out.answer = "target";
  for (int t = 0; t < 3; ++t) out.columns.push_back({fmt::format("table {}", t), table_rows[t]});
  out.numbers = {"1", "2", "3", "4"};
  out.number.assign(s.begin() + static_cast<std::ptrdiff_t>(dense[n]),
                    s.begin() + static_cast<std::ptrdiff_t>(dense[n]) + 8);
  for (std::size_t b = 0; b < 2; ++b) {
    out.answers.push_back(s[76 + 2 * n + b]);
    out.place.push_back(static_cast<std::int64_t>(b));
    for (std::size_t t = 0; t < 3; ++t) out.bag.push_back(bags[n][t][b]);
  }
  return share(std::move(out));
}

/// The network with its first weights.
struct Known {
  std::vector<double> s = stream();
  Dlrm::Params params;
  Comm comm{MPI_COMM_SELF};
  Log log{nullptr, false};
  Timing timing;
  Context context{comm, log, timing};
  std::unique_ptr<Dlrm> network;
  std::unique_ptr<NetworkCase> use;

  Known() {
    params.width = 2;
    params.bottom = {3};
    params.top = {4, 2};
    params.loss = Dlrm::Params::Objective::squared;
    params.precision = Precision::float64;
    network = std::make_unique<Dlrm>(params, context);
    network->restore(R"({"columns": [{"name": "table 0", "rows": 4}, {"name": "table 1", "rows": 3},
      {"name": "table 2", "rows": 2}], "mean": [0, 0, 0, 0], "scale": [1, 1, 1, 1], "centre": 0, "spread": 1, "unit": ""})");
    use = std::make_unique<NetworkCase>(*network);
    std::size_t at = 82;
    std::vector<std::vector<double>> rows(3);
    for (std::size_t t = 0; t < 3; ++t)
      for (int k = 0; k < 2 * table_rows[t]; ++k) rows[t].push_back((2.0 * s[at++] - 1.0) / std::sqrt(table_rows[t]));
    use->set_rows(rows);
    for (std::size_t l = 0; l < layer_count; ++l) {
      const auto w = use->weights.values<double>(2 * l), b = use->weights.values<double>(2 * l + 1);
      for (int o = 0; o < outputs[l]; ++o)
        for (int i = 0; i < inputs[l]; ++i) w[i * outputs[l] + o] = s[at++];
      for (int o = 0; o < outputs[l]; ++o) b[o] = s[at++];
    }
    REQUIRE(at == 172);
  }
  /// Mean loss of a batch, before its step; gradients stay in `use`.
  double gradient(std::size_t n) { return 0.5 * use->gradient(samples_of(batch(s, n))); }
  void step() {
    for (std::size_t p = 0; p < 2 * layer_count; ++p) {
      const auto w = use->weights.values<double>(p);
      const auto g = use->gradients.values<double>(p);
      for (std::size_t k = 0; k < w.size(); ++k) w[k] -= 0.01 * 0.5 * g[k];
    }
    use->tables->step(0.5, 0.01);
  }
};

double worst(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double out = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) out = std::max(out, std::abs(a[k] - b[k]));
  return out;
}

/// A matrix of the file is outputs x inputs.
std::vector<double> turned(const std::vector<double>& values, std::size_t layer) {
  std::vector<double> out(values.size());
  for (int o = 0; o < outputs[layer]; ++o)
    for (int i = 0; i < inputs[layer]; ++i) out[i * outputs[layer] + o] = values[o * inputs[layer] + i];
  return out;
}

std::vector<double> numbers(std::span<const double> values) { return {values.begin(), values.end()}; }

}  // namespace

TEST_CASE("dlrm: the three losses of the reference's page, to its six digits") {
  Known known;
  for (std::size_t n = 0; n < 3; ++n) {
    constexpr double published[] = {0.451893, 0.402002, 0.275460};
    CHECK(std::abs(known.gradient(n) - published[n]) < 5.1e-7);
    known.step();
  }
}

TEST_CASE("dlrm: gradients of the first step and final weights are those of the file", "[data]") {
  const auto path = relate_data("dlrm_known_answer.h5");
  if (path.empty()) return;
  const auto file = io::File::open(path);
  const auto read = [&](const std::string& name) { return file.read<std::vector<double>>(name); };
  Known known;
  const auto losses = read("losses");
  for (std::size_t n = 0; n < 3; ++n) {
    std::vector<std::vector<double>> before;
    for (std::size_t t = 0; t < 3; ++t) before.push_back(known.use->rows(t));
    CHECK(std::abs(known.gradient(n) - losses[n]) < 1e-12);
    if (n == 0)
      for (std::size_t l = 0; l < layer_count; ++l) {
        auto g = numbers(known.use->gradients.values<double>(2 * l));
        for (double& value : g) value *= 0.5;
        CHECK(worst(g, turned(read(fmt::format("first_step/gradient_weight_{}", l)), l)) < 1e-12);
      }
    known.step();
    if (n > 0) continue;
    for (std::size_t t = 0; t < 3; ++t) {
      auto moved = known.use->rows(t);
      for (std::size_t k = 0; k < moved.size(); ++k) moved[k] = (before[t][k] - moved[k]) / 0.01;
      CHECK(worst(moved, read(fmt::format("first_step/gradient_embedding_{}", t))) < 1e-12);
    }
  }
  for (std::size_t l = 0; l < layer_count; ++l) {
    CHECK(worst(numbers(known.use->weights.values<double>(2 * l)), turned(read(fmt::format("final/weight_{}", l)), l)) <
          1e-12);
    CHECK(worst(numbers(known.use->weights.values<double>(2 * l + 1)), read(fmt::format("final/bias_{}", l))) < 1e-12);
  }
  for (std::size_t t = 0; t < 3; ++t)
    CHECK(worst(known.use->rows(t), read(fmt::format("final/embedding_{}", t))) < 1e-12);
}
