#include "plugins/submatrix/submatrices/ends.hpp"

#include <algorithm>

namespace cambium::submatrix {

std::vector<int> unique(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

double squares_below(const BlockColumn& c, int column, double eps) {
  double out = 0.0;
  for (std::size_t e = 0; e < c.rows.size(); ++e)
    if (c.norms[e] < eps && c.rows[e] != column) out += c.norms[e] * c.norms[e];
  return out;
}

double least_kept(const BlockColumn& c, int column, double eps) {
  double out = 1e300;
  for (std::size_t e = 0; e < c.rows.size(); ++e)
    if (c.norms[e] >= eps && c.rows[e] != column) out = std::min(out, c.norms[e]);
  return out;
}

double squares_across(const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                      double eps, std::vector<char>& inside) {
  for (int block : index.blocks) inside[block] = 1;
  double out = 0.0;
  for (std::size_t p = 0; p < norms.size(); ++p) {
    const BlockColumn c = coupling(index.blocks[p]);
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (c.norms[e] >= eps && !inside[c.rows[e]]) out += norms[p] * norms[p] * c.norms[e] * c.norms[e];
  }
  for (int block : index.blocks) inside[block] = 0;
  return out;
}

std::shared_ptr<const BlockLayout> layout_of_blocks(const BlockLayout& layout) {
  return std::make_shared<const BlockLayout>(std::vector<int>(layout.blocks(), 1));
}

BlockColumns norms_of(const BlockColumns& matrix, const std::shared_ptr<const BlockLayout>& blocks) {
  BlockColumns out(blocks);
  for (int column : matrix.columns()) {
    out.start_column(column);
    const BlockColumn c = matrix.column(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e) out.add_block(c.rows[e], &c.norms[e]);
  }
  out.finish();
  return out;
}

}  // namespace cambium::submatrix
