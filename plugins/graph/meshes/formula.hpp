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

/// Keys of a deck that are formulas without variables: `parameters`.
std::map<std::string, double> values_of(const Parameters& parameters);

/// A formula of a deck in variables that a physics knows only when it is made (its species, say), and in the deck's own
/// parameters. Numbers have no units.
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
  /// True if its text has this name as a word.
  bool names(std::string_view word) const;

 private:
  deck::Expression expression_;
  mutable std::vector<double> all_;  ///< room for the variables, then the parameters; one thread evaluates
  std::size_t variables_ = 0;
};

}  // namespace cambium::graph
