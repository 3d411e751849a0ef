#include "plugins/graph/networks/molecule_batch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/particles/elements.hpp"
#include "plugins/graph/molecules/pairs.hpp"

namespace cambium::graph {

namespace {

std::int64_t place_of(std::int32_t number, const std::vector<std::int32_t>& elements) {
  const auto found = std::find(elements.begin(), elements.end(), number);
  if (found == elements.end())
    throw InputError(
        fmt::format("a molecule has the element {}, which none of the training set has", element_symbol(number)));
  return found - elements.begin();
}

torch::Tensor rows_of_three(const std::vector<double>& numbers, torch::Dtype real) {
  return torch::tensor(numbers, torch::kFloat64).reshape({-1, 3}).to(real);
}

}  // namespace

MoleculeBatch molecule_batch(std::span<const train::SamplePtr> samples, const std::vector<std::int32_t>& elements,
                             double cutoff, torch::Dtype real) {
  MoleculeBatch out;
  std::vector<std::int64_t> species, molecule;
  AtomPairs pairs;
  std::vector<double> position, force;
  for (const auto& sample : samples) {
    const auto m = molecule_of(*sample);
    add_pairs(m, cutoff, std::ssize(species), pairs);
    for (const auto number : m.species) {
      species.push_back(place_of(number, elements));
      molecule.push_back(out.size());
    }
    position.insert(position.end(), m.position.begin(), m.position.end());
    force.insert(force.end(), m.force.begin(), m.force.end());
    out.views.push_back(m);
  }
  out.species = torch::tensor(species, torch::kInt64);
  out.molecule = torch::tensor(molecule, torch::kInt64);
  out.first = torch::tensor(pairs.first, torch::kInt64);
  out.second = torch::tensor(pairs.second, torch::kInt64);
  out.shift = rows_of_three(pairs.shift, real);
  out.position = rows_of_three(position, real);
  if (force.size() == position.size()) out.force = rows_of_three(force, real);
  return out;
}

}  // namespace cambium::graph
