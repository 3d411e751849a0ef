#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/submatrix/columns/block_columns.hpp"
#include "plugins/submatrix/dftb/atoms.hpp"
#include "plugins/submatrix/dftb/inverse_sixth.hpp"
#include "plugins/submatrix/dftb/parameters.hpp"

namespace cambium::submatrix {

/// Parameters of one species of the Lennard-Jones form, such as those of the universal force field (A. K. Rappé et al.,
/// J. Am. Chem. Soc. 114, 10024 (1992)).
struct LennardJonesAtom {
  double distance = 0.0;  ///< of the minimum, bohr
  double energy = 0.0;    ///< depth, hartree
  static void describe(deck::Describe<LennardJonesAtom>& d);
};

/// Parameters of one species of the Slater-Kirkwood form.
struct SlaterKirkwoodAtom {
  double polarisability = 0.0;  ///< bohr^3
  double radius = 0.0;          ///< van der Waals radius, bohr
  double electrons = 0.0;       ///< effective number
  static void describe(deck::Describe<SlaterKirkwoodAtom>& d);
};

/// Dispersion between all atoms, in one of two forms.
struct DispersionKeys {
  std::optional<std::map<std::string, LennardJonesAtom>> lennard_jones;
  std::optional<std::map<std::string, SlaterKirkwoodAtom>> slater_kirkwood;
  static void describe(deck::Describe<DispersionKeys>& d);
};

/// Energy of one pair of species, hartree and bohr. Beyond `reach` it is -c6 / r^6.
struct DispersionPair {
  struct Value {
    double energy = 0.0, slope = 0.0;  ///< slope by r
  };
  bool lennard_jones = true;
  double c6 = 0.0;
  double distance = 0.0, depth = 0.0;  ///< Lennard-Jones
  double damping = 0.0;                ///< Slater-Kirkwood: d / R0^7
  double reach = 0.0;

  Value at(double r) const;
};

/// Of every pair of elements, row-major. Lennard-Jones: L. Zhechkov et al., J. Chem. Theory Comput. 1, 841 (2005), with
/// geometric means and a polynomial where the potential is positive; Slater-Kirkwood: M. Elstner et al., J. Chem. Phys.
/// 114, 5149 (2001). KeyError about `dispersion` for a species without parameters, or with those of none.
std::vector<DispersionPair> dispersion_pairs(const DispersionKeys& keys,
                                             const std::vector<DftbParameters::Element>& elements);

/// Energy of the dispersion of all atoms, its forces and virial; in a periodic cell without a cut-off, by an Ewald sum
/// of 1/r^6.
class Dispersion {
 public:
  Dispersion(const DftbAtoms& atoms, std::vector<DispersionPair> pairs, const ColumnRanges& ranges, int rank);
  /// Adds forces of own atoms (3 each) and this rank's contribution to the virial; returns that to the energy.
  double add(double* force, double* virial) const;

 private:
  const DispersionPair& pair(int a, int b) const {
    return pair_[static_cast<std::size_t>(atoms_.type[a]) * kinds_ + static_cast<std::size_t>(atoms_.type[b])];
  }
  double add_pair(int a, int b, const std::array<int, 3>& image, double* force, double* virial) const;

  const DftbAtoms& atoms_;
  std::vector<DispersionPair> pair_;
  std::size_t kinds_ = 0;
  int begin_, end_, rank_;
  double cutoff_ = 0.0;
  std::array<int, 3> reach_{};
  std::optional<InverseSixthSum> sum_;
};

}  // namespace cambium::submatrix
