#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.hpp"
#include "core/deck/expression.hpp"

namespace cambium::deck {

/// Numbers taken from the stack by one instruction.
int operands(Expression::Code code);
/// Runs a program that was checked to fit the stack.
double evaluate(std::span<const Expression::Instruction> program, std::span<const double> variables);

/// One coherent set of units in which an expression is worked out: the declared units of its result and variables,
/// as far as they agree with each other, filled up with angstrom, ps, g/mol, K and e. Because products of its units
/// are its units again, only literals and variables need a conversion.
class CoherentUnits {
 public:
  explicit CoherentUnits(std::span<const Unit> declared);
  /// Size in SI of the unit for this dimension.
  double factor(Dimension dimension) const;
  /// Number by which a value in `unit` is multiplied to be in the coherent unit; exactly 1 for a declared unit.
  double conversion(Unit unit) const;

 private:
  std::vector<Unit> declared_;
  std::array<double, 5> log_scale_{};
};

/// Recursive descent over the grammar of Expression; every partial result carries its program and its dimension.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::string_view unit, std::span<const Variable> variables);
  std::vector<Expression::Instruction> parse();

 private:
  using Code = Expression::Code;
  struct Value {
    std::vector<Expression::Instruction> program;
    std::optional<Dimension> dimension;  ///< none: a bare number, which takes the dimension that its place needs
    std::size_t at = 0;                  ///< where it begins
    bool constant() const { return program.size() == 1 && program[0].code == Code::number; }
  };

  Value sum();
  Value product();
  Value sign();
  Value power();
  Value primary();
  Value number();
  Value named();
  Value call(std::string_view name, std::size_t at);
  std::optional<Unit> unit_after_number();

  Value quantity(double value, Unit unit, std::size_t at) const;
  Value combined(Code code, Value left, const Value& right, std::optional<Dimension> dimension) const;
  Value applied(Code code, Value value, std::optional<Dimension> dimension) const;
  /// The dimension that both sides of a sum share; an error at `at` when they have different ones.
  std::optional<Dimension> shared(const Value& left, const Value& right, std::size_t at, std::string_view verb) const;
  std::optional<Dimension> root_or_power(const Value& base, double exponent, std::size_t at) const;

  [[noreturn]] void fail(std::string problem, std::size_t at) const;
  void blanks();
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::string_view word();
  const Variable* variable(std::string_view name) const;

  std::string_view text_;
  std::string_view result_name_;
  Unit result_;
  std::span<const Variable> variables_;
  CoherentUnits units_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace cambium::deck
