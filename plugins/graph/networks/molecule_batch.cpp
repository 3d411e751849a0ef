#include "plugins/graph/networks/molecule_batch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/particles/elements.hpp"

namespace cambium::graph {

namespace {

std::int64_t place_of(std::int32_t number, const std::vector<std::int32_t>& elements) {
  const auto found = std::find(elements.begin(), elements.end(), number);
  if (found == elements.end())
    throw InputError(
        fmt::format("a molecule has the element {}, which none of the training set has", element_symbol(number)));
  return found - elements.begin();
}

void add_pairs(const MoleculeView& m, double cutoff, std::int64_t atom, std::vector<std::int64_t>& first,
               std::vector<std::int64_t>& second) {
  for (std::int64_t a = 0; a < m.atoms(); ++a)
    for (std::int64_t b = a + 1; b < m.atoms(); ++b) {
      double square = 0.0;
      for (int k = 0; k < 3; ++k) {
        const double x = m.position[3 * a + k] - m.position[3 * b + k];
        square += x * x;
      }
      if (square < cutoff * cutoff) {
        first.push_back(atom + a);
        second.push_back(atom + b);
      }
    }
}

torch::Tensor rows_of_three(const std::vector<double>& numbers, torch::Dtype real) {
  return torch::tensor(numbers, torch::kFloat64).reshape({-1, 3}).to(real);
}

}  // namespace

MoleculeBatch molecule_batch(std::span<const train::SamplePtr> samples, const std::vector<std::int32_t>& elements,
                             double cutoff, torch::Dtype real) {
  MoleculeBatch out;
  std::vector<std::int64_t> species, molecule, first, second;
  std::vector<double> position, force;
  for (const auto& sample : samples) {
    const auto m = molecule_of(*sample);
    add_pairs(m, cutoff, std::ssize(species), first, second);
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
  out.first = torch::tensor(first, torch::kInt64);
  out.second = torch::tensor(second, torch::kInt64);
  out.position = rows_of_three(position, real);
  if (force.size() == position.size()) out.force = rows_of_three(force, real);
  return out;
}

}  // namespace cambium::graph
