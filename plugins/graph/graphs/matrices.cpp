#include "plugins/graph/graphs/matrices.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/counts.hpp"

namespace cambium::graph {

namespace {

/// Rows of nodes from `first` on with 1 added on the diagonal (self-loops).
sparse::Csr<double> with_loops(const sparse::Csr<double>& a, std::int64_t first) {
  sparse::Csr<double> out;
  out.rows = a.rows;
  out.columns = a.columns;
  out.start.reserve(a.start.size());
  out.column.reserve(a.column.size() + at(a.rows));
  out.value.reserve(a.column.size() + at(a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto node = static_cast<std::int32_t>(first + i);
    bool done = false;
    const auto add = [&](std::int32_t column, double value) {
      out.column.push_back(column);
      out.value.push_back(value);
    };
    for (auto e = a.start[at(i)]; e < a.start[at(i) + 1]; ++e) {
      const auto column = a.column[at(e)];
      if (!done && column >= node) {
        done = true;
        add(node, column == node ? a.value[at(e)] + 1.0 : 1.0);
        if (column == node) continue;
      }
      add(column, a.value[at(e)]);
    }
    if (!done) add(node, 1.0);
    out.start.push_back(std::ssize(out.column));
  }
  return out;
}

}  // namespace

std::vector<double> row_sums(const sparse::Csr<double>& a) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0.0;
    for (const double value : a.values_of(i)) sum += value;
    out.push_back(sum);
  }
  return out;
}

std::vector<double> looped_row_sums(const Graph& graph) {
  return row_sums(with_loops(graph.weights, graph.here().begin));
}

sparse::Csr<double> weighed(const Graph& graph, Weighing weighing) {
  if (weighing == Weighing::none) {
    sparse::Csr<double> nobody;
    nobody.rows = graph.weights.rows;
    nobody.columns = graph.nodes();
    nobody.start.assign(graph.weights.start.size(), 0);
    return with_loops(nobody, graph.here().begin);
  }
  const bool loops = weighing != Weighing::mean;
  auto out = loops ? with_loops(graph.weights, graph.here().begin) : graph.weights;
  if (weighing == Weighing::pattern) {
    out.value.assign(out.value.size(), 1.0);
    return out;
  }
  const auto sums = row_sums(out);
  const auto sum_of = [&](std::int32_t node) { return graph.held ? graph.held->looped_sum(node) : sums[node]; };
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (auto e = out.start[at(i)]; e < out.start[at(i) + 1]; ++e) {
      const double by = weighing == Weighing::mean ? sums[at(i)] : std::sqrt(sums[at(i)] * sum_of(out.column[at(e)]));
      out.value[at(e)] = by > 0.0 ? out.value[at(e)] / by : 0.0;
    }
  return out;
}

template <class T>
sparse::Csr<T> rows_of(const sparse::Csr<T>& a, std::int64_t first, std::int64_t last) {
  sparse::Csr<T> out;
  out.rows = last - first;
  out.columns = a.columns;
  const auto begin = a.start[at(first)], end = a.start[at(last)];
  out.start.clear();
  for (auto i = first; i <= last; ++i) out.start.push_back(a.start[at(i)] - begin);
  out.column.assign(a.column.begin() + begin, a.column.begin() + end);
  out.value.assign(a.value.begin() + begin, a.value.begin() + end);
  return out;
}

template sparse::Csr<float> rows_of(const sparse::Csr<float>&, std::int64_t, std::int64_t);
template sparse::Csr<double> rows_of(const sparse::Csr<double>&, std::int64_t, std::int64_t);

FeaturesSeen features_seen(const sparse::Csr<float>& rows) {
  FeaturesSeen out;
  for (const float x : rows.value) {
    out.counts = out.counts && x >= 0.0f && x == std::floor(x);
    out.largest = std::max(out.largest, std::abs(static_cast<double>(x)));
  }
  return out;
}

sparse::Csr<float> divided_by_row_sums(const sparse::Csr<float>& a) {
  auto out = a;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0.0;
    for (const float x : a.values_of(i)) sum += static_cast<double>(x);
    if (sum == 0.0) continue;
    for (auto e = a.start[at(i)]; e < a.start[at(i) + 1]; ++e)
      out.value[at(e)] = static_cast<float>(static_cast<double>(a.value[at(e)]) / sum);
  }
  return out;
}

}  // namespace cambium::graph
