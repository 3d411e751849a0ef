#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

namespace cambium::superres {

/// A derivative of a field, up to second order; order 0 along every axis is the field itself.
struct Derivative {
  int field = 0;
  std::array<int, 3> order{};  ///< along t, x, z
  auto operator<=>(const Derivative&) const = default;
};

/// coefficient times a product of derivatives.
struct Term {
  double coefficient = 0.0;
  std::vector<Derivative> factors;  ///< sorted
  bool operator==(const Term&) const = default;
};

/// A partial differential equation "sum of terms = 0" that is polynomial in fields and their derivatives.
struct Equation {
  std::string text;
  std::vector<Term> terms;

  /// All derivatives that occur, without duplicates.
  std::vector<Derivative> derivatives() const;
  /// The same equation with two axes exchanged in every derivative.
  Equation exchanged(int first_axis, int second_axis) const;
  /// The same terms, in any order.
  bool same_as(const Equation& other) const;
};

/// Names that an equation may use.
struct Vocabulary {
  std::vector<std::string> fields{"p", "b", "u", "w"};
  std::map<std::string, double> constants;
  static constexpr std::array<const char*, 3> axes{"t", "x", "z"};
};

/// Parses "dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b)) = 0": numbers, constants, fields, + - * ( ), division by a
/// number, integer powers, and derivatives d<axes>(expression) whose products are expanded. InputError points at the
/// column; `number` is the index of the equation in the deck, from 1.
Equation parse_equation(const std::string& text, const Vocabulary& vocabulary, int number);

}  // namespace cambium::superres
