#pragma once
#include <string>
#include <vector>

namespace cambium::md {

/// An atomic cluster expansion as stored in pacemaker's file for LAMMPS' pair style `pace` (.yace): R. Drautz, Phys.
/// Rev. B 99, 014104 (2019); Y. Lysogorskiy et al., npj Comput. Mater. 7, 97 (2021). Atom i has sums over neighbours j
/// A_(mu n l m) = sum_j R_nl(r_ij) Y_lm(r_ij / r_ij), densities rho_p = sum of c A A ... A, and the energy F(rho).
struct PaceFile {
  enum class Basis { cheb_exp_cos, cheb_pow, cheb_linear, bessel };
  /// Transition from the expansion to the core repulsion: as the repulsion grows, below a distance of the pair, or, to
  /// the screened repulsion of nuclei, below a distance of the nearest neighbour.
  enum class Inner { density, distance, zbl };

  struct Embedding {
    int densities = 0;
    bool shifted = false;                   ///< FinnisSinclairShiftedScaled, else FinnisSinclair
    std::vector<double> weights;            ///< eV, by density
    std::vector<double> exponents;          ///< by density
    double core_cutoff = 0.0, width = 0.0;  ///< eV: the energy is switched off over this width below the cut-off
  };

  /// Radial functions R_nl(r) = sum_k c_nlk g_k(r) and core repulsion for a type and its neighbour's type.
  struct Bond {
    Basis basis = Basis::cheb_exp_cos;
    int functions = 0, l_max = 0, basis_size = 0;
    std::vector<double> coefficients;           ///< (functions, l_max + 1, basis_size)
    double lambda = 0.0;                        ///< of the basis
    double cutoff = 0.0, width = 0.0;           ///< Å
    double inner = 0.0, inner_width = 0.0;      ///< Å
    double core_height = 0.0, core_rate = 0.0;  ///< eV Å and 1/Å²
  };

  /// Products of `rank` sums with the same n and l, one for each row of m.
  struct Function {
    int rank = 0;
    std::vector<int> types, n, l;  ///< by factor; n from 0
    std::vector<int> m;            ///< (products, rank)
    std::vector<double> c;         ///< (products, densities)
    int products() const { return static_cast<int>(m.size()) / rank; }
  };

  std::vector<std::string> symbols;  ///< by type
  std::vector<double> e0;            ///< eV, by type
  Inner inner = Inner::density;
  std::vector<Embedding> embeddings;             ///< by type
  std::vector<Bond> bonds;                       ///< (type, type of neighbour)
  std::vector<std::vector<Function>> functions;  ///< by type
  int n_max = 0, l_max = 0, basis_max = 0;       ///< largest of all bonds

  int types() const { return static_cast<int>(symbols.size()); }
  const Bond& bond(int type, int other) const { return bonds[type * types() + other]; }
  double cutoff() const;  ///< Å, largest
  int rank_max() const;
};

/// Reads a .yace file. InputError names file, line and error, the older text format .ace, unconverted files of
/// pacemaker, and unsupported kinds of radial functions.
PaceFile read_pace(const std::string& path);

}  // namespace cambium::md
