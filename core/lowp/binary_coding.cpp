#include "core/lowp/binary_coding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::lowp {
namespace {

constexpr int most_bits = 4;

BinaryCodedMatrix empty_matrix(std::int64_t rows, std::int64_t columns, int bits) {
  BinaryCodedMatrix m;
  m.rows = rows;
  m.columns = columns;
  m.bits = bits;
  m.signs.assign(bits * m.row_blocks() * m.column_blocks() * 16, 0u);
  m.scales.assign(bits * m.row_blocks() * 16, 0.0f);
  return m;
}

std::size_t word_of(const BinaryCodedMatrix& m, int plane, std::int64_t row, std::int64_t column) {
  return static_cast<std::size_t>(((plane * m.row_blocks() + row / 16) * m.column_blocks() + column / 32) * 16 +
                                  row % 16);
}
std::size_t scale_of(const BinaryCodedMatrix& m, int plane, std::int64_t row) {
  return static_cast<std::size_t>(plane * m.row_blocks() * 16 + row);
}

/// Signs of one row, a bit per plane, and its scales.
struct RowCode {
  std::vector<std::uint8_t> signs;
  std::array<double, most_bits> scale{};

  double sum(unsigned pattern, int bits) const {
    double s = 0;
    for (int b = 0; b < bits; ++b) s += pattern >> b & 1 ? scale[b] : -scale[b];
    return s;
  }
};

RowCode greedy(std::span<const float> w, int bits) {
  RowCode code;
  code.signs.assign(w.size(), 0);
  std::vector<double> rest(w.begin(), w.end());
  for (int b = 0; b < bits; ++b) {
    double mean = 0;
    for (double r : rest) mean += std::abs(r) / static_cast<double>(rest.size());
    code.scale[b] = mean;
    for (std::size_t k = 0; k < rest.size(); ++k) {
      if (rest[k] >= 0) code.signs[k] |= 1u << b;
      rest[k] -= rest[k] >= 0 ? mean : -mean;
    }
  }
  return code;
}

/// Scales with the least squared error for given signs; kept as they are when the planes are dependent.
void fit_scales(std::span<const float> w, int bits, RowCode& code) {
  double a[most_bits][most_bits + 1] = {};
  for (std::size_t k = 0; k < w.size(); ++k)
    for (int i = 0; i < bits; ++i) {
      const double si = code.signs[k] >> i & 1 ? 1 : -1;
      a[i][bits] += si * w[k];
      for (int j = 0; j < bits; ++j) a[i][j] += code.signs[k] >> j & 1 ? si : -si;
    }
  for (int k = 0; k < bits; ++k) {
    if (std::abs(a[k][k]) < 1e-9 * static_cast<double>(w.size())) return;
    for (int i = 0; i < bits; ++i) {
      if (i == k) continue;
      const double f = a[i][k] / a[k][k];
      for (int j = k; j <= bits; ++j) a[i][j] -= f * a[k][j];
    }
  }
  for (int i = 0; i < bits; ++i) code.scale[i] = a[i][bits] / a[i][i];
}

void fit_signs(std::span<const float> w, int bits, RowCode& code) {
  std::array<double, 1 << most_bits> sums{};
  for (unsigned p = 0; p < 1u << bits; ++p) sums[p] = code.sum(p, bits);
  for (std::size_t k = 0; k < w.size(); ++k) {
    unsigned best = code.signs[k];
    for (unsigned p = 0; p < 1u << bits; ++p)
      if (std::abs(w[k] - sums[p]) < std::abs(w[k] - sums[best])) best = p;
    code.signs[k] = static_cast<std::uint8_t>(best);
  }
}

void store_row(const RowCode& code, std::int64_t row, BinaryCodedMatrix& m) {
  for (int b = 0; b < m.bits; ++b) {
    m.scales[scale_of(m, b, row)] = static_cast<float>(code.scale[b]);
    for (std::int64_t c = 0; c < m.columns; ++c)
      m.signs[word_of(m, b, row, c)] |= static_cast<std::uint32_t>(code.signs[c] >> b & 1) << (c % 32);
  }
}

}  // namespace

std::vector<float> BinaryCodedMatrix::dense() const {
  std::vector<float> out(rows * columns);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      for (int b = 0; b < bits; ++b) {
        const float s = scales[scale_of(*this, b, r)];
        out[r * columns + c] += signs[word_of(*this, b, r, c)] >> (c % 32) & 1 ? s : -s;
      }
  return out;
}

BinaryCodedMatrix binary_coded(std::span<const float> weights, std::int64_t rows, std::int64_t columns, int bits,
                               int rounds) {
  if (bits < 1 || bits > most_bits)
    throw InputError(fmt::format("weights of {} bits; binary coding takes 1 to {}", bits, most_bits));
  if (rows < 1 || columns < 1 || rows * columns != std::ssize(weights))
    throw InternalError("binary_coded: wrong number of weights");
  auto m = empty_matrix(rows, columns, bits);
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto w = weights.subspan(r * columns, columns);
    auto code = greedy(w, bits);
    for (int k = 0; k < rounds; ++k) {
      fit_scales(w, bits, code);
      fit_signs(w, bits, code);
    }
    store_row(code, r, m);
  }
  return m;
}

BinaryCodedMatrix ternary_coded(std::span<const float> weights, std::int64_t rows, std::int64_t columns) {
  if (rows < 1 || columns < 1 || rows * columns != std::ssize(weights))
    throw InternalError("ternary_coded: wrong number of weights");
  auto m = empty_matrix(rows, columns, 2);
  double mean = 0;
  for (float w : weights) mean += std::abs(static_cast<double>(w));
  mean /= static_cast<double>(weights.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    RowCode code;
    code.scale = {0.5 * mean, 0.5 * mean};
    for (std::int64_t c = 0; c < columns; ++c) {
      const double t = mean > 0 ? std::clamp(std::rint(weights[r * columns + c] / mean), -1.0, 1.0) : 0.0;
      code.signs.push_back(t > 0 ? 3 : t < 0 ? 0 : 1);
    }
    store_row(code, r, m);
  }
  return m;
}

}  // namespace cambium::lowp
