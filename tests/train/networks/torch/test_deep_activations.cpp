// A deep convolutional network with residual blocks whose activations are whole, compressed or computed again:
// gradients beside each other, and what a pass holds at most. This file sees no Torch.
#include <algorithm>
#include <cmath>
#include <regex>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/data/memory_set.hpp"
#include "core/train/networks/torch/register.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "tests/catch.hpp"
#include "tests/train/data/sample_shards.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

constexpr std::int64_t n = 32, side = 14;

/// Waves along rows (class 0) or columns (class 1) in some noise.
struct Waves {
  std::vector<double> images, labels;
  Waves() {
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t i = 0; i < side; ++i)
        for (std::int64_t j = 0; j < side; ++j)
          images.push_back(std::sin(0.3 * static_cast<double>((k % 2 ? j : i) * (1 + k / 2 % 5))) +
                           0.1 * std::sin(static_cast<double>(37 * k + 11 * i * j)));
      labels.push_back(static_cast<double>(k % 2));
    }
  }
  MemorySet set() {
    const std::vector<HostArray> arrays{{"image", io::tensor_of(images.data(), {n, side, side}), ""},
                                        {"label", io::tensor_of(labels.data(), {n}), ""}};
    return MemorySet(arrays);
  }
};

struct Passed {
  std::vector<std::vector<float>> gradients;
  double kept = 0.0, reading = 0.0, all = 0.0;  ///< MB at most, by the report
};

double figure(const std::string& text, const std::string& before, const std::string& after) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(before + "(\\S+) MB" + after)) ? std::stod(found[1]) : 0.0;
}

/// Three passes from the same weights; the gradient is that of the last.
Passed pass(const std::string& activations) {
  World world;
  Registry registry;
  register_training(registry);
  register_torch(registry);
  Log log;
  Timing timing;
  Context context{world.comm, log, timing, &registry, 5, ".", "", "", nullptr, false, false};
  auto network =
      registry.make<Network>("conv_net", deck::parse("{channels: [8], residual: 20, hidden: 16}", "test"), context);
  auto set = Waves().set();
  network->fit_statistics(set, context);
  network->use_activations(deck::read<ActivationParams>(deck::parse(activations, "test")));
  std::vector<std::vector<float>> weights;
  std::vector<TensorRef> views, gradient_views;
  Passed out;
  const auto views_of = [&](std::vector<std::vector<float>>& memory) {
    std::vector<TensorRef> of;
    const auto infos = network->parameters();
    memory.resize(infos.size());
    for (std::size_t k = 0; k < infos.size(); ++k) {
      std::int64_t elements = 1;
      for (auto m : infos[k].shape) elements *= m;
      memory[k].resize(elements);
      TensorRef view;
      view.data = memory[k].data();
      view.dtype = DType::f32;
      view.rank = static_cast<int>(infos[k].shape.size());
      std::int64_t stride = 1;
      for (std::size_t axis = infos[k].shape.size(); axis-- > 0; stride *= infos[k].shape[axis]) {
        view.shape[axis] = infos[k].shape[axis];
        view.stride[axis] = stride;
      }
      of.push_back(view);
    }
    return of;
  };
  views = views_of(weights);
  gradient_views = views_of(out.gradients);
  network->initialise(views, 3);
  for (int k = 0; k < 3; ++k) {
    for (auto& g : out.gradients) std::fill(g.begin(), g.end(), 0.0f);
    std::vector<TermSum> terms(1);
    network->gradient(set.samples(), views, std::vector{1.0}, gradient_views, terms, {});
    CHECK(terms[0].count == static_cast<double>(n));
  }
  const std::string report = network->report()[0];
  INFO(report);
  out.kept = figure(report, "activations: ", " at most stored");
  out.reading = figure(report, "", " with the array that is being read");
  out.all = figure(report, "", " at most with all that a pass allocates");
  return out;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::pow(static_cast<double>(a[k]) - b[k], 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

double mean_size(const std::vector<float>& a) {
  double sum = 0.0;
  for (const float x : a) sum += std::abs(static_cast<double>(x));
  return sum / static_cast<double>(a.size());
}

}  // namespace

TEST_CASE("a deep network keeps a fifth of its activations, for a gradient as good") {
  const auto whole = pass("{keep: whole}"), compressed = pass("{keep: compressed}");
  CAPTURE(whole.kept, whole.all, compressed.kept, compressed.reading, compressed.all);
  CHECK(whole.kept > 5.0 * compressed.reading);
  CHECK(compressed.reading > compressed.kept);
  // Gradients of arrays and the convolutions' copies in the order of their own are in this figure, and are as large as
  // before.
  CHECK(whole.all > 3.0 * compressed.all);
  CHECK(compressed.all > compressed.kept);
  REQUIRE(whole.gradients.size() == compressed.gradients.size());
  for (std::size_t k = 0; k < whole.gradients.size(); ++k) {
    INFO("array " << k << " of " << whole.gradients[k].size());
    CHECK(distance(whole.gradients[k], compressed.gradients[k]) < 0.015 * mean_size(whole.gradients[k]) + 1e-7);
  }
}

TEST_CASE("residual blocks are computed again to the same bits, from their inputs alone") {
  const auto whole = pass("{keep: whole}"), again = pass("{keep: recomputed}");
  CHECK(whole.gradients == again.gradients);
  CHECK(whole.kept > 1.8 * again.kept);
}

TEST_CASE("an absurd bound on a deep network makes gradients of its own") {
  const auto whole = pass("{keep: whole}"), absurd = pass("{keep: compressed, bound: 100}");
  CHECK(distance(whole.gradients[2], absurd.gradients[2]) > 0.5 * mean_size(whole.gradients[2]));
}

/// Of all weights of convolutions between the first and the last two layers.
static std::pair<double, double> direction_and_size(const Passed& rough, const Passed& exact) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t k = 2; k + 4 < exact.gradients.size(); k += 2)
    for (std::size_t i = 0; i < exact.gradients[k].size(); ++i) {
      const double a = rough.gradients[k][i], b = exact.gradients[k][i];
      ab += a * b;
      aa += a * a;
      bb += b * b;
    }
  return {ab / std::sqrt(aa * bb), std::sqrt(aa / bb)};
}

TEST_CASE("beyond what activations are, a bound changes the size of gradients and no longer their direction") {
  const auto whole = pass("{keep: whole}");
  const auto [close, same] = direction_and_size(pass("{keep: compressed}"), whole);
  const auto [rough, larger] = direction_and_size(pass("{keep: compressed, bound: 100}"), whole);
  const auto [rougher, largest] = direction_and_size(pass("{keep: compressed, bound: 10000}"), whole);
  CAPTURE(close, same, rough, larger, rougher, largest);
  CHECK(close > 0.999);
  CHECK(same == Approx(1.0).epsilon(0.01));
  CHECK(rough == Approx(0.77).margin(0.03));
  CHECK(larger > 10.0);
  CHECK(rougher == Approx(rough).epsilon(0.001));
  CHECK(largest == Approx(100.0 * larger).epsilon(0.001));
}
