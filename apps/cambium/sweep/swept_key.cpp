#include "apps/cambium/sweep/swept_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"

namespace cambium {

namespace {

/// "stages[0].simulate.cells" as {"stages", "[0]", "simulate", "cells"}.
std::vector<std::string> steps_of(std::string_view path) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find_first_of(".[", at + 1), path.size());
    if (path[at] == '.') ++at;
    if (at < end) out.emplace_back(path.substr(at, end - at));
    at = end;
  }
  return out;
}

/// Walks down a resolved deck and its declarations in parallel.
class Walk {
 public:
  Walk(const deck::TypeTable& types) : types_(types) {}

  const deck::KeySpec* operator()(const deck::Schema& schema, const deck::Node& map, std::size_t at,
                                  const std::vector<std::string>& steps) const {
    if (at >= steps.size()) return nullptr;
    if (const auto* spec = schema.find(steps[at])) return inside(*spec, map[spec->name], 0, at + 1, steps);
    for (const auto& spec : schema.keys) {
      if (spec.leaf != deck::Leaf::choice || spec.form != deck::ChoiceForm::inlined) continue;
      const auto* type = types_.find(spec.choice_kind, map[spec.name].text());
      if (const auto* found = type ? (*this)(type->schema, map, at, steps) : nullptr) return found;
    }
    return nullptr;
  }

 private:
  const deck::KeySpec* inside(const deck::KeySpec& spec, const deck::Node& value, std::size_t depth, std::size_t at,
                              const std::vector<std::string>& steps) const {
    if (at >= steps.size()) return &spec;
    if (depth < spec.shapes.size()) {
      const bool index = steps[at].starts_with('[');
      if (index == (spec.shapes[depth].kind == deck::Shape::Kind::dictionary)) return nullptr;
      const deck::Node next =
          index ? value.item(static_cast<std::size_t>(std::atoi(steps[at].c_str() + 1))) : value[steps[at]];
      return inside(spec, next, depth + 1, at + 1, steps);
    }
    if (spec.leaf == deck::Leaf::map) return (*this)(*spec.nested, value, at, steps);
    if (spec.leaf != deck::Leaf::choice) return nullptr;
    const bool keyed = spec.form == deck::ChoiceForm::keyed;
    const auto* type = types_.find(spec.choice_kind, keyed ? steps[at] : value["type"].text());
    if (!type) return nullptr;
    return (*this)(type->schema, keyed ? value[steps[at]] : value, keyed ? at + 1 : at, steps);
  }

  const deck::TypeTable& types_;
};

/// The last `words` steps of a path in a form that variables of files and figures may have: "species_0_charge".
std::string short_name(const std::vector<std::string>& steps, std::size_t words) {
  std::string out;
  for (std::size_t k = steps.size() - std::min(words, steps.size()); k < steps.size(); ++k)
    for (const char c : (out.empty() ? "" : "_") + steps[k])
      if (c != '[' && c != ']') out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

/// An index needs its key as context: cells[0] is "cells_0".
std::size_t fewest_words(const std::vector<std::string>& steps) {
  std::size_t words = 1;
  while (words < steps.size() && steps[steps.size() - words].starts_with('[')) ++words;
  return words;
}

void name_keys(std::vector<SweptKey>& keys) {
  std::vector<std::vector<std::string>> steps;
  std::vector<std::size_t> words;
  for (const auto& key : keys) {
    steps.push_back(steps_of(key.path));
    words.push_back(fewest_words(steps.back()));
  }
  for (bool clash = true; clash;) {
    clash = false;
    for (std::size_t k = 0; k < keys.size(); ++k) keys[k].name = short_name(steps[k], words[k]);
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const bool shared =
          std::count_if(keys.begin(), keys.end(), [&](const auto& o) { return o.name == keys[k].name; }) > 1;
      if (shared && words[k] < steps[k].size()) ++words[k], clash = true;
    }
  }
}

std::size_t value_column(const SweptKey& key, const deck::Node& value) {
  return static_cast<std::size_t>(std::max(0, value.mark().column - 1)) %
         std::max<std::size_t>(1, key.over.text.size());
}

}  // namespace

std::vector<double> SweptKey::numbers() const {
  std::vector<double> out;
  for (const auto& node : values) {
    const std::string& text = node.text();
    if (!node.is_scalar() || node.quoted() || text.empty()) return {};
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data() + (text[0] == '+'), text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return {};
    const std::string own(trim(std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end))));
    if (!own.empty() && (!parse_unit(own) || parse_unit(own)->dimension != unit_of(unit).dimension)) return {};
    out.push_back(own.empty() ? value : convert(value, own, unit));
  }
  return out;
}

bool SweptKey::is_seed() const { return path == "seed" || path.ends_with(".seed"); }

const deck::KeySpec* find_key(const deck::Schema& schema, const deck::Node& resolved, const std::string& path,
                              const deck::TypeTable& types) {
  return Walk(types)(schema, resolved, 0, steps_of(path));
}

void finish_keys(std::vector<SweptKey>& keys) {
  for (std::size_t k = 0; k < keys.size(); ++k)
    for (std::size_t other = 0; other < k; ++other) {
      const auto& [longer, shorter] = std::minmax(keys[k].path, keys[other].path, std::greater<>());
      if (keys[k].path == keys[other].path)
        keys[k].over.refuse(0, fmt::format("the key '{}' is swept twice; give all its values at once", keys[k].path));
      if (longer.starts_with(shorter) && (longer[shorter.size()] == '.' || longer[shorter.size()] == '['))
        keys[k].over.refuse(0, fmt::format("'{}' is inside '{}', which is swept, too", longer, shorter));
    }
  name_keys(keys);
  for (const auto& key : keys) {
    std::set<std::string> seen;
    const auto numbers = key.numbers();
    for (std::size_t k = 0; k < key.values.size(); ++k) {
      const std::string text = numbers.empty() ? deck::to_line(key.values[k]) : number_text(numbers[k]);
      if (!seen.insert(text).second)
        key.over.refuse(value_column(key, key.values[k]),
                        fmt::format("the value {} is given twice", deck::to_line(key.values[k])));
    }
  }
}

}  // namespace cambium
