#include "plugins/graph/graphs/matrices.hpp"

#include <cmath>

namespace cambium::graph {

namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// The weights with 1 added on the diagonal.
sparse::Csr<double> with_diagonal(const sparse::Csr<double>& a) {
  sparse::Csr<double> out;
  out.rows = out.columns = a.rows;
  out.start.reserve(a.start.size());
  out.column.reserve(a.column.size() + at(a.rows)), out.value.reserve(a.column.size() + at(a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    bool done = false;
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

std::vector<double> row_sums(const sparse::Csr<double>& a) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0.0;
    for (const double value : a.values_of(i)) sum += value;
    out.push_back(sum);
  }
  return out;
}

}  // namespace

sparse::Csr<double> weighed(const Graph& graph, Weighing weighing) {
  if (weighing == Weighing::none) {
    sparse::Csr<double> nobody;
    nobody.rows = nobody.columns = graph.nodes();
    nobody.start.assign(graph.weights.start.size(), 0);
    return with_diagonal(nobody);
  }
  auto out = weighing == Weighing::mean ? graph.weights : with_diagonal(graph.weights);
  if (weighing == Weighing::pattern) {
    out.value.assign(out.value.size(), 1.0);
    return out;
  }
  const auto sums = row_sums(out);
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
