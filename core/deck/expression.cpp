#include "core/deck/expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/text.hpp"
#include "core/deck/expression_parser.hpp"

namespace cambium::deck {

namespace {

double apply(Expression::Code code, double a, double b) {
  using Code = Expression::Code;
  if (code >= condition::first) return condition::holds(code, a, b);
  switch (code) {
    case Code::add:
      return a + b;
    case Code::subtract:
      return a - b;
    case Code::multiply:
      return a * b;
    case Code::divide:
      return a / b;
    case Code::power:
      return std::pow(a, b);
    case Code::min:
      return std::min(a, b);
    case Code::max:
      return std::max(a, b);
    case Code::negate:
      return -a;
    case Code::sin:
      return std::sin(a);
    case Code::cos:
      return std::cos(a);
    case Code::tan:
      return std::tan(a);
    case Code::exp:
      return std::exp(a);
    case Code::log:
      return std::log(a);
    case Code::sqrt:
      return std::sqrt(a);
    case Code::abs:
      return std::abs(a);
    case Code::tanh:
      return std::tanh(a);
    case Code::step:
      return a >= 0.0 ? 1.0 : 0.0;
    case Code::number:
    case Code::variable:
      break;
  }
  throw InternalError("an operand is not an operation");
}

std::string with_caret(const std::string& problem, std::string_view text, std::size_t column) {
  return problem + "\n    " + std::string(text) + "\n    " + std::string(column - 1, ' ') + "^";
}

}  // namespace

ExpressionError::ExpressionError(std::string problem_, std::string_view text, std::size_t column_)
    : InputError(with_caret(problem_, text, column_)), problem(std::move(problem_)), column(column_) {}

Expression::Expression(double value) : text_(number_text(value)), program_{{Code::number, 0, value}} {}

Expression Expression::parse(std::string_view text, std::string_view unit, std::span<const Variable> variables) {
  Expression out;
  out.text_ = std::string(trim(text));
  out.program_ = ExpressionParser(text, unit, variables).parse();
  return out;
}

int operands(Expression::Code code) {
  using Code = Expression::Code;
  if (code >= condition::first) return condition::operands(code);
  switch (code) {
    case Code::number:
    case Code::variable:
      return 0;
    case Code::add:
    case Code::subtract:
    case Code::multiply:
    case Code::divide:
    case Code::power:
    case Code::min:
    case Code::max:
      return 2;
    default:
      return 1;
  }
}

double evaluate(std::span<const Expression::Instruction> program, std::span<const double> variables) {
  std::array<double, Expression::stack_size> stack;
  int top = -1;
  for (const auto& i : program) {
    if (i.code == Expression::Code::number) {
      stack[++top] = i.value;
    } else if (i.code == Expression::Code::variable) {
      stack[++top] = i.value * variables[i.variable];
    } else if (i.code == condition::choose) {
      top -= 2;
      stack[top] = stack[top] != 0.0 ? stack[top + 1] : stack[top + 2];
    } else if (operands(i.code) == 1) {
      stack[top] = apply(i.code, stack[top], 0.0);
    } else {
      --top;
      stack[top] = apply(i.code, stack[top], stack[top + 1]);
    }
  }
  return stack[0];
}

double Expression::operator()(std::span<const double> variables) const {
  return constant() ? program_[0].value : evaluate(program_, variables);
}

double Expression::operator()(double t, double step) const { return (*this)(std::array<double, 2>{t, step}); }

}  // namespace cambium::deck
