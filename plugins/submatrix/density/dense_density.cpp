#include "plugins/submatrix/density/dense_density.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/submatrix/columns/chemical_potential.hpp"

namespace cambium::submatrix {

std::vector<double> dense_matrix(const BlockColumns& matrix, const ColumnRanges& ranges, const Comm& comm,
                                 std::int64_t& bytes) {
  const BlockLayout& layout = matrix.layout();
  std::vector<int> all(layout.blocks());
  std::iota(all.begin(), all.end(), 0);
  const ColumnSet set = fetch_columns(matrix, ranges, all, WantedRows::all, comm, bytes);
  const auto n = layout.dimension();
  std::vector<double> out(n * n, 0.0);
  for (int column : all) {
    const BlockColumn c = set(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      for (int i = 0; i < layout.size(c.rows[e]); ++i)
        for (int j = 0; j < layout.size(column); ++j)
          out[(layout.offset(c.rows[e]) + i) * n + layout.offset(column) + j] = c.block(e)[i * layout.size(column) + j];
  }
  return out;
}

namespace {

double entropy(double f) { return f <= 0.0 || f >= 1.0 ? 0.0 : f * std::log(f) + (1.0 - f) * std::log(1.0 - f); }

/// Sum over states of f v v^T where the Hamiltonian has blocks; rows of `vectors` are the states.
BlockColumns density_of(const MatrixSystem& system, const std::vector<double>& vectors, const std::vector<double>& f) {
  const BlockLayout& layout = *system.layout;
  const auto n = layout.dimension();
  BlockColumns out(system.layout);
  for (int column : system.hamiltonian.columns()) {
    out.start_column(column);
    for (int row : system.hamiltonian.column(column).rows) {
      double* block = out.add_block(row);
      for (std::size_t k = 0; k < f.size(); ++k) {
        if (f[k] == 0.0) continue;
        const double* v = vectors.data() + static_cast<std::ptrdiff_t>(k) * n;
        for (int i = 0; i < layout.size(row); ++i)
          for (int j = 0; j < layout.size(column); ++j)
            block[i * layout.size(column) + j] += f[k] * v[layout.offset(row) + i] * v[layout.offset(column) + j];
      }
    }
  }
  out.finish();
  return out;
}

}  // namespace

DensityResult dense_density(const MatrixSystem& system, const DensityOptions& options, const Comm& comm) {
  const auto n = static_cast<int>(system.layout->dimension());
  if (n > 16384)
    throw InputError(
        fmt::format("one dense problem of {} functions is too large; give a reach (for example 8 angstrom), so that "
                    "submatrices are taken",
                    n));
  DensityResult out(system.layout);
  std::vector<double> vectors = dense_matrix(system.hamiltonian, system.ranges, comm, out.bytes),
                      values(static_cast<std::size_t>(n));
  symmetric_eigenvectors(n, vectors.data(), values.data());
  std::vector<Spectrum> spectrum;  // every rank has all states: they are counted once
  if (comm.root()) spectrum.push_back({values, std::vector<double>(values.size(), 1.0)});
  const ElectronCount count(spectrum, options.kt, comm), states(spectrum, 0.0, comm);
  out.mu = options.mu ? *options.mu : count.mu_of(options.electrons, 0.5);
  out.fermi_level = options.mu ? *options.mu : count.fermi_level(options.electrons, 0.5);
  std::vector<double> f(values.size());
  for (std::size_t k = 0; k < f.size(); ++k) {
    f[k] = occupation(values[k], out.mu, options.kt);
    out.electrons += 2.0 * f[k];
    out.energy += 2.0 * f[k] * values[k];
    out.entropy_term += 2.0 * options.kt * entropy(f[k]);
  }
  const auto gap = states.gap_around_count(options.kt > 0.0 && !options.mu ? options.electrons : states(out.mu), 0.5);
  out.gap_low = gap.low;
  out.gap_high = gap.high;
  out.density = density_of(system, vectors, f);
  out.columns = {static_cast<double>(n), 1.0, n, n, 0.0, 0};
  out.flops = 9.0 * std::pow(n, 3);
  return out;
}

}  // namespace cambium::submatrix
