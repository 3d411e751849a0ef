// A dense layer against plain loops over rows and columns, its gradients with it; slopes of activations against
// differences.
#include <cmath>
#include <vector>

#include "core/numerics/dense_layer.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

template <class T>
std::vector<T> random_values(std::int64_t n, std::uint64_t id) {
  std::vector<T> values(n);
  for (std::int64_t k = 0; k < n; ++k) values[k] = static_cast<T>(Random4(7, Stream::test, id, k).normal(0));
  return values;
}

template <class T>
void check(const std::vector<T>& found, const std::vector<double>& expected) {
  const double tolerance = std::is_same_v<T, double> ? 1e-12 : 2e-5;
  REQUIRE(found.size() == expected.size());
  double worst = 0.0;
  for (std::size_t k = 0; k < found.size(); ++k) worst = std::max(worst, std::abs(found[k] - expected[k]));
  CHECK(worst < tolerance * 16);
}

/// Products and gradients of `rows` rows, with everything that is added to beginning as random values.
template <class T>
void compare(std::int64_t rows, std::int64_t in, std::int64_t out) {
  const auto x = random_values<T>(rows * in, 1), w = random_values<T>(in * out, 2), b = random_values<T>(out, 3),
             g = random_values<T>(rows * out, 4), z0 = random_values<T>(rows * out, 5),
             x0 = random_values<T>(rows * in, 6), w0 = random_values<T>(in * out, 7), b0 = random_values<T>(out, 8);
  std::vector<double> xw(rows * out), xwb(rows * out), added(rows * out), gw(rows * in), gw_added(x0.begin(), x0.end()),
      by_w(w0.begin(), w0.end()), by_b(b0.begin(), b0.end());
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t o = 0; o < out; ++o) {
      for (std::int64_t i = 0; i < in; ++i) {
        xw[r * out + o] += double(x[r * in + i]) * w[i * out + o];
        gw[r * in + i] += double(g[r * out + o]) * w[i * out + o];
        by_w[i * out + o] += double(x[r * in + i]) * g[r * out + o];
      }
      xwb[r * out + o] = xw[r * out + o] + b[o];
      added[r * out + o] = z0[r * out + o] + xw[r * out + o];
      by_b[o] += g[r * out + o];
    }
  for (std::size_t k = 0; k < gw.size(); ++k) gw_added[k] += gw[k];

  auto z = z0, by_x = x0, weights = w0, bias = b0;
  const DenseLayer<T> layer{in, out, w.data(), b.data()}, without{in, out, w.data()};
  layer.forward(rows, x.data(), z.data());
  check(z, xwb);
  without.forward(rows, x.data(), z.data());
  check(z, xw);
  layer.begin(rows, z.data());
  layer.add_product(rows, x.data(), z.data());
  check(z, xwb);
  without.begin(rows, z.data());
  without.add_product(rows, x.data(), z.data());
  check(z, xw);
  z = z0;
  layer.add_product(rows, x.data(), z.data());
  check(z, added);
  layer.input_gradient(rows, g.data(), by_x.data());
  check(by_x, gw);
  by_x = x0;
  layer.input_gradient(rows, g.data(), by_x.data(), true);
  check(by_x, gw_added);
  const DenseGradient<T> gradient{in, out, weights.data(), bias.data()};
  gradient.add_weights(rows, x.data(), g.data());
  gradient.add_bias(rows, g.data());
  check(weights, by_w);
  check(bias, by_b);
  DenseGradient<T>{in, out, weights.data()}.add_bias(rows, g.data());  // no bias, nothing to add to
}

template <class T>
void compare_activations() {
  const auto x = random_values<T>(333, 9), by = random_values<T>(333, 10);
  const double h = 1e-5, root = std::sqrt(0.5);
  const auto value = [&](Activation f, double v) {
    switch (f) {
      case Activation::tanh:
        return std::tanh(v);
      case Activation::relu:
        return std::max(v, 0.0);
      case Activation::sigmoid:
        return 0.5 + 0.5 * std::tanh(0.5 * v);
      case Activation::gelu:
        return 0.5 * v * (1.0 + std::erf(root * v));
      case Activation::silu:
        return v * (0.5 + 0.5 * std::tanh(0.5 * v));
    }
    return 0.0;
  };
  for (auto f : {Activation::tanh, Activation::relu, Activation::sigmoid, Activation::gelu, Activation::silu}) {
    std::vector<double> y(x.size()), slope(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      y[k] = value(f, x[k]);
      slope[k] = by[k] * (value(f, x[k] + h) - value(f, x[k] - h)) / (2.0 * h);
    }
    std::vector<T> found(x.size()), in_place = x, slopes = by;
    activate(f, std::ssize(x), x.data(), found.data());
    times_slope(f, std::ssize(x), x.data(), found.data(), slopes.data());
    activate(f, std::ssize(x), in_place.data(), in_place.data());
    CHECK(in_place == found);
    for (std::size_t k = 0; k < x.size(); ++k) {
      CHECK(found[k] == Approx(y[k]).margin(1e-6));
      CHECK(slopes[k] == Approx(slope[k]).margin(2e-5));
    }
  }
  // relu is told by its values alone.
  std::vector<T> y(x.size()), by_sums = by, by_values = by;
  activate(Activation::relu, std::ssize(x), x.data(), y.data());
  times_slope(Activation::relu, std::ssize(x), x.data(), y.data(), by_sums.data());
  times_slope(Activation::relu, std::ssize(x), y.data(), y.data(), by_values.data());
  CHECK(by_sums == by_values);
}

}  // namespace

TEST_CASE("a dense layer and its gradients are those of plain loops") {
  for (int threads : {1, 3}) {
    const AsIfThreads as_if(threads);
    for (const auto& [rows, in, out] : {std::array{1, 1, 1}, {5, 3, 7}, {64, 16, 33}, {301, 40, 5}, {0, 4, 3}}) {
      compare<double>(rows, in, out);
      compare<float>(rows, in, out);
    }
  }
}

TEST_CASE("activations and their slopes are the stated functions") {
  for (int threads : {1, 3}) {
    const AsIfThreads as_if(threads);
    compare_activations<double>();
    compare_activations<float>();
  }
}
