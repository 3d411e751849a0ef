#include "plugins/pretrain/features/similar.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cambium::pretrain {

void for_each_query(const Matrix& archive, const Matrix& queries, std::int64_t first, std::int64_t last,
                    const std::function<void(std::int64_t, std::span<const double>)>& take) {
  constexpr std::int64_t block = 256;
  const Matrix known = unit_rows(archive);
  for (std::int64_t from = first; from < last; from += block) {
    std::vector<std::int64_t> rows(std::min(block, last - from));
    std::iota(rows.begin(), rows.end(), from);
    const Matrix similar = product_with_transposed(unit_rows(rows_of(queries, rows)), known);
    for (std::int64_t k = 0; k < similar.rows; ++k) take(from + k, similar.row(k));
  }
}

std::vector<std::int64_t> largest(std::span<const double> values, std::int64_t count) {
  std::vector<std::int64_t> out(values.size());
  std::iota(out.begin(), out.end(), std::int64_t{0});
  const auto n = std::min(count, std::ssize(out));
  std::partial_sort(out.begin(), out.begin() + n, out.end(), [&](std::int64_t a, std::int64_t b) {
    const double x = values[a], y = values[b];
    return x != y ? x > y : a < b;
  });
  out.resize(n);
  return out;
}

double cosine(std::span<const double> a, std::span<const double> b) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    ab += a[k] * b[k];
    aa += a[k] * a[k];
    bb += b[k] * b[k];
  }
  return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : 0.0;
}

}  // namespace cambium::pretrain
