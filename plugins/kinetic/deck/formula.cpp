#include "plugins/kinetic/deck/formula.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/node.hpp"

namespace cambium::kinetic {

namespace {

/// Part of a text.
struct Argument {
  std::size_t begin = 0, size = 0;
};

/// Arguments of the call whose '(' is at `open`; `close` receives the position of its ')'.
std::vector<Argument> arguments(const std::string& text, std::size_t open, std::size_t& close) {
  std::vector<Argument> out{{open + 1, 0}};
  int depth = 0;
  for (std::size_t k = open; k < text.size(); ++k) {
    const char c = text[k];
    const bool ends = c == ')' && --depth == 0;
    if (ends || (c == ',' && depth == 1)) out.back().size = k - out.back().begin;
    if (ends) return close = k, out;
    if (c == ',' && depth == 1) out.push_back({k + 1, 0});
    if (c == '(') ++depth;
  }
  close = std::string::npos;
  return out;
}

/// A text and, for each of its characters and its end, the position in the deck that it originates from.
struct Expanded {
  std::string text;
  std::vector<std::size_t> origin;

  /// `count` characters from `at` give way to `part` whose characters stand for `from`.
  void replace(std::size_t at, std::size_t count, const Expanded& part) {
    text.replace(at, count, part.text);
    const auto first = origin.begin() + static_cast<std::ptrdiff_t>(at);
    origin.insert(origin.erase(first, first + static_cast<std::ptrdiff_t>(count)), part.origin.begin(),
                  part.origin.end());
  }
  void add(std::string_view more, std::size_t from) {
    text += more;
    origin.resize(text.size(), from);
  }
  void add(const Expanded& other, std::size_t first, std::size_t size) {
    text += other.text.substr(first, size);
    origin.insert(origin.end(), other.origin.begin() + static_cast<std::ptrdiff_t>(first),
                  other.origin.begin() + static_cast<std::ptrdiff_t>(first + size));
  }
};

/// exp(-0.5*((v)-(u))/(vt))^2) / ... of the arguments of a call whose name is at `from`.
Expanded normal_density(const Expanded& whole, const std::vector<Argument>& given, std::size_t from) {
  Expanded out;
  const auto argument = [&](std::size_t k, const char* otherwise) {
    out.add("(", from);
    if (k < given.size())
      out.add(whole, given[k].begin, given[k].size);
    else
      out.add(otherwise, from);
    out.add(")", from);
  };
  out.add("(exp(-0.5*((", from);
  argument(0, "");
  out.add("-", from);
  argument(1, "0");
  out.add(")/", from);
  argument(2, "1");
  out.add(fmt::format(")^2)/(sqrt(2*{})*", constants::pi), from);  // the number: a parameter may be called pi
  argument(2, "1");
  out.add("))", from);
  return out;
}

/// Adds maxwellian to a message of the expression parser, which does not know it.
std::string with_maxwellian(std::string problem) {
  constexpr std::string_view start = "there is no function '";
  if (problem.rfind(start, 0) != 0) return problem;
  const std::size_t end = problem.find('\'', start.size());
  const std::string word = problem.substr(start.size(), end - start.size()), ours = "maxwellian";
  if (nearest(word, std::span(&ours, 1))) return problem.substr(0, end + 1) + "; did you mean 'maxwellian'?";
  return problem.find("; known: ") == std::string::npos ? problem : problem + ", maxwellian";
}

/// maxwellian(...) written out with the functions that expressions have.
Expanded expand(const std::string& deck_text) {
  Expanded out;
  for (std::size_t k = 0; k < deck_text.size(); ++k) out.add(deck_text.substr(k, 1), k);
  const std::string name = "maxwellian";
  for (std::size_t at = out.text.find(name); at != std::string::npos; at = out.text.find(name, at + 1)) {
    std::size_t open = at + name.size(), close = 0;
    while (open < out.text.size() && out.text[open] == ' ') ++open;
    if (open == out.text.size() || out.text[open] != '(') continue;
    const auto given = arguments(out.text, open, close);
    const std::size_t from = out.origin[at];
    if (close == std::string::npos)
      throw deck::ExpressionError("this '(' is not closed", deck_text, out.origin[open] + 1);
    if (given.size() > 3)
      throw deck::ExpressionError(
          fmt::format("maxwellian takes v, its mean and its width, not {} arguments", given.size()), deck_text,
          from + 1);
    out.replace(at, close + 1 - at, normal_density(out, given, from));
  }
  return out;
}

}  // namespace

Formula::Formula(const std::string& text, const std::vector<std::string>& variables,
                 const std::map<std::string, double>& parameters)
    : text_(text), variables_(variables.size()) {
  std::vector<deck::Variable> all;
  for (const auto& v : variables) all.push_back({v, ""});
  for (const auto& [name, value] : parameters) {
    all.push_back({name, ""});
    parameters_.push_back(value);
  }
  const Expanded expanded = expand(text);
  try {
    expression_ = deck::Expression::parse(expanded.text, "", all);
  } catch (const deck::ExpressionError& error) {  // about the deck's text, not about what was made of it
    const std::size_t at = error.column - 1;
    throw deck::ExpressionError(with_maxwellian(error.problem), text,
                                (at < expanded.origin.size() ? expanded.origin[at] : text.size()) + 1);
  }
}

double Formula::operator()(std::span<const double> variables) const {
  const std::size_t count = variables_ + parameters_.size();
  std::array<double, 64> few;
  std::vector<double> many(count > few.size() ? count : 0);  // no memory for the usual ones
  double* all = many.empty() ? few.data() : many.data();
  std::copy_n(variables.begin(), variables_, all);
  std::copy(parameters_.begin(), parameters_.end(), all + variables_);
  return expression_(std::span<const double>(all, count));
}

double constant(const std::string& text, const std::map<std::string, double>& parameters) {
  return Formula(text, {}, parameters)({});
}

std::vector<std::string> conf_variables(int cdim) {
  std::vector<std::string> out{"x", "y", "z"};
  out.resize(cdim);
  return out;
}

std::vector<std::string> conf_and_time_variables(int cdim) {
  auto out = conf_variables(cdim);
  out.push_back("t");
  return out;
}

std::vector<std::string> phase_variables(int cdim, int vdim) {
  std::vector<std::string> out{"x", "y", "z"}, v{"vx", "vy", "vz"};
  out.resize(cdim);
  out.insert(out.end(), v.begin(), v.begin() + vdim);
  if (vdim == 1) out.push_back("v");
  return out;
}

namespace {

/// Names of parameters in a formula.
template <class Value>
std::vector<std::string> named_in(const std::string& text, const std::map<std::string, Value>& parameters) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (at < text.size() && part(text[at])) ++at;
    const std::string word = text.substr(begin, at - begin);
    if (!word.empty() && !std::isdigit(static_cast<unsigned char>(word[0])) && parameters.count(word))
      out.push_back(word);
    if (at == begin) ++at;
  }
  return out;
}

/// Works out parameters in the order in which they need each other.
class Parameters {
 public:
  explicit Parameters(const std::map<std::string, std::string>& texts) : texts_(texts) {}

  double value(const std::string& name) {
    if (const auto known = values_.find(name); known != values_.end()) return known->second;
    if (const auto open = std::find(way_.begin(), way_.end(), name); open != way_.end()) {
      std::vector<std::string> circle(open, way_.end());
      circle.push_back(name);
      throw KeyError("kinetic.parameters.circle", deck::child_path("parameters", name),
                     fmt::format("parameters need each other in a circle: {}; give one of them a number",
                                 fmt::join(circle, " -> ")));
    }
    way_.push_back(name);
    std::map<std::string, double> others;  // all of them, so that a misspelt name finds the one that was meant
    for (const auto& [other, text] : texts_)
      if (other != name) others[other] = 0.0;
    for (const auto& other : named_in(texts_.at(name), texts_)) others[other] = value(other);
    way_.pop_back();
    return values_[name] = deck::about_key("kinetic.formula", deck::child_path("parameters", name),
                                           [&] { return constant(texts_.at(name), others); });
  }

 private:
  const std::map<std::string, std::string>& texts_;
  std::map<std::string, double> values_;
  std::vector<std::string> way_;
};

}  // namespace

std::map<std::string, double> values_of(const std::map<std::string, std::string>& parameters) {
  for (const char* name : {"x", "y", "z", "vx", "vy", "vz", "v", "t", "pi"})
    if (parameters.count(name))
      throw KeyError(
          "kinetic.parameters.name", deck::child_path("parameters", name),
          fmt::format("a parameter cannot be called '{}': formulas call a coordinate, the time or a constant "
                      "so; give it a name of its own",
                      name));
  Parameters order(parameters);
  std::map<std::string, double> out;
  for (const auto& [name, text] : parameters) out[name] = order.value(name);
  return out;
}

void warn_of_hidden(const std::string& text, const std::string& what, const std::vector<std::string>& names,
                    const std::map<std::string, double>& parameters, Log& log) {
  const auto used = named_in(text, parameters);
  for (const auto& name : names)
    if (std::find(used.begin(), used.end(), name) != used.end())
      log.warn(
          fmt::format("{}: '{}' is the parameter of that name, {:g}, not the local density or temperature; rename "
                      "the parameter if these are meant",
                      what, name, parameters.at(name)));
}

}  // namespace cambium::kinetic
