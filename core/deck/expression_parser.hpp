#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.hpp"
#include "core/deck/expression.hpp"

namespace cambium::deck {

/// Additional instruction codes of conditions; not in expression.hpp, which every type of a deck includes. The loosest
/// levels of the grammar:
///   formula    = both { "or" both }
///   both       = condition { "and" condition }
///   condition  = "not" condition | sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
/// A condition is 1 if it holds and 0 if not; any number but 0 counts as true. if(c, a, b) is a if c holds, else b,
/// even if the other one is NaN or infinite. Conditions are not chained: "0 < t and t < 5". Both sides of a comparison,
/// and both values of if, have one dimension; a bare number takes that of the other side, so "t < 5" means 5 ps. Truth
/// values are dimensionless.
namespace condition {
constexpr auto first = static_cast<Expression::Code>(64);
constexpr auto less = first;
constexpr auto less_equal = static_cast<Expression::Code>(65);
constexpr auto greater = static_cast<Expression::Code>(66);
constexpr auto greater_equal = static_cast<Expression::Code>(67);
constexpr auto equal = static_cast<Expression::Code>(68);
constexpr auto not_equal = static_cast<Expression::Code>(69);
constexpr auto both = static_cast<Expression::Code>(70);
constexpr auto either = static_cast<Expression::Code>(71);
constexpr auto inverse = static_cast<Expression::Code>(72);
constexpr auto choose = static_cast<Expression::Code>(73);  ///< if(c, a, b)

/// Number of operands taken from the stack.
int operands(Expression::Code code);
/// 1 or 0; `inverse` uses a only.
double holds(Expression::Code code, double a, double b);
}  // namespace condition

/// Number of operands that one instruction takes from the stack.
int operands(Expression::Code code);
/// Runs a program that was checked to fit the stack.
double evaluate(std::span<const Expression::Instruction> program, std::span<const double> variables);

/// "a time", "an energy".
std::string with_article(Dimension dimension);
bool begins_word(char c);
constexpr int deepest_formula =
    100;  ///< levels of parentheses, signs and powers, so that no text can exhaust the stack

/// Coherent set of units in which an expression is evaluated: the declared units of its result and variables, as far as
/// they agree with each other, completed by angstrom, ps, g/mol, K and e. Because products of its units are its units
/// again, only literals and variables need a conversion.
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

/// The text of a formula and how far it was read.
class ExpressionText {
 public:
  explicit ExpressionText(std::string_view text) : text_(text) {}

 protected:
  void blanks();
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::string_view word();
  /// Takes this word, when it comes next.
  bool take_word(std::string_view name);
  /// Parses a comparison operator; none if there is none.
  std::optional<Expression::Code> comparison_sign();
  [[noreturn]] void fail(std::string problem, std::size_t at) const;
  [[noreturn]] void fail_at_operator() const;

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Recursive descent over the grammar of Expression; every partial result carries its program and its dimension.
class ExpressionParser : private ExpressionText {
 public:
  ExpressionParser(std::string_view text, std::string_view unit, std::span<const Variable> variables);
  std::vector<Expression::Instruction> parse();

 private:
  using Code = Expression::Code;
  struct Value {
    std::vector<Expression::Instruction> program;
    std::optional<Dimension> dimension;  ///< none: a bare number, which takes the dimension required by its context
    std::size_t at = 0;                  ///< column at which it begins
    bool constant() const { return program.size() == 1 && program[0].code == Code::number; }
  };

  Value formula();
  Value both();
  Value negation();
  Value comparison();
  Value sum();
  Value product();
  Value sign();
  Value power();
  Value primary();
  Value number();
  Value named();
  Value call(std::string_view name, std::size_t at);
  /// `count` values in parentheses; `comma` is set to the position of the last comma.
  std::vector<Value> call_arguments(std::string_view name, std::size_t count, std::size_t at, std::size_t& comma);
  Value choice(std::vector<Value> values, std::size_t at, std::size_t comma) const;
  std::optional<Unit> unit_after_number();

  /// Fails unless `value` is dimensionless, as required of a truth value.
  void require_truth(const Value& value, std::string_view verb) const;

  Value quantity(double value, Unit unit, std::size_t at) const;
  Value combined(Code code, Value left, const Value& right, std::optional<Dimension> dimension) const;
  Value applied(Code code, Value value, std::optional<Dimension> dimension) const;
  /// The common dimension of both sides of a sum; an error at `at` if they differ.
  std::optional<Dimension> shared(const Value& left, const Value& right, std::size_t at, std::string_view verb) const;
  std::optional<Dimension> root_or_power(const Value& base, double exponent, std::size_t at) const;

  const Variable* variable(std::string_view name) const;

  std::string_view result_name_;
  Unit result_;
  std::span<const Variable> variables_;
  CoherentUnits units_;
  int depth_ = 0;
};

}  // namespace cambium::deck
