#include "plugins/graph/rivals/coulomb_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.hpp"
#include "core/numerics/symmetric_eigen.hpp"

namespace cambium::graph {

std::vector<double> coulomb_matrix(const MoleculeView& m, std::int64_t size) {
  const auto n = m.atoms();
  std::vector<double> full(static_cast<std::size_t>(n * n)), norm(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = 0; b < n; ++b) {
      double square = 0.0;
      for (int k = 0; k < 3; ++k) square += std::pow(m.position[3 * a + k] - m.position[3 * b + k], 2);
      const double za = m.species[a], zb = m.species[b];
      const double value = a == b ? 0.5 * std::pow(za, 2.4) : za * zb / std::sqrt(square);
      full[a * n + b] = value, norm[a] += value * value;
    }
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return norm[a] > norm[b]; });
  std::vector<double> out(static_cast<std::size_t>(size * (size + 1) / 2), 0.0);
  for (std::int64_t a = 0, at = 0; a < std::min(n, size); ++a)
    for (std::int64_t b = 0; b <= a; ++b) out[at++] = full[order[a] * n + order[b]];
  return out;
}

static double distance(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += std::abs(x[k] - y[k]);
  return sum;
}

/// With K = V^T L V the error at a molecule that is left out is w_i / (K + ridge)^-1_ii, w the weights of all.
void CoulombKernel::try_width(double width, const std::vector<double>& distances, const std::vector<double>& rest) {
  const std::size_t n = rest.size();
  std::vector<double> v(n * n), values(n), along(n, 0.0);
  for (std::size_t k = 0; k < n * n; ++k) v[k] = std::exp(-distances[k] / width);
  symmetric_eigenvectors(static_cast<int>(n), v.data(), values.data());
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) along[j] += v[j * n + i] * rest[i];
  for (double ridge = 1e-8; ridge < 0.2; ridge *= 10.0) {
    std::vector<double> weight(n, 0.0), inverse(n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      const double share = 1.0 / (std::max(values[j], 0.0) + ridge);
      for (std::size_t i = 0; i < n; ++i) {
        weight[i] += v[j * n + i] * along[j] * share;
        inverse[i] += v[j * n + i] * v[j * n + i] * share;
      }
    }
    double error = 0.0;
    for (std::size_t i = 0; i < n; ++i) error += std::abs(weight[i] / inverse[i]) / static_cast<double>(n);
    if (error < error_) error_ = error, width_ = width, ridge_ = ridge, weight_ = weight;
  }
}

void CoulombKernel::fit(std::span<const MoleculeView> molecules) {
  if (std::ssize(molecules) > most)
    throw InputError(
        fmt::format("a kernel of {} molecules takes longer than it is worth (at most {}); leave coulomb out "
                    "of 'rivals'",
                    molecules.size(), most));
  atoms_.fit(molecules, CountFit::Counted::atoms);
  size_ = 0;
  known_.clear();
  std::vector<double> rest;
  for (const auto& m : molecules) size_ = std::max(size_, m.atoms());
  for (const auto& m : molecules) known_.push_back(coulomb_matrix(m, size_)), rest.push_back(m.energy - atoms_(m));
  const std::size_t n = known_.size();
  std::vector<double> distances(n * n, 0.0);
  double mean = 0.0;
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      distances[a * n + b] = distances[b * n + a] = distance(known_[a], known_[b]);
      mean += 2.0 * distances[a * n + b] / static_cast<double>(n * n);
    }
  error_ = std::numeric_limits<double>::infinity();
  for (double factor = 0.25; factor < 100.0; factor *= 2.0) try_width(factor * std::max(mean, 1e-300), distances, rest);
}

double CoulombKernel::operator()(const MoleculeView& molecule) const {
  const auto x = coulomb_matrix(molecule, std::max(size_, molecule.atoms()));
  double sum = atoms_(molecule);
  for (std::size_t i = 0; i < known_.size(); ++i) {
    // A larger molecule than any that is known: those are padded by zeros as far as it reaches.
    double apart = distance(known_[i], std::vector<double>(x.begin(), x.begin() + std::ssize(known_[i])));
    for (std::size_t k = known_[i].size(); k < x.size(); ++k) apart += std::abs(x[k]);
    sum += weight_[i] * std::exp(-apart / width_);
  }
  return sum;
}

}  // namespace cambium::graph
