#include "core/deck/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "core/deck/former_names.hpp"
#include "core/deck/scalar_place.hpp"

namespace cambium::deck {

namespace {

bool refuse(const Node& node, const KeySpec& spec, std::size_t depth, Reader& reader, const std::string& why = "") {
  reader.problems.add(node, fmt::format("{}, expected {}{}", found(node), spec.expected(depth), why));
  return false;
}

bool refuse(const Node& node, const KeySpec& spec, Reader& reader, const std::string& why = "") {
  return refuse(node, spec, spec.shapes.size(), reader, why);
}

/// Splits "1.5 fs" into 1.5 and "fs".
std::optional<std::pair<double, std::string_view>> number_and_unit(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return std::pair{value, trim(text.substr(end - text.data()))};
}

/// Why `unit` cannot stand where `wanted` is; empty when it can.
std::string mismatch(std::string_view unit, std::string_view wanted) {
  std::string problem;
  const auto a = parse_unit(unit, &problem);
  if (!a) return ": " + problem;
  const Dimension b = unit_of(wanted).dimension;
  if (a->dimension == b) return {};
  if (wanted.empty()) return fmt::format(": {} is a unit of {}, this key has none", unit, describe(a->dimension));
  return fmt::format(": {} is a unit of {}, {} one of {}", unit, describe(a->dimension), wanted, describe(b));
}

bool report_repeated(const Node& map, Reader& reader) {
  bool good = true;
  const auto& entries = map.entries();
  std::map<std::string_view, int> first;
  for (const auto& entry : entries) {
    const auto [known, is_new] = first.emplace(entry.key, entry.mark.line);
    if (is_new) continue;
    reader.problems.add(entry.mark, child_path(map.path(), entry.key),
                        fmt::format("the key appears twice, first on line {}", known->second));
    good = false;
  }
  return good;
}

std::string missing(const KeySpec& key) {
  return fmt::format("missing key '{}' ({}{})", key.name, key.doc, key.unit.empty() ? "" : ", " + key.unit);
}

/// The node that names the type, and the map of its keys; none when the form is not met (a problem is added then).
struct Chosen {
  Mark mark;
  std::string path, name;
  Node keys;
};

std::optional<Chosen> chosen(const Node& node, const KeySpec& spec, Reader& reader) {
  if (spec.form == ChoiceForm::inlined) {
    const Node name = node[spec.name];
    if (!name.is_scalar()) return refuse(name, spec, reader), std::nullopt;
    return Chosen{name.mark(), name.path(), name.text(), node};
  }
  if (spec.form == ChoiceForm::keyed) {
    const Node own = node.without(is_note);
    if (own.size() != 1 || !own.is_map())
      return refuse(node, spec, reader, ": one key, its type, with its keys below"), std::nullopt;
    const auto& entry = own.entries()[0];
    const Node keys = entry.value.is_null() ? Node::map({}, entry.mark).at_path(entry.value.path()) : entry.value;
    return Chosen{entry.mark, node.path(), entry.key, keys};
  }
  if (node.is_scalar())
    return Chosen{node.mark(), node.path(), node.text(), Node::map({}, node.mark()).at_path(node.path())};
  if (!node.is_map()) return refuse(node, spec, reader, ": its name, or a map with 'type'"), std::nullopt;
  const Node name = node["type"];
  if (!name.defined()) {
    const auto names = reader.types ? reader.types->names(spec.choice_kind) : std::vector<std::string>{};
    reader.problems.add(node, fmt::format("missing key 'type' (which {}{})", spec.choice_kind,
                                          names.empty() ? "" : ": " + join(names)));
    return std::nullopt;
  }
  if (!name.is_scalar()) return refuse(name, spec, reader, ": its name"), std::nullopt;
  return Chosen{name.mark(), name.path(), name.text(),
                node.without([](const std::string& key) { return key == "type"; })};
}

}  // namespace

std::string found(const Node& node) {
  if (node.is_alternatives()) return "found alternatives (!choice), which no search decides here";
  if (node.is_list()) return "found a list";
  if (node.is_map()) return "found a map";
  if (!node.is_scalar()) return "found nothing";
  return parse_number(node.text()) && !node.quoted() ? "found " + node.text() : fmt::format("found '{}'", node.text());
}

bool read_number(const Node& node, const KeySpec& spec, Reader& reader, double& out) {
  const auto parts = node.is_scalar() ? number_and_unit(node.text()) : std::nullopt;
  if (!parts) return refuse(node, spec, reader);
  double value = parts->first;
  if (!parts->second.empty()) {
    if (const auto why = mismatch(parts->second, spec.unit); !why.empty()) return refuse(node, spec, reader, why);
    value = convert(value, parts->second, spec.unit);
  }
  if (!spec.bounds.allow(value)) return refuse(node, spec, reader);
  out = value;
  return true;
}

bool read_integer(const Node& node, const KeySpec& spec, Reader& reader, long long& out) {
  const std::string_view text = trim(node.text());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool digits = error == std::errc() && end == text.data() + text.size();
  if (!node.is_scalar()) return refuse(node, spec, reader);
  if (!digits) {  // 1e6 is an integer, too
    const auto value = parse_number(text);
    if (!value || *value != std::floor(*value)) return refuse(node, spec, reader);
    if (std::abs(*value) > 9e15)  // doubles do not count on
      return refuse(node, spec, reader,
                    error == std::errc() && spec.highest > 9e15
                        ? " (up to 9e15 with a point or an exponent; beyond, give all digits)"
                        : fmt::format(" (from {} to {})", number_text(spec.lowest), number_text(spec.highest)));
    out = static_cast<long long>(*value);
  }
  const double value = static_cast<double>(out);
  if (value < spec.lowest || value > spec.highest) {
    return refuse(node, spec, reader,
                  fmt::format(" (from {} to {})", number_text(spec.lowest), number_text(spec.highest)));
  }
  return spec.bounds.allow(value) || refuse(node, spec, reader);
}

bool read_boolean(const Node& node, const KeySpec& spec, Reader& reader, bool& out) {
  std::string text = node.text();
  if (text.size() > 1 && std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));  // TRUE
  else if (!text.empty())
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));  // True, as in Python
  if (node.is_scalar() && (text == "true" || text == "yes" || text == "on")) return out = true, true;
  if (node.is_scalar() && (text == "false" || text == "no" || text == "off")) return out = false, true;
  return refuse(node, spec, reader);
}

bool read_text(const Node& node, const KeySpec& spec, Reader& reader, std::string& out) {
  if (!node.is_scalar()) return refuse(node, spec, reader);
  if (!spec.options.empty()) {
    long long ignored = 0;
    if (!read_option(node, spec, reader, ignored)) return false;
  }
  out = node.text();
  return true;
}

bool read_option(const Node& node, const KeySpec& spec, Reader& reader, long long& out) {
  for (const auto& option : spec.options)
    if (node.is_scalar() && node.text() == option.name) return out = option.value, true;
  KeySpec leaf = spec;
  leaf.leaf = Leaf::option;
  const auto near = nearest(node.text(), spec.option_names());
  return refuse(node, leaf, reader, near ? fmt::format("; did you mean '{}'?", *near) : "");
}

bool read_expression(const Node& node, const KeySpec& spec, Reader& reader, Expression& out) {
  if (!node.is_scalar()) return refuse(node, spec, reader);
  try {
    const auto number = parse_number(node.text());
    out = number ? Expression(*number) : Expression::parse(node.text(), spec.unit, spec.variables);
  } catch (const ExpressionError& e) {
    Mark mark = node.mark();
    if (mark.line > 0) {
      const auto place = place_in_file(mark.source, {mark.line, mark.column}, node.quoted(), node.text(), e.column);
      mark.line = place.line;
      mark.column = place.column;
    }
    const std::string caret(e.column - 1, ' ');
    reader.problems.add(mark, node.path(), fmt::format("{}\n    {}\n    {}^", e.problem, node.text(), caret));
    return false;
  }
  if (out.constant() && !spec.bounds.allow(out(0.0))) return refuse(node, spec, reader);
  return true;
}

bool read_choice(const Node& node, const KeySpec& spec, Reader& reader, std::string& type, Node& keys) {
  const auto choice = chosen(node, spec, reader);
  if (!choice) return false;
  type = choice->name;
  keys = choice->keys;
  if (!reader.types) return true;
  const TypeEntry* entry = reader.types->find(spec.choice_kind, type);
  if (!entry) {
    reader.problems.add(choice->mark, choice->path, unknown_type(*reader.types, spec.choice_kind, type));
    return false;
  }
  if (spec.form == ChoiceForm::inlined) {
    bool complete = true;
    const auto own = known_keys(entry->schema, node, reader.types, complete);
    keys = keys.without([&](const std::string& key) { return std::find(own.begin(), own.end(), key) == own.end(); });
  }
  const auto before = reader.problems.size();
  entry->validate(keys, reader.problems);
  return reader.problems.size() == before;
}

bool expect_list(const Node& node, const KeySpec& spec, std::size_t depth, std::size_t count, Reader& reader) {
  if (!node.is_list() || node.is_alternatives()) return refuse(node, spec, depth, reader);
  if (count == 0 || node.size() == count) return true;
  reader.problems.add(node, fmt::format("found a list of {}, expected {}", node.size(), spec.expected(depth)));
  return false;
}

bool expect_map(const Node& node, const KeySpec& spec, std::size_t depth, Reader& reader) {
  if (node.is_null()) return true;
  return node.is_map() ? report_repeated(node, reader) : refuse(node, spec, depth, reader);
}

/// Path of the first key of this name below the top; empty when there is none.
std::string path_of(const Node& node, const std::string& key) {
  if (!node.path().empty() && node.has(key)) return child_path(node.path(), key);
  std::string found;
  for (const auto& entry : node.entries())
    if (found.empty()) found = path_of(entry.value, key);
  for (const auto& item : node.items())
    if (found.empty()) found = path_of(item, key);
  return found;
}

/// The text about a key that a map has under a former and under its present name.
static std::string given_twice(const std::string& former, const KeySpec& now, const Node& map) {
  for (const auto& entry : map.entries())
    if (entry.key == now.name)
      return fmt::format("'{}' is called '{}' now, and '{}' is given as well ({}): remove one of them", former,
                         now.name, now.name, entry.mark.text());
  throw InternalError(
      fmt::format("key '{}' is a former name of '{}' and was not renamed at {}", former, now.name, map.where()));
}

/// A declaration that names one key twice is a mistake of the program.
static void require_distinct(const std::vector<std::string>& known, const Schema& schema, const Node& map) {
  const auto occurs = [&](const std::string& name) { return std::count(known.begin(), known.end(), name); };
  for (const auto& name : known)
    if (occurs(name) > 1)
      throw InternalError(fmt::format("key '{}' is declared twice in one map at {}", name, map.where()));
  for (const auto& key : schema.keys)
    for (const auto& name : key.formerly)
      if (occurs(name) > 0)
        throw InternalError(
            fmt::format("'{}' is a key and a former name of '{}' in one map at {}", name, key.name, map.where()));
}

bool check_keys(const Node& node, const Schema& schema, Reader& reader) {
  if (!node.is_map() && !node.is_null()) {
    std::vector<std::string> names;
    for (const auto& key : schema.keys) names.push_back(key.name);
    const auto keys = names.empty() ? "" : fmt::format(" with keys of {}", join(names));
    reader.problems.add(node, fmt::format("{}, expected a map{}", found(node), keys));
    return false;
  }
  bool good = report_repeated(node, reader), complete = true;
  const auto known = known_keys(schema, node, reader.types, complete);
  require_distinct(known, schema, node);
  for (const auto& entry : node.entries()) {
    if (is_note(entry.key) || std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    if (const auto* now = declared(node, entry.key, schema, reader.types)) {
      reader.problems.add(entry.mark, child_path(node.path(), entry.key), given_twice(entry.key, *now, node));
      good = false;
      continue;
    }
    if (!complete) continue;
    const bool overridden =
        node.path().empty() && entry.mark.line == 0;  // on the command line the parent keys are easily omitted
    const std::string elsewhere = overridden ? path_of(node, entry.key) : "";
    std::string hint = elsewhere.empty() ? suggestion(entry.key, known) : "; did you mean '" + elsewhere + "'?";
    if (!entry.key.empty() && entry.key.find_first_not_of("0123456789") == std::string::npos && entry.value.is_null())
      hint = "; after a decimal comma? Numbers have a point, as in 5.26";
    reader.problems.add(entry.mark, child_path(node.path(), entry.key), "unknown key" + hint);
    good = false;
  }
  for (const auto& key : schema.keys) {
    if (!key.required || node.has(key.name)) continue;
    std::string text = missing(key);
    if (key.form == ChoiceForm::inlined && reader.types) text += suggestion("", reader.types->names(key.choice_kind));
    reader.problems.add(node, text);
    good = false;
  }
  return good;
}

}  // namespace cambium::deck
