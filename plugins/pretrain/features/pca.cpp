#include "plugins/pretrain/features/pca.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/symmetric_eigen.hpp"

namespace cambium::pretrain {

PrincipalComponents::PrincipalComponents(const Matrix& rows, std::int64_t count) : mean_(column_means(rows)) {
  constexpr std::int64_t most = 2000;
  Matrix x = minus(rows, mean_);
  if (x.columns > most && x.rows > most) {
    std::vector<std::int64_t> some;
    for (std::int64_t k = 0; k < most; ++k) some.push_back(k * x.rows / most);
    x = rows_of(x, some);
  }
  const bool by_rows = x.rows < x.columns;
  Matrix gram = by_rows ? product_with_transposed(x, x) : product_of_transposed(x, x);
  const auto n = gram.rows;
  std::vector<double> values(n);
  symmetric_eigenvectors(static_cast<int>(n), gram.values.data(), values.data());
  std::vector<std::int64_t> kept;  // eigenvalues rise
  for (std::int64_t k = n - 1; k >= 0 && std::ssize(kept) < count; --k)
    if (values[k] > 1e-10 * values.back()) kept.push_back(k);
  directions_ = rows_of(gram, kept);
  if (by_rows) directions_ = unit_rows(product(directions_, x));
}

Matrix PrincipalComponents::operator()(const Matrix& rows) const {
  return product_with_transposed(minus(rows, mean_), directions_);
}

}  // namespace cambium::pretrain
