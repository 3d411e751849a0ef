#include "plugins/superres/equations/equation.hpp"

#include <algorithm>
#include <set>

namespace cambium::superres {

std::vector<Derivative> Equation::derivatives() const {
  std::set<Derivative> all;
  for (const auto& term : terms) all.insert(term.factors.begin(), term.factors.end());
  return {all.begin(), all.end()};
}

Equation Equation::exchanged(int first_axis, int second_axis) const {
  Equation other = *this;
  for (auto& term : other.terms) {
    for (auto& factor : term.factors) std::swap(factor.order[first_axis], factor.order[second_axis]);
    std::sort(term.factors.begin(), term.factors.end());
  }
  return other;
}

bool Equation::same_as(const Equation& other) const {
  return std::is_permutation(terms.begin(), terms.end(), other.terms.begin(), other.terms.end());
}

}  // namespace cambium::superres
