#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/submatrix/dftb/atoms.hpp"
#include "plugins/submatrix/dftb/parameters.hpp"

namespace cambium::submatrix {

/// Collinear spin polarisation: C. Köhler, T. Frauenheim, B. Hourahine, G. Seifert and M. Sternberg, J. Phys. Chem. A
/// 111, 5622 (2007). Spins are numbers of electrons, up less down.
struct SpinKeys {
  double unpaired = 0.0;  ///< fixed N up - N down; with `relax` that of the first cycle
  bool relax = false;     ///< one Fermi level for both spins, so that N up - N down is a result
  /// W of each species, hartree: shells x shells, or one value for all shells.
  std::map<std::string, std::vector<std::vector<double>>> constants;
  std::map<std::string, double> initial;  ///< of an atom of each species in the first cycle
  std::vector<double> initial_atoms;      ///< of each atom in the order of the ids
  static void describe(deck::Describe<SpinKeys>& d);
};

/// W of one species by shells s, p, d; shells that the species does not have are 0. Hartree.
using SpinConstants = std::array<std::array<double, most_shells>, most_shells>;

/// Of every element. KeyError about `spin.constants` where a species has none, or another number than its shells.
std::vector<SpinConstants> spin_constants(const SpinKeys& keys, const std::vector<DftbParameters::Element>& elements);

/// Spins of the shells of all atoms (most_shells to an atom) in the first cycle: those of the keys, else `unpaired` in
/// proportion to the electrons of neutral atoms. KeyError for a spin that the functions of an atom do not hold, and for
/// a wrong number of atoms.
std::vector<double> initial_spins(const SpinKeys& keys, const DftbAtoms& atoms,
                                  const std::vector<DftbParameters::Element>& elements);

/// Spin energy 1/2 sum over atoms and shells p_l W_ll' p_l' (hartree) of the spins of all atoms, and its derivatives by
/// the spins.
class SpinInteraction {
 public:
  SpinInteraction(const DftbAtoms& atoms, std::vector<SpinConstants> constants)
      : atoms_(atoms), constants_(std::move(constants)) {}
  std::vector<double> potential(const std::vector<double>& spins) const;
  double energy(const std::vector<double>& spins) const;

 private:
  const DftbAtoms& atoms_;
  std::vector<SpinConstants> constants_;
};

}  // namespace cambium::submatrix
