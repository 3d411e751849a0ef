// The network that marks plumes: gradients are derivatives in both topologies, what it sees moves with the flow, and
// the symmetries under which it is trained are those of convection. This file sees no Torch.
#include <cmath>
#include <numeric>

#include "core/plugin/registry.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/kinds/quality.hpp"
#include "core/train/register.hpp"
#include "plugins/superres/datasets/mirrors.hpp"
#include "plugins/superres/datasets/overlap.hpp"
#include "tests/catch.hpp"

namespace cambium::superres {
void register_training(Registry& registry);
}

using namespace cambium;
using namespace cambium::train;

namespace {

constexpr std::int64_t nx = 8, nz = 8;
constexpr const char* small_deeplab =
    "topology: deeplabv3plus, deeplab: {stem: [3], entry: [4, 4], middle: 1, exit: [5, 4], atrous_rates: [2, 3], "
    "aspp_channels: 4, "
    "low_level_channels: 3}";

struct Image {
  float b[nx * nz];
  std::uint8_t classes[nx * nz];
  double wraps = 1.0;
};

/// `at(x, z)`: temperature and class; the image begins at x = `moved`.
template <class F>
SamplePtr image(std::int64_t id, std::int64_t moved, F&& at) {
  auto data = std::make_shared<Image>();
  for (std::int64_t x = 0; x < nx; ++x)
    for (std::int64_t z = 0; z < nz; ++z) {
      const auto [b, c] = at((x + moved) % nx, z);
      data->b[x * nz + z] = static_cast<float>(b);
      data->classes[x * nz + z] = static_cast<std::uint8_t>(c);
    }
  auto sample = std::make_shared<Sample>();
  sample->id = id;
  TensorRef b{data->b, 2}, classes{data->classes, 2}, wraps{&data->wraps, 1};
  b.dtype = DType::f32;
  classes.dtype = DType::u8;
  wraps.dtype = DType::f64;
  for (auto* t : {&b, &classes}) {
    t->shape[0] = nx;
    t->shape[1] = nz;
    t->stride[0] = nz;
    t->stride[1] = 1;
  }
  wraps.shape[0] = 1;
  wraps.stride[0] = 1;
  sample->fields["b"] = b;
  sample->fields["classes"] = classes;
  sample->fields["wraps"] = wraps;
  sample->storage = data;
  return sample;
}

/// No symmetry.
std::pair<double, int> uneven(std::int64_t x, std::int64_t z) {
  const double b =
      std::sin(2.0 * M_PI * static_cast<double>(x) / nx) + 0.5 * std::cos(1.3 * static_cast<double>(z * x + z));
  return {b, b > 0.5 ? 1 : b < -0.7 ? 2 : 0};
}

/// The same upside down with warm and cold exchanged, and everywhere along x.
std::pair<double, int> even(std::int64_t, std::int64_t z) {
  const double b = 1.0 - 2.0 * (static_cast<double>(z) + 0.5) / nz;
  return {b, z < 3 ? 1 : z > 4 ? 2 : 0};
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

  explicit Net(const std::string& keys) {
    registry.set_plugin("superres");
    superres::register_training(registry);
    network = registry.make<Network>("deepcam", deck::parse("{" + keys + ", precision: float64}", "test"), context);
    network->restore(
        R"({"nx": 8, "nz": 8, "wraps": true, "mean": [0.0], "deviation": [0.7], "class_weights": [1.0, 1.5, 1.6], "shares": [0.4, 0.35, 0.25]})");
    layout = std::make_unique<FlatLayout>(network->parameters(), 1000);
    weights = FlatBuffer(*layout, DType::f64);
    network->initialise(weights.views(), 3);
    std::uint64_t k = 0;
    for (double& w : weights.values<double>()) w += 0.1 * std::sin(static_cast<double>(++k));
  }
  double loss(std::span<const SamplePtr> samples, FlatBuffer& gradients) {
    const double one[] = {1.0};
    TermSum term[1];
    network->gradient(samples, weights.views(), one, gradients.views(), term, [](int) {});
    return term[0].sum;
  }
  double loss(const SamplePtr& sample) {
    FlatBuffer scratch(*layout, DType::f64);
    return loss(std::span(&sample, 1), scratch);
  }
  std::vector<double> classes(const SamplePtr& sample) {
    std::vector<double> out(nx * nz);
    TensorRef to{out.data(), 3};
    to.shape[0] = 1;
    to.shape[1] = nx;
    to.shape[2] = nz;
    to.stride[0] = nx * nz;
    to.stride[1] = nz;
    to.stride[2] = 1;
    network->infer(std::span(&sample, 1), weights.views(), std::span<const TensorRef>(&to, 1));
    return out;
  }
};

}  // namespace

TEST_CASE("gradients of the plumes' network are derivatives") {
  for (const std::string& keys :
       {std::string("base_channels: 4, levels: 1, mirror: true"), std::string(small_deeplab)}) {
    Net net(keys);
    net.network->begin_step(2, 7);
    const std::vector<SamplePtr> samples{image(0, 0, uneven), image(1, 3, uneven)};
    FlatBuffer gradients(*net.layout, DType::f64), scratch(*net.layout, DType::f64);
    net.loss(samples, gradients);
    for (std::size_t k = 0; k < net.layout->tensors().size(); ++k) {
      CAPTURE(net.layout->tensors()[k].info.name);
      const auto values = net.weights.values<double>(k);
      double& w = values[values.size() / 2];
      const double h = 1e-6, kept = w;
      w = kept + h;
      const double more = net.loss(samples, scratch);
      w = kept - h;
      const double less = net.loss(samples, scratch);
      w = kept;
      CHECK(gradients.values<double>(k)[values.size() / 2] ==
            Approx((more - less) / (2.0 * h)).epsilon(2e-5).margin(2e-7));
    }
  }
}

TEST_CASE("a network begins with the shares of the classes") {
  Net net("base_channels: 4, levels: 1");
  FlatBuffer fresh(*net.layout, DType::f64);
  net.network->initialise(fresh.views(), 3);
  int found = 0;
  for (std::size_t k = 0; k < net.layout->tensors().size(); ++k) {
    if (net.layout->tensors()[k].info.name != "answer.bias") continue;
    const auto bias = fresh.values<double>(k);
    for (const double share : {0.4, 0.35, 0.25}) CHECK(bias[found++] == Approx(std::log(share)));
  }
  CHECK(found == 3);
}

TEST_CASE("plumes move with the flow: around a periodic x, by what a halving takes together") {
  Net net("base_channels: 4, levels: 1");
  const auto here = net.classes(image(0, 0, uneven)), moved = net.classes(image(0, 2, uneven));
  for (std::int64_t x = 0; x < nx; ++x)
    for (std::int64_t z = 0; z < nz; ++z) CHECK(moved[x * nz + z] == here[(x + 2) % nx * nz + z]);
  CHECK(*std::max_element(here.begin(), here.end()) > *std::min_element(here.begin(), here.end()));
}

TEST_CASE("mirrors of a training leave an image as it is that is its own mirror, and change others") {
  Net turning("base_channels: 4, levels: 1, mirror: true"), still("base_channels: 4, levels: 1, mirror: false");
  const auto same = image(4, 0, even), other = image(4, 0, uneven);
  for (std::int64_t step = 0; step < 12; ++step) {
    turning.network->begin_step(1, step);
    CHECK(turning.loss(same) == Approx(still.loss(same)).epsilon(1e-10));
    const auto mirror = superres::mirror_of(1, 4, step, nx);
    const bool alike = !mirror.x && !mirror.z && mirror.moved % 2 == 0;  // the network moves with the flow
    CHECK((std::abs(turning.loss(other) - still.loss(other)) < 1e-9) == alike);
  }
}

TEST_CASE("the figure of the plumes' network is better when higher, and that of DeepCAM") {
  Net net("base_channels: 4, levels: 1");
  const Quality quality = quality_of(*net.network, "deepcam", "");
  CHECK(quality.name == "iou");
  CHECK(quality.higher);
  CHECK(quality.reached(0.8, 0.8));
  CHECK_FALSE(quality.reached(0.79, 0.8));
  CHECK_THROWS_WITH(
      quality_of(*net.network, "deepcam", "accuracy"),
      "validate.target_metric is 'accuracy', but deepcam is evaluated by iou, cross_entropy; name one of them");
  const std::vector<SamplePtr> samples{image(0, 0, uneven), image(1, 3, uneven)};
  TermSum sums[2];
  net.network->evaluate(samples, net.weights.views(), sums);
  double expected = 0.0;
  for (const auto& sample : samples) {
    const auto found = net.classes(sample);
    const auto* truth = static_cast<const Image*>(sample->storage.get())->classes;
    expected += superres::mean_overlap(std::vector<std::uint8_t>(found.begin(), found.end()), {truth, nx * nz});
  }
  CHECK(sums[0].sum == Approx(expected).epsilon(1e-12));
  CHECK(sums[0].count == 2.0);
}

TEST_CASE("the published topology has 55 million weights") {
  Comm alone{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Registry registry;
  Context context{alone, log, timing, &registry, 5, ".", "", "", nullptr, false, false};
  registry.set_plugin("superres");
  superres::register_training(registry);
  const auto network = registry.make<Network>("deepcam", deck::parse("{topology: deeplabv3plus}", "test"), context);
  network->restore(
      R"({"nx": 8, "nz": 8, "wraps": true, "mean": [0.0], "deviation": [0.7], "class_weights": [1.0, 1.5, 1.6], "shares": [0.4, 0.35, 0.25]})");
  std::int64_t weights = 0;
  for (const auto& p : network->parameters())
    weights += std::accumulate(p.shape.begin(), p.shape.end(), std::int64_t{1}, std::multiplies<>());
  CHECK(weights > 50'000'000);
  CHECK(weights < 60'000'000);
}
