#include "plugins/submatrix/blocks/symmetrise.hpp"

#include <algorithm>

#include "plugins/submatrix/columns/principal.hpp"

namespace cambium::submatrix {

BlockColumns symmetrised(const BlockColumns& matrix, const ColumnRanges& ranges, const Comm& comm,
                         std::int64_t& bytes) {
  const ColumnSet set = fetch_columns(matrix, ranges, columns_needed(matrix, 0.0), WantedRows::owned, comm, bytes);
  BlockColumns out(matrix.shared_layout());
  const BlockLayout& layout = matrix.layout();
  for (int column : matrix.columns()) {
    out.start_column(column);
    const BlockColumn c = matrix.column(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e) {
      const int row = c.rows[e], m = layout.size(row), n = layout.size(column);
      const BlockColumn other = set(row);
      const auto found = std::lower_bound(other.rows.begin(), other.rows.end(), column);
      const double* mirror = found != other.rows.end() && *found == column
                                 ? other.block(static_cast<std::size_t>(found - other.rows.begin()))
                                 : nullptr;
      const double* block = c.block(e);
      double* half = out.add_block(row);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
          half[i * n + j] = 0.5 * (block[i * n + j] + (mirror ? mirror[j * m + i] : block[i * n + j]));
    }
  }
  out.finish();
  return out;
}

}  // namespace cambium::submatrix
