#include "plugins/submatrix/dftb/coulomb.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::submatrix {

namespace {

constexpr double tau_of_hubbard = 3.2, alike = 5e-4;

/// exp(-t r) (t u^4 / (2 (t^2 - u^2)^2) - (u^6 - 3 u^4 t^2) / (r (t^2 - u^2)^3))
GammaValue half_of(double r, double t, double u) {
  const double difference = t * t - u * u, u4 = u * u * u * u;
  const double a = 0.5 * u4 * t / (difference * difference),
               b = (u4 * u * u - 3.0 * u4 * t * t) / (difference * difference * difference), e = std::exp(-t * r);
  return {e * (a - b / r), e * (b / (r * r) - t * (a - b / r))};
}

}  // namespace

GammaValue short_gamma(double r, double a, double b) {
  const double t = tau_of_hubbard * a, u = tau_of_hubbard * b;
  if (std::abs(t - u) > alike * (t + u)) {
    const GammaValue first = half_of(r, t, u), second = half_of(r, u, t);
    return {first.value + second.value, first.slope + second.slope};
  }
  const double m = 0.5 * (t + u), e = std::exp(-m * r);
  const double p = 1.0 / r + 11.0 / 16.0 * m + 3.0 / 16.0 * m * m * r + m * m * m * r * r / 48.0;
  const double dp = -1.0 / (r * r) + 3.0 / 16.0 * m * m + m * m * m * r / 24.0;
  return {e * p, e * (dp - m * p)};
}

ChargeInteraction::ChargeInteraction(const DftbAtoms& atoms, std::vector<double> hubbard, const ColumnRanges& ranges,
                                     int rank)
    : atoms_(atoms), hubbard_(std::move(hubbard)), begin_(ranges.begin(rank)), end_(ranges.end(rank)), rank_(rank) {
  constexpr double decades = 34.0;  // exp(-34) of S is left out
  cutoff_ = decades / (tau_of_hubbard * *std::min_element(hubbard_.begin(), hubbard_.end()));
  if (atoms.periodic) {
    ewald_.emplace(atoms);
    reach_ = images_within(atoms, cutoff_);
  }
  const auto n = static_cast<std::size_t>(atoms.count());
  row_.assign(n * static_cast<std::size_t>(end_ - begin_), 0.0);
  for (int a = begin_; a < end_; ++a)
    for (int b = 0; b < atoms.count(); ++b) {
      double sum = ewald_ ? ewald_->value(atoms, a, b) : 0.0;
      near(a, b, [&](const std::array<double, 3>&, double r, const GammaValue& g) {
        sum -= g.value;
        if (!ewald_) sum += 1.0 / r;
      });
      row_[static_cast<std::size_t>(a - begin_) * n + static_cast<std::size_t>(b)] = sum + (a == b ? hubbard_[a] : 0.0);
    }
}

/// Of the images of b within the reach of S, all distances without images.
template <class Action>
void ChargeInteraction::near(int a, int b, const Action& action) const {
  for (int i = -reach_[0]; i <= reach_[0]; ++i)
    for (int j = -reach_[1]; j <= reach_[1]; ++j)
      for (int k = -reach_[2]; k <= reach_[2]; ++k) {
        if (a == b && i == 0 && j == 0 && k == 0) continue;
        const auto d = atoms_.vector(a, b, {i, j, k});
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (atoms_.periodic && r2 > cutoff_ * cutoff_) continue;
        const double r = std::sqrt(r2);
        action(d, r, short_gamma(r, hubbard_[a], hubbard_[b]));
      }
}

std::vector<double> ChargeInteraction::potential(const std::vector<double>& q) const {
  std::vector<double> out(static_cast<std::size_t>(end_ - begin_), 0.0);
  for (std::size_t a = 0; a < out.size(); ++a)
    for (std::size_t b = 0; b < q.size(); ++b) out[a] += row_[a * q.size() + b] * q[b];
  return out;
}

void ChargeInteraction::add_forces(const std::vector<double>& q, double* force, double* virial) const {
  std::vector<double> reciprocal(static_cast<std::size_t>(3 * (end_ - begin_)), 0.0);
  for (int a = begin_; a < end_; ++a)
    for (int b = 0; b < atoms_.count(); ++b) {
      const double weight = q[a] * q[b];
      double slope[3] = {};
      // Every pair is seen from both ends: half of its virial here.
      if (ewald_) ewald_->add_slope(atoms_, a, b, weight, slope, virial);
      near(a, b, [&](const std::array<double, 3>& d, double r, const GammaValue& g) {
        const double pull = weight * (-g.slope - (ewald_ ? 0.0 : 1.0 / (r * r))) / r;
        for (std::size_t k = 0; k < 3; ++k) {
          slope[k] += pull * d[k];
          for (std::size_t l = 0; l < 3; ++l) virial[3 * k + l] -= 0.5 * pull * d[k] * d[l];
        }
      });
      for (int k = 0; k < 3; ++k) force[3 * (a - begin_) + k] += slope[k];
    }
  if (!ewald_) return;
  ewald_->add_reciprocal_gradient(atoms_, q, begin_, end_, reciprocal.data());
  for (std::size_t k = 0; k < reciprocal.size(); ++k) force[k] -= reciprocal[k];
  if (rank_ == 0) ewald_->add_reciprocal_virial(atoms_, q, virial);
}

}  // namespace cambium::submatrix
