#pragma once
#include <optional>
#include <vector>

#include "plugins/submatrix/columns/block_columns.hpp"
#include "plugins/submatrix/dftb/atoms.hpp"

namespace cambium::submatrix {

/// Value and derivative by r.
struct GammaValue {
  double value = 0.0, slope = 0.0;
};

/// Short-range correction to 1/r for overlapping charge clouds, S(r): gamma(r) = 1/r - S(r) for atoms with Hubbard
/// parameters `a` and `b` (hartree; r in bohr), M. Elstner et al., Phys. Rev. B 58, 7260 (1998). With a damping
/// exponent zeta above 0 it is S(r) exp(-((a + b) / 2)^zeta r^2), M. Gaus, Q. Cui and M. Elstner, J. Chem. Theory
/// Comput. 7, 931 (2011).
GammaValue short_gamma(double r, double a, double b, double damping = 0.0);
/// The derivative of short_gamma() by `a`, with its own derivative by r.
GammaValue short_gamma_by_hubbard(double r, double a, double b, double damping = 0.0);

/// Parameters of the interaction of an atom's charge. Hartree.
struct AtomicCharge {
  double hubbard = 0.0;
  double derivative = 0.0;  ///< of the Hubbard parameter by electrons; 0: no third order
  bool hydrogen = false;    ///< its pairs are damped
};

/// 1/r summed over the images of a cell that is neutral by a uniform background (P. P. Ewald, Ann. Phys. 369, 253
/// (1921)), to 1e-13. Bohr.
class EwaldSum {
 public:
  explicit EwaldSum(const DftbAtoms& atoms);

  /// Sum over the images of b relative to a, or over an atom's own images for a == b.
  double value(const DftbAtoms& atoms, int a, int b) const;
  /// Adds to `slope` (3) the derivative of value() by the vector from a to b, in real space only, and to `virial`
  /// (row-major) derivative_k d_l, both times `weight`.
  void add_slope(const DftbAtoms& atoms, int a, int b, double weight, double* slope, double* virial) const;

  /// Reciprocal part of the energy 1/2 sum q q value of charges: adds its derivatives by positions of atoms begin..end
  /// (3 each from `gradient` on); and minus its derivative by strain.
  void add_reciprocal_gradient(const DftbAtoms& atoms, const std::vector<double>& q, int begin, int end,
                               double* gradient) const;
  void add_reciprocal_virial(const DftbAtoms& atoms, const std::vector<double>& q, double* virial) const;

 private:
  struct Wave {
    std::array<double, 3> k;
    double weight;   ///< 4 pi / V exp(-k^2 / 4 alpha^2) / k^2, twice: for k and -k
    double stretch;  ///< 2 (1 + k^2 / 4 alpha^2) / k^2
  };
  template <class Action>
  void images(const DftbAtoms& atoms, int a, int b, const Action& action) const;
  std::array<double, 2> structure_factor(const DftbAtoms& atoms, const std::vector<double>& q, const Wave& wave) const;

  double alpha_, cutoff_, background_;
  std::array<int, 3> reach_{};
  std::vector<Wave> wave_;
  std::vector<double> cosine_, sine_;  ///< of k . r, atoms x waves
};

/// Energy of the interaction of the charges of all atoms, and its derivatives: 1/2 sum q_a gamma_ab q_b and, with
/// derivatives of the Hubbard parameters, 1/3 sum q_a^2 Gamma_ab q_b with Gamma_ab = (dgamma_ab / dU_a) (dU_a / dq_a),
/// half of that for the atom itself (DFTB3, M. Gaus, Q. Cui and M. Elstner, J. Chem. Theory Comput. 7, 931 (2011)).
/// Hartree and bohr.
class ChargeInteraction {
 public:
  /// Rows of the atoms of this rank. `damping`: exponent of pairs with hydrogen; 0: none.
  ChargeInteraction(const DftbAtoms& atoms, std::vector<AtomicCharge> charges, double damping,
                    const ColumnRanges& ranges, int rank);

  /// Derivatives of both energies by the electrons of own atoms.
  std::vector<double> potential(const std::vector<double>& q) const;
  /// Contribution of this rank to both energies.
  struct Energies {
    double second = 0.0, third = 0.0;
  };
  Energies energies(const std::vector<double>& q) const;
  /// Adds forces of own atoms (3 each) and this rank's contribution to the virial of both energies.
  void add_forces(const std::vector<double>& q, double* force, double* virial) const;

 private:
  template <class Action>
  void near(int a, int b, const Action& action) const;
  double damping_of(int a, int b) const { return atom_[a].hydrogen || atom_[b].hydrogen ? damping_ : 0.0; }
  void add_third_order(int a, int b, std::size_t at);
  /// Derivative by r of the energies of the pair a, b at r, without 1/r, over r.
  double pull(int a, int b, double r, const std::vector<double>& q) const;

  const DftbAtoms& atoms_;
  std::vector<AtomicCharge> atom_;
  double damping_;
  int begin_, end_, rank_;
  bool third_order_ = false;
  std::optional<EwaldSum> ewald_;
  double cutoff_ = 0.0;
  std::array<int, 3> reach_{};
  std::vector<double> row_;                ///< gamma, own atoms x all atoms
  std::vector<double> by_own_, by_other_;  ///< the same of Gamma_ab and Gamma_ba, with third order
};

}  // namespace cambium::submatrix
