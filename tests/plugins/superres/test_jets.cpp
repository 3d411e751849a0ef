// Derivatives of the decoded field by jets against nested differentiation.
#include "plugins/superres/train/decode.hpp"
#include "plugins/superres/train/nested_decoder.hpp"
#include "tests/catch.hpp"

using namespace cambium::superres;
using namespace cambium::superres::nested;

namespace {

const std::vector<MultiIndex> boussinesq{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 2, 0}, {0, 0, 2}};
const std::vector<MultiIndex> third_order{{1, 0, 1}, {0, 2, 1}, {0, 0, 3}, {2, 0, 0}};

/// A stretched grid that wraps around, points in it, latents and weights.
struct Example {
  DecoderShape shape;
  LatentCells cells{{{{0.0, 0.5, 1.2}, {0.0, 0.25, 0.5, 0.75, 1.0}, {0.02, 0.1, 0.3, 0.62, 0.9}}}, true};
  torch::Tensor points, latents;
  std::vector<torch::Tensor> weights;

  Example(Activation sigma, std::vector<int> widths, int outputs, std::int64_t n) {
    shape.latent = 5, shape.widths = std::move(widths), shape.outputs = outputs, shape.activation = sigma;
    torch::manual_seed(3);
    const auto low = torch::tensor({0.0, 0.0, 0.02}, torch::kFloat64), high = torch::tensor({1.2, 1.0, 0.9}, torch::kFloat64);
    points = (low + (high - low) * torch::rand({n, 3}, torch::kFloat64)).requires_grad_(true);
    latents = torch::randn({cells.size(), shape.latent}, torch::kFloat64).requires_grad_(true);
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
    return nested_jets(basis, decoded(shape, cells, blend, points, latents, weights), points);
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
  const JetBasis basis(boussinesq);
  CHECK(basis.size() == 6);
  SECTION("softplus, linear blending") { compare(Example(Activation::softplus, {24, 16, 8}, 4, 37), basis, Blend::trilinear); }
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
