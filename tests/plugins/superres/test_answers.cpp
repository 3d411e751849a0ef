// The short passes between the convolutions of the U-Net beside Torch's operators, which the same functions are with
// gradients.
#include <torch/torch.h>

#include "plugins/superres/networks/answers.hpp"
#include "plugins/superres/networks/unet.hpp"
#include "tests/catch.hpp"

using namespace cambium::superres;
using torch::Tensor;

namespace {

double off(const Tensor& a, const Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  return (a - b).abs().max().item<double>();
}

template <class Call>
Tensor answer(Call&& call) {
  const torch::NoGradGuard guard;
  return call();
}

}  // namespace

TEST_CASE("a normalisation in one pass is Torch's, with what is added and cut") {
  torch::manual_seed(4);
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    for (const auto& [groups, channels, z] : {std::tuple{8, 32, 23}, {1, 3, 1}, {4, 16, 7}, {2, 8, 300}}) {
      torch::nn::GroupNorm norm(groups, channels), exact(groups, channels);
      norm->to(type);
      exact->to(torch::kFloat64);
      {
        const torch::NoGradGuard guard;
        norm->weight.normal_();
        norm->bias.normal_();
        exact->weight.copy_(norm->weight);
        exact->bias.copy_(norm->bias);
      }
      // Numbers far from zero: a sum of squares that is not of differences would lose them.
      const Tensor x = 100.0 + torch::randn({3, channels, 2, 5, z}, type), beside = torch::randn_like(x);
      const Tensor truth = exact->forward(x.to(torch::kFloat64)).detach();
      INFO(groups << " groups of " << channels << " channels, " << z << " along z");
      for (const bool cut : {false, true}) {
        const Tensor plain = norm->forward(x), sum = truth + beside;
        // No further from the truth than Torch's operators are.
        const double enough = std::max(2.0 * off(plain, truth), type == torch::kFloat64 ? 1e-12 : 1e-5);
        CHECK(enough < (type == torch::kFloat64 ? 1e-11 : 1e-4));
        const Tensor one = cut ? torch::relu(truth) : truth, two = cut ? torch::relu(sum) : sum;
        CHECK(off(answer([&] { return normed(x.clone(), norm, cut); }), one) < enough);
        CHECK(off(answer([&] { return normed(x.clone(), norm, cut, beside); }), two) < enough);
        // With gradients it is Torch's own, and x stays.
        const Tensor kept = x.clone();
        CHECK(torch::equal(normed(kept, norm, cut), cut ? torch::relu(plain) : plain));
        CHECK(torch::equal(kept, x));
      }
    }
    const Tensor turned = torch::randn({2, 4, 5, 3, 8}, type).permute({0, 4, 1, 2, 3});
    torch::nn::GroupNorm norm(2, 8);
    norm->to(type);
    CHECK(torch::equal(answer([&] { return normed(turned, norm, true); }), torch::relu(norm->forward(turned))));
    Tensor broken = torch::randn({1, 8, 1, 2, 3}, type);
    broken[0][0][0][0][0] = NAN;
    CHECK(answer([&] { return normed(broken, norm, true); }).isnan().sum().item<int>() ==
          norm->forward(broken).isnan().sum().item<int>());
  }
}

TEST_CASE("finer and coarser grids are Torch's, number by number") {
  torch::manual_seed(5);
  for (const auto& [from, to] :
       {std::pair{std::array<std::int64_t, 3>{4, 6, 6}, std::array<std::int64_t, 3>{4, 12, 12}},
        {{3, 5, 7}, {5, 9, 14}},
        {{2, 12, 12}, {4, 23, 23}},
        {{1, 1, 1}, {2, 3, 1}}}) {
    for (const auto type : {torch::kFloat64, torch::kFloat32}) {
      const Tensor x = torch::randn({2, 3, from[0], from[1], from[2]}, type);
      CHECK(torch::equal(answer([&] { return enlarged(x, to); }), enlarged(x, to)));
      const Tensor fine = torch::randn({2, 3, to[0], to[1], to[2]}, type);
      std::array<std::int64_t, 3> half{};
      for (const std::size_t a : {0u, 1u, 2u}) half[a] = (to[a] + 1) / 2;
      for (const auto& coarse : {half, std::array<std::int64_t, 3>{to[0], half[1], to[2]}, {half[0], to[1], half[2]}})
        CHECK(torch::equal(answer([&] { return pooled(fine, to, coarse); }), pooled(fine, to, coarse)));
    }
  }
}

TEST_CASE("values between nodes are those of Torch's operators") {
  torch::manual_seed(6);
  LatentCells cells;
  cells.axis = {std::vector<double>{0, 1, 2.5}, {0, 0.5, 1.5, 2}, {0, 0.1, 0.3, 0.6, 1.0}};
  for (const bool wraps : {false, true}) {
    cells.wraps = wraps;
    const Tensor nodes = torch::randn({4, 3, wraps ? 3 : 4, 5}, torch::kFloat64);
    const Tensor points = torch::rand({40, 3}, torch::kFloat64) * torch::tensor({2.5, 2.0, 1.0}, torch::kFloat64);
    CHECK(off(answer([&] { return interpolated(cells, points, nodes); }), interpolated(cells, points, nodes)) < 1e-14);
    const Tensor single = nodes.to(torch::kFloat32);
    CHECK(off(answer([&] { return interpolated(cells, points, single); }), interpolated(cells, points, single)) < 1e-5);
  }
}

TEST_CASE("the U-Net answers the same with and without gradients") {
  torch::manual_seed(7);
  for (const bool wraps : {false, true}) {
    UnetShape shape;
    shape.features = 8;
    shape.most_features = 16;
    shape.outputs = 4;
    shape.levels = 2;
    shape.wraps = wraps;
    shape.grid = {4, 6, 7};
    shape.refined = {4, 11, 13};
    Unet net(shape);
    net.to(torch::kFloat64);
    for (auto& p : net.parameters()) {
      const torch::NoGradGuard guard;
      p.normal_(0.0, 0.3);
    }
    const Tensor x = torch::randn({2, 4, 4, 6, 7}, torch::kFloat64);
    const Tensor plain = net.forward(x);
    CHECK(plain.requires_grad());
    CHECK(off(answer([&] { return net.forward(x); }), plain.detach()) < 1e-10);
  }
}

TEST_CASE("the U-Net joins its levels whatever its widths are") {
  for (const std::int64_t features : {1, 3, 12})
    for (const std::int64_t most : {1, 2, 11, 12, 40})
      for (const std::int64_t refined : {0, 9}) {
        UnetShape shape;
        shape.features = features;
        shape.most_features = most;
        shape.outputs = 4;
        shape.levels = 2;
        shape.grid = {4, 6, 7};
        shape.refined = {0, refined, refined};
        if (refined) shape.refined[0] = 4;
        Unet net(shape);
        INFO(features << " of at most " << most);
        const auto out = net.forward(torch::randn({1, 4, 4, 6, 7}));
        CHECK(out.size(1) == 4);
        for (const auto& p : net.parameters()) CHECK(p.size(0) <= std::max<std::int64_t>(most, 4));
      }
}
