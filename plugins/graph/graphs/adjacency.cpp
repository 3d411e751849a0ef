#include "plugins/graph/graphs/adjacency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::graph {

namespace {

/// Merges a row of both, in ascending order of columns.
class Merged {
 public:
  Merged(const sparse::Csr<double>& given, const sparse::Csr<double>& turned) : given_(given), turned_(turned) {}

  /// Calls add(column, weight given, weight turned); NaN if an edge was not given in that direction.
  template <class F>
  void row(std::int64_t i, const F& add) const {
    const auto a = given_.columns_of(i), b = turned_.columns_of(i);
    const auto x = given_.values_of(i), y = turned_.values_of(i);
    for (std::size_t p = 0, q = 0; p < a.size() || q < b.size();) {
      const bool first = q == b.size() || (p < a.size() && a[p] <= b[q]);
      const bool second = p == a.size() || (q < b.size() && b[q] <= a[p]);
      add(first ? a[p] : b[q], first ? x[p] : NAN, second ? y[q] : NAN);
      p += first ? 1 : 0;
      q += second ? 1 : 0;
    }
  }

 private:
  const sparse::Csr<double>&given_, &turned_;
};

}  // namespace

Adjacency adjacency_of(const AdjacencyShape& shape, std::span<const sparse::Entry> given,
                       std::span<const sparse::Entry> turned, const std::string& source, const Numbering& numbering) {
  constexpr double same = 1e-9;  // precision of weights in text files
  auto first = sparse::csr_from_entries(shape.rows, shape.columns, given);
  Adjacency out{std::move(first.matrix), first.duplicates, 0};
  if (!turned.empty()) {
    const auto second = sparse::csr_from_entries(shape.rows, shape.columns, turned).matrix;
    sparse::Csr<double> both;
    both.rows = shape.rows;
    both.columns = shape.columns;
    both.start.reserve(out.weights.start.size());
    const Merged merged(out.weights, second);
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      merged.row(i, [&](std::int32_t column, double x, double y) {
        const bool twice = !std::isnan(x) && !std::isnan(y);
        out.mutual += twice ? 1 : 0;
        if (twice && shape.weighted && std::abs(x - y) > same * std::max(x, y))
          throw InputError(fmt::format(
              "{}: the edge between nodes {} and {} has the weight {:g} in one direction and {:g} in the other; give "
              "it one weight, or make the graph directed",
              source, numbering.number(column), numbering.number(shape.first + i), x, y));
        both.column.push_back(column);
        both.value.push_back(twice ? 0.5 * (x + y) : std::isnan(x) ? y : x);
      });
      both.start.push_back(std::ssize(both.column));
    }
    out.weights = std::move(both);
  }
  if (!shape.weighted) out.weights.value.assign(out.weights.value.size(), 1.0);
  return out;
}

}  // namespace cambium::graph
