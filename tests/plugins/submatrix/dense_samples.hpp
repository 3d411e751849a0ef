#pragma once
// Matrices given in full, so that one diagonalisation knows the answer.
#include <functional>
#include <numeric>

#include "tests/plugins/submatrix/samples.hpp"

namespace cambium::submatrix::test {

/// H and S (row-major, n x n) and the sizes of their blocks. Blocks without any element are not stored, also on the
/// diagonal.
struct DensePair {
  std::vector<int> sizes;
  std::vector<double> h, s;

  int n() const { return std::accumulate(sizes.begin(), sizes.end(), 0); }

  MatrixSystem system(const Comm& comm, double electrons) const {
    auto layout = std::make_shared<const BlockLayout>(sizes);
    const std::vector<double> cost(sizes.size(), 1.0);
    MatrixSystem out{layout,
                     ColumnRanges::balanced(cost, comm.size()),
                     BlockColumns(layout),
                     BlockColumns(layout),
                     static_cast<std::int64_t>(sizes.size()),
                     electrons,
                     {},
                     {},
                     "dense",
                     {}};
    for (int c = out.ranges.begin(comm.rank()); c < out.ranges.end(comm.rank()); ++c)
      for (auto [from, to] : {std::pair(&h, &out.hamiltonian), std::pair(&s, &out.overlap)}) {
        to->start_column(c);
        for (int r = 0; r < layout->blocks(); ++r) add(*layout, *from, r, c, *to);
      }
    out.hamiltonian.finish();
    out.overlap.finish();
    for (int size : sizes) out.block_atoms.push_back({{1, size}});
    return out;
  }

  /// Eigenvalues of H c = e S c; empty where S is not positive definite.
  std::vector<double> levels() const {
    const int size = n(), type = 1, room = 40 * size;
    std::vector<double> a = h, b = s, value(static_cast<std::size_t>(size)), work(static_cast<std::size_t>(room));
    int info = 0;
    dsygv_(&type, "N", "L", &size, a.data(), &size, b.data(), &size, value.data(), work.data(), &room, &info);
    if (info != 0) value.clear();
    return value;
  }

 private:
  void add(const BlockLayout& layout, const std::vector<double>& from, int row, int column, BlockColumns& to) const {
    const auto all = static_cast<std::int64_t>(n());
    std::vector<double> block;
    bool zero = true;
    for (int i = 0; i < layout.size(row); ++i)
      for (int j = 0; j < layout.size(column); ++j) {
        block.push_back(from[(layout.offset(row) + i) * all + layout.offset(column) + j]);
        zero = zero && block.back() == 0.0;
      }
    if (!zero) to.add_block(row, block.data());
  }
};

/// Energy of `occupied` levels with two electrons each.
inline double band_energy(const std::vector<double>& levels, int occupied) {
  return 2.0 * std::accumulate(levels.begin(), levels.begin() + occupied, 0.0);
}

/// 2 Tr(D M) of distributed matrices.
inline double trace(const BlockColumns& d, const BlockColumns& m, const Comm& comm) {
  double sum = 0.0;
  for (int c : d.columns()) {
    const BlockColumn column = d.column(c);
    for (std::size_t e = 0; e < column.rows.size(); ++e)
      if (const double* other = m.block(column.rows[e], c))
        for (int k = 0; k < d.layout().size(column.rows[e]) * d.layout().size(c); ++k)
          sum += column.block(e)[k] * other[k];
  }
  return 2.0 * comm.sum(sum);
}

}  // namespace cambium::submatrix::test
