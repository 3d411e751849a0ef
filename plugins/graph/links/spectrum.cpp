#include "plugins/graph/links/spectrum.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/gemm.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "core/sparse/products.hpp"
#include "plugins/graph/graphs/streams.hpp"

namespace cambium::graph {

namespace {

using Block = std::vector<double>;  ///< rows x width, row-major

/// X^T X = V diag(value) V^T: row j of `vectors` is eigenvector j, values ascending.
struct Gram {
  Block vectors, values;
  Gram(const Block& x, int rows, int width)
      : vectors(static_cast<std::size_t>(width) * static_cast<std::size_t>(width)),
        values(static_cast<std::size_t>(width)) {
    host_gemm(true, false, width, width, rows, 1.0, x.data(), width, x.data(), width, 0.0, vectors.data(), width);
    symmetric_eigenvectors(width, vectors.data(), values.data());
  }
};

/// X V diag(value)^-1/2, largest values first, without those at rounding level; returns the remaining width.
int make_orthonormal(Block& x, int rows, int width) {
  Gram gram(x, rows, width);
  const double least = 1e-14 * std::max(gram.values.back(), 1e-300);
  std::vector<double> by;
  int kept = 0;
  while (kept < width && gram.values[width - 1 - kept] > least) ++kept;
  Block turn(static_cast<std::size_t>(kept) * static_cast<std::size_t>(width));
  for (int j = 0; j < kept; ++j) {
    const auto from = static_cast<std::size_t>(width - 1 - j) * static_cast<std::size_t>(width);
    const double scale = 1.0 / std::sqrt(gram.values[width - 1 - j]);
    for (int k = 0; k < width; ++k) turn[j * width + k] = scale * gram.vectors[from + static_cast<std::size_t>(k)];
  }
  Block out(static_cast<std::size_t>(rows) * static_cast<std::size_t>(kept));
  host_gemm(false, true, rows, kept, width, 1.0, x.data(), width, turn.data(), width, 0.0, out.data(), kept);
  x = std::move(out);
  return kept;
}

/// Twice, because for widely spread values the first result is orthonormal to few digits only.
int orthonormalise(Block& x, int rows, int width) {
  return make_orthonormal(x, rows, make_orthonormal(x, rows, width));
}

Block drawn(std::int64_t rows, int width, std::uint64_t seed) {
  Block out;
  for (std::int64_t i = 0; i < rows; ++i)
    for (int k = 0; k < width; ++k)
      out.push_back(Random4(seed, spectrum_stream, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k / 4))
                        .normal(k % 4));
  return out;
}

/// Fixes the signs of column pairs by the entry of `right` with the largest magnitude.
void fix_signs(Spectrum& s) {
  const auto width = static_cast<std::size_t>(s.count);
  for (std::size_t j = 0; j < width; ++j) {
    double largest = 0.0;
    for (std::size_t k = j; k < s.right.size(); k += width)
      if (std::abs(s.right[k]) > std::abs(largest) * (1.0 + 1e-9)) largest = s.right[k];
    if (largest >= 0.0) continue;
    for (std::size_t k = j; k < s.right.size(); k += width) s.right[k] = -s.right[k];
    for (std::size_t k = j; k < s.left.size(); k += width) s.left[k] = -s.left[k];
  }
}

}  // namespace

Spectrum leading_spectrum(const sparse::Csr<double>& matrix, std::int64_t count, int steps, std::uint64_t seed) {
  const auto rows = static_cast<int>(matrix.rows), columns = static_cast<int>(matrix.columns);
  const auto most = std::min<std::int64_t>(rows, columns);
  int width = static_cast<int>(std::min(count + 20, most));
  const auto down = sparse::transposed(matrix);
  Block q = drawn(columns, width, seed), up;
  const auto product = [&](const sparse::Csr<double>& a, const Block& in, Block& out) {
    out.resize(a.rows * width);
    sparse::multiply(a, {in.data(), a.columns, width, width}, {out.data(), a.rows, width, width});
  };
  width = orthonormalise(q, columns, width);
  for (int step = 0; step < steps; ++step) {
    product(matrix, q, up);
    product(down, up, q);
    width = orthonormalise(q, columns, width);
  }
  product(matrix, q, up);
  const Gram gram(up, rows, width);
  Spectrum out;
  out.count = std::min<std::int64_t>(count, width);
  const auto kept = static_cast<int>(out.count);
  Block turn;
  for (int j = 0; j < kept; ++j) {
    const auto row = gram.vectors.begin() + static_cast<std::ptrdiff_t>(width - 1 - j) * width;
    turn.insert(turn.end(), row, row + width);
    out.values.push_back(std::sqrt(std::max(0.0, gram.values[width - 1 - j])));
  }
  out.right.resize(static_cast<std::size_t>(columns) * static_cast<std::size_t>(kept));
  out.left.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(kept));
  host_gemm(false, true, columns, kept, width, 1.0, q.data(), width, turn.data(), width, 0.0, out.right.data(), kept);
  host_gemm(false, true, rows, kept, width, 1.0, up.data(), width, turn.data(), width, 0.0, out.left.data(), kept);
  for (std::size_t k = 0; k < out.left.size(); ++k) {
    const double value = out.values[k % static_cast<std::size_t>(kept)];
    out.left[k] = value > 0.0 ? out.left[k] / value : 0.0;
  }
  fix_signs(out);
  return out;
}

}  // namespace cambium::graph
