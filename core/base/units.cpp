#include "core/base/units.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium {

namespace {

constexpr Dimension length{{1, 0, 0, 0, 0}}, duration{{0, 1, 0, 0, 0}}, mass{{0, 0, 1, 0, 0}},
    temperature{{0, 0, 0, 1, 0}}, charge{{0, 0, 0, 0, 1}}, pure{}, frequency{{0, -1, 0, 0, 0}},
    velocity{{1, -1, 0, 0, 0}}, force{{1, -2, 1, 0, 0}}, energy{{2, -2, 1, 0, 0}}, pressure{{-1, -2, 1, 0, 0}},
    power_{{2, -3, 1, 0, 0}}, voltage{{2, -2, 1, 0, -1}}, current{{0, -1, 0, 0, 1}}, magnetic{{0, -1, 1, 0, -1}},
    capacity{{-2, 2, -1, 0, 2}}, resistance{{2, -1, 1, 0, -2}};

struct Named {
  const char* name;
  Dimension dimension;
  double factor;
};

using constants::avogadro, constants::elementary_charge, constants::joule_per_hartree;
constexpr double dalton = 1e-3 / avogadro;  // kg; makes g/mol and amu one unit (the CODATA value differs by 3e-10)

// The first name of a unit is the one shown in the documentation; the others are common spellings.
constexpr Named table[] = {{"angstrom", length, 1e-10},
                           {"Å", length, 1e-10},
                           {"Å", length, 1e-10},
                           {"nm", length, 1e-9},
                           {"pm", length, 1e-12},
                           {"um", length, 1e-6},
                           {"µm", length, 1e-6},
                           {"mm", length, 1e-3},
                           {"cm", length, 1e-2},
                           {"m", length, 1.0},
                           {"km", length, 1e3},
                           {"bohr", length, 5.29177210903e-11},
                           {"fs", duration, 1e-15},
                           {"ps", duration, 1e-12},
                           {"ns", duration, 1e-9},
                           {"us", duration, 1e-6},
                           {"ms", duration, 1e-3},
                           {"s", duration, 1.0},
                           {"minute", duration, 60.0},
                           {"hour", duration, 3600.0},
                           {"day", duration, 86400.0},
                           {"year", duration, 31557600.0},
                           {"g", mass, 1e-3},
                           {"kg", mass, 1.0},
                           {"amu", mass, dalton},
                           {"u", mass, dalton},
                           {"Da", mass, dalton},
                           {"K", temperature, 1.0},
                           {"mK", temperature, 1e-3},
                           {"e", charge, elementary_charge},
                           {"C", charge, 1.0},
                           {"mol", pure, avogadro},
                           {"rad", pure, 1.0},
                           {"B", pure, 1.0},
                           {"kB", pure, 1e3},
                           {"MB", pure, 1e6},
                           {"GB", pure, 1e9},
                           {"KiB", pure, 1024.0},
                           {"MiB", pure, 1048576.0},
                           {"GiB", pure, 1073741824.0},
                           {"deg", pure, constants::pi / 180.0},
                           {"eV", energy, elementary_charge},
                           {"meV", energy, 1e-3 * elementary_charge},
                           {"keV", energy, 1e3 * elementary_charge},
                           {"MeV", energy, 1e6 * elementary_charge},
                           {"J", energy, 1.0},
                           {"kJ", energy, 1e3},
                           {"cal", energy, 4.184},
                           {"kcal", energy, 4184.0},
                           {"erg", energy, 1e-7},
                           {"hartree", energy, joule_per_hartree},
                           {"Ha", energy, joule_per_hartree},
                           {"mHa", energy, 1e-3 * joule_per_hartree},
                           {"rydberg", energy, 0.5 * joule_per_hartree},
                           {"Ry", energy, 0.5 * joule_per_hartree},
                           {"mRy", energy, 0.5e-3 * joule_per_hartree},
                           {"N", force, 1.0},
                           {"nN", force, 1e-9},
                           {"pN", force, 1e-12},
                           {"dyn", force, 1e-5},
                           {"Pa", pressure, 1.0},
                           {"hPa", pressure, 1e2},
                           {"kPa", pressure, 1e3},
                           {"MPa", pressure, 1e6},
                           {"GPa", pressure, 1e9},
                           {"mbar", pressure, 1e2},
                           {"bar", pressure, 1e5},
                           {"kbar", pressure, 1e8},
                           {"Mbar", pressure, 1e11},
                           {"atm", pressure, 101325.0},
                           {"W", power_, 1.0},
                           {"V", voltage, 1.0},
                           {"A", current, 1.0},
                           {"T", magnetic, 1.0},
                           {"F", capacity, 1.0},
                           {"ohm", resistance, 1.0},
                           {"Hz", frequency, 1.0},
                           {"kHz", frequency, 1e3},
                           {"MHz", frequency, 1e6},
                           {"GHz", frequency, 1e9},
                           {"THz", frequency, 1e12}};

struct NamedDimension {
  Dimension dimension;
  const char* name;
};
constexpr NamedDimension names[] = {{pure, "number without unit"},
                                    {length, "length"},
                                    {duration, "time"},
                                    {mass, "mass"},
                                    {temperature, "temperature"},
                                    {charge, "charge"},
                                    {velocity, "velocity"},
                                    {force, "force"},
                                    {energy, "energy"},
                                    {pressure, "pressure"},
                                    {power_, "power"},
                                    {voltage, "voltage"},
                                    {current, "current"},
                                    {frequency, "frequency"},
                                    {magnetic, "magnetic field"},
                                    {capacity, "capacitance"},
                                    {resistance, "resistance"}};

/// Recursive descent over: product = factor {("*" | "/" | blank) factor}, factor = (name | "1" | "(" product ")") ["^"
/// integer].
class UnitParser {
 public:
  explicit UnitParser(std::string_view text) : text_(text) {}

  std::optional<Unit> parse(std::string& problem) {
    auto result = product();
    if (result && at_ < text_.size()) {
      fail(fmt::format("'{}' is not a unit", text_));
      result.reset();
    }
    if (!result) problem = problem_;
    return result;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  void fail(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }
  static bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  }

  std::optional<Unit> product() {
    auto left = factor();
    while (left) {
      blanks();
      if (at_ == text_.size() || text_[at_] == ')') break;
      const char op = text_[at_] == '*' || text_[at_] == '/' ? text_[at_++] : '*';
      const auto right = factor();
      if (!right) return std::nullopt;
      left = op == '*' ? *left * *right : *left / *right;
    }
    return left;
  }

  std::optional<Unit> factor() {
    blanks();
    std::optional<Unit> base;
    if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      base = product();
      if (base && (at_ == text_.size() || text_[at_++] != ')')) {
        fail(fmt::format("'{}' lacks a ')'", text_));
        base.reset();
      }
    } else if (at_ < text_.size() && text_[at_] == '1') {
      ++at_;
      base = Unit{};
    } else {
      const auto start = at_;
      while (at_ < text_.size() && letter(text_[at_])) ++at_;
      const auto name = text_.substr(start, at_ - start);
      base = find_unit(name);
      if (name.empty())
        fail(fmt::format("'{}' is not a unit", text_));
      else if (!base)
        fail(unknown(name));
    }
    if (!base || at_ == text_.size() || text_[at_] != '^') return base;
    ++at_;
    return raised(*base);
  }

  std::optional<Unit> raised(Unit base) {
    const auto start = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    const auto exponent = parse_number(text_.substr(start, at_ - start));
    if (exponent && std::abs(*exponent) < 100) return power(base, static_cast<int>(*exponent));
    fail(fmt::format("'{}' lacks a whole number after '^'", text_));
    return std::nullopt;
  }

  static std::string unknown(std::string_view name) {
    // Scales with a zero of their own: a factor alone would silently shift every value.
    static constexpr std::pair<std::string_view, const char*> shifted[] = {{"degC", "K = degC + 273.15"},
                                                                           {"°C", "K = degC + 273.15"},
                                                                           {"celsius", "K = degC + 273.15"},
                                                                           {"Celsius", "K = degC + 273.15"},
                                                                           {"degF", "K = (degF + 459.67)/1.8"},
                                                                           {"°F", "K = (degF + 459.67)/1.8"},
                                                                           {"fahrenheit", "K = (degF + 459.67)/1.8"},
                                                                           {"Fahrenheit", "K = (degF + 459.67)/1.8"}};
    for (const auto& [word, formula] : shifted)
      if (name == word)
        return fmt::format("'{}' counts from another zero than K and is no factor of it; give K ({})", name, formula);
    // Other words for units of time: by edit distance 'min' would be nearest to MiB.
    static constexpr std::pair<std::string_view, const char*> words[] = {
        {"min", "minute"}, {"mins", "minute"}, {"minutes", "minute"}, {"h", "hour"},   {"hr", "hour"},
        {"hrs", "hour"},   {"hours", "hour"},  {"d", "day"},          {"days", "day"}, {"sec", "s"},
        {"secs", "s"},     {"second", "s"},    {"seconds", "s"},      {"yr", "year"},  {"years", "year"}};
    for (const auto& [word, unit] : words)
      if (name == word) return fmt::format("there is no unit '{}'; did you mean '{}'?", name, unit);
    const auto near = nearest(name, unit_names());
    return fmt::format("there is no unit '{}'{}", name, near ? fmt::format("; did you mean '{}'?", *near) : "");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
};

/// Quotients of decimal factors miss the decimal by a rounding (1e-15/1e-12 is not quite 0.001): take the decimal.
double rounded_to_decimal(double ratio) {
  const double decimal = *parse_number(fmt::format("{:.15g}", ratio));
  return std::abs(decimal - ratio) <= 4e-16 * std::abs(ratio) ? decimal : ratio;
}

}  // namespace

Dimension operator*(Dimension a, Dimension b) {
  for (std::size_t k = 0; k < a.exponent.size(); ++k) a.exponent[k] += b.exponent[k];
  return a;
}
Dimension operator/(Dimension a, Dimension b) { return a * power(b, -1); }
Dimension power(Dimension a, int n) {
  for (int& e : a.exponent) e *= n;
  return a;
}

std::string describe(Dimension dimension) {
  for (const auto& named : names)
    if (named.dimension == dimension) return named.name;
  static constexpr const char* base[] = {"length", "time", "mass", "temperature", "charge"};
  std::string above, below;
  for (std::size_t k = 0; k < dimension.exponent.size(); ++k) {
    const int n = dimension.exponent[k];
    if (n == 0) continue;
    std::string& side = n > 0 ? above : below;
    side += fmt::format("{}{}", side.empty() ? "" : " ", base[k]);
    if (std::abs(n) > 1) side += fmt::format("^{}", std::abs(n));
  }
  if (below.empty()) return above;
  const bool several = below.find(' ') != std::string::npos;
  if (above.empty()) above = "1";
  return several ? fmt::format("{}/({})", above, below) : fmt::format("{}/{}", above, below);
}

Unit operator*(Unit a, Unit b) { return {a.dimension * b.dimension, a.factor * b.factor}; }
Unit operator/(Unit a, Unit b) { return {a.dimension / b.dimension, a.factor / b.factor}; }
Unit power(Unit a, int n) { return {power(a.dimension, n), std::pow(a.factor, n)}; }

std::optional<Unit> find_unit(std::string_view name) {
  for (const auto& named : table)
    if (name == named.name) return Unit{named.dimension, named.factor};
  return std::nullopt;
}

const std::vector<std::string>& unit_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out;
    for (const auto& named : table) out.emplace_back(named.name);
    return out;
  }();
  return all;
}

std::optional<Unit> parse_unit(std::string_view text, std::string* problem) {
  text = trim(text);
  if (text.empty()) return Unit{};
  std::string why;
  auto result = UnitParser(text).parse(why);
  if (!result && problem) *problem = why;
  return result;
}

Unit unit_of(std::string_view text) {
  std::string problem;
  const auto unit = parse_unit(text, &problem);
  if (!unit) throw InternalError(problem);
  return *unit;
}

double conversion(std::string_view from, std::string_view to) {
  if (trim(from) == trim(to)) return 1.0;
  std::string problem;
  const auto a = parse_unit(from, &problem), b = parse_unit(to, &problem);
  if (!a || !b) throw InputError(problem);
  if (a->dimension != b->dimension)
    throw InputError(
        fmt::format("{} ({}) does not convert to {} ({})", from, describe(a->dimension), to, describe(b->dimension)));
  return rounded_to_decimal(a->factor / b->factor);
}

double convert(double value, std::string_view from, std::string_view to) {
  // A power of ten is exact as a factor, its inverse is not.
  const double factor = conversion(from, to);
  return factor < 1.0 ? value / conversion(to, from) : value * factor;
}

}  // namespace cambium
