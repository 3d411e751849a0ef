#include "core/plugin/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium {

namespace {

using Value = BenchOption::Value;

std::string text_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "yes" : "no";
  return std::get<std::string>(value);
}

/// Type of an option's value, for messages.
std::string wanted(const BenchOption& option) {
  if (!option.choices.empty()) return "one of " + join(option.choices);
  const char* types[] = {"a whole number", "a number", "yes or no", "a text"};
  return types[option.standard.index()];
}

std::optional<Value> read(const std::string& word, const BenchOption& option) {
  const Value& standard = option.standard;
  if (std::holds_alternative<std::string>(standard)) {
    const bool known =
        option.choices.empty() || std::find(option.choices.begin(), option.choices.end(), word) != option.choices.end();
    return known ? std::optional<Value>(word) : std::nullopt;
  }
  if (std::holds_alternative<bool>(standard)) {
    if (word == "yes" || word == "true") return true;
    if (word == "no" || word == "false") return false;
    return std::nullopt;
  }
  const auto number = parse_number(word);
  if (!number || std::holds_alternative<double>(standard)) return number ? std::optional<Value>(*number) : std::nullopt;
  if (*number != std::floor(*number) || std::abs(*number) > 2e9) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// "; did you mean 'steps'?" if one is similar, then a list of all.
std::string unknown(const std::string& bench, const std::string& name, std::span<const BenchOption> known) {
  if (known.empty()) return fmt::format("bench {} takes no options, but '{}' is given", bench, name);
  std::vector<std::string> names, all;
  for (const auto& option : known) {
    names.push_back(option.name);
    all.push_back(option.name + "=" + text_of(option.standard));
  }
  const auto near = nearest(name, names);
  return fmt::format("bench {} has no option '{}'{} It takes {} (`cambium bench {} --help`)", bench, name,
                     near ? fmt::format("; did you mean '{}'?", *near) : std::string("."), join(all), bench);
}

}  // namespace

BenchOptions::BenchOptions(const std::string& bench, std::span<const BenchOption> known,
                           std::span<const std::string> words) {
  for (const auto& option : known) values_[option.name] = option.standard;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      throw InputError(fmt::format("option '{}' has no value; write key=value, for example steps=100", word));
    const std::string name = word.substr(0, equals), given = word.substr(equals + 1);
    const auto option = std::find_if(known.begin(), known.end(), [&](const BenchOption& o) { return o.name == name; });
    if (option == known.end()) throw InputError(unknown(bench, name, known));
    const auto value = read(given, *option);
    if (!value)
      throw InputError(fmt::format("bench {}: {} is '{}'; it must be {}, for example {}={}", bench, name, given,
                                   wanted(*option), name, text_of(option->standard)));
    values_[name] = *value;
  }
}

template <class T>
const T& BenchOptions::get(const std::string& name) const {
  const auto found = values_.find(name);
  const T* value = found == values_.end() ? nullptr : std::get_if<T>(&found->second);
  if (!value) throw InternalError(fmt::format("a bench reads its option '{}' otherwise than it declares it", name));
  return *value;
}

template const std::int64_t& BenchOptions::get(const std::string&) const;
template const double& BenchOptions::get(const std::string&) const;
template const bool& BenchOptions::get(const std::string&) const;
template const std::string& BenchOptions::get(const std::string&) const;

static std::string default_of(const BenchOption& option) {
  const std::string text = text_of(option.standard);
  return text.empty() ? "none" : fmt::format("`{}`", text);
}

std::string markdown(const Bench& bench) {
  std::string out = fmt::format("## bench {}\n\n{}\n\n", bench.name, bench.doc);
  if (bench.options.empty()) return out + "It takes no options.\n";
  out +=
      fmt::format("    cambium bench {} [--json] [option=value ...]\n\n| Option | Default | Meaning |\n|---|---|---|\n",
                  bench.name);
  for (const auto& option : bench.options)
    out += fmt::format(
        "| `{}` | {} | {} |\n", option.name, default_of(option),
        option.choices.empty() ? option.meaning : fmt::format("{}: {}", option.meaning, join(option.choices)));
  return out;
}

}  // namespace cambium
