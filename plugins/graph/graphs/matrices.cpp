#include "plugins/graph/graphs/matrices.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::graph {

namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// The weights with 1 added on the diagonal of rows [first, last).
sparse::Csr<double> with_diagonal(const sparse::Csr<double>& a, std::int64_t first, std::int64_t last) {
  sparse::Csr<double> out;
  out.rows = out.columns = a.rows;
  out.start.reserve(a.start.size());
  out.column.reserve(a.column.size() + at(a.rows)), out.value.reserve(a.column.size() + at(a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    bool done = i < first || i >= last;
    const auto add = [&](std::int32_t column, double value) {
      out.column.push_back(column), out.value.push_back(value);
    };
    for (auto e = a.start[at(i)]; e < a.start[at(i) + 1]; ++e) {
      const auto column = a.column[at(e)];
      if (!done && column >= i) {
        done = true;
        add(static_cast<std::int32_t>(i), column == i ? a.value[at(e)] + 1.0 : 1.0);
        if (column == i) continue;
      }
      add(column, a.value[at(e)]);
    }
    if (!done) add(static_cast<std::int32_t>(i), 1.0);
    out.start.push_back(std::ssize(out.column));
  }
  return out;
}

sparse::Csr<double> with_loops(const sparse::Csr<double>& a, const Graph& graph) {
  return with_diagonal(a, graph.held ? graph.held->first : 0, graph.held ? graph.held->last : graph.nodes());
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

std::vector<double> looped_row_sums(const Graph& graph) { return row_sums(with_loops(graph.weights, graph)); }

sparse::Csr<double> weighed(const Graph& graph, Weighing weighing) {
  if (weighing == Weighing::none) {
    sparse::Csr<double> nobody;
    nobody.rows = nobody.columns = graph.nodes();
    nobody.start.assign(graph.weights.start.size(), 0);
    return with_loops(nobody, graph);
  }
  const bool loops = weighing != Weighing::mean;
  auto out = loops ? with_loops(graph.weights, graph) : graph.weights;
  if (weighing == Weighing::pattern) {
    out.value.assign(out.value.size(), 1.0);
    return out;
  }
  const auto sums = !graph.held ? row_sums(out) : loops ? graph.held->looped_sums : graph.held->sums;
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (auto e = out.start[at(i)]; e < out.start[at(i) + 1]; ++e) {
      const double by = weighing == Weighing::mean ? sums[at(i)] : std::sqrt(sums[at(i)] * sums[at(out.column[at(e)])]);
      out.value[at(e)] = by > 0.0 ? out.value[at(e)] / by : 0.0;
    }
  return out;
}

template <class T>
sparse::Csr<T> rows_of(const sparse::Csr<T>& a, std::int64_t first, std::int64_t last) {
  sparse::Csr<T> out;
  out.rows = last - first, out.columns = a.columns;
  const auto begin = a.start[at(first)], end = a.start[at(last)];
  out.start.clear();
  for (auto i = first; i <= last; ++i) out.start.push_back(a.start[at(i)] - begin);
  out.column.assign(a.column.begin() + begin, a.column.begin() + end);
  out.value.assign(a.value.begin() + begin, a.value.begin() + end);
  return out;
}

template <class T>
sparse::Csr<T> with_rows(const sparse::Csr<T>& a, std::int64_t first, std::int64_t last) {
  auto out = rows_of(a, first, last);
  const auto begin = a.start[at(first)], end = a.start[at(last)];
  out.rows = a.rows, out.start = a.start;
  for (auto& place : out.start) place = std::clamp(place, begin, end) - begin;
  return out;
}

template sparse::Csr<float> with_rows(const sparse::Csr<float>&, std::int64_t, std::int64_t);
template sparse::Csr<double> with_rows(const sparse::Csr<double>&, std::int64_t, std::int64_t);
template sparse::Csr<float> rows_of(const sparse::Csr<float>&, std::int64_t, std::int64_t);
template sparse::Csr<double> rows_of(const sparse::Csr<double>&, std::int64_t, std::int64_t);

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
