#include "plugins/submatrix/density/orthogonalised.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "plugins/submatrix/blocks/congruence.hpp"

namespace cambium::submatrix {

namespace {

/// Blocks that are in either matrix with a norm >= threshold, with the values of the larger one; diagonal blocks
/// always.
BlockColumns larger_blocks(const BlockColumns& a, const BlockColumns& b, double threshold) {
  BlockColumns out(a.shared_layout());
  for (int column : a.columns()) {
    out.start_column(column);
    const BlockColumn x = a.column(column), y = b.column(column);
    for (std::size_t i = 0, j = 0; i < x.rows.size() || j < y.rows.size();) {
      const bool in_x = i < x.rows.size() && (j == y.rows.size() || x.rows[i] <= y.rows[j]),
                 in_y = j < y.rows.size() && (i == x.rows.size() || y.rows[j] <= x.rows[i]);
      const bool first = in_x && (!in_y || x.norms[i] >= y.norms[j]);
      const int row = in_x ? x.rows[i] : y.rows[j];
      if ((first ? x.norms[i] : y.norms[j]) >= threshold || row == column)
        out.add_block(row, first ? x.block(i) : y.block(j));
      i += in_x;
      j += in_y;
    }
  }
  out.finish();
  return out;
}

/// For the blocks off the diagonal of a smaller norm than eps: the root of the sum of squares in the own column where
/// it is largest.
double dropped_norm(const BlockColumns& matrix, double eps) {
  double largest = 0.0;
  for (int column : matrix.columns()) {
    const BlockColumn c = matrix.column(column);
    double sum = 0.0;
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (c.norms[e] < eps && c.rows[e] != column) sum += c.norms[e] * c.norms[e];
    largest = std::max(largest, sum);
  }
  return std::sqrt(largest);
}

/// a + factor b, blocks of norm >= threshold.
BlockColumns sum_of(const BlockColumns& a, const BlockColumns& b, double factor, double threshold) {
  BlockColumns out(a.shared_layout());
  for (int column : a.columns()) {
    out.start_column(column);
    std::vector<int> rows;
    std::ranges::set_union(a.column(column).rows, b.column(column).rows, std::back_inserter(rows));
    for (int row : rows) {
      double* to = out.add_block(row);
      const double *x = a.block(row, column), *y = b.block(row, column);
      for (int k = 0; k < a.layout().size(row) * a.layout().size(column); ++k)
        to[k] = (x ? x[k] : 0.0) + (y ? factor * y[k] : 0.0);
    }
  }
  out.finish();
  return filtered(out, threshold);
}

/// Vectors left out by canonical orthogonalisation are states of energy 0 in S^-1/2 H S^-1/2: they are put above all
/// others, where they stay empty.
BlockColumns moved_up(const BlockColumns& hamiltonian, const BlockColumns& left_out, double threshold,
                      const Comm& comm) {
  double largest = 0.0;  // Gershgorin's bound, with the norms of blocks
  for (int column : hamiltonian.columns()) {
    const BlockColumn c = hamiltonian.column(column);
    largest = std::max(largest, std::accumulate(c.norms, c.norms + c.rows.size(), 0.0));
  }
  return sum_of(hamiltonian, left_out, comm.max(largest) + 1.0, threshold);
}

}  // namespace

static double least_kept(const DensityOptions& options) { return options.sample > 0 ? 0.1 * options.eps : options.eps; }

PreparedMatrix orthogonalised(const DensityJob& job, const RootResult* root) {
  const auto& options = job.options;
  const BlockColumns& hamiltonian = job.system.hamiltonian;
  const double keep = least_kept(options);
  if (!root) return {filtered(hamiltonian, keep), dropped_norm(hamiltonian, options.eps)};
  const auto timer = job.context.timing.scope("transform");
  const double prune = options.prune * options.eps;
  double dropped = 0.0;
  BlockColumns out = congruence(root->root, filtered(hamiltonian, prune), job.system.ranges, job.context.comm,
                                {prune, keep, {}, &dropped}, job.result.bytes, job.result.flops);
  if (root->left_out) out = moved_up(out, *root->left_out, keep, job.context.comm);
  dropped = std::hypot(std::sqrt(dropped), dropped_norm(out, options.eps));
  return {std::move(out), dropped};
}

PreparedMatrix of_both(const DensityJob& job) {
  return {larger_blocks(job.system.hamiltonian, job.system.overlap, least_kept(job.options)), 0.0};
}

}  // namespace cambium::submatrix
