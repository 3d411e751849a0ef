#include "plugins/submatrix/blocks/congruence.hpp"

#include <algorithm>

#include "core/base/recorder.hpp"
#include "plugins/submatrix/blocks/own_rows.hpp"
#include "plugins/submatrix/columns/block_panel.hpp"
#include "plugins/submatrix/columns/principal.hpp"

namespace cambium::submatrix {

OwnRows own_rows(const BlockColumns& matrix) {
  std::vector<double> largest(matrix.layout().blocks(), -1.0);
  for (std::size_t k = 0; k < matrix.columns().size(); ++k) {
    const BlockColumn c = matrix.at(static_cast<int>(k));
    for (std::size_t e = 0; e < c.rows.size(); ++e) {
      double& norm = largest[c.rows[e]];
      norm = std::max(norm, c.norms[e]);
    }
  }
  OwnRows out;
  for (std::size_t b = 0; b < largest.size(); ++b)
    if (largest[b] >= 0.0) out.row.push_back(static_cast<int>(b)), out.norm.push_back(largest[b]);
  return out;
}

namespace {

class Multiplier {
 public:
  Multiplier(const BlockLayout& layout, const CongruenceOptions& options)
      : options_(options), layout_(layout), x_(layout), y_(layout), result_(layout),
        wanted_(static_cast<std::size_t>(layout.blocks()), 0) {}

  /// Adds column `column` of Z M Z to `out`.
  void column(int column, const ColumnSet& z, const ColumnSet& m, BlockColumns& out) {
    first_product(column, z, m);
    std::vector<int> pattern;
    if (options_.pattern) {
      pattern = options_.pattern(column);
      for (int row : pattern) wanted_[row] = 1;
    }
    second_product(z, !options_.pattern);
    for (int row : pattern) wanted_[row] = 0;
    store(column, pattern, out);
  }

  double flops() const { return flops_; }

 private:
  /// y = M z_column.
  void first_product(int column, const ColumnSet& z, const ColumnSet& m) {
    const int width = layout_.size(column);
    x_.clear(width);
    y_.clear(width);
    const BlockColumn zc = z(column);
    for (std::size_t e = 0; e < zc.rows.size(); ++e) {
      const int k = zc.rows[e];
      x_.set(k, zc.block(e));
      const BlockColumn mk = m(k);
      for (std::size_t f = 0; f < mk.rows.size(); ++f) {
        if (mk.norms[f] * zc.norms[e] < options_.prune) continue;
        y_.add_product(mk.rows[f], mk.block(f), k, x_);
        flops_ += 2.0 * layout_.size(mk.rows[f]) * layout_.size(k) * width;
      }
    }
  }

  /// result = Z y.
  void second_product(const ColumnSet& z, bool everywhere) {
    result_.clear(y_.width());
    for (int k : y_.blocks()) {
      const double norm = y_.norm(k);
      if (norm < options_.prune) continue;
      const BlockColumn zk = z(k);
      for (std::size_t f = 0; f < zk.rows.size(); ++f) {
        if (zk.norms[f] * norm < options_.prune) continue;
        if (!everywhere && !wanted_[zk.rows[f]]) continue;
        result_.add_product(zk.rows[f], zk.block(f), k, y_);
        flops_ += 2.0 * layout_.size(zk.rows[f]) * layout_.size(k) * y_.width();
      }
    }
  }

  void store(int column, std::vector<int> rows, BlockColumns& out) {
    if (!options_.pattern) {
      rows.push_back(column);  // also where no product arose: a column is always in its own submatrix
      double dropped = 0.0;
      for (int row : result_.blocks()) {
        const double norm = row == column ? 0.0 : result_.norm(row);
        if (row != column && norm >= options_.keep)
          rows.push_back(row);
        else
          dropped += norm * norm;
      }
      if (options_.dropped) *options_.dropped = std::max(*options_.dropped, dropped);
      std::sort(rows.begin(), rows.end());
    }
    out.start_column(column);
    for (int row : rows) {
      double* block = out.add_block(row);
      if (result_.has(row)) result_.copy(row, block);
    }
  }

  const CongruenceOptions& options_;
  const BlockLayout& layout_;
  BlockPanel x_, y_, result_;
  std::vector<char> wanted_;
  double flops_ = 0.0;
};

}  // namespace

BlockColumns congruence(const BlockColumns& z, const BlockColumns& m, const ColumnRanges& ranges, const Comm& comm,
                        const CongruenceOptions& options, std::int64_t& bytes, double& flops) {
  const OwnRows middle = own_rows(z);
  // Blocks of Z that no other lifts above the threshold are not sent.
  std::vector<double> least;
  for (double norm : middle.norm) least.push_back(norm > 0.0 ? options.prune / norm : 1e30);
  const ColumnSet m_columns = fetch_columns(m, ranges, middle.row, WantedRows::all, comm, bytes, least);
  const std::vector<int> outer = rows_of(middle.row, m_columns, z.layout().blocks());
  const ColumnSet z_columns = fetch_columns(z, ranges, outer, WantedRows::all, comm, bytes);
  BlockColumns out(z.shared_layout());
  Multiplier multiplier(z.layout(), options);
  const KernelRegion region("products of sparse blocks", WorkKind::matrix);
  for (int column : z.columns()) multiplier.column(column, z_columns, m_columns, out);
  region.add({multiplier.flops()});
  out.finish();
  flops += multiplier.flops();
  return out;
}

}  // namespace cambium::submatrix
