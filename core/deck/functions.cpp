#include "core/deck/functions.hpp"

#include <fmt/format.h>

#include "core/deck/expression_parser.hpp"

namespace cambium::deck {

std::span<const FormulaFunction> formula_functions() {
  using Code = Expression::Code;
  static constexpr FormulaFunction functions[] = {
      {"sin", "sin(x)", Code::sin, "sine of an angle in radians"},
      {"cos", "cos(x)", Code::cos, "cosine of an angle in radians"},
      {"tan", "tan(x)", Code::tan, "tangent of an angle in radians"},
      {"exp", "exp(x)", Code::exp, "e to the power x"},
      {"log", "log(x)", Code::log, "natural logarithm"},
      {"sqrt", "sqrt(x)", Code::sqrt, "square root; halves the exponents of the unit"},
      {"abs", "abs(x)", Code::abs, "absolute value"},
      {"min", "min(x, y)", Code::min, "the smaller of two values of one unit"},
      {"max", "max(x, y)", Code::max, "the larger of two values of one unit"},
      {"tanh", "tanh(x)", Code::tanh, "hyperbolic tangent"},
      {"step", "step(x)", Code::step, "1 for x >= 0, else 0"},
      {"if", "if(condition, x, y)", condition::choose, "x where the condition holds, else y"}};
  return functions;
}

std::string functions_markdown() {
  std::string text =
      "Operators + - * / and ^ for powers, brackets, pi, the deck's parameters and its variables, and these; a "
      "plugin's "
      "manual names those that its formulas have besides.\n\n| function | value |\n|---|---|\n";
  for (const auto& f : formula_functions()) text += fmt::format("| `{}` | {} |\n", f.call, f.doc);
  return text;
}

}  // namespace cambium::deck
