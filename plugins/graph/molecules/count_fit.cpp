#include "plugins/graph/molecules/count_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/particles/elements.hpp"
#include "plugins/graph/molecules/least_squares.hpp"

namespace cambium::graph {

std::map<CountFit::Kind, double> CountFit::counts(const MoleculeView& m) const {
  std::map<Kind, double> out;
  if (constant_) out[{0, 0, 0}] = 1.0;
  for (const auto number : m.species) out[{number, 0, 0}] += 1.0;
  for (std::size_t b = 0; counted_ == Counted::bonds && b + 2 < m.bond.size(); b += 3) {
    const auto [low, high] = std::minmax(m.species[m.bond[b]], m.species[m.bond[b + 1]]);
    out[{low, high, m.bond[b + 2]}] += 1.0;
  }
  return out;
}

void CountFit::require_bonds(std::span<const MoleculeView> molecules) {
  if (std::all_of(molecules.begin(), molecules.end(), [](const MoleculeView& m) { return m.bond.empty(); }))
    throw InputError("the molecules have no bonds to count; take atoms, or give a file with the array 'bond'");
}

void CountFit::fit(std::span<const MoleculeView> molecules, Counted counted, bool constant) {
  counted_ = counted;
  constant_ = constant;
  energy_.clear();
  if (counted == Counted::bonds) require_bonds(molecules);
  for (const auto& m : molecules)
    for (const auto& [kind, count] : counts(m)) energy_[kind] = 0.0;
  std::map<Kind, std::size_t> column;
  for (const auto& [kind, energy] : energy_) column.emplace(kind, column.size());
  const std::size_t n = column.size();
  std::vector<double> squares(n * n, 0.0), right(n, 0.0);
  for (const auto& m : molecules) {
    const auto row = counts(m);
    for (const auto& [k, x] : row) {
      right[column[k]] += x * m.energy;
      for (const auto& [l, y] : row) squares[column[k] * n + column[l]] += x * y;
    }
  }
  const auto found = solve_symmetric(std::move(squares), right);
  for (auto& [kind, energy] : energy_) energy = found[column[kind]];
}

double CountFit::operator()(const MoleculeView& molecule) const {
  double sum = 0.0;
  for (const auto& [kind, count] : counts(molecule)) {
    const auto found = energy_.find(kind);
    if (found != energy_.end())
      sum += count * found->second;
    else if (kind[1] == 0)
      throw InputError(
          fmt::format("a molecule has the element {}, which none of the training set has", element_symbol(kind[0])));
  }
  return sum;
}

std::string CountFit::text() const {
  nlohmann::json out{{"bonds", counted_ == Counted::bonds}, {"kinds", nlohmann::json::array()}};
  for (const auto& [kind, energy] : energy_) out["kinds"].push_back({kind[0], kind[1], kind[2], energy});
  return out.dump();
}

CountFit CountFit::from(const std::string& text) {
  const auto in = nlohmann::json::parse(text);
  CountFit out;
  out.counted_ = in.at("bonds").get<bool>() ? Counted::bonds : Counted::atoms;
  for (const auto& row : in.at("kinds"))
    out.energy_[{row.at(0).get<std::int32_t>(), row.at(1).get<std::int32_t>(), row.at(2).get<std::int32_t>()}] =
        row.at(3).get<double>();
  out.constant_ = out.energy_.contains({0, 0, 0});
  return out;
}

}  // namespace cambium::graph
