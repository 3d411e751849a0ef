// Gradients of a network in training, not made ones. Their tails are heavy, but lie between groups of 128 rather than within them,
// where each group's own scale meets them: the Hadamard transform gains less than on numbers with outliers everywhere
// (test_wire_schemes.cpp), where it halves the error.
#include <cmath>

#include "core/lowp/wire/groups.hpp"
#include "core/train/flat/buffer.hpp"
#include "core/train/mlp/expression_set.hpp"
#include "core/train/mlp/mlp.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// Gradient of one batch of 32 after `steps` steps of plain descent, without padding.
std::vector<float> gradient_after(int steps, Mlp::Activation activation) {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  ExpressionSet::Params set;
  set.samples = 2048;
  set.box = {{"x", {-1.0, 1.0}}, {"y", {-1.0, 1.0}}};
  set.target = {{"u", "exp(-40*(x*x + y*y)) + 0.3*tanh(20*(x - y))"}};
  ExpressionSet data(set, context);
  Mlp::Params p;
  p.layers = {128, 128};
  p.activation = activation;
  Mlp net(p, context);
  net.fit_statistics(data, context);
  const FlatLayout layout(net.parameters(), 1 << 20);
  FlatBuffer weights(layout, DType::f32), gradients(layout, DType::f32);
  net.initialise(weights.views(), 5);
  const double one[1] = {1.0};
  for (int step = 0; step <= steps; ++step) {
    std::vector<std::int64_t> ids;
    for (int k = 0; k < 32; ++k) ids.push_back((32 * step + k) * 7 % 2048);
    gradients.zero();
    TermSum term[1];
    net.gradient(data.read(ids), weights.views(), one, gradients.views(), term, [](int) {});
    for (std::size_t k = 0; step < steps && k < weights.values<float>().size(); ++k)
      weights.values<float>()[k] -= 3e-4f * gradients.values<float>()[k];
  }
  auto all = packed<float>(gradients);
  all.resize(all.size() / 128 * 128);
  return all;
}

double kurtosis(std::span<const float> x) {
  double two = 0, four = 0;
  for (float v : x) two += std::pow(v, 2), four += std::pow(v, 4);
  return two > 0 ? four * static_cast<double>(x.size()) / (two * two) : 0.0;
}

double mean_kurtosis_of_groups(const std::vector<float>& x) {
  double sum = 0, groups = 0;
  for (std::size_t k = 0; k < x.size(); k += 128) {
    const double found = kurtosis(std::span(x).subspan(k, 128));
    sum += found, groups += found > 0;  // zeros throughout: a neuron that no sample of the batch reaches
  }
  return sum / groups;
}

double error_of_4_bits(const std::vector<float>& exact, bool hadamard) {
  auto x = exact;
  std::vector<std::byte> message(static_cast<std::size_t>(lowp::int4_groups.bytes(std::ssize(x))));
  if (hadamard) lowp::hadamard32(x);
  lowp::encode_groups(lowp::int4_groups, x, {1, 2, 3, 0}, message);
  lowp::decode_groups(lowp::int4_groups, message, x);
  if (hadamard) lowp::inverse_hadamard32(x);
  double error = 0, size = 0;
  for (std::size_t k = 0; k < x.size(); ++k) error += std::pow(double(x[k]) - exact[k], 2), size += std::pow(exact[k], 2);
  return std::sqrt(error / size);
}

}  // namespace

TEST_CASE("4-bit gradients of a network in training: the Hadamard transform gains where groups have outliers of their own") {
  for (auto activation : {Mlp::Activation::relu, Mlp::Activation::tanh, Mlp::Activation::gelu})
    for (int steps : {0, 1000}) {
      const auto g = gradient_after(steps, activation);
      const double all = kurtosis(g), within = mean_kurtosis_of_groups(g);
      const double plain = error_of_4_bits(g, false), transformed = error_of_4_bits(g, true);
      INFO("activation " << static_cast<int>(activation) << ", " << steps << " steps: kurtosis " << all << ", within groups " << within
                         << "; error " << plain << ", transformed " << transformed);
      CHECK(all > 30);
      CHECK(within < 0.3 * all);
      CHECK(transformed < 1.12 * plain);
      if (steps > 0) CHECK(transformed < 0.98 * plain);
      if (steps > 0 && activation == Mlp::Activation::tanh) CHECK(transformed < 0.8 * plain);
      CHECK(plain < 0.3);
    }
}
