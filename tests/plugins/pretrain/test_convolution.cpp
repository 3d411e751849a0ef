// A convolution by registers and its derivatives beside plain loops, on random shapes; the normalisation behind it
// beside its formula, its derivatives beside differences.
#include <cmath>
#include <random>

#include "plugins/pretrain/networks/conv_pass.hpp"
#include "plugins/pretrain/networks/normed_relu.hpp"
#include "tests/catch.hpp"

using namespace cambium::pretrain;

namespace {

std::mt19937 random_bits(7);

std::int64_t one_of(std::int64_t n) { return static_cast<std::int64_t>(random_bits() % static_cast<unsigned>(n)); }

template <class T>
std::vector<T> random_numbers(std::int64_t n) {
  std::normal_distribution<double> normal;
  std::vector<T> out(n);
  for (T& x : out) x = static_cast<T>(normal(random_bits));
  return out;
}

ConvShape random_shape() {
  ConvShape s;
  const auto axes = 2 + one_of(2);
  for (std::int64_t a = 0; a < axes; ++a) {
    s.cells.push_back(1 + one_of(axes == 2 ? 17 : 6));
    s.periodic.push_back(one_of(2));
  }
  s.stride = 1 + one_of(2);
  s.inputs = one_of(3) ? 4 * (1 + one_of(8)) : 1 + one_of(9);
  s.outputs = 4 * (1 + one_of(10));
  return s;
}

template <class T>
struct Case {
  ConvShape shape;
  std::vector<T> weight, bias, x, dy;

  explicit Case(const ConvShape& s)
      : shape(s), weight(random_numbers<T>(s.outputs * s.inputs * s.taps())), bias(random_numbers<T>(s.outputs)),
        x(random_numbers<T>(s.cells_in() * s.inputs)), dy(random_numbers<T>(s.cells_out() * s.outputs)) {}

  /// visit(result, tap, cell that enters) for all that meet.
  template <class Visit>
  void each(const Visit& visit) const {
    const auto axes = shape.cells.size();
    const auto out = shape.out();
    for (std::int64_t result = 0; result < shape.cells_out(); ++result)
      for (std::int64_t tap = 0; tap < shape.taps(); ++tap) {
        std::int64_t rest = result, taps = tap, cell = 0, times = 1;
        bool inside = true;
        for (std::size_t a = axes; a-- > 0;) {
          const auto n = shape.cells[a];
          auto at = shape.stride * (rest % out[a]) + taps % 3 - 1;
          if (shape.periodic[a]) at = (at + n) % n;
          inside = inside && at >= 0 && at < n;
          cell += times * at;
          times *= n;
          rest /= out[a];
          taps /= 3;
        }
        if (inside) visit(result, tap, cell);
      }
  }

  void check(double near) const {
    const auto in = shape.inputs, all = shape.outputs;
    std::vector<double> y(dy.size()), dx(x.size()), dw(weight.size());
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = bias[k % bias.size()];
    each([&](std::int64_t result, std::int64_t tap, std::int64_t cell) {
      for (std::int64_t o = 0; o < all; ++o)
        for (std::int64_t c = 0; c < in; ++c) {
          const auto w = static_cast<std::size_t>((o * in + c) * shape.taps() + tap);
          const auto to = static_cast<std::size_t>(result * all + o), from = static_cast<std::size_t>(cell * in + c);
          y[to] += double(weight[w]) * x[from];
          dx[from] += double(weight[w]) * dy[to];
          dw[w] += double(x[from]) * dy[to];
        }
    });
    std::vector<T> room;
    const ConvPass<T> pass(shape, weight.data(), bias.data());
    std::vector<T> found(y.size()), by_input(x.size()), by_weight(weight.size());
    pass.forward(x.data(), found.data(), room);
    pass.input_gradient(dy.data(), by_input.data(), room);
    pass.add_weight_gradient(x.data(), dy.data(), by_weight.data(), room);
    pass.add_weight_gradient(x.data(), dy.data(), by_weight.data(), room);  // adds
    double worst = 0.0;
    for (std::size_t k = 0; k < y.size(); ++k) worst = std::max(worst, std::abs(found[k] - y[k]));
    for (std::size_t k = 0; k < dx.size(); ++k) worst = std::max(worst, std::abs(by_input[k] - dx[k]));
    for (std::int64_t k = 0; k < std::ssize(dw); ++k) {
      const auto o = k / shape.taps() / in, c = k / shape.taps() % in, t = k % shape.taps();
      worst = std::max(worst, std::abs(by_weight[(t * in + c) * all + o] - 2.0 * dw[k]));
    }
    INFO("axes " << shape.cells.size() << " inputs " << in << " outputs " << all << " stride " << shape.stride);
    CHECK(worst < near);
  }
};

struct Normed {
  NormedRelu<double>::Shape shape;
  std::vector<double> y, beside, scale, shift, weights;

  explicit Normed(const NormedRelu<double>::Shape& s)
      : shape(s), y(random_numbers<double>(s.cells * s.channels)), beside(random_numbers<double>(s.cells * s.channels)),
        scale(random_numbers<double>(s.channels)), shift(random_numbers<double>(s.channels)),
        weights(random_numbers<double>(s.cells * s.channels)) {}
  /// By the formula.
  std::vector<double> plain() const {
    std::vector<double> out(y.size());
    const auto members = shape.channels / shape.groups;
    for (std::int64_t g = 0; g < shape.groups; ++g) {
      double sum = 0.0, squares = 0.0;
      const auto each = [&](const auto& visit) {
        for (std::int64_t i = 0; i < shape.cells; ++i)
          for (auto c = g * members; c < (g + 1) * members; ++c)
            visit(static_cast<std::size_t>(i * shape.channels + c), static_cast<std::size_t>(c));
      };
      each([&](std::size_t at, std::size_t) { sum += y[at]; });
      const double n = static_cast<double>(shape.cells * members), mean = sum / n;
      each([&](std::size_t at, std::size_t) { squares += (y[at] - mean) * (y[at] - mean); });
      each([&](std::size_t at, std::size_t c) {
        out[at] =
            std::max(0.0, scale[c] * (y[at] - mean) / std::sqrt(squares / n + shape.epsilon) + shift[c]) + beside[at];
      });
    }
    return out;
  }
  /// A sum over all results.
  double value() const {
    const auto out = plain();
    double sum = 0.0;
    for (std::size_t k = 0; k < out.size(); ++k) sum += weights[k] * out[k];
    return sum;
  }
  double difference(double& number) {
    const double kept = number, h = 1e-6;
    number = kept + h;
    const double above = value();
    number = kept - h;
    const double below = value();
    number = kept;
    return (above - below) / (2.0 * h);
  }
};

}  // namespace

TEST_CASE("a convolution and its derivatives are those of plain loops, whatever the shape") {
  int known = 0;
  for (int k = 0; k < 200; ++k) {
    const auto shape = random_shape();
    if (!shape.handled()) continue;
    ++known;
    Case<double>(shape).check(1e-10);
    Case<float>(shape).check(5e-3);
  }
  CHECK(known > 120);
  // The widths of a usual encoder, whose rows have their steps compiled in.
  for (const auto& [n, in, out, stride] :
       {std::tuple{32, 2, 16, 2}, {16, 16, 16, 1}, {16, 16, 32, 2}, {8, 32, 32, 1}, {8, 32, 64, 2}, {4, 64, 64, 1}})
    Case<float>({{n, 2 * n}, {1, 0}, in, out, stride}).check(1e-2);
}

TEST_CASE("what ConvPass does not know it says") {
  CHECK(ConvShape{{5, 4}, {0, 1}, 3, 8, 2}.handled());
  CHECK_FALSE(ConvShape{{5, 4}, {1, 1}, 3, 8, 2}.handled());
  CHECK(ConvShape{{5, 4}, {1, 1}, 3, 8, 1}.handled());
  CHECK_FALSE(ConvShape{{4, 4}, {1, 1}, 3, 6, 1}.handled());
}

TEST_CASE("normalisation and ReLU in one pass: the formula, and derivatives as differences") {
  for (const auto& shape :
       {NormedRelu<double>::Shape{7, 8, 2, 1e-5}, {12, 16, 4, 1e-5}, {1, 4, 1, 1e-2}, {5, 12, 3, 1e-5}}) {
    Normed c(shape);
    NormedRelu<double> norm(shape, c.scale.data(), c.shift.data());
    std::vector<double> out(c.y.size()), moments(static_cast<std::size_t>(norm.moments())), dy(c.y.size());
    norm.forward(c.y.data(), c.beside.data(), moments.data(), out.data());
    const auto plain = c.plain();
    for (std::size_t k = 0; k < out.size(); ++k) CHECK(out[k] == Approx(plain[k]).margin(1e-12));
    std::vector<double> by_scale(c.scale.size()), by_shift(c.scale.size()), by_bias(c.scale.size());
    norm.backward(c.y.data(), moments.data(), c.weights.data(), dy.data(),
                  {by_scale.data(), by_shift.data(), by_bias.data()});
    for (std::size_t k = 0; k < dy.size(); ++k) CHECK(dy[k] == Approx(c.difference(c.y[k])).margin(1e-6));
    for (std::size_t k = 0; k < c.scale.size(); ++k) {
      CHECK(by_scale[k] == Approx(c.difference(c.scale[k])).margin(1e-6));
      CHECK(by_shift[k] == Approx(c.difference(c.shift[k])).margin(1e-6));
      double sum = 0.0;
      for (std::size_t i = k; i < dy.size(); i += c.scale.size()) sum += dy[i];
      CHECK(by_bias[k] == Approx(sum).margin(1e-12));
    }
    norm.forward(c.y.data(), nullptr, moments.data(), out.data());
    for (std::size_t k = 0; k < out.size(); ++k) CHECK(out[k] == Approx(plain[k] - c.beside[k]).margin(1e-12));
  }
}
