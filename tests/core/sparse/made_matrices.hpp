#pragma once
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/parallel/random.hpp"
#include "core/sparse/csr.hpp"
#include "core/sparse/products.hpp"

namespace cambium::sparse::test {

/// A number in [-1, 1) that depends on what it is asked for alone.
inline double number(std::uint64_t seed, std::uint64_t i, std::uint64_t k) {
  return 2.0 * Random4(seed, Stream::test, i, k).uniform(0) - 1.0;
}

/// About `per_row` random entries a row; every fifth row is empty, every third has its diagonal.
inline std::vector<Entry> random_entries(std::int64_t rows, std::int64_t columns, double per_row, std::uint64_t seed) {
  std::vector<Entry> out;
  for (std::int64_t i = 0; i < rows && columns > 0; ++i) {
    if (i % 5 == 3) continue;
    const auto n = static_cast<int>(per_row * (1.0 + number(seed, static_cast<std::uint64_t>(i), 1)));
    for (int k = 0; k < n; ++k) {
      const Random4 draw(seed + 1, Stream::test, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k));
      out.push_back({static_cast<std::int32_t>(i),
                     static_cast<std::int32_t>(draw.uniform(0) * static_cast<double>(columns)),
                     2.0 * draw.uniform(1) - 1.0});
    }
    if (i % 3 == 0 && i < columns) out.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(i), 0.5});
  }
  return out;
}

inline Csr<double> random_matrix(std::int64_t rows, std::int64_t columns, double per_row, std::uint64_t seed) {
  return csr_from_entries(rows, columns, random_entries(rows, columns, per_row, seed)).matrix;
}

/// Blocks of 1 to 17 rows on the diagonal, full but for one entry in `gap`.
inline Csr<double> block_diagonal(int blocks, int gap, std::uint64_t seed) {
  std::vector<Entry> entries;
  std::int32_t first = 0;
  for (int b = 0; b < blocks; ++b) {
    const std::int32_t size = 1 + (b * 7) % 17;
    for (std::int32_t i = 0; i < size; ++i)
      for (std::int32_t j = 0; j < size; ++j)
        if (gap == 0 || (i * 5 + j * 3 + b) % gap != 0)
          entries.push_back({first + i, first + j,
                             number(seed, static_cast<std::uint64_t>(first + i), static_cast<std::uint64_t>(j))});
    first += size;
  }
  return csr_from_entries(first, first, entries).matrix;
}

/// Rows with a gap between them, filled with `mark`, so that what is written beside them shows.
template <class T>
struct Filled {
  std::vector<T> values;
  std::int64_t rows, width, stride;

  Filled(std::int64_t r, std::int64_t w, std::int64_t gap, T mark)
      : values(static_cast<std::size_t>(r * (w + gap)), mark), rows(r), width(w), stride(w + gap) {}
  Filled(std::int64_t r, std::int64_t w, std::int64_t gap, T mark, std::uint64_t seed) : Filled(r, w, gap, mark) {
    for (std::int64_t i = 0; i < r; ++i)
      for (std::int64_t k = 0; k < w; ++k)
        at(i, k) = static_cast<T>(
            static_cast<float>(number(seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k))));
  }
  T& at(std::int64_t i, std::int64_t k) { return values[i * stride + k]; }
  double number_at(std::int64_t i, std::int64_t k) const {
    const T& x = values[i * stride + k];
    if constexpr (std::is_same_v<T, double>)
      return x;
    else
      return static_cast<double>(static_cast<float>(x));
  }
  Rows<T> all() { return {values.data(), rows, width, stride}; }
};

template <class T>
double real(T x) {
  if constexpr (std::is_same_v<T, double>)
    return x;
  else
    return static_cast<double>(static_cast<float>(x));
}

/// The plain reference of out = before + A h by long sums, and the largest difference of `found` from it in units of
/// the sum of magnitudes. `skip`: leaves the last entry out, to see that the comparison can fail.
template <class T>
double product_error(const Csr<T>& a, const Filled<T>& h, const Filled<T>& found,
                     const std::type_identity_t<Filled<T>>* before, bool skip = false) {
  double worst = 0.0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < h.width; ++k) {
      long double sum = before ? before->number_at(i, k) : 0.0, size = std::abs(static_cast<double>(sum));
      for (std::size_t e = 0; e < a.length(i); ++e) {
        if (skip && i == a.rows - 1 && e + 1 == a.length(i)) continue;
        const long double term = static_cast<long double>(real(a.values_of(i)[e])) * h.number_at(a.columns_of(i)[e], k);
        sum += term;
        size += std::abs(static_cast<double>(term));
      }
      const double error = std::abs(static_cast<double>(sum) - found.number_at(i, k));
      if (!(error == 0.0)) worst = std::max(worst, error / std::max(static_cast<double>(size), 1e-300));
    }
  return worst;
}

}  // namespace cambium::sparse::test
