// Fourier layers: transforms against sums written out, transposes, gradients against differences.
#include <complex>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/superres/networks/fourier/fourier_layers.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/superres/fourier_case.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::testing;

namespace {

using Beyond = SpectralTransform::Beyond;
constexpr double two_pi = 6.283185307179586;

/// Place n + j of an axis of n points continued by `ends`: which point holds its value; -1 for a zero.
int source(int place, int n, Continuation ends, int period) {
  if (place < n) return place;
  if (ends == Continuation::mirror_nodes) return period - place;
  return ends == Continuation::mirror ? period - 1 - place : -1;
}

/// The kept modes by the sums of their definition, (modes along x, along z, channels).
std::vector<std::complex<double>> plain_modes(const SpectralGrid& g, const std::vector<double>& field, int channels) {
  std::vector<std::complex<double>> out;
  for (int kx = -g.modes[0]; kx < g.modes[0]; ++kx)
    for (int kz = 0; kz < g.modes[1]; ++kz)
      for (int c = 0; c < channels; ++c) {
        std::complex<double> sum = 0.0;
        for (int x = 0; x < g.period(0); ++x)
          for (int z = 0; z < g.period(1); ++z) {
            const int i = source(x, g.points[0], g.ends[0], g.period(0)),
                      k = source(z, g.points[1], g.ends[1], g.period(1));
            if (i < 0 || k < 0) continue;
            const double angle =
                two_pi * (static_cast<double>(kx) * x / g.period(0) + static_cast<double>(kz) * z / g.period(1));
            sum += field[(c * g.points[0] + i) * g.points[1] + k] * std::polar(1.0, -angle);
          }
        out.push_back(sum);
      }
  return out;
}

double largest(const std::vector<double>& a) {
  double out = 0.0;
  for (double x : a) out = std::max(out, std::fabs(x));
  return out;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double out = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) out += a[k] * b[k];
  return out;
}

const std::vector<SpectralGrid> grids{{{8, 6}, {3, 3}, {Continuation::periodic, Continuation::mirror}, 0.25},
                                      {{10, 7}, {4, 4}, {Continuation::periodic, Continuation::zeros}, 0.3},
                                      {{5, 7}, {2, 5}, {Continuation::mirror, Continuation::mirror}, 0.25},
                                      {{7, 8}, {3, 2}, {Continuation::zeros, Continuation::periodic}, 0.25},
                                      {{6, 5}, {2, 3}, {Continuation::periodic, Continuation::mirror_nodes}, 0.25}};

}  // namespace

TEST_CASE("kept modes are the sums of their definition, whatever lies beyond the ends") {
  for (const auto& grid : grids) {
    SpectralTransform transform(grid);
    const int channels = 3;
    const auto field = numbers(static_cast<std::size_t>(channels) * grid.nodes(), 1);
    std::vector<double> re(static_cast<std::size_t>(grid.kept()) * channels), im(re.size());
    transform.forward<double>(field.data(), channels, Beyond::as_ends, re, im);
    const auto plain = plain_modes(grid, field, channels);
    double off = 0.0;
    for (std::size_t k = 0; k < re.size(); ++k)
      off = std::max(off, std::abs(plain[k] - std::complex<double>(re[k], im[k])));
    CHECK(off < 1e-12 * largest(re));
  }
}

TEST_CASE("modes of a field that has no others give the field back") {
  const SpectralGrid grid{{12, 8}, {4, 3}, {Continuation::periodic, Continuation::mirror}, 0.25};
  SpectralTransform transform(grid);
  std::vector<double> field, back(static_cast<std::size_t>(grid.nodes()));
  for (int x = 0; x < 12; ++x)
    for (int z = 0; z < 8; ++z)
      field.push_back(0.3 + std::cos(two_pi * 3 * x / 12 + 0.4) * std::cos(two_pi / 2 * 2 * (z + 0.5) / 8));
  std::vector<double> re(static_cast<std::size_t>(grid.kept())), im(re.size());
  transform.forward<double>(field.data(), 1, Beyond::as_ends, re, im);
  transform.backward<double>(re, im, 1, Beyond::zeros, back.data());
  for (std::size_t k = 0; k < field.size(); ++k) back[k] -= field[k];
  CHECK(largest(back) < 1e-13);
}

TEST_CASE("both transposes: <F x, y> = <x, F' y>") {
  for (const auto& grid : grids) {
    SpectralTransform transform(grid);
    const std::size_t nodes = static_cast<std::size_t>(grid.nodes()), kept = static_cast<std::size_t>(grid.kept());
    const auto x = numbers(nodes, 2), y_re = numbers(kept, 3), y_im = numbers(kept, 4);
    std::vector<double> re(kept), im(kept), back(nodes);
    transform.forward<double>(x.data(), 1, Beyond::as_ends, re, im);
    auto half_re = y_re, half_im = y_im;  // the inverse counts modes other than kz = 0 twice
    for (std::size_t k = 0; k < kept; ++k)
      if (k % grid.modes[1] != 0) half_re[k] *= 0.5, half_im[k] *= 0.5;
    transform.backward<double>(half_re, half_im, 1, Beyond::as_ends, back.data());
    const double left = product(re, y_re) + product(im, y_im),
                 right = product(x, back) * grid.period(0) * grid.period(1);
    CHECK(left == Approx(right).epsilon(1e-11).margin(1e-11));
  }
}

TEST_CASE("gradients of the operator are derivatives, of every array") {
  const int kernel = GENERATE(1, 3, 5);
  for (const auto& grid : grids) {
    FourierCase made({grid, 3, 2, 5, 2, 4, kernel}, 2);
    const auto x = numbers(made.inputs(), 11), target = numbers(made.outputs(), 12);
    const auto loss = [&] {
      const auto y = made.layers().forward(x, made.samples);
      return 0.5 * product(y, y) + product(y, target);
    };
    auto layers = made.layers();
    auto by_output = layers.forward(x, made.samples);
    for (std::size_t k = 0; k < by_output.size(); ++k) by_output[k] += target[k];
    std::vector<int> told;
    layers.backward(by_output, made.gradients.views, [&](int parameter) { told.push_back(parameter); });
    CHECK(told.size() == made.weights.views.size());
    for (std::size_t p = 0; p < made.weights.memory.size(); ++p) {
      auto& w = made.weights.memory[p];
      const auto way = numbers(w.size(), 100 + p);
      const double by_gradient = product(made.gradients.memory[p], way);
      const auto before = w;
      const auto moved = [&](double step) {
        for (std::size_t k = 0; k < w.size(); ++k) w[k] = before[k] + step * way[k];
        return loss();
      };
      const double h = 1e-4,
                   by_difference = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
      w = before;
      INFO(fourier_parameters(made.shape)[p].name);
      CHECK(by_gradient == Approx(by_difference).epsilon(1e-7).margin(1e-7));
    }
  }
}

TEST_CASE("float32 follows float64") {
  const FourierShape shape{grids[0], 3, 2, 5, 2, 4};
  FourierCase exact(shape, 2);
  BasicFourierCase<float> single(shape, 2);
  const auto x = numbers(exact.inputs(), 11);
  const auto y = exact.layers().forward(x, 2);
  const auto z = single.layers().forward({x.begin(), x.end()}, 2);
  double off = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) off = std::max(off, std::fabs(y[k] - static_cast<double>(z[k])));
  CHECK(off < 1e-5 * largest(y));
  CHECK(off > 0.0);
}

TEST_CASE("grids that do not transform say what would") {
  SpectralGrid grid{{7, 8}, {2, 3}, {Continuation::periodic, Continuation::mirror}, 0.25};
  CHECK(message([&] { require_transformable(grid); }) ==
        "7 points along a periodic x cannot be transformed: their number must be even");
  grid.points[0] = 8;
  grid.modes[0] = 4;
  CHECK(message([&] { require_transformable(grid); }) ==
        "'modes' keeps 4 along x, but 8 points there have 3 at most; keep fewer, or train on a finer grid");
}
