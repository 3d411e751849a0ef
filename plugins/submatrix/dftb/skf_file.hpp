#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace cambium::submatrix {

/// Angular momenta of the functions of an atom: s, p, d.
inline constexpr int most_shells = 3;

/// Repulsion of a pair: an exponential, then cubic splines, and a fifth-order polynomial at the end (hartree, bohr).
struct SplineRepulsion {
  std::array<double, 3> head{};                     ///< exp(-a1 r + a2) + a3 below the first interval
  std::vector<double> start;                        ///< of the intervals, ascending
  std::vector<std::array<double, 6>> coefficients;  ///< of powers of r - start; the last two are 0 but in the last one
  double cutoff = 0.0;
};

/// Repulsion of a pair as sum_k c_k (cutoff - r)^k, k = 2 .. 9 (hartree, bohr).
struct PolynomialRepulsion {
  std::array<double, 8> coefficients{};
  double cutoff = 0.0;
};

/// A Slater-Koster file (format: http://www.dftb.org, "Format of the v1.0 Slater-Koster files"). Hartree and bohr.
struct SkfFile {
  static constexpr int integrals = 10;  ///< dd sigma, pi, delta, pd sigma, pi, pp sigma, pi, sd, sp, ss
  std::string path;
  double spacing = 0.0;
  /// H and S of each distance, 2 x `integrals`; the first row is for r = spacing.
  std::vector<std::array<double, 2 * integrals>> rows;
  /// For a single element only, by angular momentum: on-site energies, Hubbard parameters and electrons of the neutral
  /// atom.
  std::array<double, most_shells> onsite{}, hubbard{}, electrons{};
  double mass = 0.0;  ///< g/mol
  PolynomialRepulsion polynomial;
  std::optional<SplineRepulsion> spline;
};

/// Reads a file of two elements, or of one (`homonuclear`), in the plain format or the extended one (first line begins
/// with @), whose f orbitals are skipped. InputError "file:line: ..." for a truncated file, words that are not finite
/// numbers, and values in other units.
SkfFile read_skf(const std::string& path, bool homonuclear);

}  // namespace cambium::submatrix
