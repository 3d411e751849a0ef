#include <cmath>

#include "core/base/constants.hpp"
#include "plugins/submatrix/dftb/coulomb.hpp"
#include "plugins/submatrix/dftb/reciprocal.hpp"

namespace cambium::submatrix {

namespace {

using constants::pi;
constexpr double splitting = 3.0;  ///< alpha times the cube root of the volume: as long in real as in reciprocal space
constexpr double reach = 5.7;      ///< erfc(5.7) is 1e-15

}  // namespace

EwaldSum::EwaldSum(const DftbAtoms& atoms) {
  alpha_ = splitting / std::cbrt(atoms.volume);
  cutoff_ = reach / alpha_;
  background_ = pi / (atoms.volume * alpha_ * alpha_);
  reach_ = images_within(atoms, cutoff_);
  for (const auto& k : waves_within(atoms, 2.0 * alpha_ * reach)) {
    const double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2], x = 0.25 * k2 / (alpha_ * alpha_);
    wave_.push_back({k, 8.0 * pi / atoms.volume * std::exp(-x) / k2, 2.0 * (1.0 + x) / k2});
  }
  for (int a = 0; a < atoms.count(); ++a)
    for (const Wave& w : wave_) {
      const double* x = &atoms.x[3 * static_cast<std::size_t>(a)];
      const double phase = w.k[0] * x[0] + w.k[1] * x[1] + w.k[2] * x[2];
      cosine_.push_back(std::cos(phase));
      sine_.push_back(std::sin(phase));
    }
}

template <class Action>
void EwaldSum::images(const DftbAtoms& atoms, int a, int b, const Action& action) const {
  for (int i = -reach_[0]; i <= reach_[0]; ++i)
    for (int j = -reach_[1]; j <= reach_[1]; ++j)
      for (int k = -reach_[2]; k <= reach_[2]; ++k) {
        if (a == b && i == 0 && j == 0 && k == 0) continue;
        const auto d = atoms.vector(a, b, {i, j, k});
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (r2 < cutoff_ * cutoff_) action(d, std::sqrt(r2));
      }
}

double EwaldSum::value(const DftbAtoms& atoms, int a, int b) const {
  double sum = -background_;
  images(atoms, a, b, [&](const std::array<double, 3>&, double r) { sum += std::erfc(alpha_ * r) / r; });
  const std::size_t waves = wave_.size(), at = static_cast<std::size_t>(a) * waves,
                    bt = static_cast<std::size_t>(b) * waves;
  for (std::size_t w = 0; w < waves; ++w)
    sum += wave_[w].weight * (cosine_[at + w] * cosine_[bt + w] + sine_[at + w] * sine_[bt + w]);
  return a == b ? sum - 2.0 * alpha_ / std::sqrt(pi) : sum;
}

void EwaldSum::add_slope(const DftbAtoms& atoms, int a, int b, double weight, double* slope, double* virial) const {
  images(atoms, a, b, [&](const std::array<double, 3>& d, double r) {
    const double x = alpha_ * r;
    const double pull = -weight * (std::erfc(x) / r + 2.0 * alpha_ / std::sqrt(pi) * std::exp(-x * x)) / (r * r);
    for (std::size_t k = 0; k < 3; ++k) {
      slope[k] += pull * d[k];
      for (std::size_t l = 0; l < 3; ++l) virial[3 * k + l] -= 0.5 * pull * d[k] * d[l];
    }
  });
}

std::array<double, 2> EwaldSum::structure_factor(const DftbAtoms& atoms, const std::vector<double>& q,
                                                 const Wave& wave) const {
  const auto w = static_cast<std::size_t>(&wave - wave_.data());
  std::array<double, 2> out{};
  for (std::size_t a = 0; a < static_cast<std::size_t>(atoms.count()); ++a) {
    out[0] += q[a] * cosine_[a * wave_.size() + w];
    out[1] += q[a] * sine_[a * wave_.size() + w];
  }
  return out;
}

void EwaldSum::add_reciprocal_gradient(const DftbAtoms& atoms, const std::vector<double>& q, int begin, int end,
                                       double* gradient) const {
  for (const Wave& wave : wave_) {
    const auto w = static_cast<std::size_t>(&wave - wave_.data());
    const auto [c, s] = structure_factor(atoms, q, wave);
    for (int a = begin; a < end; ++a) {
      const std::size_t at = static_cast<std::size_t>(a) * wave_.size() + w;
      const double pull = q[a] * wave.weight * (s * cosine_[at] - c * sine_[at]);
      for (int k = 0; k < 3; ++k) gradient[3 * (a - begin) + k] += pull * wave.k[k];
    }
  }
}

void EwaldSum::add_reciprocal_virial(const DftbAtoms& atoms, const std::vector<double>& q, double* virial) const {
  double charge = 0.0;
  for (double one : q) charge += one;
  for (const Wave& wave : wave_) {
    const auto [c, s] = structure_factor(atoms, q, wave);
    const double energy = 0.5 * wave.weight * (c * c + s * s);
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t l = 0; l < 3; ++l)
        virial[3 * k + l] += energy * ((k == l ? 1.0 : 0.0) - wave.stretch * wave.k[k] * wave.k[l]);
  }
  for (std::size_t k = 0; k < 3; ++k) virial[4 * k] -= 0.5 * background_ * charge * charge;
}

}  // namespace cambium::submatrix
