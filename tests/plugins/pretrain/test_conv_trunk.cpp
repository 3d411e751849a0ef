// The trunk of convolutions beside Torch's operators with the same weights, in what comes out and in every derivative.
#include <random>

#include "plugins/pretrain/networks/conv_trunk.hpp"
#include "tests/catch.hpp"

using namespace cambium::pretrain;
using torch::Tensor;

namespace {

Tensor convolve(Tensor x, const Tensor& weight, const Tensor& bias, std::int64_t stride, const TrunkShape& shape) {
  std::vector<std::int64_t> zeros;
  for (std::size_t a = 0; a < shape.periodic.size(); ++a) {
    const auto axis = static_cast<std::int64_t>(a) + 2, n = x.size(axis);
    zeros.push_back(shape.periodic[a] ? 0 : 1);
    if (shape.periodic[a]) x = torch::cat({x.narrow(axis, n - 1, 1), x, x.narrow(axis, 0, 1)}, axis);
  }
  const std::vector<std::int64_t> strides(zeros.size(), stride);
  return zeros.size() == 2 ? torch::conv2d(x, weight, bias, strides, zeros)
                           : torch::conv3d(x, weight, bias, strides, zeros);
}

std::int64_t groups_of(std::int64_t channels) {
  for (const std::int64_t g : {8, 4, 2})
    if (channels % g == 0 && channels / g >= 4) return g;
  return 1;
}

/// What ConvTrunk::cells() is to give.
Tensor by_operators(ConvTrunk& trunk, const TrunkShape& shape, Tensor x) {
  const auto all = trunk.named_parameters();
  const auto layer = [&](const Tensor& from, const std::string& conv, const std::string& norm, std::int64_t stride) {
    const Tensor y = convolve(from, all[conv + ".weight"], all[conv + ".bias"], stride, shape);
    return torch::relu(torch::group_norm(y, groups_of(y.size(1)), all[norm + ".weight"], all[norm + ".bias"]));
  };
  for (std::size_t s = 0; s < shape.stages.size(); ++s) {
    const auto number = std::to_string(s);
    x = layer(x, "down" + number, "norm" + number, 2);
    x = x + layer(x, "beside" + number, "norm_beside" + number, 1);
  }
  return x.flatten(2);
}

double largest(const Tensor& x) { return x.abs().max().item<double>(); }

}  // namespace

TEST_CASE("the trunk of convolutions is that of Torch's operators, with its derivatives") {
  std::mt19937 random(3);
  torch::manual_seed(5);
  const auto one_of = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int turn = 0; turn < 24; ++turn) {
    TrunkShape shape;
    shape.width = 0;
    shape.channels = 1 + one_of(3);
    for (auto axes = 2 + one_of(2); axes > 0; --axes) {
      shape.cells.push_back(3 + one_of(8));
      shape.periodic.push_back(one_of(2));
    }
    for (auto stages = 1 + one_of(2); stages > 0; --stages) shape.stages.push_back(turn % 4 == 3 ? 6 : 4 << one_of(3));
    const auto type = turn % 3 == 0 ? torch::kFloat32 : torch::kFloat64;
    const double near = turn % 3 == 0 ? 2e-4 : 1e-10;
    ConvTrunk trunk(shape);
    trunk.to(type);
    for (auto& p : trunk.parameters()) {
      const torch::NoGradGuard none;
      p.normal_(0.0, 0.4);
    }
    std::vector<std::int64_t> sizes{turn == 0 ? 37 : 3, shape.channels};  // more than are taken together
    sizes.insert(sizes.end(), shape.cells.begin(), shape.cells.end());
    Tensor x = torch::randn(sizes, torch::dtype(type)).requires_grad_(turn % 2 == 0);
    const Tensor found = trunk.cells(x), wanted = by_operators(trunk, shape, x);
    INFO("turn " << turn << ", periodic " << shape.periodic << ", cells " << shape.cells << ", stages "
                 << shape.stages);
    REQUIRE(found.sizes() == wanted.sizes());
    CHECK(largest(found - wanted) < near * largest(wanted));
    auto by = trunk.parameters();
    if (x.requires_grad()) by.push_back(x);
    const Tensor slopes = torch::randn_like(wanted);
    const auto got = torch::autograd::grad({found}, by, {slopes}),
               right = torch::autograd::grad({wanted}, by, {slopes});
    for (std::size_t k = 0; k < by.size(); ++k) {
      INFO("derivative " << k);
      CHECK(largest(got[k] - right[k]) < near * (1.0 + largest(right[k])) * 10.0);
    }
    const torch::NoGradGuard none;
    CHECK(largest(trunk.cells(x) - found) == 0.0);
  }
}

TEST_CASE("gradients of a convolution have the same bits on any number of threads") {
  const int before = torch::get_num_threads();
  TrunkShape shape;
  shape.width = 0;
  shape.channels = 2;
  shape.cells = {8, 8};
  shape.periodic = {1, 0};
  shape.stages = {16};
  ConvTrunk trunk(shape);
  torch::manual_seed(1);
  const Tensor x = torch::randn({70, 2, 8, 8});
  std::vector<std::vector<Tensor>> all;
  for (const int threads : {1, 2, 3}) {
    torch::set_num_threads(threads);
    all.push_back(torch::autograd::grad({trunk.cells(x).square().sum()}, trunk.parameters()));
  }
  torch::set_num_threads(before);
  for (std::size_t k = 0; k < all[0].size(); ++k)
    CHECK((torch::equal(all[0][k], all[1][k]) && torch::equal(all[0][k], all[2][k])));
}

TEST_CASE("a trunk says when its convolutions are Torch's, and why") {
  const auto said = [](std::vector<std::int64_t> stages, std::vector<std::int64_t> cells) {
    TrunkShape shape;
    shape.width = 0;
    shape.periodic = {1, 0};
    shape.cells = cells;
    shape.stages = std::move(stages);
    ConvTrunk trunk(shape);
    trunk.cells(torch::zeros({1, 1, cells[0], cells[1]}));
    return trunk.slower();
  };
  CHECK(said({4, 8}, {12, 9}).empty());
  CHECK(said({4, 6}, {12, 9}) ==
        "convolutions took Torch's operators, which are slower than the plugin's own: 6 channels are no multiple of 4");
  CHECK(
      said({4, 8}, {10, 9}) ==
      "convolutions took Torch's operators, which are slower than the plugin's own: a periodic axis among 5 x 5 cells "
      "is halved, and has an odd number of them");
}
