#include "plugins/graph/molecules/descriptors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace cambium::graph {

static double apart(const MoleculeView& m, std::int64_t a, std::int64_t b) {
  double square = 0.0;
  for (int k = 0; k < 3; ++k) square += std::pow(m.position[3 * a + k] - m.position[3 * b + k], 2);
  return std::sqrt(square);
}

std::vector<double> coulomb_matrix(const MoleculeView& m, std::int64_t size) {
  const auto n = m.atoms();
  std::vector<double> full(n * n), norm(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = 0; b < n; ++b) {
      const double za = m.species[a], zb = m.species[b];
      const double value = a == b ? 0.5 * std::pow(za, 2.4) : za * zb / apart(m, a, b);
      full[a * n + b] = value;
      norm[a] += value * value;
    }
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return norm[a] > norm[b]; });
  std::vector<double> out(size * (size + 1) / 2, 0.0);
  for (std::int64_t a = 0, at = 0; a < std::min(n, size); ++a)
    for (std::int64_t b = 0; b <= a; ++b) out[at++] = full[order[a] * n + order[b]];
  return out;
}

/// The rows of zero padding come last, so that the list of a smaller molecule is the beginning of a padded one.
Descriptor coulomb_descriptor(const MoleculeView& molecule) {
  return {{{0, 0}, coulomb_matrix(molecule, molecule.atoms())}};
}

Descriptor bag_of_bonds(const MoleculeView& m) {
  Descriptor out;
  for (std::int64_t a = 0; a < m.atoms(); ++a)
    for (std::int64_t b = 0; b < a; ++b) {
      const auto [low, high] = std::minmax(m.species[a], m.species[b]);
      out[{low, high}].push_back(static_cast<double>(low) * high / apart(m, a, b));
    }
  for (auto& [elements, bag] : out) std::ranges::sort(bag, std::greater<>());
  return out;
}

DescriptorRows::DescriptorRows(std::vector<Descriptor> known) : known_(std::move(known)) {
  std::map<std::array<std::int32_t, 2>, std::size_t> longest;
  for (const auto& molecule : known_)
    for (const auto& [name, list] : molecule) longest[name] = std::max(longest[name], list.size());
  for (const auto& [name, length] : longest) {
    place_[name] = {width_, length};
    width_ += length;
  }
  double beyond = 0.0;
  for (const auto& molecule : known_) {
    const auto row = row_of(molecule, beyond);
    rows_.insert(rows_.end(), row.begin(), row.end());
  }
}

std::vector<double> DescriptorRows::row_of(const Descriptor& molecule, double& beyond) const {
  std::vector<double> out(width_, 0.0);
  for (const auto& [name, list] : molecule) {
    const auto found = place_.find(name);
    const auto [first, room] = found == place_.end() ? std::array<std::size_t, 2>{0, 0} : found->second;
    for (std::size_t k = 0; k < list.size(); ++k)
      if (k < room)
        out[first + k] = list[k];
      else
        beyond += std::abs(list[k]);
  }
  return out;
}

std::vector<double> DescriptorRows::distances(const Descriptor& molecule) const {
  double beyond = 0.0;
  const auto x = row_of(molecule, beyond);
  std::vector<double> out(known_.size(), beyond);
  for (std::size_t i = 0; i < known_.size(); ++i)
    for (std::size_t k = 0; k < width_; ++k) out[i] += std::abs(rows_[i * width_ + k] - x[k]);
  return out;
}

}  // namespace cambium::graph
