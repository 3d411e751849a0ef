#pragma once
#include <compare>
#include <vector>

#include "plugins/md/pace/pace_file.hpp"

namespace cambium::md {

/// Products of the sums A of one type as a tree: products with the same first factors share these. A product with all
/// orders m negated is the complex conjugate up to a sign, and is merged.
struct PaceProducts {
  struct Factor {
    int type, n, l, m;  ///< type of the neighbours
    auto operator<=>(const Factor&) const = default;
  };
  /// A product of factors that is a prefix of others. The root, 0, has no factor.
  struct Branch {
    int sum;                        ///< last factor
    int first_end, last_end;        ///< of the products with one factor more
    int first_branch, last_branch;  ///< of longer ones
  };
  /// A function of rank 1: sum of the basis function n over neighbours of a type.
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

/// Products of the functions of a type, with equal ones merged.
PaceProducts pace_products(const PaceFile& file, int type);

}  // namespace cambium::md
