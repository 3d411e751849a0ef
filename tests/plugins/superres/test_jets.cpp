// Derivatives of the decoded field by jets against nested differentiation.
#include "plugins/superres/networks/decode.hpp"
#include "plugins/superres/networks/nested_decoder.hpp"
#include "tests/catch.hpp"

using namespace cambium::superres;
using namespace cambium::superres::nested;

namespace {

const std::vector<MultiIndex> boussinesq_jets{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 2, 0}, {0, 0, 2}};
const std::vector<MultiIndex> third_order{{1, 0, 1}, {0, 2, 1}, {0, 0, 3}, {2, 0, 0}};

/// A stretched grid that wraps around, points in it, latents and weights.
struct Example {
  DecoderShape shape;
  LatentCells cells{{{{0.0, 0.5, 1.2}, {0.0, 0.25, 0.5, 0.75, 1.0}, {0.02, 0.1, 0.3, 0.62, 0.9}}}, true};
  torch::Tensor points, latents;
  std::vector<torch::Tensor> weights;

  Example(Activation sigma, std::vector<int> widths, int outputs, std::int64_t n, bool carries = false,
          bool few = false) {
    shape.carries = carries;
    if (few) cells = {{{{0.0, 1.2}, {0.0, 0.2, 0.5, 0.8, 1.0}, {0.02, 0.1, 0.4, 0.9}}}, true};
    shape.latent = 5;
    shape.widths = std::move(widths);
    shape.outputs = outputs;
    shape.activation = sigma;
    torch::manual_seed(3);
    const auto low = torch::tensor({0.0, 0.0, 0.02}, torch::kFloat64),
               high = torch::tensor({1.2, 1.0, 0.9}, torch::kFloat64);
    points = (low + (high - low) * torch::rand({n, 3}, torch::kFloat64)).requires_grad_(true);
    latents = torch::randn({cells.size(), shape.vector()}, torch::kFloat64).requires_grad_(true);
    for (int l = 0; l < shape.layers(); ++l) {
      const auto size = std::vector<std::int64_t>{shape.width(l), shape.columns(l)};
      weights.push_back((torch::randn(size, torch::kFloat64) * std::sqrt(1.5 / shape.columns(l))).requires_grad_(true));
      weights.push_back((torch::randn({shape.width(l)}, torch::kFloat64) * 0.1).requires_grad_(true));
    }
  }
  torch::Tensor jets(const JetBasis& basis, Blend blend) const {
    Decode<double> decode(Decoder<double>(shape, basis));
    auto query = locate<double>(cells, points.data_ptr<double>(), points.size(0), blend, basis);
    return decode(std::make_shared<const DecoderQuery<double>>(std::move(query)), latents, weights);
  }
  torch::Tensor nested(const JetBasis& basis, Blend blend) const {
    return nested_jets(basis,
                       blend == Blend::spline ? decoded_once(shape, cells, points, latents, weights)
                                              : decoded(shape, cells, blend, points, latents, weights),
                       points);
  }
  std::vector<torch::Tensor> gradients(const torch::Tensor& y) const {
    torch::manual_seed(9);
    const auto direction = torch::randn(y.sizes(), torch::kFloat64);
    std::vector<torch::Tensor> inputs{latents};
    inputs.insert(inputs.end(), weights.begin(), weights.end());
    return torch::autograd::grad({(y * direction).sum()}, inputs);
  }
};

double difference(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max().clamp_min(1e-300)).item<double>();
}

}  // namespace

namespace {

void compare(const Example& example, const JetBasis& basis, Blend blend) {
  const auto jets = example.jets(basis, blend), nested = example.nested(basis, blend);
  for (int s = 0; s < basis.size(); ++s) {
    CAPTURE(basis[s][0], basis[s][1], basis[s][2]);
    CHECK(difference(jets[s], nested[s]) < 1e-10);
  }
  const auto a = example.gradients(jets), b = example.gradients(nested);
  for (std::size_t k = 0; k < a.size(); ++k) {
    CAPTURE(k);
    CHECK(difference(a[k], b[k]) < 1e-10);
  }
}

}  // namespace

TEST_CASE("jets and their gradients equal nested differentiation to 1e-10") {
  torch::set_num_threads(1);
  const JetBasis basis(boussinesq_jets);
  CHECK(basis.size() == 6);
  SECTION("softplus, linear blending") {
    compare(Example(Activation::softplus, {24, 16, 8}, 4, 37), basis, Blend::trilinear);
  }
  SECTION("tanh") { compare(Example(Activation::tanh, {24, 16, 8}, 4, 37), basis, Blend::c2); }
  SECTION("swish") { compare(Example(Activation::swish, {24, 16, 8}, 4, 37), basis, Blend::c3); }
}

TEST_CASE("jets of third and mixed order, as a stream function needs them") {
  torch::set_num_threads(1);
  const JetBasis basis(third_order);
  CHECK(basis.size() == 11);
  compare(Example(Activation::tanh, {6}, 1, 19), basis, Blend::c3);
  compare(Example(Activation::softplus, {6}, 1, 3), JetBasis({{0, 2, 1}}), Blend::c3);
  compare(Example(Activation::swish, {6}, 1, 3), JetBasis({{0, 2, 1}}), Blend::c3);
}

TEST_CASE("jets where latent vectors are blended by splines, and their gradients") {
  torch::set_num_threads(1);
  compare(Example(Activation::swish, {7, 5}, 4, 135, true, true), JetBasis(boussinesq_jets),
          Blend::spline);  // more points than a chunk has
  compare(Example(Activation::tanh, {6}, 3, 3, false, true), JetBasis({{0, 2, 1}}), Blend::spline);
}

TEST_CASE("splines are exact for cubics on any nodes, with continuous second derivatives") {
  const std::vector<double> nodes{0.02, 0.1, 0.3, 0.62, 0.9, 1.5};
  for (std::size_t count : {6u, 5u, 4u, 3u, 2u}) {
    CAPTURE(count);
    const SplineAxis axis(std::vector<double>(nodes.begin(), nodes.begin() + count), false);
    const int degree = std::min<int>(3, static_cast<int>(count) - 1);
    auto f = [&](double x) { return 1 + x + (degree > 1 ? 2 * x * x : 0.0) + (degree > 2 ? -3 * x * x * x : 0.0); };
    const auto to = axis.interpolation();
    std::vector<double> c(count, 0.0);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < count; ++k) c[i] += to[i * count + k] * f(nodes[k]);
    for (double x : {0.02, 0.05, 0.09}) {
      const auto at = axis.at(x);
      double value = 0.0, slope = 0.0, third = 0.0;
      for (int j = 0; j < SplineAxis::most; ++j) {
        value += at.weight[j][0] * c[at.spline[j]];
        slope += at.weight[j][1] * c[at.spline[j]];
        third += at.weight[j][3] * c[at.spline[j]];
      }
      CHECK(value == Approx(f(x)));
      CHECK(slope == Approx(1 + (degree > 1 ? 4 * x : 0.0) + (degree > 2 ? -9 * x * x : 0.0)));
      CHECK(third == Approx(degree > 2 ? -18.0 : 0.0).margin(1e-9));
    }
  }
  const SplineAxis round({0.0, 0.3, 0.5, 0.9, 1.2, 1.4}, true);
  CHECK(round.count() == 5);
  for (double knot : {0.0, 0.3, 0.9}) {
    const auto before = round.at(knot + (knot == 0.0 ? 1.4 : 0.0) - 1e-9), after = round.at(knot + 1e-9);
    for (int spline = 0; spline < 5; ++spline)
      for (int order = 0; order < 3; ++order) {
        double l = 0.0, r = 0.0;
        for (int j = 0; j < SplineAxis::most; ++j) {
          if (before.spline[j] == spline) l += before.weight[j][order];
          if (after.spline[j] == spline) r += after.weight[j][order];
        }
        CHECK(l == Approx(r).margin(1e-5));
      }
  }
  CHECK(round.at(0.5).weight[1][0] > 0.5);
  CHECK(round.at(0.5).spline[1] == 2);  // a spline peaks at the node whose number it has
}
