#include "plugins/submatrix/datasets/exact_levels.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/numerics/gemm.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/submatrix/density/dense_density.hpp"

namespace cambium::submatrix {

namespace {

/// Replaces H by S^-1/2 H S^-1/2.
void orthogonalise(int n, std::vector<double> overlap, std::vector<double>& h) {
  std::vector<double> values(n), root(overlap.size(), 0.0), half(overlap.size());
  symmetric_eigenvectors(n, overlap.data(), values.data());
  if (!(values.front() > 0.0))
    throw InputError(
        fmt::format("the overlap is not positive definite: its smallest eigenvalue is {:.3g}", values.front()));
  half = overlap;
  for (std::size_t j = 0; j < values.size(); ++j)
    for (std::size_t i = 0; i < values.size(); ++i) half[j * values.size() + i] /= std::sqrt(values[j]);
  host_gemm<double>(true, false, n, n, n, 1.0, overlap.data(), n, half.data(), n, 0.0, root.data(), n);
  host_gemm<double>(false, false, n, n, n, 1.0, root.data(), n, h.data(), n, 0.0, half.data(), n);
  host_gemm<double>(false, false, n, n, n, 1.0, half.data(), n, root.data(), n, 0.0, h.data(), n);
}

}  // namespace

DenseLevels::DenseLevels(const MatrixSystem& system)
    : columns_(system.layout->blocks()), functions_(system.layout->size(0)),
      pairs_(static_cast<int>(std::lround(0.5 * system.electrons))) {
  const auto n = static_cast<int>(system.layout->dimension());
  if (system.hamiltonian_down)
    throw InputError("local_spectra is for matrices without spin; leave out K_down and hamiltonian_down");
  if (n > 16384)
    throw InputError(fmt::format(
        "local_spectra diagonalises all {} functions at once, which is for up to 16384; train on a smaller supercell",
        n));
  for (int b = 0; b < columns_; ++b)
    if (system.layout->size(b) != functions_)
      throw InputError(fmt::format("block {} has {} functions, block 0 has {}; local_spectra needs blocks of one size",
                                   b, system.layout->size(b), functions_));
  if (std::abs(system.electrons - 2.0 * pairs_) > 1e-9 || pairs_ < 1 || pairs_ >= n)
    throw InputError(fmt::format(
        "local_spectra needs an even number of electrons, and empty states; found {} electrons in {} functions",
        system.electrons, n));
  const Comm alone(MPI_COMM_SELF);
  std::int64_t bytes = 0;
  vector_ = dense_matrix(system.hamiltonian, system.ranges, alone, bytes);
  if (!system.bonds) orthogonalise(n, dense_matrix(system.overlap, system.ranges, alone, bytes), vector_);
  value_.resize(n);
  symmetric_eigenvectors(n, vector_.data(), value_.data());
}

LevelSample DenseLevels::sample(const Window& window, int count) const {
  LevelSample out;
  const auto pairs = static_cast<std::size_t>(pairs_);
  out.columns = columns_;
  out.functions = functions_;
  out.homo = value_[pairs - 1];
  out.lumo = value_[pairs];
  Spectrum local{value_, std::vector<double>(value_.size())};
  for (int column = 0; column < columns_; ++column) {
    double energy = 0.0;
    for (std::size_t j = 0; j < value_.size(); ++j) {
      const double* v = vector_.data() + j * value_.size() + static_cast<std::size_t>(column * functions_);
      local.weight[j] = 0.0;
      for (int q = 0; q < functions_; ++q) local.weight[j] += v[q] * v[q];
      if (j < pairs) energy += 2.0 * local.weight[j] * value_[j];
    }
    out.energy.push_back(energy);
    add_moments(local, window, functions_, count, out.moments);
  }
  return out;
}

}  // namespace cambium::submatrix
