// Attention kernels in Torch's graph: answers and derivatives are those of Torch's own operators.
#include <cmath>

#include "core/train/networks/torch/attended.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using torch::Tensor;

namespace {

struct Found {
  Tensor out, by_query, by_key, by_value;
};

template <class F>
Found found(torch::Dtype real, F&& attend) {
  const auto options = torch::TensorOptions().dtype(real);
  const auto made = [&](double phase) {
    // Not contiguous: as a permuted view of (samples, positions, heads, width).
    return torch::sin(torch::arange(2 * 7 * 3 * 4, options) * 1.7 + phase).reshape({2, 7, 3, 4}).permute({0, 2, 1, 3});
  };
  Tensor q = made(0.3).detach().requires_grad_(), k = made(1.1).detach().requires_grad_(),
         v = made(2.0).detach().requires_grad_();
  const Tensor out = attend(q, k, v);
  (out * torch::cos(torch::arange(out.numel(), options)).reshape(out.sizes())).sum().backward();
  return {out.detach(), q.grad(), k.grad(), v.grad()};
}

Tensor plain(const Tensor& q, const Tensor& k, const Tensor& v) {
  return torch::softmax(q.matmul(k.transpose(2, 3)) / 2.0, 3).matmul(v);  // sqrt(4)
}

double away(const Tensor& a, const Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  return (a - b).abs().max().item<double>();
}

}  // namespace

TEST_CASE("attention by the kernels is Torch's, with its derivatives") {
  using Type = train::AttentionParams::Type;
  for (const auto real : {torch::kFloat64, torch::kFloat32}) {
    const double bound = real == torch::kFloat64 ? 1e-13 : 2e-6;
    const Found wanted = found(real, plain);
    for (const auto type : {Type::softmax, Type::two_pass}) {
      const Found here = found(
          real, [&](const Tensor& q, const Tensor& k, const Tensor& v) { return train::attended(q, k, v, type); });
      CHECK(away(here.out, wanted.out) < bound);
      CHECK(away(here.by_query, wanted.by_query) < bound);
      CHECK(away(here.by_key, wanted.by_key) < bound);
      CHECK(away(here.by_value, wanted.by_value) < bound);
    }
  }
}
