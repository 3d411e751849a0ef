#pragma once
#include <string>
#include <vector>

namespace cambium::md {

/// A neuroevolution potential as stored in its text file: Z. Fan et al., Phys. Rev. B 104, 104309 (2021), and J. Chem.
/// Phys. 157, 114801 (2022). The descriptor of an atom has `radial_functions` components, then for every power spectrum
/// of degree l, bispectrum and so on one for each angular function.
struct NepFile {
  int version = 0;                            ///< 3: one network for all species, 4: one each, 5: plus an energy each
  std::vector<std::string> symbols;           ///< by type
  std::vector<double> rc_radial, rc_angular;  ///< Å, by type; the mean of both for a pair
  int radial_functions = 0, angular_functions = 0;
  int radial_basis = 0, angular_basis = 0;  ///< Chebyshev polynomials in a radial function
  int l_max = 0;                            ///< 1 to 8
  bool fourth = false, fifth = false;       ///< four-body terms of degree 2, five-body terms of degree 1
  int neurons = 0;

  struct Network {
    std::vector<double> w0;  ///< (neurons, dim)
    std::vector<double> b0;
    std::vector<double> w1;  ///< eV
    double bias = 0.0;       ///< eV; the energy is w1 . tanh(w0 q - b0) - bias
  };
  std::vector<Network> networks;  ///< by type
  /// Coefficients (type, type of neighbour, function, polynomial).
  std::vector<double> radial, angular;
  std::vector<double> scale;  ///< of the dim descriptors

  /// Screened nuclear repulsion of a pair of types, switched off by a cosine from `inner` to `outer`.
  struct Repulsion {
    double charges = 0.0, inverse_a = 0.0;  ///< eV Å, 1/Å
    double inner = 0.0, outer = 0.0;        ///< Å
    double share[4] = {}, rate[4] = {};
  };
  std::vector<Repulsion> repulsion;  ///< (type, type); empty if absent

  int types() const { return static_cast<int>(symbols.size()); }
  int terms() const { return l_max + (fourth ? 1 : 0) + (fifth ? 1 : 0); }
  int dim() const { return radial_functions + angular_functions * terms(); }
};

/// Reads nep.txt of GPUMD: versions 3, 4 and 5, with or without repulsion. InputError names file, line and error, and
/// unsupported kinds of models (dipoles, polarizabilities, charges).
NepFile read_nep(const std::string& path);

}  // namespace cambium::md
