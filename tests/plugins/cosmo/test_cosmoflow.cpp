// The network of boxes: what it sees does not depend on where a box begins, gradients are derivatives, and products of
// full rank are the whole network. This file sees no Torch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/plugin/registry.hpp"
#include "core/train/low_rank/decompose.hpp"
#include "core/train/register.hpp"
#include "plugins/cosmo/boxes/statistics.hpp"
#include "tests/catch.hpp"

namespace cambium::cosmo {
void register_training(Registry& registry);
}

using namespace cambium;
using namespace cambium::train;

namespace {

constexpr int cells = 4;

struct Box {
  float counts[cells * cells * cells];
  float target[2];
  double power[3];
};

/// A made box, moved along each axis.
SamplePtr box(std::int64_t id, int moved = 0) {
  auto data = std::make_shared<Box>();
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j)
      for (int k = 0; k < cells; ++k) {
        const int at = ((i + moved) % cells * cells + (j + moved) % cells) * cells + (k + moved) % cells;
        const auto place =
            static_cast<std::uint32_t>((i * cells + j) * cells + k) + 64u * static_cast<std::uint32_t>(id);
        data->counts[at] = static_cast<float>((place * place + 1u) * 2654435761u >> 29);  // no symmetry
      }
  for (int k = 0; k < 3; ++k) data->power[k] = std::exp(1.0 - 0.7 * k + 0.3 * static_cast<double>(id));
  data->target[0] = 0.3f;
  data->target[1] = static_cast<float>(-0.4 + 0.1 * static_cast<double>(id));
  auto sample = std::make_shared<Sample>();
  sample->id = id;
  TensorRef counts{data->counts, 3}, target{data->target, 1};
  counts.dtype = target.dtype = DType::f32;
  for (int a = 0; a < 3; ++a) counts.shape[a] = cells;
  counts.stride[0] = cells * cells;
  counts.stride[1] = cells;
  counts.stride[2] = 1;
  target.shape[0] = 2;
  target.stride[0] = 1;
  TensorRef power{data->power, 1};
  power.dtype = DType::f64;
  power.shape[0] = 3;
  power.stride[0] = 1;
  sample->fields["counts"] = counts;
  sample->fields["target"] = target;
  sample->fields["power"] = power;
  sample->storage = data;
  return sample;
}

struct Net {
  Comm alone{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Registry registry;
  Context context{alone, log, timing, &registry, 5, ".", "", "", nullptr, false, false};
  std::unique_ptr<Network> network;
  std::unique_ptr<FlatLayout> layout;
  FlatBuffer weights;

  /// `more`: further keys.
  /// knows: whether it knows the sizes of data from the beginning, after which it keeps the module that it builds.
  explicit Net(const std::string& ranks, const std::string& more = "channels: [3, 5]", bool knows = true) {
    registry.set_plugin("cosmo");
    cosmo::register_training(registry);
    network = registry.make<Network>(
        "cosmoflow", deck::parse("{" + more + ", hidden: [6], precision: float64, ranks: " + ranks + "}", "test"),
        context);
    if (!knows) return;
    network->restore(more.find("statistics") == std::string::npos
                         ? R"({"cells": 4, "targets": 2})"
                         : R"({"cells": 4, "targets": 2, "statistics_mean": [1.0, 0.3, -0.4, 1.0, 0.5, 0.1, -0.5, 0.9],
                               "statistics_deviation": [0.5, 0.5, 0.5, 0.4, 0.3, 0.8, 1.0, 0.6]})");
    begin();
    std::uint64_t k = 0;
    for (double& w : weights.values<double>()) w += 0.1 * std::sin(static_cast<double>(++k));
  }
  /// The first weights, of a network that knows its data.
  void begin() {
    layout = std::make_unique<FlatLayout>(network->parameters(), 1000);
    weights = FlatBuffer(*layout, DType::f64);
    network->initialise(weights.views(), 3);
  }
  std::vector<FactorLayer> layers() const { return network->traits().factors->factor_layers(); }
  std::vector<double> answers(const SamplePtr& sample) {
    std::vector<double> out(2);
    TensorRef to{out.data(), 2};
    to.shape[0] = 1;
    to.shape[1] = 2;
    to.stride[0] = 2;
    to.stride[1] = 1;
    const SamplePtr samples[] = {sample};
    const TensorRef outputs[] = {to};
    network->infer(samples, weights.views(), outputs);
    return out;
  }
  double loss(FlatBuffer& gradients) {
    const std::vector<SamplePtr> samples{box(0), box(1), box(2)};
    const double one[] = {1.0};
    TermSum term[1];
    network->gradient(samples, weights.views(), one, gradients.views(), term, [](int) {});
    return term[0].sum;
  }
  double loss() {
    FlatBuffer scratch(*layout, DType::f64);
    return loss(scratch);
  }
};

/// What infer_cosmology fits to.
std::vector<double> statistics_of(const Sample& sample) {
  std::vector<double> out;
  const auto* power = static_cast<const double*>(sample.fields.at("power").data);
  for (int k = 0; k < 3; ++k) out.push_back(std::log(power[k]));
  const auto* counts = static_cast<const float*>(sample.fields.at("counts").data);
  const auto more = cosmo::moments_at_scales(std::vector<double>(counts, counts + cells * cells * cells), cells);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

/// Made boxes whose second number is a straight line in the logarithm of their second power.
struct Boxes : Dataset {
  void open(Context&) override {}
  std::int64_t size() const override { return 40; }
  std::vector<FieldInfo> fields() const override {
    return {{"counts", "", {cells, cells, cells}, DType::f32}, {"target", "", {2}, DType::f32}, {"power", "", {3}}};
  }
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids) override {
    std::vector<SamplePtr> out;
    for (const auto id : ids) {
      out.push_back(box(id));
      auto* power = static_cast<double*>(out.back()->fields.at("power").data);
      for (int k = 0; k < 3; ++k) power[k] = std::exp(std::sin(3.0 * static_cast<double>(id) + k));
      static_cast<float*>(out.back()->fields.at("target").data)[1] = static_cast<float>(line(id));
    }
    return out;
  }
  static double line(std::int64_t id) {
    return 1.2 * std::tanh(0.2 + 0.5 * std::sin(3.0 * static_cast<double>(id) + 1));
  }
};

}  // namespace

TEST_CASE("a network with statistics begins as the ridge fit to them, unless it is told not to") {
  Boxes boxes;
  cosmo::Table rows, inner;  // what the fit is made to, by infer_cosmology's own functions
  for (std::int64_t id = 0; id < boxes.size(); ++id) {
    const auto sample = boxes.read(std::vector{id})[0];
    rows.push_back(statistics_of(*sample));
    inner.emplace_back();
    for (int t = 0; t < 2; ++t) {
      const double y = static_cast<const float*>(sample->fields.at("target").data)[t];
      inner.back().push_back(std::atanh(y / 1.2));
    }
  }
  const cosmo::Ridge ridge(rows, inner);
  for (const auto& [fit, channels] : {std::pair{true, "[3]"}, {false, "[3]"}, {true, "[]"}}) {
    CAPTURE(fit, channels);
    Net net("[]", fmt::format("channels: {}, pool: mean, statistics: power, fit: {}", channels, fit), false);
    net.network->fit_statistics(boxes, net.context);
    net.begin();
    double off_fit = 0.0, off_line = 0.0;
    for (std::int64_t id = 0; id < boxes.size(); ++id) {
      const auto sample = boxes.read(std::vector{id})[0];
      const double found = net.answers(sample)[1];
      off_fit = std::max(off_fit, std::abs(found - 1.2 * std::tanh(ridge(statistics_of(*sample))[1])));
      off_line = std::max(off_line, std::abs(found - Boxes::line(id)));
    }
    CHECK((off_fit < 0.05) == fit);
    CHECK((off_line < 0.2) == fit);
    Net other("[]", fmt::format("channels: {}, pool: mean, statistics: power", channels),
              false);  // a run that goes on elsewhere begins alike
    other.network->restore(net.network->state());
    other.begin();
    for (std::size_t k = 0; k < net.layout->tensors().size(); ++k)
      CHECK(std::ranges::equal(other.weights.values<double>(k), net.weights.values<double>(k)));
  }
}

TEST_CASE("a periodic box that is moved by what a halving takes together has the same answers") {
  Net net("[]");
  const auto here = net.answers(box(1)), moved = net.answers(box(1, 2)), odd = net.answers(box(1, 1)),
             other = net.answers(box(2));
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(std::abs(here[k]) < 1.2);
    CHECK(moved[k] == Approx(here[k]).epsilon(1e-12));
    CHECK(std::abs(odd[k] - here[k]) > 1e-6);
    CHECK(std::abs(other[k] - here[k]) > 1e-6);
  }
}

TEST_CASE("means over a box do not see where it begins, all cells do") {
  for (const bool mean : {false, true}) {
    Net net("[]", mean ? "channels: [3], pool: mean" : "channels: [3]");  // two cells are left along an edge
    const auto here = net.answers(box(1)), moved = net.answers(box(1, 2));
    for (std::size_t k = 0; k < 2; ++k) {
      if (mean)
        CHECK(moved[k] == Approx(here[k]).epsilon(1e-12));
      else
        CHECK(std::abs(moved[k] - here[k]) > 1e-6);
    }
  }
}

TEST_CASE("statistics of a box reach the answers, and dropout is drawn anew in each step of training alone") {
  Net net("[]", "channels: [3], pool: mean, statistics: power, dropout: 0.5");
  const auto with = net.answers(box(1));
  const auto sample = box(1);
  auto* power = static_cast<double*>(sample->fields.at("power").data);
  power[1] *= 2.0;
  CHECK(std::abs(net.answers(sample)[0] - with[0]) > 1e-6);
  CHECK(net.answers(box(1)) == with);
  net.network->begin_step(1, 1);
  const double first = net.loss(), again = net.loss();
  net.network->begin_step(1, 2);
  CHECK(first == again);
  CHECK(std::abs(net.loss() - first) > 1e-6);
  CHECK(net.answers(box(1)) == with);
}

TEST_CASE("a network of statistics alone does not see the order of layers of a box") {
  Net net("[]", "channels: [], statistics: power");
  const auto here = net.answers(box(1)), other = net.answers(box(2));
  const auto mirrored = box(1);  // pairs of layers stay together: cubes of two have the counts that they had
  auto* counts = static_cast<float*>(mirrored->fields.at("counts").data);
  std::swap_ranges(counts, counts + cells * cells * cells / 2, counts + cells * cells * cells / 2);
  std::swap_ranges(counts, counts + cells * cells, counts + cells * cells);
  const auto again = net.answers(mirrored);
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(again[k] == Approx(here[k]).epsilon(1e-12));
    CHECK(std::abs(other[k] - here[k]) > 1e-6);
  }
}

TEST_CASE("gradients of the network of boxes are derivatives, through products, too") {
  using Keys = std::pair<std::string, std::string>;
  for (const auto& [ranks, keys] : {Keys{"[]", "channels: [3, 5]"}, Keys{"[2, 2, 3, 1]", "channels: [3, 5]"},
                                    Keys{"[]", "channels: [3, 5], pool: mean, statistics: power, dropout: 0.3"},
                                    Keys{"[]", "channels: [], statistics: power"}}) {
    Net net(ranks, keys);
    FlatBuffer gradients(*net.layout, DType::f64);
    net.loss(gradients);
    for (std::size_t k = 0; k < net.layout->tensors().size(); ++k) {
      CAPTURE(net.layout->tensors()[k].info.name);
      const auto values = net.weights.values<double>(k);
      double& w = values[values.size() / 2];
      const double h = 1e-6, kept = w;
      w = kept + h;
      const double up = net.loss();
      w = kept - h;
      const double down = net.loss();
      w = kept;
      CHECK(gradients.values<double>(k)[values.size() / 2] == Approx((up - down) / (2 * h)).epsilon(1e-5).margin(1e-8));
    }
  }
}

TEST_CASE("a network of boxes of full rank is the whole one") {
  Net whole("[]");
  const auto layers = whole.layers();
  REQUIRE(layers.size() == 4);
  CHECK(layers[0].multiplications(0) == 27 * 3 * 64);
  CHECK(layers[1].multiplications(0) == 27 * 3 * 5 * 8);
  CHECK(layers[2].multiplications(0) == 5 * 6);
  for (const char* ranks : {"[3, 5, 6, 6]", "[0, 5, 0, 6]", "[1, 1, 1, 1]"}) {
    Net net(ranks);
    fill_factors(layers, whole.weights, net.layers(), net.weights);
    if (ranks[1] == '1')
      CHECK(std::abs(net.loss() - whole.loss()) > 1e-4);
    else
      CHECK(net.loss() == Approx(whole.loss()).epsilon(1e-11));
  }
}

// Training goes through Torch where a layer is a product; what needs no gradient goes through kernels.
TEST_CASE("a network of products answers as it trains") {
  for (const char* ranks : {"[]", "[2, 3, 3, 1]", "[3, 5, 6, 6]", "[0, 1, 0, 0]", "[4, 0, 0, 0]"})
    for (const char* channels : {"channels: [3, 5]", "channels: [5, 18]"}) {
      CAPTURE(ranks, channels);
      Net net(ranks, std::string(channels) + ", turn: false");
      double squares = 0.0;
      for (std::int64_t id = 0; id < 3; ++id) {
        const auto found = net.answers(box(id));
        for (std::size_t t = 0; t < 2; ++t)
          squares += 0.5 * std::pow(found[t] - static_cast<const float*>(box(id)->fields.at("target").data)[t], 2);
      }
      CHECK(net.loss() == Approx(squares).epsilon(1e-10));
    }
}
