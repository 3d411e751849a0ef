#include "plugins/deepmd/datasets/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/deepmd/model/environment.hpp"

namespace cambium::deepmd {

StatisticsSums::StatisticsSums(int ntypes, double rcut, double rcut_smth, bool radial_only)
    : ntypes_(ntypes), rcut_(rcut), rcut_smth_(rcut_smth), radial_only_(radial_only),
      most_(static_cast<std::size_t>(ntypes), 0) {
  for (auto* sums : {&atoms_, &s_, &s2_, &a2_}) sums->assign(ntypes, 0.0);
}

void StatisticsSums::add(const TrainingFrame& frame) {
  const CutOff cutoff = CutOff::make(rcut_smth_, rcut_, 0.0, false);
  std::vector<double> count(ntypes_, 0.0);
  for (std::size_t i = 0; i < frame.type.size(); ++i) {
    const auto t = static_cast<std::size_t>(frame.type[i]);
    count[t] += 1.0;
    atoms_[t] += 1.0;
    std::vector<int> neighbours(ntypes_, 0);
    for (int k = frame.first[i]; k < frame.first[i + 1]; ++k) {
      const double* d = &frame.d[3 * static_cast<std::size_t>(k)];
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (r >= rcut_) continue;  // the frame's pairs may reach farther, for another descriptor
      double row[4];
      cutoff.row(d, r, row);
      s_[t] += row[0];
      s2_[t] += row[0] * row[0];
      a2_[t] += row[1] * row[1] + row[2] * row[2] + row[3] * row[3];
      closest_ = std::min(closest_, r);
      ++neighbours[frame.type[frame.neighbour[k]]];
    }
    for (std::size_t q = 0; q < neighbours.size(); ++q) most_[q] = std::max(most_[q], neighbours[q]);
    most_together_ = std::max(most_together_, std::accumulate(neighbours.begin(), neighbours.end(), 0));
  }
  if (!frame.has_energy) return;
  counts_.push_back(std::move(count));
  energies_.push_back(frame.energy);
}

Statistics StatisticsSums::result(const std::vector<int>& sel) const {
  double slots = 0.0;
  for (int s : sel) slots += s;
  Statistics out;
  out.most_neighbours = most_;
  out.closest = closest_ < 1e29 ? closest_ : 0.0;
  constexpr double least = 1e-2;
  for (std::size_t t = 0; t < atoms_.size(); ++t) {
    const double n = std::max(1.0, atoms_[t] * slots), mean = s_[t] / n;
    out.mean.push_back(mean);
    out.radial.push_back(std::max(least, std::sqrt(std::max(0.0, s2_[t] / n - mean * mean))));
    out.angular.push_back(radial_only_ ? out.radial.back() : std::max(least, std::sqrt(a2_[t] / (3.0 * n))));
  }
  out.bias = least_squares(counts_, energies_);
  out.bias.resize(ntypes_, 0.0);
  return out;
}

void ParameterSums::add(std::span<const double> values) {
  if (n_ == 0) return;
  for (std::size_t k = 0; k < values.size(); ++k) {
    sum_[k % n_] += values[k];
    squares_[k % n_] += values[k] * values[k];
  }
  count_ += static_cast<double>(values.size() / n_);
}

ParameterInput ParameterSums::result() const {
  constexpr double least = 1e-2;
  ParameterInput out;
  out.size = static_cast<int>(n_);
  for (std::size_t k = 0; k < n_; ++k) {
    const double mean = sum_[k] / count_;
    out.mean.push_back(mean);
    out.inverse_deviation.push_back(1.0 /
                                    std::max(least, std::sqrt(std::max(0.0, squares_[k] / count_ - mean * mean))));
  }
  return out;
}

namespace {

/// Eigenvalues and eigenvectors (columns of v) of a small symmetric matrix, by Jacobi rotations.
void eigen(std::vector<std::vector<double>>& a, std::vector<std::vector<double>>& v) {
  const std::size_t n = a.size();
  v.assign(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) v[i][i] = 1.0;
  for (int sweep = 0; sweep < 60; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0.0) continue;
        const double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
        const double t = (theta >= 0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y;
          a[k][q] = s * x + c * y;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y;
          a[q][k] = s * x + c * y;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double x = v[k][p], y = v[k][q];
          v[k][p] = c * x - s * y;
          v[k][q] = s * x + c * y;
        }
      }
}

}  // namespace

std::vector<double> least_squares(const std::vector<std::vector<double>>& counts, const std::vector<double>& energies) {
  if (counts.empty()) return {};
  const std::size_t n = counts.front().size();
  std::vector<std::vector<double>> normal(n, std::vector<double>(n, 0.0)), v;
  std::vector<double> right(n, 0.0), x(n, 0.0);
  for (std::size_t f = 0; f < counts.size(); ++f)
    for (std::size_t i = 0; i < n; ++i) {
      right[i] += counts[f][i] * energies[f];
      for (std::size_t j = 0; j < n; ++j) normal[i][j] += counts[f][i] * counts[f][j];
    }
  eigen(normal, v);
  double largest = 0.0;
  for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, normal[k][k]);
  for (std::size_t k = 0; k < n; ++k) {
    if (normal[k][k] <= 1e-12 * largest) continue;  // composition direction that the data do not determine
    double along = 0.0;
    for (std::size_t i = 0; i < n; ++i) along += v[i][k] * right[i];
    for (std::size_t i = 0; i < n; ++i) x[i] += v[i][k] * along / normal[k][k];
  }
  return x;
}

std::vector<int> automatic_sel(const std::vector<int>& most) {
  std::vector<int> out;
  for (int n : most) out.push_back(std::max(4, static_cast<int>(std::ceil(1.1 * n / 4.0)) * 4));
  return out;
}

}  // namespace cambium::deepmd
