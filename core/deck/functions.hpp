#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/deck/expression.hpp"

namespace cambium::deck {

/// A function that every formula of a deck may call (core/deck/expression.hpp).
struct FormulaFunction {
  std::string_view name;
  std::string_view call;  ///< with its arguments: "min(x, y)"
  Expression::Code code;
  std::string_view doc;  ///< its value
};

std::span<const FormulaFunction> formula_functions();

/// A Markdown table of them, for `cambium doc function`.
std::string functions_markdown();

}  // namespace cambium::deck
