#include "plugins/submatrix/evaluate/chemical_potential.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cambium::submatrix {

double occupation(double x, double mu, double kt) {
  if (kt <= 0.0) return x < mu ? 1.0 : x > mu ? 0.0 : 0.5;
  const double z = (x - mu) / kt;
  if (z > 700.0) return 0.0;
  return 1.0 / (1.0 + std::exp(z));
}

ElectronCount::ElectronCount(const std::vector<Spectrum>& columns, double kt, const Comm& comm) : kt_(kt), comm_(comm) {
  std::vector<std::pair<double, double>> states;
  for (const auto& column : columns)
    for (std::size_t j = 0; j < column.node.size(); ++j) states.emplace_back(column.node[j], column.weight[j]);
  std::sort(states.begin(), states.end());
  below_.push_back(0.0);
  for (const auto& [node, weight] : states) {
    node_.push_back(node);
    weight_.push_back(weight);
    below_.push_back(below_.back() + weight);
  }
  lowest_ = comm.min(node_.empty() ? 1e300 : node_.front());
  highest_ = comm.max(node_.empty() ? -1e300 : node_.back());
}

double ElectronCount::step_count(double mu) const {
  const auto first = std::lower_bound(node_.begin(), node_.end(), mu), last = std::upper_bound(first, node_.end(), mu);
  const double below = below_[static_cast<std::size_t>(first - node_.begin())], at = below_[static_cast<std::size_t>(last - node_.begin())];
  return 2.0 * comm_.sum(0.5 * (below + at));
}

double ElectronCount::operator()(double mu) const {
  if (kt_ <= 0.0) return step_count(mu);
  double sum = 0.0;
  for (std::size_t j = 0; j < node_.size(); ++j) sum += weight_[j] * occupation(node_[j], mu, kt_);
  return 2.0 * comm_.sum(sum);
}

/// Where the step count passes `electrons`.
double ElectronCount::edge(double electrons) const {
  double low = lowest_ - 1.0, high = highest_ + 1.0;
  for (int k = 0; k < 200 && high - low > 1e-15 * std::max(1.0, std::abs(high) + std::abs(low)); ++k) {
    const double middle = 0.5 * (low + high);
    (step_count(middle) < electrons ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

ElectronCount::Gap ElectronCount::gap_around_count(double electrons, double weight) const {
  return {edge(electrons - weight), edge(electrons + weight)};
}

double ElectronCount::mu_of(double electrons, double weight) const {
  if (kt_ <= 0.0) {
    const Gap gap = gap_around_count(electrons, weight);
    return 0.5 * (gap.low + gap.high);
  }
  double low = lowest_ - 50.0 * kt_ - 1.0, high = highest_ + 50.0 * kt_ + 1.0;
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high), count = (*this)(middle);
    if (std::abs(count - electrons) <= 1e-13 * electrons) return middle;
    (count < electrons ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace cambium::submatrix
