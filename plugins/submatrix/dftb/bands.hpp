#pragma once
#include <memory>
#include <optional>
#include <string>

#include "plugins/submatrix/dftb/filling.hpp"
#include "plugins/submatrix/dftb/integrals.hpp"
#include "plugins/submatrix/submatrices/density_options.hpp"

namespace cambium::submatrix {

/// A point of the Brillouin zone in units of the reciprocal cell vectors, and its share of the zone.
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
  /// that sum to 1. Of k and -k one is left.
  std::vector<KPoint> points() const;
};

/// Electrons in the field of given charges. Hartree.
struct Bands {
  /// D and W of both spins, blocks as those of the integrals: only own atoms' are complete.
  std::vector<double> density, weighted;
  double mu = 0.0, electrons = 0.0, band_energy = 0.0, entropy_term = 0.0, homo = 0.0, lumo = 0.0;
  std::optional<ErrorEstimate> error;  ///< of submatrices
  double mean_dimension = 0.0;         ///< of submatrices
};

/// Solver of the electrons' problem for one geometry.
class BandSolver {
 public:
  virtual ~BandSolver() = default;
  /// Collective. `potential`: of each atom, hartree per electron. W only where asked for.
  virtual Bands solve(const std::vector<double>& potential, bool weighted) = 0;
};

/// Diagonalises H c = e S c at each k-point; ranks take k-points in turn, one point is solved by all ranks alike.
std::unique_ptr<BandSolver> make_dense_solver(const DftbIntegrals& integrals, std::vector<KPoint> points,
                                              double electrons, const FillingKeys& filling, const Comm& comm);

/// What the submatrix method is told.
struct SubmatrixKeys {
  double eps = 1e-6;     ///< hartree
  int error_sample = 8;  ///< 0: no estimate
};

/// The density matrix by the submatrix method, one block per atom, at the Gamma point. S^-1/2 is made once.
std::unique_ptr<BandSolver> make_submatrix_solver(const DftbIntegrals& integrals, double electrons,
                                                  const FillingKeys& filling, const SubmatrixKeys& keys,
                                                  Context& context);

}  // namespace cambium::submatrix
