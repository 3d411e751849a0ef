#include "plugins/submatrix/density/inverse_root.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/submatrix/blocks/symmetrise.hpp"

namespace cambium::submatrix {

namespace {

struct Lowest {
  double value;
  int column;
};

/// Collective: the smallest eigenvalue of all ranks, with its column.
Lowest agree(Lowest mine, const Comm& comm) {
  Lowest out = mine;
  MPI_Allreduce(&mine, &out, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm.handle());
  return out;
}

}  // namespace

double judge_overlap(double smallest, int column, double eps, const Comm& comm, Log& log) {
  const Lowest lowest = agree({smallest, column}, comm);
  smallest = lowest.value, column = lowest.column;
  if (smallest < singular_overlap)
    throw InputError(
        fmt::format("S is nearly singular: an eigenvalue of {:.3g} near block {} (counted from 0), less than {:g}; add "
                    "overlap_threshold: 1e-5, which leaves out such combinations of functions, or leave the most "
                    "diffuse functions out of the basis",
                    smallest, column, singular_overlap));
  if (smallest < std::max(soft_overlap, 10.0 * eps))
    log.warn(
        fmt::format("S is nearly singular: an eigenvalue of {:.3g} near block {} (counted from 0), which magnifies "
                    "errors of truncation; compare with overlap_threshold: 1e-5, which leaves out such combinations of "
                    "functions, or with blocks of S below {:g}",
                    smallest, column, eps));
  return smallest;
}

RootResult inverse_root(const BlockColumns& overlap, const ColumnRanges& ranges, double eps, double threshold,
                        ColumnSolver& solver, const Comm& comm, std::int64_t& bytes, double& flops) {
  const std::vector<int> needed = columns_needed(overlap, eps);
  const ColumnSet set = fetch_columns(overlap, ranges, needed, WantedRows::upper_among_wanted, comm, bytes,
                                      std::vector<double>(needed.size(), eps));
  const MatrixFunction root = [threshold](double x) { return x > threshold ? 1.0 / std::sqrt(x) : 0.0; };
  const MatrixFunction small = [threshold](double x) { return x > threshold ? 0.0 : 1.0; };
  BlockColumns z(overlap.shared_layout()), left_out(overlap.shared_layout());
  Lowest lowest{1e300, 0};
  std::vector<double> values;
  double steps = 0.0, rows = 0.0, trace = 0.0;
  int largest = 0;
  for (int column : overlap.columns()) {
    const PrincipalIndex index = principal_index(overlap, column, eps);
    const Spectrum& spectrum = solver.decompose(index, set, eps, root);
    for (double node : spectrum.node)
      if (node < lowest.value) lowest = {node, column};
    solver.column(root, values);
    z.start_column(column);
    for (std::size_t p = 0; p < index.blocks.size(); ++p)
      z.add_block(index.blocks[p], values.data() + index.start[p] * index.width);
    if (threshold > 0.0) {
      trace += spectrum.trace(small);
      solver.column(small, values);
      left_out.start_column(column);
      for (std::size_t p = 0; p < index.blocks.size(); ++p)
        left_out.add_block(index.blocks[p], values.data() + index.start[p] * index.width);
    }
    steps += solver.report().steps;
    flops += solver.report().flops;
    rows += index.dimension();
    largest = std::max(largest, index.dimension());
  }
  z.finish();
  left_out.finish();
  lowest = agree(lowest, comm);
  if (lowest.value <= -threshold)
    throw InputError(
        fmt::format("S is not positive definite: an eigenvalue of {:.6g} near block {} (counted from 0); look for "
                    "atoms that coincide there, or for functions that depend linearly on others",
                    lowest.value, lowest.column));
  const double columns = comm.sum(static_cast<double>(overlap.columns().size()));
  std::optional<BlockColumns> projector;
  if (threshold > 0.0) projector = symmetrised(left_out, ranges, comm, bytes);
  return {symmetrised(z, ranges, comm, bytes),
          std::move(projector),
          comm.sum(trace),
          lowest.value,
          lowest.column,
          comm.sum(rows) / columns,
          comm.max(largest),
          comm.sum(steps) / columns};
}

}  // namespace cambium::submatrix
