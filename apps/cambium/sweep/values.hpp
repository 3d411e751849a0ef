#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "core/deck/node.hpp"

namespace cambium {

/// A text of `--over` or of `sweep:` in a deck, and its location, for messages.
struct OverText {
  std::string source;  ///< "--over", or "deck.yaml:12:7"
  std::string text;    ///< "stages[0].simulate.rayleigh=log(1e4, 1e6, 5)"

  /// "SOURCE: WHAT" with the text and a caret under its letter `column` (counted from 0).
  std::string at(std::size_t column, const std::string& what) const;
  /// InputError with that text.
  [[noreturn]] void refuse(std::size_t column, const std::string& what) const;
};

/// The values that `over.text` gives from letter `begin` on: "[a, b, c]", "range(first, last, count)" (even steps, both
/// ends among them) or "log(first, last, count)" (even factors). Each is a node whose mark names the source and the
/// column (from 1). Ends may carry a unit, both the same: "range(1 fs, 5 fs, 3)". InputError points into the text.
std::vector<deck::Node> swept_values(const OverText& over, std::size_t begin);

}  // namespace cambium
