#include "plugins/submatrix/dftb/coulomb.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::submatrix {

namespace {

constexpr double tau_of_hubbard = 3.2, alike = 5e-4;

/// A number with its derivative by one Hubbard parameter.
struct Dual {
  double value = 0.0, by = 0.0;
  Dual(double v, double d = 0.0) : value(v), by(d) {}
};
Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.by + b.by}; }
Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.by - b.by}; }
Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.by * b.value + a.value * b.by}; }
Dual operator/(Dual a, Dual b) { return {a.value / b.value, (a.by * b.value - a.value * b.by) / (b.value * b.value)}; }
Dual exp(Dual a) {
  const double e = std::exp(a.value);
  return {e, e * a.by};
}
Dual power(Dual a, double n) { return {std::pow(a.value, n), n * std::pow(a.value, n - 1.0) * a.by}; }
double power(double a, double n) { return std::pow(a, n); }
double plain(Dual a) { return a.value; }
double plain(double a) { return a; }

template <class T>
struct Gamma {
  T value, slope;
};

/// exp(-t r) (t u^4 / (2 (t^2 - u^2)^2) - (u^6 - 3 u^4 t^2) / (r (t^2 - u^2)^3))
template <class T>
Gamma<T> half_of(double r, T t, T u) {
  using std::exp;
  const T difference = t * t - u * u, u4 = u * u * u * u;
  const T a = 0.5 * u4 * t / (difference * difference),
          b = (u4 * u * u - 3.0 * u4 * t * t) / (difference * difference * difference), e = exp(-1.0 * t * r);
  return {e * (a - b / r), e * (b / (r * r) - t * (a - b / r))};
}

template <class T>
Gamma<T> undamped(double r, T t, T u) {
  using std::exp;
  if (std::abs(plain(t) - plain(u)) > alike * (plain(t) + plain(u))) {
    const Gamma<T> first = half_of(r, t, u), second = half_of(r, u, t);
    return {first.value + second.value, first.slope + second.slope};
  }
  const T m = 0.5 * (t + u), e = exp(-1.0 * m * r);
  const T p = 1.0 / r + 11.0 / 16.0 * m + 3.0 / 16.0 * m * m * r + m * m * m * r * r / 48.0;
  const T dp = -1.0 / (r * r) + 3.0 / 16.0 * m * m + m * m * m * r / 24.0;
  return {e * p, e * (dp - m * p)};
}

template <class T>
Gamma<T> damped(double r, T a, T b, double damping) {
  using std::exp;
  const Gamma<T> s = undamped<T>(r, tau_of_hubbard * a, tau_of_hubbard * b);
  if (damping <= 0.0) return s;
  const T k = power(0.5 * (a + b), damping), h = exp(-1.0 * k * r * r);
  return {s.value * h, s.slope * h - 2.0 * r * k * s.value * h};
}

}  // namespace

GammaValue short_gamma(double r, double a, double b, double damping) {
  const auto s = damped<double>(r, a, b, damping);
  return {s.value, s.slope};
}

GammaValue short_gamma_by_hubbard(double r, double a, double b, double damping) {
  const auto s = damped<Dual>(r, {a, 1.0}, {b, 0.0}, damping);
  return {s.value.by, s.slope.by};
}

ChargeInteraction::ChargeInteraction(const DftbAtoms& atoms, std::vector<AtomicCharge> charges, double damping,
                                     const ColumnRanges& ranges, int rank)
    : atoms_(atoms), atom_(std::move(charges)), damping_(damping), begin_(ranges.begin(rank)), end_(ranges.end(rank)),
      rank_(rank) {
  constexpr double decades = 34.0;  // exp(-34) of S is left out
  double smallest = 1e300;
  for (const auto& a : atom_) {
    smallest = std::min(smallest, a.hubbard);
    third_order_ = third_order_ || a.derivative != 0.0;
  }
  cutoff_ = decades / (tau_of_hubbard * smallest);
  if (atoms.periodic) {
    ewald_.emplace(atoms);
    reach_ = images_within(atoms, cutoff_);
  }
  const auto n = static_cast<std::size_t>(atoms.count());
  row_.assign(n * static_cast<std::size_t>(end_ - begin_), 0.0);
  if (third_order_) by_own_ = by_other_ = row_;
  for (int a = begin_; a < end_; ++a)
    for (int b = 0; b < atoms.count(); ++b) {
      const auto at = static_cast<std::size_t>(a - begin_) * n + static_cast<std::size_t>(b);
      double sum = ewald_ ? ewald_->value(atoms, a, b) : 0.0;
      near(a, b, [&](const std::array<double, 3>&, double r) {
        sum -= short_gamma(r, atom_[a].hubbard, atom_[b].hubbard, damping_of(a, b)).value;
        if (!ewald_) sum += 1.0 / r;
      });
      row_[at] = sum + (a == b ? atom_[a].hubbard : 0.0);
      if (third_order_) add_third_order(a, b, at);
    }
}

void ChargeInteraction::add_third_order(int a, int b, std::size_t at) {
  const AtomicCharge &own = atom_[a], &other = atom_[b];
  if (a == b) by_own_[at] = by_other_[at] = 0.5 * own.derivative;
  near(a, b, [&](const std::array<double, 3>&, double r) {
    const double damping = damping_of(a, b);
    by_own_[at] -= own.derivative * short_gamma_by_hubbard(r, own.hubbard, other.hubbard, damping).value;
    by_other_[at] -= other.derivative * short_gamma_by_hubbard(r, other.hubbard, own.hubbard, damping).value;
  });
}

/// Visits the images of b within the range of S; without periodicity the one distance.
template <class Action>
void ChargeInteraction::near(int a, int b, const Action& action) const {
  for (int i = -reach_[0]; i <= reach_[0]; ++i)
    for (int j = -reach_[1]; j <= reach_[1]; ++j)
      for (int k = -reach_[2]; k <= reach_[2]; ++k) {
        if (a == b && i == 0 && j == 0 && k == 0) continue;
        const auto d = atoms_.vector(a, b, {i, j, k});
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (atoms_.periodic && r2 > cutoff_ * cutoff_) continue;
        action(d, std::sqrt(r2));
      }
}

std::vector<double> ChargeInteraction::potential(const std::vector<double>& q) const {
  std::vector<double> out(static_cast<std::size_t>(end_ - begin_), 0.0);
  for (std::size_t a = 0; a < out.size(); ++a) {
    const double own = q[static_cast<std::size_t>(begin_) + a];
    for (std::size_t b = 0; b < q.size(); ++b) {
      const std::size_t at = a * q.size() + b;
      out[a] += row_[at] * q[b];
      if (third_order_) out[a] += (2.0 * own * by_own_[at] * q[b] + by_other_[at] * q[b] * q[b]) / 3.0;
    }
  }
  return out;
}

ChargeInteraction::Energies ChargeInteraction::energies(const std::vector<double>& q) const {
  Energies out;
  for (int a = begin_; a < end_; ++a)
    for (std::size_t b = 0; b < q.size(); ++b) {
      const std::size_t at = static_cast<std::size_t>(a - begin_) * q.size() + b;
      out.second += 0.5 * q[a] * row_[at] * q[b];
      if (third_order_) out.third += q[a] * q[a] * by_own_[at] * q[b] / 3.0;
    }
  return out;
}

double ChargeInteraction::pull(int a, int b, double r, const std::vector<double>& q) const {
  const AtomicCharge &own = atom_[a], &other = atom_[b];
  const double damping = damping_of(a, b), weight = q[a] * q[b];
  double out = -weight * short_gamma(r, own.hubbard, other.hubbard, damping).slope;
  if (third_order_)
    out -= weight / 3.0 *
           (q[a] * own.derivative * short_gamma_by_hubbard(r, own.hubbard, other.hubbard, damping).slope +
            q[b] * other.derivative * short_gamma_by_hubbard(r, other.hubbard, own.hubbard, damping).slope);
  return (out - (ewald_ ? 0.0 : weight / (r * r))) / r;
}

void ChargeInteraction::add_forces(const std::vector<double>& q, double* force, double* virial) const {
  std::vector<double> reciprocal(static_cast<std::size_t>(3 * (end_ - begin_)), 0.0);
  for (int a = begin_; a < end_; ++a)
    for (int b = 0; b < atoms_.count(); ++b) {
      double slope[3] = {};
      // Every pair is seen from both ends: half of its virial here.
      if (ewald_) ewald_->add_slope(atoms_, a, b, q[a] * q[b], slope, virial);
      near(a, b, [&](const std::array<double, 3>& d, double r) {
        const double pull = this->pull(a, b, r, q);
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
