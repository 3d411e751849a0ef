// The convolution and its largest in one pass beside plain loops, and its gradient beside differences.
#include <cmath>
#include <random>

#include "plugins/cosmo/networks/pooled_convolution.hpp"
#include "tests/catch.hpp"

using namespace cambium::cosmo;

namespace {

template <class T>
std::vector<T> random_numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> out(n);
  for (T& x : out) x = static_cast<T>(normal(random));
  return out;
}

template <class T>
struct Case {
  PooledShape shape;
  std::vector<T> x, weight, bias;

  explicit Case(PooledShape s)
      : shape(s), x(random_numbers<T>(s.in_size(), 1)), weight(random_numbers<T>(s.weights(), 2)),
        bias(random_numbers<T>(static_cast<std::size_t>(s.outputs), 3)) {}

  std::vector<T> answers() const {
    std::vector<T> y(shape.out_size());
    std::vector<std::uint8_t> largest(y.size());
    PooledConvolution<T>(shape, weight.data(), bias.data()).forward(x.data(), y.data(), largest.data());
    return y;
  }

  /// By loops that say what is meant.
  double plain(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t o) const {
    const auto n = shape.cells;
    double best = -1e300;
    for (int p = 0; p < 8; ++p) {
      double sum = static_cast<double>(bias[o]);
      for (int t = 0; t < 27; ++t)
        for (std::int64_t c = 0; c < shape.inputs; ++c) {
          const auto a = (2 * i + p / 4 + t / 9 - 1 + n) % n, b = (2 * j + p / 2 % 2 + t / 3 % 3 - 1 + n) % n,
                     d = (2 * k + p % 2 + t % 3 - 1 + n) % n;
          sum += static_cast<double>(x[((a * n + b) * n + d) * shape.inputs + c]) *
                 static_cast<double>(weight[(o * shape.inputs + c) * 27 + t]);
        }
      best = std::max(best, sum);
    }
    return best > 0 ? best : shape.slope * best;
  }

  /// Largest difference from the plain loops.
  double error() const {
    const auto y = answers();
    const auto half = shape.cells / 2;
    double most = 0.0;
    for (std::int64_t cell = 0; cell < half * half * half; ++cell)
      for (std::int64_t o = 0; o < shape.outputs; ++o) {
        const double right = plain(cell / (half * half), cell / half % half, cell % half, o);
        most = std::max(most, std::abs(right - static_cast<double>(y[cell * shape.outputs + o])));
      }
    return most;
  }
};

/// sum over outputs of g y.
double loss(const Case<double>& c, const std::vector<double>& g) {
  const auto y = c.answers();
  double sum = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) sum += g[k] * y[k];
  return sum;
}

/// Central difference of the loss as `number` of `c` changes.
double slope_of(Case<double>& c, double& number, const std::vector<double>& g) {
  const double step = 1e-6, before = number;
  number = before + step;
  const double up = loss(c, g);
  number = before - step;
  const double down = loss(c, g);
  number = before;
  return (up - down) / (2 * step);
}

}  // namespace

TEST_CASE("a convolution and its largest are those of plain loops, for any numbers of channels") {
  for (const std::int64_t cells : {2, 4, 6})
    for (const std::int64_t inputs : {1, 3, 8})
      for (const std::int64_t outputs : {1, 2, 5, 8, 17, 32}) {
        CAPTURE(cells, inputs, outputs);
        CHECK(Case<double>({cells, inputs, outputs, 0.01}).error() < 1e-12);
        CHECK(Case<float>({cells, inputs, outputs, 0.3}).error() < 2e-4);
      }
}

/// The weights of the convolution that a product is.
template <class T>
std::vector<T> multiplied_out(const PooledShape& s, std::size_t middle, const std::vector<T>& core,
                              const std::vector<T>& leave) {
  std::vector<T> out(s.weights(), T(0));
  const auto taps = static_cast<std::size_t>(27 * s.inputs);
  for (std::size_t o = 0; o < static_cast<std::size_t>(s.outputs); ++o)
    for (std::size_t m = 0; m < middle; ++m)
      for (std::size_t k = 0; k < taps; ++k) out[o * taps + k] += leave[o * middle + m] * core[m * taps + k];
  return out;
}

TEST_CASE("a convolution that is a product has the answers of what it multiplies out to") {
  for (const std::int64_t inputs : {1, 3, 8})
    for (const std::int64_t outputs : {1, 5, 16, 33})
      for (const std::size_t middle : {1u, 4u, 7u, 20u}) {
        CAPTURE(inputs, outputs, middle);
        Case<double> c({4, inputs, outputs, 0.1});
        const auto core = random_numbers<double>(middle * static_cast<std::size_t>(27 * inputs), 5),
                   leave = random_numbers<double>(middle * static_cast<std::size_t>(outputs), 6);
        c.weight = multiplied_out(c.shape, middle, core, leave);
        const auto right = c.answers();
        std::vector<double> found(right.size());
        PooledProduct<double>(c.shape, static_cast<std::int64_t>(middle), core.data(), leave.data(), c.bias.data())
            .forward(c.x.data(), found.data());
        for (std::size_t k = 0; k < right.size(); ++k) CHECK(found[k] == Approx(right[k]).margin(1e-10));
      }
}

TEST_CASE("gradients of a convolution and its largest are differences") {
  for (const std::int64_t inputs : {1, 2, 3, 4, 6, 8, 16})
    for (const std::int64_t outputs : {1, 5}) {
      CAPTURE(inputs, outputs);
      Case<double> c({4, inputs, outputs, 0.2});
      const PooledConvolution<double> layer(c.shape, c.weight.data(), c.bias.data());
      std::vector<double> y(c.shape.out_size()), dx(c.x.size(), 0.0),
          dweight(static_cast<std::size_t>(outputs * 9 * c.shape.gradient_row<double>()), 0.0),
          dbias(c.bias.size(), 0.0);
      std::vector<std::uint8_t> largest(y.size());
      const auto g = random_numbers<double>(y.size(), 4);
      layer.forward(c.x.data(), y.data(), largest.data());
      layer.backward(c.x.data(), y.data(), largest.data(), g.data(), dx.data(), dweight.data(), dbias.data());
      for (std::size_t k = 0; k < c.x.size(); k += 7) CHECK(slope_of(c, c.x[k], g) == Approx(dx[k]).margin(1e-7));
      for (std::size_t o = 0; o < c.bias.size(); ++o) CHECK(slope_of(c, c.bias[o], g) == Approx(dbias[o]).margin(1e-7));
      for (std::size_t k = 0; k < c.weight.size(); k += 5) {
        const auto n = static_cast<std::size_t>(inputs), row = static_cast<std::size_t>(c.shape.gradient_row<double>()),
                   o = k / (27 * n), i = k / 27 % n, t = k % 27;
        CHECK(slope_of(c, c.weight[k], g) == Approx(dweight[(o * 9 + t / 3) * row + t % 3 * n + i]).margin(1e-7));
      }
      auto again = dweight;
      layer.backward(c.x.data(), y.data(), largest.data(), g.data(), nullptr, again.data(), dbias.data());
      for (std::size_t k = 0; k < again.size(); ++k)
        CHECK(again[k] == Approx(2 * dweight[k]).margin(1e-12));  // added, without dx
    }
}
