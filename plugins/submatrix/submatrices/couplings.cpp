#include "plugins/submatrix/submatrices/couplings.hpp"

#include <algorithm>

#include "plugins/submatrix/submatrices/ends.hpp"

namespace cambium::submatrix {

double strongest(const BlockColumn& coupling, int row) {
  double out = 0.0;
  for (std::size_t e = 0; e < coupling.rows.size(); ++e)
    if (coupling.rows[e] != row) out = std::max(out, coupling.norms[e]);
  return out;
}

void Couplings::note() {
  if (job_.system.bonds || job_.options.make_solver || job_.options.eps <= 0.0) return;
  norms_ = norms_of(patterns_.matrix(), layout_of_blocks(*job_.system.layout));
  largest_ = 0.0;
  for (int column : norms_->columns()) largest_ = std::max(largest_, strongest(norms_->column(column), column));
  largest_ = job_.context.comm.max(largest_);
}

ColumnSet Couplings::of(const std::vector<int>& columns) const {
  return fetch_columns(*norms_, job_.system.ranges, columns, WantedRows::all, job_.context.comm, job_.result.bytes);
}

std::vector<double> Couplings::outside() const {
  const auto& groups = patterns_.groups();
  const double eps = job_.options.eps;
  std::vector<double> out(groups.size(), 0.0);
  if (!known()) return out;
  std::vector<int> rows;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const PrincipalIndex index = patterns_.of_group(g, eps);
    rows.insert(rows.end(), index.blocks.begin(), index.blocks.end());
  }
  const ColumnSet coupling = of(unique(std::move(rows)));
  std::vector<double> largest(job_.blocks(), 0.0);
  for (std::size_t g = 0; g < groups.size() && largest_ > 0.0; ++g) {
    std::vector<int> reached;
    for (int column : groups[g]) {
      const BlockColumn c = coupling(column);
      for (std::size_t e = 0; e < c.rows.size(); ++e) {
        if (c.rows[e] == column || c.norms[e] < eps) continue;
        const BlockColumn next = coupling(c.rows[e]);
        for (std::size_t k = 0; k < next.rows.size(); ++k) {
          double& value = largest[next.rows[k]];
          if (value == 0.0) reached.push_back(next.rows[k]);
          value = std::max(value, c.norms[e] * next.norms[k] / largest_);
        }
      }
    }
    for (int block : patterns_.of_group(g, eps).blocks) largest[block] = 0.0;
    for (int row : reached) out[g] += largest[row] * largest[row];
    for (int row : reached) largest[row] = 0.0;
  }
  return out;
}

}  // namespace cambium::submatrix
