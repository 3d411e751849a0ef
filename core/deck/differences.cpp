#include "core/deck/differences.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace cambium::deck {

namespace {

bool plain_list(const Node& node) {
  return node.is_list() && std::all_of(node.items().begin(), node.items().end(),
                                       [](const Node& n) { return n.is_scalar() || plain_list(n); });
}

bool same_text(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = parse_number(a), y = parse_number(b);
  return x && y && *x == *y;
}

void compare(const Node& a, const Node& b, const std::string& path, std::vector<Difference>& out) {
  const auto differs = [&] {
    const auto words = [](const Node& n) { return n.defined() ? to_line(n) : std::string("absent"); };
    out.push_back({path, words(a), words(b), a.is_scalar() && b.is_scalar()});
  };
  if (a.is_map() && b.is_map()) {
    for (const auto& entry : a.entries())
      if (!is_note(entry.key)) compare(entry.value, b[entry.key], child_path(path, entry.key), out);
    for (const auto& entry : b.entries())
      if (!is_note(entry.key) && !a.has(entry.key))
        compare(a[entry.key], entry.value, child_path(path, entry.key), out);
    return;
  }
  if (a.is_list() && b.is_list() && a.size() == b.size() && !(plain_list(a) && plain_list(b)) &&
      a.is_alternatives() == b.is_alternatives()) {
    for (std::size_t k = 0; k < a.size(); ++k) compare(a[k], b[k], child_path(path, k), out);
    return;
  }
  if (a.is_scalar() && b.is_scalar() ? !same_text(a.text(), b.text())
                                     : a.kind() != b.kind() || (a.defined() && to_line(a) != to_line(b)))
    differs();
}

/// The path with "[]" for every index.
std::string without_indices(std::string_view path) {
  std::string out;
  bool inside = false;
  for (const char c : path) {
    if (c == ']') inside = false;
    if (!inside) out += c;
    if (c == '[') inside = true;
  }
  return out;
}

}  // namespace

std::vector<Difference> differences(const Node& first, const Node& second) {
  std::vector<Difference> out;
  compare(first, second, "", out);
  return out;
}

bool covers(std::string_view pattern, std::string_view path) {
  const std::string plain = without_indices(path);
  return plain == pattern ||
         (plain.starts_with(pattern) && (plain[pattern.size()] == '.' || plain[pattern.size()] == '['));
}

}  // namespace cambium::deck
