// Operators that compare, combine truths and choose: the loosest levels of the grammar.
#include <fmt/format.h>

#include "core/deck/expression_parser.hpp"

namespace cambium::deck {

using Code = Expression::Code;

int condition::operands(Code code) { return code == choose ? 3 : code == inverse ? 1 : 2; }

double condition::holds(Code code, double a, double b) {
  if (code == less) return a < b;
  if (code == less_equal) return a <= b;
  if (code == greater) return a > b;
  if (code == greater_equal) return a >= b;
  if (code == equal) return a == b;
  if (code == not_equal) return a != b;
  if (code == both) return a != 0.0 && b != 0.0;
  if (code == either) return a != 0.0 || b != 0.0;
  return a == 0.0;
}

ExpressionParser::Value ExpressionParser::formula() {
  Value left = both();
  while (take_word("or")) {
    const Value right = both();
    require_truth(left, "or");
    require_truth(right, "or");
    left = combined(condition::either, std::move(left), right, Dimension{});
  }
  return left;
}

ExpressionParser::Value ExpressionParser::both() {
  Value left = negation();
  while (take_word("and")) {
    const Value right = negation();
    require_truth(left, "and");
    require_truth(right, "and");
    left = combined(condition::both, std::move(left), right, Dimension{});
  }
  return left;
}

ExpressionParser::Value ExpressionParser::negation() {
  blanks();
  const std::size_t at = at_;
  if (!take_word("not")) return comparison();
  if (++depth_ > deepest_formula) fail("the expression is nested too deeply", at);
  Value value = negation();
  --depth_;
  require_truth(value, "not");
  value = applied(condition::inverse, std::move(value), Dimension{});
  value.at = at;
  return value;
}

ExpressionParser::Value ExpressionParser::comparison() {
  Value left = sum();
  blanks();
  const std::size_t at = at_;
  const auto sign = comparison_sign();
  if (!sign) return left;
  const Value right = sum();
  shared(left, right, at, "compare");
  left = combined(*sign, std::move(left), right, Dimension{});
  blanks();
  const std::size_t next = at_;
  if (comparison_sign()) fail("comparisons are not chained; write 'a < b and b < c'", next);
  return left;
}

std::optional<Expression::Code> ExpressionText::comparison_sign() {
  constexpr std::pair<std::string_view, Code> signs[] = {
      {"<=", condition::less_equal}, {">=", condition::greater_equal}, {"==", condition::equal},
      {"!=", condition::not_equal},  {"<", condition::less},           {">", condition::greater}};
  for (const auto& [text, code] : signs)
    if (text_.substr(at_).starts_with(text)) return at_ += text.size(), code;
  if (peek() == '=') fail("'=' compares nothing; write '=='", at_);
  return std::nullopt;
}

bool ExpressionText::take_word(std::string_view name) {
  blanks();
  const std::size_t at = at_;
  if (begins_word(peek()) && word() == name) return true;
  at_ = at;
  return false;
}

void ExpressionParser::require_truth(const Value& value, std::string_view verb) const {
  if (value.dimension && !value.dimension->none())
    fail(fmt::format("{} needs a condition, found {}", verb, with_article(*value.dimension)), value.at);
}

ExpressionParser::Value ExpressionParser::choice(std::vector<Value> v, std::size_t at, std::size_t comma) const {
  require_truth(v[0], "if");
  const auto dimension = shared(v[1], v[2], comma, "choose between");
  const bool fold = v[0].constant() && v[1].constant() && v[2].constant();
  for (const Value* value : {&v[1], &v[2]})
    v[0].program.insert(v[0].program.end(), value->program.begin(), value->program.end());
  v[0].program.push_back({condition::choose, 0, 0.0});
  if (fold) v[0].program = {{Code::number, 0, evaluate(v[0].program, {})}};
  v[0].dimension = dimension;
  v[0].at = at;
  return std::move(v[0]);
}

}  // namespace cambium::deck
