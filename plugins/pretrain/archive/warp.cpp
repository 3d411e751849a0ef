#include "plugins/pretrain/archive/warp.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/constants.hpp"
#include "plugins/pretrain/archive/augment.hpp"
#include "plugins/pretrain/archive/streams.hpp"

namespace cambium::pretrain {

void WarpKeys::describe(deck::Describe<WarpKeys>& d) {
  d("rotate", &WarpKeys::turn, "maximum rotation angle, in either direction")
      .formerly("turn")
      .unit("deg")
      .range(0.0, 180.0)
      .def(0.0);
  d("stretch", &WarpKeys::stretch, "maximum relative stretch of each axis, longer or shorter").range(0.0, 0.9).def(0.0);
  d("shear", &WarpKeys::slant, "cells along one axis for each along the other, up to this, to either side")
      .formerly("slant")
      .range(0.0, 1.0)
      .def(0.0);
  d("elastic", &WarpKeys::bend, "standard deviation of a smooth displacement, in cells")
      .formerly("bend")
      .non_negative()
      .def(0.0);
}

namespace {

using constants::pi;

using Pair = std::array<double, 2>;

/// Source position of a cell of the copy.
class Warp {
 public:
  Warp(const FieldShape& shape, const WarpKeys& keys, const AugmentAddress& address)
      : cells_{static_cast<double>(shape.cells[0]), static_cast<double>(shape.cells[1])}, bend_(keys.bend) {
    const auto id = 2 * static_cast<std::uint64_t>(address.sample) + static_cast<std::uint64_t>(address.view);
    const auto drawn = [&](std::uint64_t k) {
      return Random4(address.seed, warp_stream, id, 16 * static_cast<std::uint64_t>(address.step) + k);
    };
    const Random4 whole = drawn(0), more = drawn(1);
    const auto between = [](const Random4& random, int k, double most) {
      return most * (2.0 * random.uniform(k) - 1.0);
    };
    const double angle = between(whole, 0, keys.turn) * pi / 180.0, slant = between(whole, 1, keys.slant);
    const Pair by{1.0 / (1.0 + between(whole, 2, keys.stretch)), 1.0 / (1.0 + between(whole, 3, keys.stretch))};
    const double across = more.uniform(0) < 0.5 ? slant : 0.0, along = across == 0.0 ? slant : 0.0;
    const double c = std::cos(angle), s = std::sin(angle);
    matrix_ = {Pair{by[0] * (c + across * s), by[0] * (-s + across * c)},
               Pair{by[1] * (s + along * c), by[1] * (c - along * s)}};
    for (std::size_t w = 0; w < waves; ++w) {
      const Random4 random = drawn(2 + w), other = drawn(2 + waves + w);
      wave_[w] = {
          {random.normal(0), random.normal(1)}, {random.normal(2), random.normal(3)}, 2.0 * pi * other.uniform(0)};
    }
  }

  Pair operator()(std::int64_t i, std::int64_t j) const {
    const double x = static_cast<double>(i) - 0.5 * (cells_[0] - 1.0),
                 y = static_cast<double>(j) - 0.5 * (cells_[1] - 1.0);
    Pair out{matrix_[0][0] * x + matrix_[0][1] * y, matrix_[1][0] * x + matrix_[1][1] * y};
    for (std::size_t a = 0; a < 2; ++a) out[a] += 0.5 * (cells_[a] - 1.0);
    if (bend_ > 0.0)
      for (const auto& w : wave_) {
        const double phase = 2.0 * pi * (w.number[0] * x / cells_[0] + w.number[1] * y / cells_[1]) + w.phase;
        for (std::size_t a = 0; a < 2; ++a) out[a] += bend_ * w.size[a] * std::cos(phase);
      }
    return out;
  }

 private:
  static constexpr std::size_t waves = 3;
  struct Wave {
    Pair size, number;  ///< displacement in cells over the standard deviation; waves over the field
    double phase;
  };
  Pair cells_;
  double bend_;
  std::array<Pair, 2> matrix_{};
  std::array<Wave, waves> wave_{};
};

/// The two neighbouring cells along an axis, and the weight of the second.
struct Between {
  std::int64_t low, high;
  float share;
  Between(double at, std::int64_t n) {
    const double inside = std::clamp(at, 0.0, static_cast<double>(n - 1));
    low = std::min(n - 1, static_cast<std::int64_t>(inside));
    high = std::min(n - 1, low + 1);
    share = static_cast<float>(inside - static_cast<double>(low));
  }
};

}  // namespace

std::vector<float> warped(std::span<const float> field, const FieldShape& shape, const WarpKeys& keys,
                          const AugmentAddress& address) {
  const Warp warp(shape, keys, address);
  const std::int64_t rows = shape.cells[0], columns = shape.cells[1];
  std::vector<float> out(field.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto from = warp(i, j);
      const Between r(from[0], rows), c(from[1], columns);
      for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
        const float* const values = field.data() + channel * rows * columns;
        const auto along = [&](std::int64_t row) {
          const float a = values[row * columns + c.low], b = values[row * columns + c.high];
          return a + c.share * (b - a);
        };
        const float above = along(r.low);
        out[(channel * rows + i) * columns + j] = above + r.share * (along(r.high) - above);
      }
    }
  return out;
}

}  // namespace cambium::pretrain
