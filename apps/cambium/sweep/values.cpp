#include "apps/cambium/sweep/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium {

namespace {

constexpr long long most_values = 10000;
constexpr const char* forms = "[a, b, c], range(first, last, count) or log(first, last, count)";

/// A piece of the text: content without surrounding blanks, and its column.
struct Piece {
  std::string_view text;
  std::size_t column = 0;
};

Piece trimmed(std::string_view whole, std::size_t begin, std::size_t end) {
  while (begin < end && whole[begin] == ' ') ++begin;
  while (end > begin && whole[end - 1] == ' ') --end;
  return {whole.substr(begin, end - begin), begin};
}

deck::Mark mark_of(const OverText& over, std::size_t column) { return {over.source, 0, static_cast<int>(column) + 1}; }

/// The arguments of "name(a, b, c)", of which the '(' is at `open`.
std::vector<Piece> arguments(const OverText& over, std::size_t open, const std::string& name) {
  const std::string_view text = over.text;
  const auto close = text.find(')', open);
  if (close == std::string_view::npos) over.refuse(open, fmt::format("the '(' of {} is not closed", name));
  if (const Piece rest = trimmed(text, close + 1, text.size()); !rest.text.empty())
    over.refuse(rest.column, fmt::format("nothing may follow {}(...), found '{}'", name, rest.text));
  std::vector<Piece> out;
  for (std::size_t at = open + 1; at <= close;) {
    const auto end = std::min(text.find(',', at), close);
    out.push_back(trimmed(text, at, end));
    at = end + 1;
  }
  if (out.size() != 3)
    over.refuse(open + 1, fmt::format("{} takes 3 numbers, first, last and count, for example {}(1, 4, 7); found {}",
                                      name, name, out.size()));
  return out;
}

/// "5 fs" as 5 and "fs".
struct Quantity {
  double value = 0.0;
  std::string unit;
};

Quantity quantity(const OverText& over, const Piece& piece) {
  const auto text = piece.text.starts_with('+') ? piece.text.substr(1) : piece.text;
  Quantity out;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.value);
  if (error != std::errc() || !std::isfinite(out.value))
    over.refuse(piece.column, fmt::format("found '{}', expected a number", piece.text));
  out.unit = trim(std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end)));
  return out;
}

long long count_of(const OverText& over, const Piece& piece) {
  const auto value = parse_number(piece.text);
  if (!value || *value != std::floor(*value) || *value < 2 || *value > most_values)
    over.refuse(piece.column, fmt::format("found '{}', expected how many values: a whole number from 2 to {}",
                                          piece.text, most_values));
  return static_cast<long long>(*value);
}

std::vector<deck::Node> spaced(const OverText& over, std::size_t open, bool geometric) {
  const std::string name = geometric ? "log" : "range";
  const auto pieces = arguments(over, open, name);
  const Quantity first = quantity(over, pieces[0]), last = quantity(over, pieces[1]);
  const long long count = count_of(over, pieces[2]);
  if (first.unit != last.unit)
    over.refuse(pieces[1].column,
                fmt::format("both ends need the same unit, found '{}' and '{}'", first.unit, last.unit));
  if (first.value == last.value)
    over.refuse(pieces[1].column, "both ends are the same; write [value] for a single one");
  if (geometric && !(first.value * last.value > 0.0))
    over.refuse(pieces[first.value == 0.0 ? 0 : 1].column,
                "the ends of log must not be 0 and need the same sign; range(first, last, count) takes even steps");
  std::vector<deck::Node> out;
  for (long long k = 0; k < count; ++k) {
    const double part = static_cast<double>(k) / static_cast<double>(count - 1);
    const double between = geometric ? first.value * std::pow(last.value / first.value, part)
                                     : first.value + part * (last.value - first.value);
    // End points are kept as given, values between them without the last bits of rounding error.
    std::string text = k == 0           ? number_text(first.value)
                       : k == count - 1 ? number_text(last.value)
                                        : number_text(std::stod(fmt::format("{:.12g}", between)));
    if (!first.unit.empty()) text += " " + first.unit;
    out.push_back(deck::Node::scalar(std::move(text), false, mark_of(over, pieces[0].column)));
  }
  return out;
}

deck::Node marked(const deck::Node& value, const deck::Mark& mark) {
  std::vector<deck::Node> items;
  std::vector<deck::Node::Entry> entries;
  for (const auto& item : value.items()) items.push_back(marked(item, mark));
  for (const auto& entry : value.entries()) entries.push_back({entry.key, mark, marked(entry.value, mark)});
  if (value.is_list()) return deck::Node::list(std::move(items), mark);
  if (value.is_map()) return deck::Node::map(std::move(entries), mark);
  return value.is_null() ? deck::Node::null(mark) : deck::Node::scalar(value.text(), value.quoted(), mark);
}

std::vector<deck::Node> listed(const OverText& over, std::size_t begin) {
  const std::string text = over.text.substr(begin);
  std::vector<deck::Node> out;
  try {
    const deck::Node list = deck::parse(text, over.source);
    for (const auto& item : list.items())
      out.push_back(marked(item, mark_of(over, begin + static_cast<std::size_t>(std::max(0, item.mark().column - 1)))));
  } catch (const InputError&) {
    over.refuse(begin, "this list is not valid YAML; write [a, b, c]");
  }
  if (out.empty()) over.refuse(begin, "the list is empty; give at least one value");
  return out;
}

}  // namespace

std::string OverText::at(std::size_t column, const std::string& what) const {
  return fmt::format("{}: {}\n    {}\n    {}^", source, what, text, std::string(column, ' '));
}

void OverText::refuse(std::size_t column, const std::string& what) const { throw InputError(at(column, what)); }

std::vector<deck::Node> swept_values(const OverText& over, std::size_t begin) {
  const Piece value = trimmed(over.text, begin, over.text.size());
  if (value.text.starts_with('[')) return listed(over, value.column);
  const auto open = value.text.find('(');
  const std::string name(trim(value.text.substr(0, open)));
  if (open != std::string_view::npos && (name == "range" || name == "log"))
    return spaced(over, value.column + open, name == "log");
  if (open != std::string_view::npos && !name.empty()) {
    const std::vector<std::string> known{"range", "log"};
    over.refuse(value.column, fmt::format("there is no '{}(...)' of values{}", name, suggestion(name, known)));
  }
  over.refuse(value.column, value.text.empty() ? fmt::format("no values are given; write {}", forms)
                                               : fmt::format("found '{}', expected values: {}", value.text, forms));
}

}  // namespace cambium
