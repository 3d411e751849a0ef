#include "plugins/graph/meshes/near_order.hpp"

#include <algorithm>

namespace cambium::graph {
namespace {

/// Breadth-first search of the component of `start`, neighbours of low degree first. `mark` distinguishes searches.
void walk(const sparse::Csr<double>& a, std::int32_t start, std::vector<std::int32_t>& mark, std::int32_t now,
          std::vector<std::int32_t>& out) {
  const auto fewer = [&](std::int32_t i, std::int32_t j) {
    return a.length(i) != a.length(j) ? a.length(i) < a.length(j) : i < j;
  };
  std::size_t next = out.size();
  out.push_back(start);
  mark[start] = now;
  for (; next < out.size(); ++next) {
    const std::size_t first = out.size();
    for (const auto j : a.columns_of(out[next]))
      if (mark[j] != now) mark[j] = now, out.push_back(j);
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), fewer);
  }
}

}  // namespace

std::vector<std::int32_t> near_order(const sparse::Csr<double>& a) {
  std::vector<std::int32_t> out, trial, mark(static_cast<std::size_t>(a.rows), 0);
  std::vector<bool> done(a.rows, false);
  std::int32_t now = 0;
  for (std::int32_t seed = 0; seed < a.rows; ++seed) {
    if (done[seed]) continue;
    std::int32_t start = seed;
    for (int turn = 0; turn < 3; ++turn) {  // the last node of a search is peripheral
      trial.clear();
      walk(a, start, mark, ++now, trial);
      if (turn < 2) start = trial.back();
    }
    for (const auto i : trial) done[i] = true;
    out.insert(out.end(), trial.begin(), trial.end());
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace cambium::graph
