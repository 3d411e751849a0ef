#pragma once
#include <array>
#include <vector>

#include "plugins/submatrix/dftb/atoms.hpp"

namespace cambium::submatrix {

/// -1/2 sum c6_ab / r^6 over all atoms and images of a cell, to 1e-13 of its size, by an Ewald sum (D. E. Williams,
/// Acta Cryst. A 27, 452 (1971)). c6 of every pair of types, row-major. Hartree and bohr.
class InverseSixthSum {
 public:
  InverseSixthSum(const DftbAtoms& atoms, std::vector<double> c6);

  double cutoff() const { return cutoff_; }  ///< of the part in real space
  struct Value {
    double energy = 0.0, slope = 0.0;
  };
  /// Part in real space of a pair with c6 = 1.
  Value near(double r) const;
  /// Everything else: adds to the forces of atoms begin..end (3 each from `force` on).
  void add_forces(int begin, int end, double* force) const;
  /// The energy of everything else, and its contribution to the virial.
  double add_virial(double* virial) const;

 private:
  struct Wave {
    std::array<double, 3> k;
    double weight;   ///< Fourier transform of the smooth part over V, twice: for k and -k
    double stretch;  ///< its derivative by k, over k
  };
  /// Fourier transform and its derivative by k, over k.
  std::array<double, 2> transform(double k) const;
  /// sum over the atoms of each type of cos and sin (k . r), for all waves: 2 x types to a wave.
  std::size_t place(std::size_t wave, std::size_t type) const { return 2 * (wave * types_ + type); }

  const DftbAtoms& atoms_;
  std::vector<double> c6_;
  std::size_t types_ = 0;
  double eta_ = 0.0, cutoff_ = 0.0;
  std::vector<Wave> wave_;
  std::vector<double> cosine_, sine_;  ///< of k . r, atoms x waves
  std::vector<double> factor_;         ///< structure factors by wave and type
};

}  // namespace cambium::submatrix
