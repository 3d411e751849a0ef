#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace cambium::deck {

/// A quantity by which an Expression may be written.
struct Variable {
  std::string name;
  std::string unit;
};

/// Error in an expression and its location: `column` counts from 1 within its text. what() adds the text and a
/// caret.
class ExpressionError : public InputError {
 public:
  ExpressionError(std::string problem, std::string_view text, std::size_t column);
  std::string problem;
  std::size_t column;
};

/// A formula of named variables, parsed and unit-checked once, then fast to evaluate; a plain number is one too.
///
/// Grammar, loosest first; conditions, by which formulas compare and choose, are in expression_parser.hpp:
///   formula  = sum, or a condition of sums: < <= > >= == != not and or
///   sum      = product { ("+" | "-") product },  product = sign { ("*" | "/") sign }
///   sign     = "-" sign | primary [ "^" sign ]          (to the right: 2^3^2 = 2^9)
///   primary  = number [unit] | name | function "(" formula {"," formula} ")" | "(" formula ")"
///   unit     = "[" product of units "]" | unit-name ["^" integer]
///   function = sin cos tan exp log sqrt abs min max tanh step if
///              (step(x) = 1 for x >= 0, else 0; if(c, a, b) = a where c is not 0, else b)
///   name     = a variable, pi, or a unit (one of it)
/// A unit after a number belongs to that number alone, and what follows is arithmetic: "20 K/ps * t" is
/// ((20 K) / ps) * t. Write brackets to divide by a compound unit: "t / 2 [ps]", "x / 3 [K/ps]".
///
/// Units: a bare number takes the unit required by its context, so "300 + 20*t" with t in ps and a result in K needs no
/// units at all; if both are given, they must agree: "300 K + 20 K/fs * t" is converted, "300 K + 5 ps" refused. A bare
/// number added to a quantity is in that quantity's unit. Functions other than abs, min, max, step, if and sqrt require
/// a dimensionless argument.
class Expression {
 public:
  Expression() : Expression(0.0) {}
  Expression(double value);

  /// Throws ExpressionError. The result is in `unit`; `variables` are given to operator() in this order.
  static Expression parse(std::string_view text, std::string_view unit, std::span<const Variable> variables);

  /// Value for these variables (in their declared units), in the declared unit of the result.
  double operator()(std::span<const double> variables) const;
  /// The same for variables t (time) and step, which keys of a deck have unless they declare others.
  double operator()(double t, double step = 0.0) const;

  /// True when the value does not depend on any variable.
  bool constant() const { return program_.size() == 1 && program_[0].code == Code::number; }
  /// As written, or the number.
  const std::string& text() const { return text_; }

  enum class Code : std::uint8_t {
    number,
    variable,
    add,
    subtract,
    multiply,
    divide,
    power,
    negate,
    sin,
    cos,
    tan,
    exp,
    log,
    sqrt,
    abs,
    min,
    max,
    tanh,
    step
  };
  struct Instruction {
    Code code = Code::number;
    int variable = 0;
    double value = 0.0;
  };
  static constexpr int stack_size = 32;  ///< deeper expressions are refused when parsed

 private:
  std::string text_;
  std::vector<Instruction> program_;
};

}  // namespace cambium::deck
