#include "bench/submatrix/measure.hpp"

#include <algorithm>

#include "plugins/submatrix/matrices/hdf5_reader.hpp"
#include "plugins/submatrix/tasks/report.hpp"

namespace cambium::submatrix {

Measured measure(const MatrixSystem& system, const DensityOptions& options, int repeat, Context& context) {
  Measured out;
  const Comm& comm = context.comm;
  for (int k = 0; k < repeat; ++k) {
    context.timing.reset();
    comm.barrier();
    const double started = wall_seconds();
    const DensityResult result = density_matrix(system, options, context);
    comm.barrier();
    const double seconds = comm.max(wall_seconds() - started),
                 per_atom = 1000.0 * ev_per_hartree / static_cast<double>(system.atoms);
    const double flops = comm.sum(result.flops), column_flops = comm.sum(result.column_flops),
                 received = static_cast<double>(comm.sum(result.bytes));
    const double own =
        comm.max(static_cast<double>(system.hamiltonian.bytes() + system.overlap.bytes() + result.density.bytes()));
    if (seconds >= out.seconds) continue;
    out.seconds = seconds;
    for (const auto& section : context.timing.sections())
      if (section.name == "columns") out.column_seconds = section.seconds;
    out.column_seconds = comm.max(out.column_seconds);
    out.phases.clear();
    for (const auto& section : context.timing.sections()) out.phases[section.name] = comm.max(section.seconds);
    out.error_mev = (result.energy - system.reference.band_energy.value_or(result.energy)) * per_atom;
    out.electrons = result.electrons - options.electrons;
    out.grand_mev = out.error_mev - 0.5 * (system.reference.homo.value_or(0.0) + system.reference.lumo.value_or(0.0)) *
                                        out.electrons * per_atom;
    out.dimension = result.columns.mean_dimension;
    out.steps = result.columns.mean_steps;
    out.residual = result.columns.worst_residual;
    out.gflops = 1e-9 * flops / seconds;
    out.column_gflops = 1e-9 * column_flops / out.column_seconds;
    out.megabytes = received / 1048576.0;
    out.own_megabytes = own / 1048576.0;
  }
  return out;
}

DensityOptions bench_options(const MatrixSystem& system, double eps, SolverKind solver) {
  DensityOptions out;
  out.eps = out.eps_overlap = eps;
  out.prune = 1e-3;
  out.solver = solver;
  out.precision = solver == SolverKind::lanczos ? Precision::float32 : Precision::float64;
  out.electrons = system.electrons;
  out.sample = 0;
  return out;
}

MatrixSystem load_water(const std::string& file, int copies, const Comm& comm) {
  const Cell n{copies, copies, copies};
  MatrixSystem out = supercell(read_hdf5_cell(file, BlockKind::molecule), n, comm);
  out.reference = read_hdf5_reference(file, n);
  return out;
}

}  // namespace cambium::submatrix
