#include "core/deck/expression_parser.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/text.hpp"
#include "core/deck/functions.hpp"

namespace cambium::deck {

namespace {

using Code = Expression::Code;

std::vector<Unit> declared_units(std::string_view unit, std::span<const Variable> variables) {
  std::vector<Unit> out{unit_of(unit)};
  for (const auto& v : variables) out.push_back(unit_of(v.unit));
  return out;
}

bool is_operator(std::string_view word) { return word == "and" || word == "or" || word == "not"; }

/// Spellings of an operator in other languages.
std::string_view other_spelling(char c) {
  return c == '&' ? "; write 'and'" : c == '|' ? "; write 'or'" : c == '?' ? "; write if(condition, a, b)" : "";
}

bool in_word(char c) { return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)); }

}  // namespace

std::string with_article(Dimension dimension) {
  const std::string name = describe(dimension);
  return (std::string_view("aeiou").find(name[0]) != std::string_view::npos ? "an " : "a ") + name;
}

bool begins_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

ExpressionParser::ExpressionParser(std::string_view text, std::string_view unit, std::span<const Variable> variables)
    : ExpressionText(text), result_name_(unit), result_(unit_of(unit)), variables_(variables),
      units_(declared_units(unit, variables)) {}

std::vector<Expression::Instruction> ExpressionParser::parse() {
  Value value = formula();
  blanks();
  if (at_ < text_.size()) fail_at_operator();
  if (value.dimension && *value.dimension != result_.dimension)
    fail(fmt::format("the result is {}, expected {}{}", with_article(*value.dimension), with_article(result_.dimension),
                     result_name_.empty() ? "" : fmt::format(" ({})", result_name_)),
         value.at);
  const double ratio = value.dimension ? units_.factor(result_.dimension) / result_.factor : 1.0;
  if (ratio != 1.0) value = combined(Code::multiply, std::move(value), quantity(ratio, {}, 0), result_.dimension);
  if (value.constant() && !std::isfinite(value.program[0].value)) fail("the value is not finite", value.at);
  int height = 0, highest = 0;
  for (const auto& i : value.program) highest = std::max(highest, height += 1 - operands(i.code));
  if (highest > Expression::stack_size) fail("the expression is nested too deeply", 0);
  return std::move(value.program);
}

ExpressionParser::Value ExpressionParser::sum() {
  Value left = product();
  for (blanks(); peek() == '+' || peek() == '-'; blanks()) {
    const std::size_t at = at_;
    const bool add = text_[at_++] == '+';
    const Value right = product();
    const auto dimension = shared(left, right, at, add ? "add" : "subtract");
    left = combined(add ? Code::add : Code::subtract, std::move(left), right, dimension);
  }
  return left;
}

ExpressionParser::Value ExpressionParser::product() {
  Value left = sign();
  for (blanks(); peek() == '*' || peek() == '/'; blanks()) {
    const bool multiply = text_[at_++] == '*';
    const Value right = sign();
    std::optional<Dimension> dimension;
    if (left.dimension && right.dimension)
      dimension = multiply ? *left.dimension * *right.dimension : *left.dimension / *right.dimension;
    left = combined(multiply ? Code::multiply : Code::divide, std::move(left), right, dimension);
  }
  return left;
}

ExpressionParser::Value ExpressionParser::sign() {
  blanks();
  if (++depth_ > deepest_formula) fail("the expression is nested too deeply", at_);
  const std::size_t at = at_;
  const char c = peek();
  if (c == '-' || c == '+') ++at_;
  Value value = c == '-' || c == '+' ? sign() : power();
  --depth_;
  const auto dimension = value.dimension;
  if (c == '-') value = applied(Code::negate, std::move(value), dimension);
  value.at = at;
  return value;
}

ExpressionParser::Value ExpressionParser::power() {
  Value base = primary();
  blanks();
  if (peek() != '^') return base;
  const std::size_t at = at_++;
  const Value exponent = sign();
  if (exponent.dimension && !exponent.dimension->none())
    fail(fmt::format("an exponent must be a number without unit, found {}", with_article(*exponent.dimension)),
         exponent.at);
  std::optional<Dimension> dimension;
  if (base.dimension && !base.dimension->none()) {
    if (!exponent.constant())
      fail(fmt::format("the exponent of {} must be a number", with_article(*base.dimension)), exponent.at);
    dimension = root_or_power(base, exponent.program[0].value, at);
  } else if (base.dimension) {
    dimension = Dimension{};
  }
  return combined(Code::power, std::move(base), exponent, dimension);
}

ExpressionParser::Value ExpressionParser::primary() {
  blanks();
  const std::size_t at = at_;
  if (peek() == '(') {
    ++at_;
    Value inner = formula();
    blanks();
    if (peek() != ')') fail("this '(' is not closed", at);
    ++at_;
    inner.at = at;
    return inner;
  }
  if (std::isdigit(static_cast<unsigned char>(peek())) || peek() == '.') return number();
  if (begins_word(peek())) return named();
  if (at_ == text_.size()) fail("expected a number, a name or '(', found the end", at_);
  if (at > 0 && text_.substr(at - 1).starts_with("**")) fail("'**' is no operator; a power is written '^'", at - 1);
  fail(fmt::format("expected a number, a name or '(', found '{}'", text_.substr(at_, 1)), at_);
}

ExpressionParser::Value ExpressionParser::number() {
  const std::size_t at = at_;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc()) fail("this is not a number", at);
  at_ = static_cast<std::size_t>(end - text_.data());
  if (const auto unit = unit_after_number()) return quantity(value, *unit, at);
  return {{{Code::number, 0, value}}, std::nullopt, at};
}

std::optional<Unit> ExpressionParser::unit_after_number() {
  blanks();
  const std::size_t at = at_;
  if (peek() == '[') {
    const auto close = text_.find(']', at_);
    if (close == std::string_view::npos) fail("this '[' is not closed", at);
    std::string problem;
    const auto unit = parse_unit(text_.substr(at_ + 1, close - at_ - 1), &problem);
    if (!unit) fail(problem, at + 1);
    at_ = close + 1;
    return unit;
  }
  if (!begins_word(peek())) return std::nullopt;
  const auto name = word();
  if (is_operator(name)) return at_ = at, std::nullopt;
  if (variable(name) || peek() == '(' || name == "pi") fail(fmt::format("expected an operator before '{}'", name), at);
  auto unit = find_unit(name);
  if (!unit) {
    std::string problem;
    parse_unit(name, &problem);
    fail(problem, at);
  }
  if (peek() != '^') return unit;
  int exponent = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_ + 1, text_.data() + text_.size(), exponent);
  if (error != std::errc() || std::abs(exponent) > 99) fail("the exponent of a unit must be a whole number", at_ + 1);
  at_ = static_cast<std::size_t>(end - text_.data());
  return cambium::power(*unit, exponent);
}

ExpressionParser::Value ExpressionParser::named() {
  const std::size_t at = at_;
  const auto name = word();
  blanks();
  if (peek() == '(') return call(name, at);
  if (const Variable* v = variable(name)) {
    const Unit unit = unit_of(v->unit);
    return {{{Code::variable, static_cast<int>(v - variables_.data()), units_.conversion(unit)}}, unit.dimension, at};
  }
  if (name == "pi") return quantity(constants::pi, {}, at);
  if (const auto unit = find_unit(name)) return quantity(1.0, *unit, at);
  std::vector<std::string> known;
  for (const auto& v : variables_) known.push_back(v.name);
  fail(fmt::format("there is no variable '{}'{}", name, suggestion(name, known)), at);
}

ExpressionParser::Value ExpressionParser::call(std::string_view name, std::size_t at) {
  const FormulaFunction* function = nullptr;
  std::vector<std::string> known;
  for (const auto& f : formula_functions()) {
    known.emplace_back(f.name);
    if (name == f.name) function = &f;
  }
  if (!function) fail(fmt::format("there is no function '{}'{}", name, suggestion(name, known)), at);
  std::size_t comma = 0;
  auto values = call_arguments(name, static_cast<std::size_t>(operands(function->code)), at, comma);
  if (function->code == condition::choose) return choice(std::move(values), at, comma);
  Value first = std::move(values[0]);
  first.at = at;
  if (values.size() == 2) {
    const auto dimension = shared(first, values[1], comma, "compare");
    return combined(function->code, std::move(first), values[1], dimension);
  }
  auto dimension = first.dimension;
  if (function->code == Code::sqrt) {
    dimension = root_or_power(first, 0.5, at);
  } else if (function->code == Code::step) {
    dimension = Dimension{};
  } else if (function->code != Code::abs) {
    if (dimension && !dimension->none())
      fail(fmt::format("{} needs a number without unit, found {}", name, with_article(*dimension)), at);
    dimension = Dimension{};
  }
  return applied(function->code, std::move(first), dimension);
}

std::vector<ExpressionParser::Value> ExpressionParser::call_arguments(std::string_view name, std::size_t count,
                                                                      std::size_t at, std::size_t& comma) {
  constexpr const char* numbers[] = {"no value", "one value", "two values", "three values"};
  std::vector<Value> out;
  do {
    if (out.size() == count) fail(fmt::format("{} takes {}", name, numbers[count]), at_);
    comma = at_++;
    out.push_back(formula());
    blanks();
  } while (peek() == ',');
  if (!other_spelling(peek()).empty()) fail_at_operator();
  if (out.size() < count) fail(fmt::format("{} needs {}", name, numbers[count]), at);
  if (peek() != ')') fail(fmt::format("the '(' of {} is not closed", name), at);
  ++at_;
  return out;
}

ExpressionParser::Value ExpressionParser::quantity(double value, Unit unit, std::size_t at) const {
  return {{{Code::number, 0, value * units_.conversion(unit)}}, unit.dimension, at};
}

ExpressionParser::Value ExpressionParser::combined(Code code, Value left, const Value& right,
                                                   std::optional<Dimension> dimension) const {
  const bool fold = left.constant() && right.constant();
  left.program.insert(left.program.end(), right.program.begin(), right.program.end());
  left.program.push_back({code, 0, 0.0});
  if (fold) left.program = {{Code::number, 0, evaluate(left.program, {})}};
  left.dimension = dimension;
  return left;
}

ExpressionParser::Value ExpressionParser::applied(Code code, Value value, std::optional<Dimension> dimension) const {
  const bool fold = value.constant();
  value.program.push_back({code, 0, 0.0});
  if (fold) value.program = {{Code::number, 0, evaluate(value.program, {})}};
  value.dimension = dimension;
  return value;
}

std::optional<Dimension> ExpressionParser::shared(const Value& left, const Value& right, std::size_t at,
                                                  std::string_view verb) const {
  if (left.dimension && right.dimension && *left.dimension != *right.dimension)
    fail(fmt::format("cannot {} {} and {}", verb, with_article(*left.dimension), with_article(*right.dimension)), at);
  return left.dimension ? left.dimension : right.dimension;
}

std::optional<Dimension> ExpressionParser::root_or_power(const Value& base, double exponent, std::size_t at) const {
  if (!base.dimension) return std::nullopt;
  Dimension out;
  for (std::size_t k = 0; k < out.exponent.size(); ++k) {
    const double e = base.dimension->exponent[k] * exponent;
    if (e != std::round(e))
      fail(fmt::format("{} to the power {} has no unit", with_article(*base.dimension), number_text(exponent)), at);
    out.exponent[k] = static_cast<int>(e);
  }
  return out;
}

void ExpressionText::fail_at_operator() const {
  fail(fmt::format("expected an operator or the end, found '{}'{}", text_.substr(at_, 1), other_spelling(peek())), at_);
}

void ExpressionText::fail(std::string problem, std::size_t at) const {
  std::size_t column = 1;  // in characters: continuation bytes of UTF-8 take no room
  for (std::size_t k = 0; k < at && k < text_.size(); ++k)
    column += (static_cast<unsigned char>(text_[k]) & 0xC0) != 0x80;
  throw ExpressionError(std::move(problem), text_, column);
}

void ExpressionText::blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
}

std::string_view ExpressionText::word() {
  const std::size_t start = at_;
  while (at_ < text_.size() && in_word(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

const Variable* ExpressionParser::variable(std::string_view name) const {
  for (const auto& v : variables_)
    if (v.name == name) return &v;
  return nullptr;
}

}  // namespace cambium::deck
