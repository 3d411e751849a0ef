#include "plugins/submatrix/evaluate/inverse_root.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/submatrix/evaluate/symmetrise.hpp"

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

RootResult inverse_root(const BlockColumns& overlap, const ColumnRanges& ranges, double eps, ColumnSolver& solver, const Comm& comm,
                        std::int64_t& bytes, double& flops) {
  const std::vector<int> needed = columns_needed(overlap, eps);
  const ColumnSet set = fetch_columns(overlap, ranges, needed, WantedRows::upper_among_wanted, comm, bytes, std::vector<double>(needed.size(), eps));
  const MatrixFunction root = [](double x) { return x > 0.0 ? 1.0 / std::sqrt(x) : 0.0; };
  BlockColumns z(overlap.shared_layout());
  Lowest lowest{1e300, 0};
  std::vector<double> values;
  double steps = 0.0, rows = 0.0;
  int largest = 0;
  for (int column : overlap.columns()) {
    const PrincipalIndex index = principal_index(overlap, column, eps);
    const Spectrum& spectrum = solver.decompose(index, set, eps, root);
    for (double node : spectrum.node)
      if (node < lowest.value) lowest = {node, column};
    solver.column(root, values);
    z.start_column(column);
    for (std::size_t p = 0; p < index.blocks.size(); ++p) z.add_block(index.blocks[p], values.data() + index.start[p] * index.width);
    steps += solver.report().steps;
    flops += solver.report().flops;
    rows += index.dimension();
    largest = std::max(largest, index.dimension());
  }
  z.finish();
  lowest = agree(lowest, comm);
  if (lowest.value <= 0.0)
    throw InputError(fmt::format("S is not positive definite: an eigenvalue of {:.6g} near block {} (counted from 0); look for atoms that "
                                 "coincide there, or for functions that depend linearly on others",
                                 lowest.value, lowest.column));
  const double columns = comm.sum(static_cast<double>(overlap.columns().size()));
  return {symmetrised(z, ranges, comm, bytes), lowest.value, lowest.column, comm.sum(rows) / columns, comm.max(largest), comm.sum(steps) / columns};
}

}  // namespace cambium::submatrix
