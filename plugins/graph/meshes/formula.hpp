#pragma once
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/deck/expression.hpp"

namespace cambium::graph {

using Parameters = std::map<std::string, deck::Expression>;

/// Values of deck keys that are formulas without variables: `parameters`.
std::map<std::string, double> values_of(const Parameters& parameters);

/// A formula of a deck in variables known only to the physics (its species, for example) and in the parameters of the
/// deck. Values have no units.
class Formula {
 public:
  Formula() = default;
  /// Throws deck::ExpressionError.
  Formula(const std::string& text, std::vector<std::string> variables,
          const std::map<std::string, double>& parameters = {});

  /// `variables` in the order given to the constructor.
  double operator()(std::span<const double> variables) const;
  double operator()(std::initializer_list<double> variables) const {
    return (*this)(std::span<const double>(variables.begin(), variables.size()));
  }
  const std::string& text() const { return expression_.text(); }
  /// True if its text contains this name as a word.
  bool names(std::string_view word) const;

 private:
  deck::Expression expression_;
  mutable std::vector<double> all_;  ///< space for the variables, then the parameters; one thread evaluates
  std::size_t variables_ = 0;
};

}  // namespace cambium::graph
