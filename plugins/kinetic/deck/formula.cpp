#include "plugins/kinetic/deck/formula.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "core/base/text.hpp"

namespace cambium::kinetic {

/// Arguments of the call whose '(' stands at `open`; `close` receives the place of its ')'.
static std::vector<std::string> arguments(const std::string& text, std::size_t open, std::size_t& close) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (std::size_t k = open; k < text.size(); ++k) {
    const char c = text[k];
    if (c == ')' && --depth == 0) return close = k, out;
    if (c == ',' && depth == 1) {
      out.emplace_back();
    } else if (depth >= 1) {
      out.back() += c;
    }
    if (c == '(') ++depth;
  }
  close = std::string::npos;
  return out;
}

/// maxwellian(...) written out with the functions that expressions have.
static std::string expand(std::string text) {
  const std::string name = "maxwellian";
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    std::size_t open = at + name.size(), close = 0;
    while (open < text.size() && text[open] == ' ') ++open;
    if (open == text.size() || text[open] != '(') continue;
    auto a = arguments(text, open, close);
    if (close == std::string::npos) throw deck::ExpressionError("this '(' is not closed", text, open + 1);
    if (a.size() > 3)
      throw deck::ExpressionError(fmt::format("maxwellian takes v, its mean and its width, not {} arguments", a.size()),
                                  text, at + 1);
    if (a.size() < 2) a.push_back("0");
    if (a.size() < 3) a.push_back("1");
    const std::string z = fmt::format("(({})-({}))/({})", a[0], a[1], a[2]);
    text.replace(at, close + 1 - at, fmt::format("(exp(-0.5*({})^2)/(sqrt(2*pi)*({})))", z, a[2]));
  }
  return text;
}

Formula::Formula(const std::string& text, const std::vector<std::string>& variables,
                 const std::map<std::string, double>& parameters)
    : text_(text), variables_(variables.size()) {
  std::vector<deck::Variable> all;
  for (const auto& v : variables) all.push_back({v, ""});
  for (const auto& [name, value] : parameters) {
    all.push_back({name, ""});
    parameters_.push_back(value);
  }
  expression_ = deck::Expression::parse(expand(text), "", all);
}

double Formula::operator()(std::span<const double> variables) const {
  std::array<double, 64> all;
  std::size_t n = 0;
  for (std::size_t k = 0; k < variables_; ++k) all[n++] = variables[k];
  for (double p : parameters_)
    if (n < all.size()) all[n++] = p;
  return expression_(std::span<const double>(all.data(), n));
}

double constant(const std::string& text, const std::map<std::string, double>& parameters) {
  return Formula(text, {}, parameters)({});
}

std::vector<std::string> conf_variables(int cdim) {
  std::vector<std::string> out{"x", "y", "z"};
  out.resize(cdim);
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

std::map<std::string, double> values_of(const std::map<std::string, std::string>& parameters) {
  std::map<std::string, double> out;
  for (const auto& [name, text] : parameters) out[name] = constant(text, {});
  return out;
}

}  // namespace cambium::kinetic
