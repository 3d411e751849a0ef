// S^-1/2 as density_matrix() takes it.
#include <algorithm>
#include <cmath>

#include "plugins/submatrix/submatrices/inverse_root.hpp"

namespace cambium::submatrix {

static RootResult root_by(ColumnSolver& solver, const MatrixSystem& system, const DensityOptions& options,
                          Context& context) {
  std::int64_t bytes = 0;
  double flops = 0.0;
  RootResult out = inverse_root(system.overlap, system.ranges, options.eps_overlap, options.overlap_threshold, solver,
                                context.comm, bytes, flops);
  double seen = out.smallest;
  if (options.overlap_threshold <= 0.0)
    seen = judge_overlap(out.smallest, out.smallest_column, "eps_filter_overlap", options.eps_overlap, context.comm,
                         context.log);
  seen = judge_whole_overlap(system.overlap, &out, seen, system.ranges, options, context);
  if (options.overlap_threshold <= 0.0) out.smallest = seen;
  out.bytes = bytes;
  out.flops = flops;
  return out;
}

RootResult overlap_root(const MatrixSystem& system, const DensityOptions& options, Context& context) {
  const auto timer = context.timing.scope("overlap");
  const int blocks = system.layout->blocks();
  if (options.overlap_threshold > 0.0) return root_by(*make_diagonaliser(blocks), system, options, context);
  KrylovOptions krylov;
  krylov.tolerance = std::clamp(options.eps_overlap, 1e-10, 1e-2);
  // About what is needed for a condition number of ten; looking costs a diagonalisation.
  krylov.first = std::max(4, static_cast<int>(-2.5 * std::log10(options.eps_overlap)));
  krylov.step = 1;
  // Single precision would limit the root to 1e-7, far below the truncation.
  const bool narrow = options.precision == Precision::float32 && options.eps_overlap > 1e-6;
  return root_by(*(narrow ? make_lanczos<float>(blocks, krylov) : make_lanczos<double>(blocks, krylov)), system,
                 options, context);
}

}  // namespace cambium::submatrix
