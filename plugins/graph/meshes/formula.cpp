#include "plugins/graph/meshes/formula.hpp"

#include <algorithm>
#include <cctype>

namespace cambium::graph {

std::map<std::string, double> values_of(const Parameters& parameters) {
  std::map<std::string, double> out;
  for (const auto& [name, formula] : parameters) out[name] = formula(std::span<const double>{});
  return out;
}

Formula::Formula(const std::string& text, std::vector<std::string> variables,
                 const std::map<std::string, double>& parameters)
    : all_(variables.size()), variables_(variables.size()) {
  std::vector<deck::Variable> all;
  for (auto& name : variables) all.push_back({std::move(name), ""});
  for (const auto& [name, value] : parameters) {
    all.push_back({name, ""});
    all_.push_back(value);
  }
  expression_ = deck::Expression::parse(text, "", all);
}

double Formula::operator()(std::span<const double> variables) const {
  if (all_.size() == variables_) return expression_(variables);
  auto& all = all_;
  std::copy_n(variables.begin(), variables_, all.begin());
  return expression_(std::span<const double>(all));
}

bool Formula::names(std::string_view word) const {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  const std::string& all = text();
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t begin = at;
    while (at < all.size() && part(all[at])) ++at;
    if (std::string_view(all).substr(begin, at - begin) == word) return true;
    if (at == begin) ++at;
  }
  return false;
}

}  // namespace cambium::graph
