#include "core/sparse/predicted_load.hpp"

#include "core/base/counts.hpp"
#include "core/sparse/divisions.hpp"

namespace cambium::sparse {

namespace {

/// Entries per block: rows split at `rows`, columns at `columns`.
class BlockCounts {
 public:
  BlockCounts(const Csr<double>& a, std::span<const std::int64_t> rows, std::span<const std::int64_t> columns)
      : wide_(columns.size() - 1), counts_((rows.size() - 1) * wide_, 0) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::size_t line = at(range_of(rows, i)) * wide_;
      for (std::int32_t column : a.columns_of(i)) ++counts_[line + at(range_of(columns, column))];
    }
  }
  std::int64_t operator()(int row, int column) const { return counts_[at(row) * wide_ + at(column)]; }

 private:
  std::size_t wide_;
  std::vector<std::int64_t> counts_;
};

/// Adds a message of n values, if there are any.
void add_message(Words& words, std::int64_t n) { words.dense += n, words.bytes += 8 * n, words.messages += n > 0; }

/// Rows that each rank requires, by owning rank.
std::vector<Load> needed_rows(const Csr<double>& a, std::span<const std::int64_t> first, std::int64_t width) {
  std::vector<Load> out(first.size() - 1);
  std::vector<int> seen_by(at(a.columns), -1);
  std::vector<std::int64_t> wanted(out.size());
  for (int rank = 0; rank < std::ssize(out); ++rank) {
    const Range own{first[at(rank)], first[at(rank) + 1]};
    std::fill(wanted.begin(), wanted.end(), 0);
    for (auto e = a.start[at(own.begin)]; e < a.start[at(own.end)]; ++e) {
      const std::int32_t column = a.column[at(e)];
      if (own.holds(column) || seen_by[at(column)] == rank) continue;
      seen_by[at(column)] = rank;
      ++wanted[at(range_of(first, column))];
    }
    Load& load = out[at(rank)];
    for (std::int64_t rows : wanted) add_message(load.received, rows * width);
    load.multiplied = (a.start[at(own.end)] - a.start[at(own.begin)]) * width;
    load.rows = own.size();
  }
  return out;
}

std::vector<Load> staged_rows(const Csr<double>& a, std::span<const std::int64_t> first, int copies,
                              std::int64_t width) {
  std::vector<Load> out(first.size() - 1);
  const Ranges division(first, copies, 0);
  std::vector<std::int64_t> stages;
  for (int j = 0; j <= copies; ++j) stages.push_back(division.first[at(division.stages_begin(j))]);
  const BlockCounts entries(a, division.first, stages);
  for (int rank = 0; rank < std::ssize(out); ++rank) {
    const Ranges ranges(first, copies, rank);
    Load& load = out[at(rank)];
    for (int q = ranges.stages_begin(ranges.copy); q < ranges.stages_begin(ranges.copy + 1); ++q)
      if (q != ranges.range) add_message(load.received, ranges.of(q).size() * width);
    load.rows = ranges.of(ranges.range).size();
    const std::int64_t n = load.rows * width;
    const auto share = [&](int j) { return n * (j + 1) / copies - n * j / copies; };
    for (int j = 0; j < copies; ++j)
      if (j != ranges.copy) add_message(load.received, share(ranges.copy)), add_message(load.received, share(j));
    load.multiplied = entries(ranges.range, ranges.copy) * width;
  }
  return out;
}

std::vector<Load> grid(const Csr<double>& a, std::span<const std::int64_t> first, Scheme scheme, std::int64_t width) {
  std::vector<Load> out(first.size() - 1);
  const Grid division(first, scheme, 0);
  std::vector<std::int64_t> blocks;
  for (int i = 0; i < division.side; ++i) blocks.push_back(division.block(i).begin);
  blocks.push_back(a.rows);
  const BlockCounts entries(a, blocks, division.first);
  for (int rank = 0; rank < std::ssize(out); ++rank) {
    const Grid g(first, scheme, rank);
    const std::int64_t columns = Share{{}, g.j, g.side}.columns(width).size();
    Load& load = out[at(rank)];
    load.rows = g.piece(g.i, g.k).size();
    for (int m = 0; m < g.side; ++m) {
      const std::int64_t block = entries(g.i, m * g.layers + g.k);
      load.multiplied += block * columns;
      if (m != g.i) add_message(load.received, g.piece(m, g.k).size() * columns);
      if (m == g.j || block == 0) continue;
      load.received.entries += block, ++load.received.messages;
      load.received.bytes += 4 * g.block(g.i).size() + 12 * block;
    }
    for (int layer = 1; layer < g.layers; ++layer) add_message(load.received, load.rows * columns);
  }
  return out;
}

}  // namespace

std::vector<Load> predicted_loads(const Csr<double>& whole, std::span<const std::int64_t> first, const LayoutKeys& keys,
                                  std::int64_t width) {
  require_ranks(keys, static_cast<int>(first.size()) - 1);
  switch (keys.scheme) {
    case Scheme::needed_rows:
      return needed_rows(whole, first, width);
    case Scheme::rows:
    case Scheme::rows_1_5d:
      return staged_rows(whole, first, keys.copies, width);
    default:
      return grid(whole, first, keys.scheme, width);
  }
}

}  // namespace cambium::sparse
