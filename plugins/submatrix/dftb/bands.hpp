#pragma once
#include <memory>
#include <optional>
#include <string>

#include "plugins/submatrix/dftb/filling.hpp"
#include "plugins/submatrix/dftb/integrals.hpp"
#include "plugins/submatrix/submatrices/density_options.hpp"

namespace cambium::submatrix {

/// Point of the Brillouin zone in units of the reciprocal cell vectors, and its weight.
struct KPoint {
  std::array<double, 3> k{};
  double weight = 1.0;
};

/// Points of the zone of a periodic cell; k and -k are the same without magnetic fields.
struct KPointKeys {
  std::array<int, 3> grid{1, 1, 1};
  std::array<double, 3> shift{};
  std::optional<std::vector<std::array<double, 4>>> list;
  static void describe(deck::Describe<KPointKeys>& d);
  /// Points (n + shift) / grid, H. J. Monkhorst and J. D. Pack, Phys. Rev. B 13, 5188 (1976), or the list, with weights
  /// that sum to 1. Only one of k and -k is kept.
  std::vector<KPoint> points() const;
};

/// Field of charges and spins, hartree per electron: of each channel, for every shell of every atom (most_shells to an
/// atom). One channel is that of both spins, two are spin up and spin down.
using ChannelPotentials = std::vector<std::vector<double>>;

/// Electrons in the field of given charges. Hartree.
struct Bands {
  /// D of each channel, and W of all; blocks as those of the integrals: only own atoms' are complete.
  std::vector<std::vector<double>> density;
  std::vector<double> weighted;
  double mu = 0.0, mu_down = 0.0, electrons = 0.0, band_energy = 0.0, entropy_term = 0.0, homo = 0.0, lumo = 0.0;
  std::optional<ErrorEstimate> error;  ///< of submatrices
  double mean_dimension = 0.0;         ///< of submatrices
};

/// Solver of the electrons' problem for one geometry.
class BandSolver {
 public:
  virtual ~BandSolver() = default;
  /// Collective. W only if `weighted`.
  virtual Bands solve(const ChannelPotentials& potential, bool weighted) = 0;
};

/// Diagonalises H c = e S c at each k-point; k-points are distributed round-robin over ranks, a single one is
/// replicated.
std::unique_ptr<BandSolver> make_dense_solver(const DftbIntegrals& integrals, std::vector<KPoint> points,
                                              const ElectronNumbers& electrons, const FillingKeys& filling,
                                              const Comm& comm);

/// Parameters of the submatrix method.
struct SubmatrixKeys {
  double eps = 1e-6;     ///< hartree
  int error_sample = 8;  ///< 0: no estimate
  bool purification = false;
};

/// Density matrix by the submatrix method or by purification, one block per atom, at the Gamma point. S^-1/2 is
/// computed once.
std::unique_ptr<BandSolver> make_submatrix_solver(const DftbIntegrals& integrals, const ElectronNumbers& electrons,
                                                  const FillingKeys& filling, const SubmatrixKeys& keys,
                                                  Context& context);

}  // namespace cambium::submatrix
