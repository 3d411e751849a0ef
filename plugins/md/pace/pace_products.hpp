#pragma once
#include <compare>
#include <vector>

#include "plugins/md/pace/pace_file.hpp"

namespace cambium::md {

/// Products of the sums A of one type as a tree: products with the same first factors share these. A product whose
/// orders m all have the other sign is its complex conjugate, but for a sign, and counts as the same.
struct PaceProducts {
  struct Factor {
    int type, n, l, m;  ///< type of the neighbours
    auto operator<=>(const Factor&) const = default;
  };
  /// A product of factors that others begin with. The root, 0, has no factor.
  struct Branch {
    int sum;                        ///< last factor
    int first_end, last_end;        ///< of the products with one factor more
    int first_branch, last_branch;  ///< of longer ones
  };
  /// A function of rank 1: sum over neighbours of a type of the basis function n.
  struct Linear {
    int type, n;
  };
  int densities = 0;
  std::vector<Factor> sums;
  std::vector<Branch> branches;
  std::vector<int> end_sum;   ///< last factor of a product, by product
  std::vector<double> end_c;  ///< (products, densities)
  std::vector<Linear> linear;
  std::vector<double> linear_c;  ///< (functions of rank 1, densities)
};

/// Products of the functions of a type, with equal ones added.
PaceProducts pace_products(const PaceFile& file, int type);

}  // namespace cambium::md
