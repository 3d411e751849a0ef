// The formulas of CAGNET (Tripathy, Yelick, Buluc, SC20) for ranges of any sizes.
#include "tests/core/sparse/divided_samples.hpp"

namespace cambium::sparse::test {

static std::int64_t needed(const Csr<double>& a, Range rows) {
  std::set<std::int32_t> columns;
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    for (std::int32_t column : a.columns_of(i))
      if (!rows.holds(column)) columns.insert(column);
  return std::ssize(columns);
}

static std::int64_t entries_in(const Csr<double>& a, Range rows, Range columns) {
  std::int64_t sum = 0;
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    for (std::int32_t column : a.columns_of(i)) sum += columns.holds(column);
  return sum;
}

/// P/c ranges; rank i c + j multiplies with ranges [P/c j/c, P/c (j + 1)/c), then c ranks add |range i| f numbers.
static Words copied_rows(const std::vector<std::int64_t>& first, int c, int rank, std::int64_t width) {
  const int ranks = static_cast<int>(first.size()) - 1, ranges = ranks / c, i = rank / c, j = rank % c;
  const auto size = [&](int q) { return first[at((q + 1) * c)] - first[at(q * c)]; };
  Words out;
  for (int q = ranges * j / c; q < ranges * (j + 1) / c; ++q)
    if (q != i) out.dense += size(q) * width;
  const std::int64_t n = size(i) * width, share = n * (j + 1) / c - n * j / c;
  out.dense += (c - 1) * share + (n - share);
  return out;
}

static Words grid(const Csr<double>& a, const std::vector<std::int64_t>& first, bool layers, int rank,
                  std::int64_t width) {
  const int ranks = static_cast<int>(first.size()) - 1;
  int q = 1;
  while ((layers ? q * q * q : q * q) < ranks) ++q;
  const int l = layers ? q : 1, j = rank % q, k = rank / q % l, i = rank / q / l;
  const auto piece = [&](int block, int layer) {
    return Range{first[at((block * l + layer) * q)], first[at((block * l + layer + 1) * q)]};
  };
  const Range rows{first[at(i * l * q)], first[at((i + 1) * l * q)]};
  const std::int64_t columns = width * (j + 1) / q - width * j / q;
  Words out;
  for (int m = 0; m < q; ++m) {
    if (m != i) out.dense += piece(m, k).size() * columns;
    if (m != j) out.entries += entries_in(a, rows, piece(m, k));
  }
  out.dense += (l - 1) * piece(i, k).size() * columns;
  return out;
}

Words expected_words(const Csr<double>& a, const std::vector<std::int64_t>& first, const LayoutKeys& keys, int rank,
                     std::int64_t width) {
  const Range own{first[at(rank)], first[at(rank) + 1]};
  Words out;
  switch (keys.scheme) {
    case Scheme::rows:
      out.dense = (a.rows - own.size()) * width;
      return out;
    case Scheme::needed_rows:
      out.dense = needed(a, own) * width;
      return out;
    case Scheme::rows_1_5d:
      return copied_rows(first, keys.copies, rank, width);
    default:
      return grid(a, first, keys.scheme == Scheme::grid_3d, rank, width);
  }
}

}  // namespace cambium::sparse::test
