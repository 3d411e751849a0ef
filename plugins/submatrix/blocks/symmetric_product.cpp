#include "plugins/submatrix/blocks/symmetric_product.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "core/base/recorder.hpp"
#include "plugins/submatrix/blocks/own_rows.hpp"
#include "plugins/submatrix/columns/block_panel.hpp"

namespace cambium::submatrix {

namespace {

/// Selects one of two mirror images, by parity, so that every column has about half of its blocks.
bool is_computed(int row, int column) { return row == column || (row < column) == ((row + column) % 2 == 0); }

/// The blocks of A B that is_computed() names, norm >= keep, and the diagonal ones.
class HalfProduct {
 public:
  HalfProduct(const BlockLayout& layout, const ProductOptions& options)
      : options_(options), layout_(layout), x_(layout), y_(layout) {}

  void column(int column, const ColumnSet& a, const BlockColumn& b, BlockColumns& out) {
    const int width = layout_.size(column);
    x_.clear(width);
    y_.clear(width);
    for (std::size_t e = 0; e < b.rows.size(); ++e) {
      const int k = b.rows[e];
      x_.set(k, b.block(e));
      const BlockColumn ak = a(k);
      for (std::size_t f = 0; f < ak.rows.size(); ++f) {
        if (!is_computed(ak.rows[f], column) || ak.norms[f] * b.norms[e] < options_.prune) continue;
        y_.add_product(ak.rows[f], ak.block(f), k, x_);
        flops_ += 2.0 * layout_.size(ak.rows[f]) * layout_.size(k) * width;
      }
    }
    std::vector<int> rows{column};
    for (int row : y_.blocks())
      if (row != column && y_.norm(row) >= options_.keep) rows.push_back(row);
    std::sort(rows.begin(), rows.end());
    out.start_column(column);
    for (int row : rows) {
      double* block = out.add_block(row);
      if (y_.has(row)) y_.copy(row, block);
    }
  }
  double flops() const { return flops_; }

 private:
  const ProductOptions& options_;
  const BlockLayout& layout_;
  BlockPanel x_, y_;
  double flops_ = 0.0;
};

/// A block as it is, or the mirror image of one.
struct Part {
  int row;
  const double* block;
  bool mirrored;
};

/// Both halves of a symmetric matrix of which each rank has the computed half of its columns.
BlockColumns whole(const BlockColumns& half, const ColumnRanges& ranges, const Comm& comm, std::int64_t& bytes) {
  const BlockLayout& layout = half.layout();
  std::vector<int> all(static_cast<std::size_t>(layout.blocks()));
  std::iota(all.begin(), all.end(), 0);
  const ColumnSet set = fetch_columns(half, ranges, all, WantedRows::owned, comm, bytes);
  const int first = ranges.begin(comm.rank()), last = ranges.end(comm.rank());
  std::vector<std::vector<Part>> parts(static_cast<std::size_t>(last - first));
  for (int column : all) {
    const BlockColumn c = set(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e) {
      const int row = c.rows[e];
      if (row != column && row >= first && row < last) parts[row - first].push_back({column, c.block(e), true});
      if (column >= first && column < last) parts[column - first].push_back({row, c.block(e), false});
    }
  }
  BlockColumns out(half.shared_layout());
  for (int column = first; column < last; ++column) {
    auto& own = parts[column - first];
    std::sort(own.begin(), own.end(), [](const Part& a, const Part& b) { return a.row < b.row; });
    out.start_column(column);
    const int n = layout.size(column);
    for (const Part& part : own) {
      double* to = out.add_block(part.row);
      const int m = layout.size(part.row);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) to[i * n + j] = part.mirrored ? part.block[j * m + i] : part.block[i * n + j];
    }
  }
  out.finish();
  return out;
}

}  // namespace

BlockColumns symmetric_product(const BlockColumns& a, const BlockColumns& b, const ColumnRanges& ranges,
                               const Comm& comm, const ProductOptions& options, std::int64_t& bytes, double& flops) {
  const OwnRows middle = own_rows(b);
  std::vector<double> least;  // blocks of A that no block of B lifts above the threshold are not sent
  for (double norm : middle.norm) least.push_back(norm > 0.0 ? options.prune / norm : 1e30);
  const ColumnSet columns = fetch_columns(a, ranges, middle.row, WantedRows::all, comm, bytes, least);
  BlockColumns half(b.shared_layout());
  HalfProduct product(b.layout(), options);
  {
    const KernelRegion region("products of sparse blocks", WorkKind::matrix);
    for (int column : b.columns()) product.column(column, columns, b.column(column), half);
    region.add({product.flops()});
  }
  half.finish();
  flops += product.flops();
  return whole(half, ranges, comm, bytes);
}

BlockColumns combination(double of_one, double x, const BlockColumns& a, double y, const BlockColumns& b) {
  BlockColumns out(a.shared_layout());
  const BlockLayout& layout = a.layout();
  for (int column : a.columns()) {
    out.start_column(column);
    std::vector<int> rows;
    const BlockColumn p = a.column(column), q = b.column(column);
    std::ranges::set_union(p.rows, q.rows, std::back_inserter(rows));
    for (std::size_t i = 0, j = 0, k = 0; k < rows.size(); ++k) {
      const int row = rows[k], n = layout.size(column), size = layout.size(row) * n;
      double* to = out.add_block(row);
      if (i < p.rows.size() && p.rows[i] == row) {
        const double* from = p.block(i++);
        for (int e = 0; e < size; ++e) to[e] += x * from[e];
      }
      if (j < q.rows.size() && q.rows[j] == row) {
        const double* from = q.block(j++);
        for (int e = 0; e < size; ++e) to[e] += y * from[e];
      }
      if (row == column)
        for (int e = 0; e < n; ++e) to[e * (n + 1)] += of_one;
    }
  }
  out.finish();
  return out;
}

double trace(const BlockColumns& matrix, const Comm& comm) {
  double sum = 0.0;
  for (int column : matrix.columns()) {
    const int n = matrix.layout().size(column);
    const double* block = matrix.block(column, column);
    for (int k = 0; block && k < n; ++k) sum += block[k * (n + 1)];
  }
  return comm.sum(sum);
}

double trace_of_product(const BlockColumns& a, const BlockColumns& b, const Comm& comm) {
  double sum = 0.0;
  for (int column : a.columns()) {
    const BlockColumn p = a.column(column), q = b.column(column);
    for (std::size_t i = 0, j = 0; i < p.rows.size() && j < q.rows.size();) {
      if (p.rows[i] == q.rows[j]) {
        const int size = a.layout().size(p.rows[i]) * a.layout().size(column);
        sum += std::inner_product(p.block(i), p.block(i) + size, q.block(j), 0.0);
      }
      const int left = p.rows[i], right = q.rows[j];
      i += left <= right;
      j += right <= left;
    }
  }
  return comm.sum(sum);
}

}  // namespace cambium::submatrix
