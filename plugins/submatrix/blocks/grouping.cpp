#include "plugins/submatrix/blocks/grouping.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/key_error.hpp"
#include "core/parallel/gather.hpp"

namespace cambium::submatrix {

BlockPattern gathered_pattern(const BlockColumns& matrix, double eps, const Comm& comm) {
  std::vector<int> mine;  // column, number of rows, rows
  for (int column : matrix.columns()) {
    const BlockColumn c = matrix.column(column);
    mine.push_back(column);
    mine.push_back(0);
    const std::size_t count = mine.size() - 1;
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (c.norms[e] >= eps || c.rows[e] == column) mine.push_back(c.rows[e]), ++mine[count];
  }
  const auto all = all_gather(mine, comm);
  BlockPattern out(static_cast<std::size_t>(matrix.layout().blocks()));
  for (std::size_t at = 0; at < all.size();) {
    auto& rows = out[all[at]];
    const auto count = static_cast<std::ptrdiff_t>(all[at + 1]);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at) + 2;
    rows.assign(begin, begin + count);
    at += 2 + static_cast<std::size_t>(count);
  }
  return out;
}

namespace {

/// Sorts columns and groups and adds up the cost.
Grouping finished(std::vector<std::vector<int>> groups, std::string by, const BlockPattern& pattern,
                  const BlockLayout& layout, const SubmatrixCost& cost) {
  Grouping out;
  out.by = std::move(by);
  const auto mean = [](const std::vector<int>& g) {
    return std::accumulate(g.begin(), g.end(), 0.0) / static_cast<double>(g.size());
  };
  for (auto& g : groups) std::sort(g.begin(), g.end());
  std::sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) {
    return std::pair(mean(a), a.front()) < std::pair(mean(b), b.front());
  });
  std::vector<int> seen(pattern.size(), -1);
  double total = 0.0, single = 0.0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double dimension = 0.0, width = 0.0;
    for (int column : groups[g]) {
      double own = 0.0;
      for (int row : pattern[column]) {
        own += layout.size(row);
        if (std::exchange(seen[row], static_cast<int>(g)) != static_cast<int>(g)) dimension += layout.size(row);
      }
      width += layout.size(column);
      single += cost(own, layout.size(column));
    }
    out.cost.push_back(cost(dimension, width));
    total += out.cost.back();
  }
  out.groups = std::move(groups);
  out.ratio = total / single;
  return out;
}

std::vector<std::vector<int>> single_columns(std::size_t columns) {
  std::vector<std::vector<int>> out(columns);
  for (std::size_t c = 0; c < columns; ++c) out[c] = {static_cast<int>(c)};
  return out;
}

void bisect(std::vector<int>& columns, const BlockCentres& centres, std::size_t from, std::size_t to, std::size_t parts,
            std::vector<std::vector<int>>& out) {
  const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(from),
             end = columns.begin() + static_cast<std::ptrdiff_t>(to);
  if (parts <= 1) {
    out.emplace_back(begin, end);
    return;
  }
  std::size_t axis = 0;
  double longest = -1.0;
  for (std::size_t k = 0; k < 3; ++k) {
    double low = 1e300, high = -1e300;
    for (auto c = begin; c != end; ++c) {
      const double x = centres[*c][k];
      low = std::min(low, x);
      high = std::max(high, x);
    }
    if (high - low > longest) {
      longest = high - low;
      axis = k;
    }
  }
  std::sort(begin, end, [&](int a, int b) { return std::pair(centres[a][axis], a) < std::pair(centres[b][axis], b); });
  const std::size_t left = parts / 2, middle = from + (to - from) * left / parts;
  bisect(columns, centres, from, middle, left, out);
  bisect(columns, centres, middle, to, parts - left, out);
}

}  // namespace

std::vector<std::vector<int>> bisected_groups(const BlockCentres& centres, int size) {
  std::vector<int> columns(centres.size());
  std::iota(columns.begin(), columns.end(), 0);
  std::vector<std::vector<int>> out;
  const auto most = static_cast<std::size_t>(std::max(size, 1));
  bisect(columns, centres, 0, columns.size(), (columns.size() + most - 1) / most, out);
  return out;
}

Grouping choose_groups(const BlockPattern& pattern, const BlockLayout& layout, const BlockCentres& centres,
                       const GroupOptions& options, const SubmatrixCost& cost) {
  const bool automatic = options.by == GroupBy::automatic;
  if (options.by == GroupBy::space && centres.size() != pattern.size())
    throw KeyError(
        "density_matrix.groups.space", "groups.by",
        "groups by space need the positions of the atoms (coordinates_angstrom and cell_angstrom in the HDF5 file), "
        "and there are none; choose by: graph, which needs the matrices only");
  Grouping best;
  const auto consider = [&](std::vector<std::vector<int>> groups, const char* by) {
    Grouping next = finished(std::move(groups), by, pattern, layout, cost);
    if (best.groups.empty() || next.ratio < best.ratio) best = std::move(next);
  };
  if (automatic || options.by == GroupBy::none) consider(single_columns(pattern.size()), "none");
  if (automatic || options.by == GroupBy::graph) consider(merged_groups(pattern, layout, options.size, cost), "graph");
  if (options.by == GroupBy::space || (automatic && centres.size() == pattern.size())) {
    if (options.size > 0)
      consider(bisected_groups(centres, options.size), "space");
    else
      for (int size : {2, 3, 4, 6, 8, 12, 16, 24, 32}) consider(bisected_groups(centres, size), "space");
  }
  return best;
}

}  // namespace cambium::submatrix
