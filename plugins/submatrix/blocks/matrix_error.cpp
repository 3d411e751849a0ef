#include "plugins/submatrix/blocks/matrix_error.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/submatrix/columns/block_panel.hpp"

namespace cambium::submatrix {

namespace {

std::vector<int> united(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

/// The panels of one block column after the other.
class Residuals {
 public:
  explicit Residuals(const BlockLayout& layout) : layout_(layout), x_(layout), y_(layout), g_(layout), r_(layout) {}

  /// G and R of a block column, from matrices that hold what they need.
  void compute(int column, const ColumnSet& z, const ColumnSet& h, const ColumnSet& s, const ColumnSet& orthogonal) {
    const int width = layout_.size(column);
    for (BlockPanel* panel : {&x_, &g_, &r_}) panel->clear(width);
    const BlockColumn zc = z(column);
    for (std::size_t e = 0; e < zc.rows.size(); ++e) x_.set(zc.rows[e], zc.block(e));
    twice(h, z, g_);
    twice(s, z, r_);
    const BlockColumn own = orthogonal(column);
    for (std::size_t e = 0; e < own.rows.size(); ++e) subtract(own.rows[e], own.block(e), width);
    double* diagonal = r_.at(column);
    for (int i = 0; i < width; ++i) diagonal[i * r_.stride() + i] -= 1.0;
  }

  /// Sum over rows of the submatrix of D G - W R; `first`: index of the column among those of the panels.
  double first_order(const SolvedColumns& of, int first) const {
    double sum = 0.0;
    for (std::size_t p = 0; p < of.index.blocks.size(); ++p) {
      const int block = of.index.blocks[p], rows = of.index.start[p + 1] - of.index.start[p];
      const double *g = g_.has(block) ? g_.at(block) : nullptr, *r = r_.has(block) ? r_.at(block) : nullptr;
      for (int i = 0; i < rows; ++i)
        for (int q = 0; q < g_.width(); ++q) {
          const auto at = static_cast<std::size_t>((of.index.start[p] + i) * of.index.width + first + q);
          if (g) sum += of.density[at] * g[i * g_.stride() + q];
          if (r) sum -= of.weighted[at] * r[i * r_.stride() + q];
        }
    }
    return sum;
  }
  double norm_of_g() const { return norm(g_); }
  double norm_of_r() const { return norm(r_); }
  double flops() const { return flops_; }

 private:
  /// out = Z M x.
  void twice(const ColumnSet& m, const ColumnSet& z, BlockPanel& out) {
    y_.clear(x_.width());
    multiply(m, x_, y_);
    multiply(z, y_, out);
  }
  void multiply(const ColumnSet& matrix, const BlockPanel& in, BlockPanel& out) {
    for (int k : in.blocks()) {
      const BlockColumn c = matrix(k);
      for (std::size_t e = 0; e < c.rows.size(); ++e) {
        out.add_product(c.rows[e], c.block(e), k, in);
        flops_ += 2.0 * layout_.size(c.rows[e]) * layout_.size(k) * in.width();
      }
    }
  }
  void subtract(int row, const double* block, int width) {
    double* out = g_.at(row);
    for (int i = 0; i < layout_.size(row); ++i)
      for (int q = 0; q < width; ++q) out[i * g_.stride() + q] -= block[i * width + q];
  }
  static double norm(const BlockPanel& panel) {
    double sum = 0.0;
    for (int block : panel.blocks()) sum += panel.norm(block) * panel.norm(block);
    return std::sqrt(sum);
  }

  const BlockLayout& layout_;
  BlockPanel x_, y_, g_, r_;
  double flops_ = 0.0;
};

}  // namespace

std::vector<MatrixError> matrix_errors(const MatrixSystem& system, const BlockColumns& root,
                                       const BlockColumns& orthogonal, const std::vector<SolvedColumns>& solved,
                                       const Comm& comm, std::int64_t& bytes, double& flops) {
  const int blocks = system.layout->blocks();
  std::vector<int> columns;
  for (const auto& s : solved) columns = united(columns, s.columns);
  const auto fetched = [&](const BlockColumns& matrix, const std::vector<int>& wanted) {
    return fetch_columns(matrix, system.ranges, wanted, WantedRows::all, comm, bytes);
  };
  const ColumnSet own = fetched(orthogonal, columns), inner = fetched(root, columns);
  const std::vector<int> middle = rows_of(columns, inner, blocks);
  const ColumnSet h = fetched(system.hamiltonian, middle), s = fetched(system.overlap, middle);
  const ColumnSet z =
      fetched(root, united(united(columns, middle), united(rows_of(middle, h, blocks), rows_of(middle, s, blocks))));
  Residuals residuals(*system.layout);
  std::vector<MatrixError> out;
  for (const auto& unit : solved) {
    MatrixError error;
    int first = 0;
    for (int column : unit.columns) {
      residuals.compute(column, z, h, s, own);
      error.change += 2.0 * residuals.first_order(unit, first);
      const double size = residuals.norm_of_g() + unit.size * residuals.norm_of_r();
      error.bound += size * size / unit.excitation;
      first += system.layout->size(column);
    }
    out.push_back(error);
  }
  flops += residuals.flops();
  return out;
}

}  // namespace cambium::submatrix
