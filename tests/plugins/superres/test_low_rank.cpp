// Networks of convection with ranks: products of full rank are the whole network, and gradients through products are
// derivatives. This file sees no Torch.
#include <cmath>

#include "core/plugin/registry.hpp"
#include "core/train/low_rank/decompose.hpp"
#include "core/train/register.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/superres/flow_case.hpp"

namespace cambium::superres {
void register_training(Registry& registry);
}

using namespace cambium;
using namespace cambium::superres::testing;
using namespace cambium::train;

namespace {

struct Net {
  Comm alone{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Registry registry;
  Context context{alone, log, timing, &registry, 5, ".", "", "", nullptr, false, false};
  std::unique_ptr<Network> network;
  std::unique_ptr<FlatLayout> layout;
  FlatBuffer weights;

  Net(const std::string& type, const std::string& keys, const std::vector<std::int64_t>& ranks) {
    registry.set_plugin("superres");
    superres::register_training(registry);
    std::vector<deck::Node> numbers;
    for (const auto rank : ranks) numbers.push_back(deck::Node::scalar(std::to_string(rank)));
    network = registry.make<Network>(
        type, deck::parse(keys, "test").with("ranks", deck::Node::list(std::move(numbers))), context);
    network->restore(state_of({3, 4, 5}, true));
    layout = std::make_unique<FlatLayout>(network->parameters(), 1000);
    weights = FlatBuffer(*layout, network->dtype());
    network->initialise(weights.views(), 3);
    std::uint64_t k = 0;
    for (double& w : weights.values<double>()) w += 0.05 * std::sin(static_cast<double>(++k));
  }
  std::vector<FactorLayer> layers() const { return network->traits().factors->factor_layers(); }
  double loss(FlatBuffer& gradients) {
    const auto by = network->term_weights(0, 1.0);
    std::vector<TermSum> sums(by.size());
    network->gradient(batch(), weights.views(), by, gradients.views(), sums, [](int) {});
    double out = 0.0;
    for (std::size_t k = 0; k < by.size(); ++k) out += by[k] * sums[k].sum;
    return out;
  }
  double loss() {
    FlatBuffer scratch(*layout, DType::f64);
    return loss(scratch);
  }
};

void check_full_rank(const std::string& type, const std::string& keys, std::size_t count) {
  Net whole(type, keys, {});
  const auto layers = whole.layers();
  REQUIRE(layers.size() == count);
  std::vector<std::int64_t> full, every_third, small(count, 0);
  for (std::size_t l = 0; l < count; ++l) {
    const auto most = std::max(layers[l].inputs, layers[l].outputs);
    full.push_back(most);
    every_third.push_back(l % 3 == 0 ? most : 0);
  }
  small[count - 1] = 1;
  small[1] = 1;
  const double right = whole.loss();
  for (const auto& ranks : {full, every_third, small}) {
    Net net(type, keys, ranks);
    fill_factors(layers, whole.weights, net.layers(), net.weights);
    if (ranks == small)
      CHECK(std::abs(net.loss() - right) > 1e-4 * right);
    else
      CHECK(net.loss() == Approx(right).epsilon(1e-11));
  }
}

void check_gradients(const std::string& type, const std::string& keys, const std::vector<std::int64_t>& ranks) {
  Net net(type, keys, ranks);
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
    CHECK(gradients.values<double>(k)[values.size() / 2] == Approx((up - down) / (2 * h)).epsilon(1e-5).margin(1e-6));
  }
}

const std::string unet =
    "{base_channels: 4, levels: 1, ratio: [1, 2, 2], precision: float64, loss: l2, interpolate: false}";
std::string continuous(const std::string& blend) {
  return "{base_channels: 3, levels: 1, latent_dim: 4, decoder: [7, 6], precision: float64, loss: l2, activation: "
         "swish, "
         "equations: ['dt(b) + u*dx(b) + w*dz(b) - 0.01*(dxx(b) + dzz(b)) = 0'], gamma: 0.3, blend: " +
         blend + "}";
}

}  // namespace

TEST_CASE("a U-Net of full rank is the whole one") {
  check_full_rank("flow_unet", unet, 20);  // five blocks: in, down, mid, out, expand
}

TEST_CASE("a continuous network of full rank is the whole one, jets included") {
  for (const char* blend : {"c2", "spline"}) check_full_rank("meshfree_flow_net", continuous(blend), 16 + 3);
}

TEST_CASE("gradients through products of the networks of convection are derivatives") {
  std::vector<std::int64_t> ranks(20, 0);
  for (const std::size_t l : {0, 1, 5, 10, 19}) ranks[l] = 2;
  check_gradients("flow_unet", unet, ranks);
  for (const char* blend : {"c2", "spline"}) {
    ranks.assign(19, 0);
    for (const std::size_t l : {1, 16, 18}) ranks[l] = 2;
    check_gradients("meshfree_flow_net", continuous(blend), ranks);
    ranks[17] = 3;
    ranks[16] = 0;
    check_gradients("meshfree_flow_net", continuous(blend), ranks);
  }
}
