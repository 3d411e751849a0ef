#include "core/plugin/formula_place.hpp"

#include <fmt/format.h>

#include "core/deck/scalar_place.hpp"

namespace cambium {

namespace {

/// The first scalar, in the order of the file, whose text ends `message`; none (not defined()) where there is none.
deck::Node scalar_with(const deck::Node& node, std::string_view message) {
  if (node.is_scalar()) return !node.text().empty() && message.ends_with("\n    " + node.text()) ? node : deck::Node();
  for (const auto& entry : node.entries())
    if (auto found = scalar_with(entry.value, message); found.defined()) return found;
  for (const auto& item : node.items())
    if (auto found = scalar_with(item, message); found.defined()) return found;
  return {};
}

}  // namespace

std::optional<std::string> placed_formula(std::string_view message, const deck::Node& keys) {
  const auto last = message.rfind("\n    ");
  if (last == std::string_view::npos || !message.ends_with('^')) return std::nullopt;
  const auto caret = message.substr(last + 5);
  if (caret.find_first_not_of(' ') != caret.size() - 1) return std::nullopt;
  const deck::Node formula = scalar_with(keys, message.substr(0, last));
  if (!formula.defined()) return std::nullopt;
  deck::Mark mark = formula.mark();
  if (mark.line > 0) {
    const auto place =
        deck::place_in_file(mark.source, {mark.line, mark.column}, formula.quoted(), formula.text(), caret.size());
    mark.line = place.line;
    mark.column = place.column;
  }
  return fmt::format("{}: {}: {}", mark.text(), formula.path(), message);
}

}  // namespace cambium
