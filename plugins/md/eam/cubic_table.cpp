#include "plugins/md/eam/cubic_table.hpp"

namespace cambium::md {

std::vector<double> hermite_rows(std::span<const double> f) {
  const std::size_t n = f.size();  // at least 5
  std::vector<double> slope(n);    // by the position within an interval
  for (std::size_t k = 2; k + 2 < n; ++k) slope[k] = ((f[k - 2] - f[k + 2]) + 8.0 * (f[k + 1] - f[k - 1])) / 12.0;
  slope[0] = f[1] - f[0];
  slope[1] = 0.5 * (f[2] - f[0]);
  slope[n - 2] = 0.5 * (f[n - 1] - f[n - 3]);
  slope[n - 1] = f[n - 1] - f[n - 2];
  std::vector<double> rows;
  rows.reserve(4 * (n - 1));
  for (std::size_t k = 0; k + 1 < n; ++k) {
    const double rise = f[k + 1] - f[k];
    rows.insert(rows.end(),
                {f[k], slope[k], 3.0 * rise - 2.0 * slope[k] - slope[k + 1], slope[k] + slope[k + 1] - 2.0 * rise});
  }
  return rows;
}

}  // namespace cambium::md
