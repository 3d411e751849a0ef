#include "plugins/submatrix/dftb/inverse_sixth.hpp"

#include <cmath>

#include "core/base/constants.hpp"
#include "plugins/submatrix/dftb/reciprocal.hpp"

namespace cambium::submatrix {

namespace {

using constants::pi;
constexpr double sixth_splitting = 3.0;  ///< eta times the cube root of the volume: as long in real as in reciprocal space
constexpr double sixth_reach = 6.5;      ///< exp(-6.5^2) 6.5^4 / 2 is 4e-16

}  // namespace

InverseSixthSum::InverseSixthSum(const DftbAtoms& atoms, std::vector<double> c6) : atoms_(atoms), c6_(std::move(c6)) {
  types_ = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(c6_.size()))));
  eta_ = sixth_splitting / std::cbrt(atoms.volume);
  cutoff_ = sixth_reach / eta_;
  for (const auto& k : waves_within(atoms, 2.0 * eta_ * sixth_reach)) {
    const auto [value, slope] = transform(std::sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]));
    wave_.push_back({k, 2.0 * value / atoms.volume, 2.0 * slope / atoms.volume});
  }
  factor_.assign(2 * wave_.size() * types_, 0.0);
  for (std::size_t a = 0; a < atoms.type.size(); ++a)
    for (std::size_t w = 0; w < wave_.size(); ++w) {
      const double* x = &atoms.x[3 * a];
      const auto& k = wave_[w].k;
      const double phase = k[0] * x[0] + k[1] * x[1] + k[2] * x[2];
      cosine_.push_back(std::cos(phase));
      sine_.push_back(std::sin(phase));
      const std::size_t at = place(w, static_cast<std::size_t>(atoms.type[a]));
      factor_[at] += cosine_.back();
      factor_[at + 1] += sine_.back();
    }
}

/// Of (1 - exp(-a^2) (1 + a^2 + a^4 / 2)) / r^6 with a = eta r.
std::array<double, 2> InverseSixthSum::transform(double k) const {
  const double b = 0.5 * k / eta_, e = std::exp(-b * b), c = std::sqrt(pi) * std::erfc(b), p = std::pow(pi, 1.5);
  return {p * eta_ * eta_ * eta_ / 3.0 * ((1.0 - 2.0 * b * b) * e + 2.0 * b * b * b * c), 0.5 * p * eta_ * (b * c - e)};
}

InverseSixthSum::Value InverseSixthSum::near(double r) const {
  const double a2 = eta_ * eta_ * r * r, e = std::exp(-a2), p = 1.0 + a2 + 0.5 * a2 * a2, r6 = r * r * r * r * r * r;
  return {e * p / r6, -e * (6.0 * p + a2 * a2 * a2) / (r6 * r)};
}

void InverseSixthSum::add_forces(int begin, int end, double* force) const {
  for (int a = begin; a < end; ++a)
    for (std::size_t w = 0; w < wave_.size(); ++w) {
      const std::size_t at = static_cast<std::size_t>(a) * wave_.size() + w;
      double cosine = 0.0, sine = 0.0;
      for (std::size_t t = 0; t < types_; ++t) {
        const double c6 = c6_[static_cast<std::size_t>(atoms_.type[a]) * types_ + t];
        cosine += c6 * factor_[place(w, t)];
        sine += c6 * factor_[place(w, t) + 1];
      }
      // E = -1/2 w |S|^2: the derivative of S by the position is k times (-sin, cos).
      const double pull = wave_[w].weight * (sine * cosine_[at] - cosine * sine_[at]);
      for (std::size_t k = 0; k < 3; ++k) force[3 * static_cast<std::size_t>(a - begin) + k] += pull * wave_[w].k[k];
    }
}

double InverseSixthSum::add_virial(double* virial) const {
  std::vector<double> count(types_, 0.0);
  for (const int type : atoms_.type) count[static_cast<std::size_t>(type)] += 1.0;
  double mean = 0.0, own = 0.0;  // of k = 0, and of each atom with itself
  for (std::size_t s = 0; s < types_; ++s) {
    own += c6_[s * types_ + s] * count[s];
    for (std::size_t t = 0; t < types_; ++t) mean += c6_[s * types_ + t] * count[s] * count[t];
  }
  mean *= -0.5 * transform(0.0)[0] / atoms_.volume;
  double energy = mean + 0.5 * own * std::pow(eta_, 6) / 6.0;
  for (std::size_t k = 0; k < 3; ++k) virial[4 * k] += mean;
  for (std::size_t w = 0; w < wave_.size(); ++w) {
    double square = 0.0;
    for (std::size_t s = 0; s < types_; ++s)
      for (std::size_t t = 0; t < types_; ++t)
        square += c6_[s * types_ + t] *
                  (factor_[place(w, s)] * factor_[place(w, t)] + factor_[place(w, s) + 1] * factor_[place(w, t) + 1]);
    const Wave& wave = wave_[w];
    energy -= 0.5 * wave.weight * square;
    for (std::size_t k = 0; k < 3; ++k) {
      virial[4 * k] -= 0.5 * wave.weight * square;
      for (std::size_t l = 0; l < 3; ++l) virial[3 * k + l] -= 0.5 * wave.stretch * square * wave.k[k] * wave.k[l];
    }
  }
  return energy;
}

}  // namespace cambium::submatrix
