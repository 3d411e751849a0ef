#pragma once
// Matrices for the tests of divided products, plain answers, and the words that the published formulas allow.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/sparse/divided_product.hpp"

namespace cambium::sparse::test {

inline std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// n x n: about `each` entries a row; every fifth node has none in its row and column, every seventh a loop.
inline Csr<double> random_matrix(std::int64_t n, int each, bool symmetric, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<std::int32_t> node(0, static_cast<std::int32_t>(n - 1));
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  std::vector<Entry> entries;
  const auto add = [&](std::int32_t row, std::int32_t column, double value) {
    if (seen.insert({row, column}).second) entries.push_back({row, column, value});
  };
  for (std::int32_t row = 0; row < n; ++row) {
    if (row % 5 == 3) continue;
    for (int k = 0; k < each; ++k) {
      const std::int32_t column = node(engine);
      const double value = number(engine);
      if (column % 5 == 3 || seen.count({row, column})) continue;
      add(row, column, value);
      if (symmetric) add(column, row, value);
    }
    if (row % 7 == 0) add(row, row, number(engine));
  }
  return csr_from_entries(n, n, entries).matrix;
}

/// Row-major numbers; the same on every rank.
template <class T>
std::vector<T> random_numbers(std::int64_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  std::vector<T> out(at(n));
  for (T& x : out) x = static_cast<T>(number(engine));
  return out;
}

/// Ranges of random sizes; some are empty when there are several ranks.
inline std::vector<std::int64_t> random_ranges(std::int64_t n, int ranks, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<std::int64_t> cut(0, n);
  std::vector<std::int64_t> out{0, n};
  for (int k = 1; k < ranks; ++k) out.push_back(k == 2 ? out.back() : cut(engine));
  std::sort(out.begin(), out.end());
  return out;
}

/// A h, or A^T h, entry by entry in double.
inline std::vector<double> plain_product(const Csr<double>& a, const std::vector<double>& h, std::int64_t width,
                                         bool transposed) {
  std::vector<double> out(at(a.rows * width), 0.0);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::size_t e = 0; e < a.length(i); ++e)
      for (std::int64_t k = 0; k < width; ++k) {
        const std::int64_t j = a.columns_of(i)[e], to = transposed ? j : i, from = transposed ? i : j;
        out[at(to * width + k)] += a.values_of(i)[e] * h[at(from * width + k)];
      }
  return out;
}

/// A rank's part of a matrix of `width` columns, with one more number behind each row that must stay as it is.
template <class T>
struct Part {
  Range rows, columns;
  std::vector<T> numbers;
  static constexpr T untouched = T(-77);

  Part(const Share& share, std::int64_t width)
      : rows(share.rows), columns(share.columns(width)), numbers(at(rows.size() * (columns.size() + 1)), untouched) {}
  template <class V>
  Part(const Share& share, std::int64_t width, const std::vector<V>& whole) : Part(share, width) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t k = columns.begin; k < columns.end; ++k)
        view().row(i - rows.begin)[k - columns.begin] = static_cast<T>(whole[at(i * width + k)]);
  }
  Rows<T> view() { return {numbers.data(), rows.size(), columns.size(), columns.size() + 1}; }
  /// Largest difference to a whole matrix.
  double error(const std::vector<double>& whole, std::int64_t width) {
    double worst = 0.0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const T* row = view().row(i - rows.begin);
      for (std::int64_t k = columns.begin; k < columns.end; ++k)
        worst = std::max(worst, std::abs(static_cast<double>(row[k - columns.begin]) - whole[at(i * width + k)]));
      if (row[columns.size()] != untouched) worst = 1e9;
    }
    return worst;
  }
};

/// All layouts that this number of ranks allows.
inline std::vector<LayoutKeys> all_layouts(int ranks) {
  std::vector<LayoutKeys> out;
  for (bool ordered : {false, true})
    for (Scheme scheme : {Scheme::rows, Scheme::needed_rows})
      out.push_back({scheme, 1, lowp::WireCodec::none, ordered});
  for (const LayoutKeys& keys : {LayoutKeys{Scheme::rows_1_5d, 1}, LayoutKeys{Scheme::rows_1_5d, 2},
                                 LayoutKeys{Scheme::grid_2d}, LayoutKeys{Scheme::grid_3d}})
    if (fits(keys, ranks)) out.push_back(keys);
  return out;
}

inline std::string text_of(const LayoutKeys& keys) {
  return name_of(keys.scheme) + (keys.copies > 1 ? " copies " + std::to_string(keys.copies) : "") +
         (keys.ordered ? " ordered" : "");
}

/// Numbers and entries that a rank receives in one product, from the whole matrix (its transpose for A^T h).
Words expected_words(const Csr<double>& a, const std::vector<std::int64_t>& first, const LayoutKeys& keys, int rank,
                     std::int64_t width);

}  // namespace cambium::sparse::test
