#include "plugins/pretrain/features/cca.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/pretrain/features/similar.hpp"

namespace cambium::pretrain {

namespace {

Matrix transposed(const Matrix& a) {
  Matrix out(a.columns, a.rows);
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t c = 0; c < a.columns; ++c) out(c, r) = a(r, c);
  return out;
}

/// (x^T x / rows + ridge)^-1/2.
Matrix whitening(const Matrix& x, double ridge) {
  Matrix c = product_of_transposed(x, x);
  for (double& value : c.values) value /= static_cast<double>(x.rows);
  for (std::int64_t k = 0; k < c.rows; ++k) c(k, k) += ridge;
  std::vector<double> values(c.rows);
  symmetric_eigenvectors(static_cast<int>(c.rows), c.values.data(), values.data());
  Matrix scaled = c;
  for (std::int64_t k = 0; k < c.rows; ++k)
    for (double& value : scaled.row(k)) value /= std::sqrt(std::max(values[k], 1e-300));
  return product_of_transposed(c, scaled);
}

struct Directions {
  Matrix first, second;  ///< (columns, directions), the most correlated first
};

Directions directions(const Matrix& x, const Matrix& y, double ridge) {
  const Matrix wx = whitening(x, ridge), wy = whitening(y, ridge);
  Matrix cross = product_of_transposed(x, y);
  for (double& value : cross.values) value /= static_cast<double>(x.rows);
  const Matrix k = product(product(wx, cross), wy);
  Matrix gram = product_with_transposed(k, k);
  std::vector<double> values(gram.rows);
  symmetric_eigenvectors(static_cast<int>(gram.rows), gram.values.data(), values.data());
  const auto most = std::min(x.columns, y.columns);
  std::vector<std::int64_t> order;
  for (std::int64_t j = gram.rows - 1; j >= 0 && std::ssize(order) < most; --j) order.push_back(j);
  const Matrix left = transposed(rows_of(gram, order));  // (columns of x, directions)
  Matrix right = product_of_transposed(k, left);         // times the correlation, for the other side
  Matrix weighed = left;
  for (std::int64_t d = 0; d < std::ssize(order); ++d) {
    const double s = std::sqrt(std::max(0.0, values[order[d]]));
    for (std::int64_t r = 0; r < weighed.rows; ++r) weighed(r, d) *= s;
  }
  return {product(wx, weighed), product(wy, right)};
}

Matrix first_columns(const Matrix& a, std::int64_t count) {
  Matrix out(a.rows, std::min(count, a.columns));
  for (std::int64_t r = 0; r < a.rows; ++r) std::copy_n(a.row(r).begin(), out.columns, out.row(r).begin());
  return out;
}

double mean_variance(const Matrix& x) {
  double sum = 0.0;
  for (const double value : x.values) sum += value * value;
  return sum / static_cast<double>(x.values.size());
}

}  // namespace

double share_of_partners(const Matrix& archive, const Matrix& queries) {
  std::int64_t right = 0;
  for_each_query(archive, queries, 0, queries.rows,
                 [&](std::int64_t query, std::span<const double> s) { right += largest(s, 1).front() == query; });
  return static_cast<double>(right) / static_cast<double>(queries.rows);
}

RelevantComponents::RelevantComponents(const Matrix& changes)
    : scale_(whitening(changes, 0.1 * mean_variance(changes))) {}

CanonicalCorrelations::CanonicalCorrelations(const Matrix& first, const Matrix& second)
    : mean_first_(column_means(first)), mean_second_(column_means(second)) {
  const Matrix x = minus(first, mean_first_), y = minus(second, mean_second_);
  const auto cut = std::max<std::int64_t>(1, x.rows - x.rows / 8);
  std::vector<std::int64_t> fitted(cut), held(static_cast<std::size_t>(x.rows - cut));
  std::iota(fitted.begin(), fitted.end(), std::int64_t{0}), std::iota(held.begin(), held.end(), cut);
  double best = -1.0, best_ridge = 0.0;
  std::int64_t best_count = 1;
  const double unit = 0.5 * (mean_variance(x) + mean_variance(y));
  for (const double share : {0.03, 0.1, 0.3, 1.0}) {
    if (held.empty()) break;
    const auto found = directions(rows_of(x, fitted), rows_of(y, fitted), share * unit);
    for (const std::int64_t count : {8, 32, 64, 128}) {
      const double right = share_of_partners(product(rows_of(y, held), first_columns(found.second, count)),
                                             product(rows_of(x, held), first_columns(found.first, count)));
      if (right > best) {
        best = right;
        best_ridge = share * unit;
        best_count = count;
      }
    }
  }
  const auto found = directions(x, y, best > 0.0 ? best_ridge : 0.1 * unit);
  first_ = first_columns(found.first, best > 0.0 ? best_count : found.first.columns);
  second_ = first_columns(found.second, best > 0.0 ? best_count : found.second.columns);
}

}  // namespace cambium::pretrain
