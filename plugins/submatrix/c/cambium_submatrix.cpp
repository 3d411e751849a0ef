#include "plugins/submatrix/c/cambium_submatrix.h"

#include <exception>
#include <string>

#include "core/base/error.hpp"
#include "plugins/submatrix/c/csr.hpp"
#include "plugins/submatrix/columns/block_exchange.hpp"
#include "plugins/submatrix/density/spin_density.hpp"

namespace {

using namespace cambium;
using namespace cambium::submatrix;

thread_local std::string last_message;  // like errno: C has no exceptions

/// No exception crosses into C.
template <class F>
int guarded(F&& f) {
  try {
    f();
    return CAMBIUM_SUBMATRIX_DONE;
  } catch (const InputError& error) {
    last_message = error.what();
    return CAMBIUM_SUBMATRIX_BAD_INPUT;
  } catch (const NumericalError& error) {
    last_message = error.what();
    return CAMBIUM_SUBMATRIX_NUMERICAL_FAILURE;
  } catch (const std::exception& error) {
    last_message = error.what();
    return CAMBIUM_SUBMATRIX_INTERNAL_ERROR;
  }
}

DensityOptions options_of(const cambium_density_options& from, bool orthogonal, bool weighted) {
  DensityOptions out;
  if (!(from.eps > 0.0 && from.eps < 1.0) || !(from.eps_overlap > 0.0 && from.eps_overlap < 1.0))
    throw InputError("eps and eps_overlap must be between 0 and 1; call cambium_density_defaults first");
  if (!from.use_mu && !(from.electrons > 0.0))
    throw InputError("neither mu nor the number of electrons is given; set electrons, or mu and use_mu");
  if (!(from.overlap_threshold >= 0.0 && from.overlap_threshold < 1.0))
    throw InputError("overlap_threshold must be between 0 and 1; call cambium_density_defaults first");
  out.overlap_threshold = from.overlap_threshold;
  out.eps = from.eps;
  out.eps_overlap = from.eps_overlap;
  out.kt = from.kt;
  out.electrons = from.electrons;
  if (from.use_mu) out.mu = from.mu;
  out.precision = from.float32 ? Precision::float32 : Precision::float64;
  out.solver = from.diagonalise ? SolverKind::diagonalise : SolverKind::lanczos;
  if (from.diagonalise) out.precision = Precision::float64;
  out.sample = from.error_sample;
  out.orthogonal = orthogonal;
  out.energy_weighted = weighted;
  if (from.progress)
    out.progress = [call = from.progress, user = from.user](double done, double left) { call(done, left, user); };
  return out;
}

/// Ranges of equal cost: the work on a column grows like the square of its submatrix, which its filled rows predict.
ColumnRanges balanced(const BlockColumns& matrix, const ColumnRanges& now, const Comm& comm) {
  std::vector<double> cost(matrix.layout().blocks(), 0.0);
  for (int c = now.begin(comm.rank()); c < now.end(comm.rank()); ++c) {
    double rows = 0.0;
    for (int r : matrix.column(c).rows) rows += matrix.layout().size(r);
    cost[c] = rows * rows * matrix.layout().size(c);
  }
  comm.sum(cost);
  return ColumnRanges::balanced(cost, comm.size());
}

struct Outputs {
  double *density, *energy_density;
};

/// Memory of one call: communicator, log and the caller's matrices on ranks of equal cost.
struct Call {
  Comm comm;
  CallerBlocks blocks;
  ColumnRanges ranges;
  Log silent;
  Timing timing;
  Context context{comm, silent, timing};

  Call(MPI_Comm handle, const cambium_blocks& caller) : comm(handle), blocks(caller, comm) {}

  MatrixSystem system(const BlockColumns& hamiltonian, const cambium_csr* s, double electrons) {
    const BlockColumns overlap = s ? from_csr("overlap", *s, blocks, comm) : BlockColumns(blocks.layout);
    ranges = balanced(s ? overlap : hamiltonian, blocks.ranges, comm);
    return {blocks.layout,
            ranges,
            redistributed(hamiltonian, blocks.ranges, ranges, comm),
            s ? redistributed(overlap, blocks.ranges, ranges, comm) : BlockColumns(blocks.layout),
            blocks.layout->blocks(),
            electrons,
            {},
            {},
            {},
            {}};
  }
  void give(const DensityResult& r, const cambium_csr& h, cambium_density_result& result, Outputs out) const {
    result = {r.energy,   r.electrons,         r.entropy_term,        r.fermi_level,      r.gap_low,
              r.gap_high, r.error.idempotency, r.error.energy_change, r.smallest_overlap, r.error.margin};
    if (out.density) to_csr(redistributed(r.density, ranges, blocks.ranges, comm), h, blocks, comm, out.density);
    if (out.energy_density)
      to_csr(redistributed(*r.energy_weighted, ranges, blocks.ranges, comm), h, blocks, comm, out.energy_density);
  }
};

void compute(MPI_Comm handle, const cambium_blocks& caller, const cambium_csr& h, const cambium_csr* s,
             const cambium_density_options& options, cambium_density_result& result, Outputs out) {
  if (options.use_magnetisation)
    throw InputError(
        "magnetisation is for two spin channels; call cambium_density_matrix_spin, or leave use_magnetisation 0");
  Call call(handle, caller);
  const MatrixSystem system = call.system(from_csr("hamiltonian", h, call.blocks, call.comm), s, options.electrons);
  call.give(density_matrix(system, options_of(options, !s, out.energy_density != nullptr), call.context), h, result,
            out);
}

void compute_spins(MPI_Comm handle, const cambium_blocks& caller, const cambium_csr* const h[2], const cambium_csr* s,
                   const cambium_density_options& options, cambium_density_result* result, const Outputs (&out)[2]) {
  if (options.use_mu && options.use_magnetisation)
    throw InputError("mu determines the electrons of each spin; set use_mu or use_magnetisation, not both");
  if (options.use_magnetisation && !(options.electrons > 0.0))
    throw InputError("magnetisation needs the number of electrons of both spins; set electrons");
  Call call(handle, caller);
  const BlockColumns up = from_csr("hamiltonian_up", *h[0], call.blocks, call.comm),
                     down = from_csr("hamiltonian_down", *h[1], call.blocks, call.comm);
  MatrixSystem system = call.system(up, s, options.electrons);
  system.hamiltonian_down = redistributed(down, call.blocks.ranges, call.ranges, call.comm);
  const bool weighted = call.comm.max(out[0].energy_density || out[1].energy_density ? 1 : 0) > 0;
  const auto magnetisation = options.use_magnetisation ? std::optional<double>(options.magnetisation) : std::nullopt;
  const SpinDensity spins = spin_density(system, options_of(options, !s, weighted), magnetisation, call.context);
  for (std::size_t k = 0; k < 2; ++k) call.give(spins.channel[k], *h[k], result[k], out[k]);
}

}  // namespace

extern "C" {

void cambium_density_defaults(cambium_density_options* options) {
  *options = {};
  options->eps = options->eps_overlap = 1e-5;
  options->error_sample = 8;
}

int cambium_density_matrix(MPI_Comm comm, const cambium_blocks* blocks, const cambium_csr* hamiltonian,
                           const cambium_csr* overlap, const cambium_density_options* options,
                           cambium_density_result* result, double* density, double* energy_density) {
  return guarded([&] {
    if (!blocks || !hamiltonian || !options || !result)
      throw InputError("a null pointer was passed for blocks, hamiltonian, options or result");
    compute(comm, *blocks, *hamiltonian, overlap, *options, *result, {density, energy_density});
  });
}

int cambium_density_matrix_f(MPI_Fint comm, const cambium_blocks* blocks, const cambium_csr* hamiltonian,
                             const cambium_csr* overlap, const cambium_density_options* options,
                             cambium_density_result* result, double* density, double* energy_density) {
  return cambium_density_matrix(MPI_Comm_f2c(comm), blocks, hamiltonian, overlap, options, result, density,
                                energy_density);
}

int cambium_density_matrix_spin(MPI_Comm comm, const cambium_blocks* blocks, const cambium_csr* hamiltonian_up,
                                const cambium_csr* hamiltonian_down, const cambium_csr* overlap,
                                const cambium_density_options* options, cambium_density_result result[2],
                                double* const density[2], double* const energy_density[2]) {
  return guarded([&] {
    if (!blocks || !hamiltonian_up || !hamiltonian_down || !options || !result)
      throw InputError("a null pointer was passed for blocks, a hamiltonian, options or result");
    const cambium_csr* const h[2] = {hamiltonian_up, hamiltonian_down};
    const auto of = [](double* const* arrays, int k) { return arrays ? arrays[k] : nullptr; };
    compute_spins(comm, *blocks, h, overlap, *options, result,
                  {{of(density, 0), of(energy_density, 0)}, {of(density, 1), of(energy_density, 1)}});
  });
}

int cambium_density_matrix_spin_f(MPI_Fint comm, const cambium_blocks* blocks, const cambium_csr* hamiltonian_up,
                                  const cambium_csr* hamiltonian_down, const cambium_csr* overlap,
                                  const cambium_density_options* options, cambium_density_result result[2],
                                  double* const density[2], double* const energy_density[2]) {
  return cambium_density_matrix_spin(MPI_Comm_f2c(comm), blocks, hamiltonian_up, hamiltonian_down, overlap, options,
                                     result, density, energy_density);
}

const char* cambium_submatrix_message(void) { return last_message.c_str(); }

}  // extern "C"
