#include "plugins/pretrain/features/physics.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::pretrain {

namespace {

/// One axis of a channel: lines along it have the stride `stride`, `outer` blocks of `inner` lines.
struct Axis {
  std::int64_t length = 1, inner = 1, outer = 1;
  std::size_t at(std::int64_t block, std::int64_t line, std::int64_t cell) const {
    return static_cast<std::size_t>((block * length + cell) * inner + line);
  }
};

Axis axis_of(const FieldShape& shape, std::size_t axis) {
  Axis out{shape.cells[axis], 1, 1};
  for (std::size_t a = 0; a < axis; ++a) out.outer *= shape.cells[a];
  for (std::size_t a = axis + 1; a < shape.cells.size(); ++a) out.inner *= shape.cells[a];
  return out;
}

void add_slabs(std::span<const double> channel, const Axis& axis, std::vector<double>& out) {
  const std::int64_t slabs = std::min<std::int64_t>(8, axis.length);
  for (std::int64_t s = 0; s < slabs; ++s) {
    double sum = 0.0, count = 0.0;
    for (std::int64_t cell = s * axis.length / slabs; cell < (s + 1) * axis.length / slabs; ++cell)
      for (std::int64_t b = 0; b < axis.outer; ++b)
        for (std::int64_t l = 0; l < axis.inner; ++l) sum += channel[axis.at(b, l, cell)], count += 1.0;
    out.push_back(sum / count);
  }
}

void add_spectrum(std::span<const double> channel, const Axis& axis, std::vector<double>& out) {
  const std::int64_t waves = std::min<std::int64_t>(16, axis.length / 2 + 1);
  for (std::int64_t k = 0; k < waves; ++k) {
    std::vector<double> cosine, sine;
    for (std::int64_t cell = 0; cell < axis.length; ++cell) {
      const double angle =
          2.0 * constants::pi * static_cast<double>(k * cell % axis.length) / static_cast<double>(axis.length);
      cosine.push_back(std::cos(angle));
      sine.push_back(std::sin(angle));
    }
    double power = 0.0;
    for (std::int64_t b = 0; b < axis.outer; ++b)
      for (std::int64_t l = 0; l < axis.inner; ++l) {
        double real = 0.0, imaginary = 0.0;
        for (std::int64_t cell = 0; cell < axis.length; ++cell) {
          const double x = channel[axis.at(b, l, cell)];
          real += x * cosine[cell];
          imaginary += x * sine[cell];
        }
        power += real * real + imaginary * imaginary;
      }
    const double lines = static_cast<double>(axis.outer * axis.inner), n = static_cast<double>(axis.length);
    out.push_back(std::log10(power / (lines * n * n) + 1e-12));
  }
}

std::vector<double> features_of(std::span<const double> field, const FieldShape& shape) {
  const auto cells = static_cast<std::size_t>(shape.numbers() / shape.channels);
  const auto channel = [&](std::int64_t c) { return field.subspan(static_cast<std::size_t>(c) * cells, cells); };
  std::vector<double> out, mean;
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    double sum = 0.0;
    for (const double x : channel(c)) sum += x;
    mean.push_back(sum / static_cast<double>(cells));
    out.push_back(mean.back());
  }
  for (std::int64_t c = 0; c < shape.channels; ++c)
    for (std::int64_t d = c; d < shape.channels; ++d) {
      double sum = 0.0;
      for (std::size_t k = 0; k < cells; ++k) sum += (channel(c)[k] - mean[c]) * (channel(d)[k] - mean[d]);
      sum /= static_cast<double>(cells);
      out.push_back(c == d ? std::sqrt(sum) : sum);
    }
  for (std::size_t a = 0; a < shape.cells.size(); ++a)
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      add_spectrum(channel(c), axis_of(shape, a), out);
      if (shape.periodic[a] == 0) add_slabs(channel(c), axis_of(shape, a), out);
    }
  return out;
}

}  // namespace

Matrix physics_features(const Matrix& fields, const FieldShape& shape) {
  Matrix out;
  for (std::int64_t k = 0; k < fields.rows; ++k) {
    const auto row = features_of(fields.row(k), shape);
    out.columns = std::ssize(row);
    out.values.insert(out.values.end(), row.begin(), row.end());
    ++out.rows;
  }
  return out;
}

}  // namespace cambium::pretrain
