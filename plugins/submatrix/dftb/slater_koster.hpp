#pragma once
#include <array>

#include "plugins/submatrix/dftb/radial_table.hpp"

namespace cambium::submatrix {

/// Functions of an atom whose highest shell has angular momentum `highest`: s, then x, y, z, then the five d functions.
inline constexpr int functions_of(int highest) { return (highest + 1) * (highest + 1); }
/// Shell to which a function of an atom belongs.
inline constexpr int shell_of(int function) { return function == 0 ? 0 : function < 4 ? 1 : 2; }
inline constexpr int most_functions = functions_of(most_shells - 1);

/// Blocks <a|H|b> and <a|S|b> of two atoms, rows of a, row-major, and their derivatives by the vector from a to b.
struct PairBlocks {
  std::array<double, most_functions * most_functions> h{}, s{};
  std::array<std::array<double, most_functions * most_functions>, 3> dh{}, ds{};
};

/// Two-centre integrals turned to the direction of b from a (J. C. Slater and G. F. Koster, Phys. Rev. 94, 1498
/// (1954)), with p and d functions as vectors and traceless tensors, so that derivatives have no poles. `ab`: integrals
/// whose first function is at a (of the lower or equal angular momentum); `ba`: at b. Integrals between shells of equal
/// angular momentum are taken from `equal`. `d`: from a to b (bohr). Derivatives only with `gradient`.
void slater_koster_blocks(const RadialTable::Value& ab, const RadialTable::Value& ba, const RadialTable::Value& equal,
                          int highest_a, int highest_b, const double d[3], bool gradient, PairBlocks& out);

}  // namespace cambium::submatrix
